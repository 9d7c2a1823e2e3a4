// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"html/template"
	"time"

	"github.com/berth-gpu/berth/examples/manager/views"
)

// A size is a picture's geometry. Each is drawn twice, for wide and for narrow
// screens, and the style sheet shows one: scaled text would be unreadable.
type size struct {
	class       string
	w, h        float64
	left, right float64
	tickRoom    float64
	short       bool // dates without the day of the week
}

var (
	wide   = size{class: "wide", w: 1120, h: 300, left: 46, right: 14, tickRoom: 84}
	narrow = size{class: "narrow", w: 440, h: 240, left: 34, right: 8, tickRoom: 50, short: true}
)

const (
	chartTop    = 22 // room for the word "now"
	chartBottom = 28 // room for the dates
)

// A curve is what a chart shows: how much is free of what there is, over time.
type curve struct {
	name     string
	unit     string // "node" or "GPU"
	many     string
	count    int64 // of the units there are now
	from, to time.Time
	bins     []views.Bin
}

func inNodes(a views.Availability) curve {
	return curve{a.Pool.Name, "node", "nodes", a.Pool.Nodes, a.From, a.To, a.Bins}
}

func inGPUs(m views.ModelAvailability) curve {
	return curve{m.Model, "GPU", "GPUs", m.GPUs, m.From, m.To, m.Bins}
}

// A run is adjoining bins with the same figures.
type run = views.Bin

// runs joins bins that say the same.
func runs(bins []views.Bin) []run {
	var out []run
	for _, b := range bins {
		if n := len(out); n > 0 && out[n-1].End.Equal(b.Start) &&
			out[n-1].Min == b.Min && out[n-1].Max == b.Max && out[n-1].Capacity == b.Capacity {
			out[n-1].End = b.End
			continue
		}
		out = append(out, b)
	}
	return out
}

// chart draws what is free over time: what is free in the
// whole of a bin solid, those free in a part of it lighter, what is taken grey
// up to the line of the capacity, and a shortfall red below zero.
func chart(c curve, now time.Time, z size) template.HTML {
	rs := runs(c.bins)
	lo, hi := bounds(rs, c.count)
	ax := timeAxis{c.from, c.to, z.left, z.w - z.right}
	y0, y1 := z.h-chartBottom, float64(chartTop)
	y := func(v int64) float64 { return y0 - (y0-y1)*float64(v-lo)/float64(hi-lo) }

	var s svg
	s.open("svg", "class", "chart "+z.class, "viewBox", fmt.Sprintf("0 0 %g %g", z.w, z.h), "role", "img",
		"aria-label", "Free "+c.many+" of "+c.name+" over time. "+c.words(),
		"data-from", c.from.Unix(), "data-to", c.to.Unix(), "data-x0", ax.x0, "data-x1", ax.x1, "data-w", z.w)
	for _, v := range levels(lo, hi, 5) {
		s.el("line", "class", "grid", "x1", ax.x0, "x2", ax.x1, "y1", y(v), "y2", y(v))
		s.text("text", number(v), "class", "tick end", "x", ax.x0-7, "y", y(v)+4)
	}
	if lo < 0 && y(lo)-y(0) > 12 {
		s.text("text", number(lo), "class", "tick end bad", "x", ax.x0-7, "y", y(lo)+4)
	}
	s.el("path", "class", "taken", "d", area(rs, ax, y, func(r run) (int64, int64) { return max(r.Max, 0), r.Capacity }))
	s.el("path", "class", "freemax", "d", area(rs, ax, y, func(r run) (int64, int64) { return max(r.Min, 0), r.Max }))
	s.el("path", "class", "freemin", "d", area(rs, ax, y, func(r run) (int64, int64) { return 0, r.Min }))
	s.el("path", "class", "short", "d", area(rs, ax, y, func(r run) (int64, int64) { return r.Min, 0 }))
	s.el("path", "class", "capline", "d", steps(rs, ax, y))
	if n := len(rs); n > 0 {
		s.text("text", number(rs[n-1].Capacity)+" "+c.many, "class", "tick end", "x", ax.x1, "y", y(rs[n-1].Capacity)-7)
	}
	timeTicks(&s, ax, z, y1, y0, true)
	s.el("line", "class", "zero", "x1", ax.x0, "x2", ax.x1, "y1", y(0), "y2", y(0))
	nowMark(&s, ax, now, y1-6, y0, true)
	for _, r := range rs {
		x := ax.x(r.Start)
		s.open("rect", "class", "hover", "x", x, "y", y1, "width", ax.x(r.End)-x, "height", y0-y1)
		s.text("title", c.facts(r))
		s.end("rect")
	}
	s.el("rect", "class", "pick", "x", ax.x0, "y", y1, "width", 0, "height", y0-y1)
	s.end("svg")
	return s.html()
}

// bounds is the range of the value axis, never empty.
func bounds(rs []run, nodes int64) (lo, hi int64) {
	hi = max(nodes, 1)
	for _, r := range rs {
		hi = max(hi, r.Capacity, r.Max)
		lo = min(lo, r.Min)
	}
	return lo, hi
}

// area is what lies between two values of each run; nothing where the second
// is not above the first. Adjoining runs make one outline: boxes side by side
// would leave hair lines between them when the picture is scaled.
func area(rs []run, ax timeAxis, y func(int64) float64, of func(run) (from, to int64)) string {
	var p path
	for i := 0; i < len(rs); {
		j := i
		for ; j < len(rs); j++ {
			if from, to := of(rs[j]); to <= from || j > i && !rs[j-1].End.Equal(rs[j].Start) {
				break
			}
		}
		if j == i {
			i++
			continue
		}
		for k := i; k < j; k++ {
			_, to := of(rs[k])
			if k == i {
				p.move(ax.x(rs[k].Start), y(to))
			} else {
				p.line(ax.x(rs[k].Start), y(to))
			}
			p.line(ax.x(rs[k].End), y(to))
		}
		for k := j - 1; k >= i; k-- {
			from, _ := of(rs[k])
			p.line(ax.x(rs[k].End), y(from))
			p.line(ax.x(rs[k].Start), y(from))
		}
		p.close()
		i = j
	}
	return p.String()
}

func steps(rs []run, ax timeAxis, y func(int64) float64) string {
	var p path
	for i, r := range rs {
		if i == 0 || !rs[i-1].End.Equal(r.Start) {
			p.move(ax.x(r.Start), y(r.Capacity))
		} else if rs[i-1].Capacity != r.Capacity {
			p.line(ax.x(r.Start), y(r.Capacity))
		}
		p.line(ax.x(r.End), y(r.Capacity))
	}
	return p.String()
}

func timeTicks(s *svg, ax timeAxis, z size, top, bottom float64, labels bool) {
	for _, k := range ax.ticks(z.tickRoom) {
		x, class := ax.x(k.at), "grid"
		if k.day {
			class = "grid day"
		}
		s.el("line", "class", class, "x1", x, "x2", x, "y1", top, "y2", bottom)
		label := k.label
		if z.short && k.day {
			label = k.at.Format("2 Jan")
		}
		if labels && x+3+float64(len(label))*glyphWidth <= z.w {
			s.text("text", label, "class", "tick", "x", x+3, "y", bottom+17)
		}
	}
}

func nowMark(s *svg, ax timeAxis, now time.Time, top, bottom float64, word bool) {
	if now.Before(ax.from) || !now.Before(ax.to) {
		return
	}
	x := ax.x(now)
	s.el("line", "class", "now", "x1", x, "x2", x, "y1", top, "y2", bottom)
	if word {
		s.text("text", "now", "class", "now", "x", x+4, "y", top+4)
	}
}

func (c curve) facts(r run) string {
	free := number(r.Min)
	if r.Max != r.Min {
		free += " to " + number(r.Max)
	}
	if r.Min < 0 {
		return fmt.Sprintf("%s – %s: %s short of %s", brief(r.Start), brief(r.End), plural(-r.Min, c.unit, c.many), number(r.Capacity))
	}
	return fmt.Sprintf("%s – %s: %s of %s free", brief(r.Start), brief(r.End), free, plural(r.Capacity, c.unit, c.many))
}

// words says what the chart shows, for those who cannot see it.
func (c curve) words() string {
	if len(c.bins) == 0 {
		return "Nothing is known of this time."
	}
	least, most := c.bins[0], c.bins[0]
	for _, b := range c.bins {
		if b.Min < least.Min {
			least = b
		}
		if b.Max > most.Max {
			most = b
		}
	}
	s := fmt.Sprintf("Between %s and %s of %s are free; the fewest from %s.",
		number(max(least.Min, 0)), number(most.Max), plural(c.count, c.unit, c.many), brief(least.Start))
	if least.Min < 0 {
		s += fmt.Sprintf(" At worst %s missing.", plural(-least.Min, "booked "+c.unit+" is", "booked "+c.many+" are"))
	}
	return s
}
