// SPDX-License-Identifier: Apache-2.0

package web

import (
	"html/template"
	"net/http"
	"strings"

	"github.com/berth-gpu/berth/examples/manager/views"
)

// quotaPage is the tree of tenants with a bar per key.
type quotaPage struct {
	base
	Tree []tenantRow
}

// A tenantRow is one tenant of the tree.
type tenantRow struct {
	views.QuotaNode
	Indent int // classes d0 to d5
	Keys   []keyRow
}

// A keyRow is one tenant's figures for one key, as a person reads them.
type keyRow struct {
	Name                                      string
	Unit                                      string
	Nominal, Used, Firm, Borrowed, Lent, Idle string
	Available                                 string
	Bar                                       template.HTML
}

// deepest is the last step of indentation in app.css.
const deepest = 5

func (s *server) quota(viewer string, _ *http.Request) (result, error) {
	page := quotaPage{base: s.base(viewer, "Quota", "quota")}
	page.live("/quota", nil)
	for _, n := range s.src.Quota(viewer) {
		row := tenantRow{QuotaNode: n, Indent: min(max(n.Depth, 0), deepest)}
		for _, k := range n.Keys {
			row.Keys = append(row.Keys, newKeyRow(k, page.Class(n.Tenant)))
		}
		page.Tree = append(page.Tree, row)
	}
	return result{template: "quota", data: page}, nil
}

// newKeyRow writes a key's figures. Keys of thousandths ("gpu-milli/<model>",
// "cpu-milli") are shown in GPUs and cores, all others as they are.
func newKeyRow(k views.QuotaKey, class string) keyRow {
	write, row := number, keyRow{Name: k.Key}
	if model, ok := strings.CutPrefix(k.Key, "gpu-milli/"); ok {
		write, row.Name, row.Unit = milli, model, "GPUs"
	}
	if k.Key == "cpu-milli" {
		write, row.Name, row.Unit = milli, "CPU", "cores"
	}
	row.Nominal, row.Used, row.Firm = write(k.Nominal), write(k.Used), write(k.Guaranteed)
	row.Borrowed, row.Lent, row.Idle = write(k.Borrowed), write(k.Lent), write(k.Idle)
	row.Available = write(k.Available)
	row.Bar = quotaBar(k, class)
	return row
}

// quotaBar draws the nominal quota as a trough: from the left what is used,
// the guaranteed part darker; from the right what is lent, hatched; and beyond
// the end of the trough, marked, what is borrowed.
func quotaBar(k views.QuotaKey, class string) template.HTML {
	nominal, borrowed := max(k.Nominal, 0), max(k.Borrowed, 0)
	whole := nominal + borrowed
	own := min(max(k.Used-borrowed, 0), nominal)
	firm := min(max(k.Guaranteed, 0), own)
	lent := min(max(k.Lent, 0), nominal-own)
	var s svg
	s.open("svg", "class", "qbar "+class, "aria-hidden", "true")
	part := func(class string, from, width int64) {
		if width > 0 {
			s.el("rect", "class", class, "x", share(from, whole), "width", share(width, whole), "height", "100%")
		}
	}
	part("trough", 0, nominal)
	part("own", 0, own)
	part("firm", 0, firm)
	part("lent", nominal-lent, lent)
	if lent > 0 {
		s.el("rect", "fill", "url(#hatch)", "x", share(nominal-lent, whole), "width", share(lent, whole), "height", "100%")
	}
	part("borrowed", nominal, borrowed)
	if borrowed > 0 {
		s.el("line", "class", "edge", "x1", share(nominal, whole), "x2", share(nominal, whole), "y1", "0%", "y2", "100%")
	}
	s.end("svg")
	return s.html()
}
