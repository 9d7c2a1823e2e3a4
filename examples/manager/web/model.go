// SPDX-License-Identifier: Apache-2.0

package web

import (
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/berth-gpu/berth/examples/manager/views"
)

// modelPage is all pools of one GPU model over time. It is for looking: what is
// booked is nodes of one pool, because nodes of different sizes do not add up.
type modelPage struct {
	base
	views.ModelAvailability
	Days   int
	Spans  []spanned
	Models []string
	Wide   template.HTML
	Narrow template.HTML
	Words  string
}

func (s *server) model(viewer string, r *http.Request, model string) (result, error) {
	at := where{days: s.opt.Days}
	if err := at.readDays(r.Form.Get("days")); err != nil {
		return result{}, err
	}
	page := &modelPage{base: s.base(viewer, model+" calendar", "calendar"), Days: at.days, Spans: spans}
	page.Models = models(page.Over.Pools)
	spread, _ := spanOf(at.days)
	from, to, bins := spread.window(page.Over.Now)
	m, err := s.src.ModelAvailability(viewer, model, from, to, bins)
	if err != nil {
		return result{}, err
	}
	all := inGPUs(m)
	page.ModelAvailability, page.Words = m, all.words()
	page.Wide, page.Narrow = chart(all, page.Over.Now, wide), chart(all, page.Over.Now, narrow)
	page.live("/calendar", url.Values{"model": {model}, "days": {strconv.Itoa(at.days)}})
	return result{template: "model", data: page}, nil
}

// models returns the GPU models of pools, each once, by name.
func models(pools []views.Pool) []string {
	var out []string
	for _, p := range pools {
		if p.GPUsPerNode > 0 {
			out = append(out, p.Model)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
