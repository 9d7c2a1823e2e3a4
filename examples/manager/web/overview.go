// SPDX-License-Identifier: Apache-2.0

package web

import (
	"html/template"
	"net/http"

	"github.com/berth-gpu/berth/examples/manager/views"
)

// overviewPage is the figures, and every GPU model and every pool in small.
type overviewPage struct {
	base
	Days   int
	Models []smallModel
	Pools  []smallPool
}

// A smallModel is one GPU model, all its pools together, in GPUs.
type smallModel struct {
	views.ModelAvailability
	Spark template.HTML
	Short int64
}

// A smallPool is one of the small multiples.
type smallPool struct {
	views.Pool
	Spark template.HTML
	Short int64 // the largest shortfall in sight
}

// sparkBins is enough for a picture 240 wide.
const sparkBins = 84

func (s *server) overview(viewer string, _ *http.Request) (result, error) {
	page := overviewPage{base: s.base(viewer, "Overview", "overview"), Days: s.opt.Days}
	page.live("/", nil)
	spread, _ := spanOf(s.opt.Days)
	from, to, _ := spread.window(page.Over.Now)
	for _, name := range models(page.Over.Pools) {
		m, err := s.src.ModelAvailability(viewer, name, from, to, sparkBins)
		if err != nil {
			return result{}, err
		}
		small := smallModel{ModelAvailability: m, Spark: spark(inGPUs(m))}
		for _, b := range m.Bins {
			small.Short = max(small.Short, -b.Min)
		}
		page.Models = append(page.Models, small)
	}
	for _, p := range page.Over.Pools {
		a, err := s.src.Availability(viewer, p.Name, from, to, sparkBins)
		if err != nil {
			return result{}, err
		}
		small := smallPool{Pool: p, Spark: spark(inNodes(a))}
		for _, b := range a.Bins {
			small.Short = max(small.Short, -b.Min)
		}
		page.Pools = append(page.Pools, small)
	}
	return result{template: "overview", data: page}, nil
}
