// SPDX-License-Identifier: Apache-2.0

package web

import "html/template"

const sparkW, sparkH = 240, 46

// spark draws the chart without its words, for the small multiples. It is
// stretched to its place, so it has no text and no circle.
func spark(c curve) template.HTML {
	rs := runs(c.bins)
	lo, hi := bounds(rs, c.count)
	ax := timeAxis{c.from, c.to, 0, sparkW}
	y := func(v int64) float64 { return sparkH - 1 - (sparkH-2)*float64(v-lo)/float64(hi-lo) }
	var s svg
	s.open("svg", "class", "spark", "viewBox", "0 0 240 46", "preserveAspectRatio", "none", "role", "img",
		"aria-label", c.words())
	s.el("path", "class", "taken", "d", area(rs, ax, y, func(r run) (int64, int64) { return max(r.Max, 0), r.Capacity }))
	s.el("path", "class", "freemax", "d", area(rs, ax, y, func(r run) (int64, int64) { return max(r.Min, 0), r.Max }))
	s.el("path", "class", "freemin", "d", area(rs, ax, y, func(r run) (int64, int64) { return 0, r.Min }))
	s.el("path", "class", "short", "d", area(rs, ax, y, func(r run) (int64, int64) { return r.Min, 0 }))
	s.el("path", "class", "capline", "d", steps(rs, ax, y))
	s.end("svg")
	return s.html()
}

// meter draws a part of a whole as a bar as wide as its place.
func meter(part, whole int64) template.HTML {
	var s svg
	s.open("svg", "class", "meter", "aria-hidden", "true")
	s.el("rect", "class", "whole", "width", "100%", "height", "100%")
	s.el("rect", "class", "part", "width", share(part, whole), "height", "100%")
	s.end("svg")
	return s.html()
}

// share is part/whole as a percentage for an attribute, from 0 to 100.
func share(part, whole int64) string {
	if whole <= 0 || part <= 0 {
		return "0%"
	}
	return string(appendCoord(nil, 100*min(float64(part)/float64(whole), 1))) + "%"
}
