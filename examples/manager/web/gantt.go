// SPDX-License-Identifier: Apache-2.0

package web

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"time"

	"github.com/berth-gpu/berth/examples/manager/views"
)

const (
	tallLane   = 24 // with a label in each bar
	flatLane   = 9  // where there are many
	tallLanes  = 14 // more than this are drawn flat
	maxLanes   = 60
	holdLanes  = 8
	glyphWidth = 6.4 // of the label's font, a little more than it needs
)

// A bar is one booking or outage of the strip.
type bar struct {
	start, end time.Time
	class      string
	label      string
	short      string // if the label does not fit
	title      string
	hatched    bool
	lacking    bool
}

// gantt draws the bookings below the chart, on the same time axis, each in the
// first lane that is free; then the outages, hatched.
func gantt(a views.Availability, now time.Time, p palette, z size) template.HTML {
	ax := timeAxis{a.From, a.To, z.left, z.w - z.right}
	booked, more := lanes(bookingBars(a, p), maxLanes)
	outs, moreOuts := lanes(outageBars(a), holdLanes)
	if len(booked)+len(outs) == 0 {
		return ""
	}
	lane := float64(tallLane)
	if len(booked) > tallLanes {
		lane = flatLane
	}
	body := lane*float64(len(booked)) + tallLane*float64(len(outs))
	h := body + 8
	if more+moreOuts > 0 {
		h += 18
	}
	var s svg
	s.open("svg", "class", "gantt "+z.class, "viewBox", fmt.Sprintf("0 0 %g %g", z.w, h), "role", "img",
		"aria-label", fmt.Sprintf("Bookings of %s over time; the table below lists them.", a.Pool.Name))
	timeTicks(&s, ax, z, 0, body+4, false)
	y := 2.0
	for _, l := range booked {
		for _, b := range l {
			b.draw(&s, ax, y, lane)
		}
		y += lane
	}
	for _, l := range outs {
		for _, b := range l {
			b.draw(&s, ax, y, tallLane)
		}
		y += tallLane
	}
	nowMark(&s, ax, now, 0, body+4, false)
	if more+moreOuts > 0 {
		s.text("text", fmt.Sprintf("and %d more", more+moreOuts), "class", "tick", "x", ax.x0+3, "y", body+20)
	}
	s.end("svg")
	return s.html()
}

func (b bar) draw(s *svg, ax timeAxis, y, lane float64) {
	x, gap := ax.x(b.start), 2.0
	if lane < tallLane {
		gap = 1
	}
	w := max(ax.x(b.end)-x-1, 1.5)
	s.open("g", "class", b.class)
	s.text("title", b.title)
	s.el("rect", "class", "bar", "x", x, "y", y+gap, "width", w, "height", lane-2*gap, "rx", 3.0)
	if b.hatched {
		s.el("rect", "fill", "url(#hatch)", "x", x, "y", y+gap, "width", w, "height", lane-2*gap, "rx", 3.0)
	}
	if b.lacking {
		s.el("rect", "class", "lacking", "x", x, "y", y+lane-gap-3, "width", w, "height", 3.0)
	}
	if lane >= tallLane {
		for _, label := range []string{b.label, b.short} {
			room := float64(len([]rune(label))) * glyphWidth
			if label != "" && room+10 <= w {
				if b.hatched { // nobody reads words on hatching
					s.el("rect", "class", "plate", "x", x+3, "y", y+4, "width", room+6, "height", lane-8)
				}
				s.text("text", label, "class", "label", "x", x+6, "y", y+lane/2+4)
				break
			}
		}
	}
	s.end("g")
}

// lanes packs bars into at most limit lanes and counts those without room.
func lanes(bars []bar, limit int) (out [][]bar, more int) {
	slices.SortStableFunc(bars, func(a, b bar) int {
		return cmp.Or(a.start.Compare(b.start), b.end.Compare(a.end), cmp.Compare(a.title, b.title))
	})
next:
	for _, b := range bars {
		for i, l := range out {
			if !l[len(l)-1].end.After(b.start) {
				out[i] = append(l, b)
				continue next
			}
		}
		if len(out) == limit {
			more++
			continue
		}
		out = append(out, []bar{b})
	}
	return out, more
}

func bookingBars(a views.Availability, p palette) []bar {
	var out []bar
	for _, b := range a.Bookings {
		start, end := later(b.Start, a.From), earlier(b.End, a.To)
		if !start.Before(end) || over(b.Phase) {
			continue
		}
		title := fmt.Sprintf("%s: %s (%s), %s – %s, %s", b.Owner, plural(b.Nodes, "node", "nodes"), plural(b.GPUs, "GPU", "GPUs"),
			brief(b.Start), brief(b.End), b.Phase)
		if b.ID != "" {
			title = b.ID + "\n" + title
		}
		if b.Shortfall > 0 {
			title += fmt.Sprintf("\n%s missing", plural(b.Shortfall, "node", "nodes"))
		}
		out = append(out, bar{start: start, end: end, class: p.Class(b.Owner) + " ph-" + phaseClass(b.Phase),
			label: fmt.Sprintf("%s · %s", b.Owner, number(b.Nodes)), short: number(b.Nodes), title: title, lacking: b.Shortfall > 0})
	}
	return out
}

func outageBars(a views.Availability) []bar {
	var out []bar
	for _, o := range a.Outages {
		end := a.To
		if !o.End.IsZero() {
			end = earlier(o.End, a.To)
		}
		start := later(o.Start, a.From)
		if !start.Before(end) {
			continue
		}
		nodes := plural(len(o.Nodes), "node", "nodes")
		if len(o.Nodes) == 1 {
			nodes = o.Nodes[0]
		}
		title := fmt.Sprintf("Out of service: %s, %s – %s, %s", nodes, brief(o.Start), brief(o.End), o.Reason)
		out = append(out, bar{start: start, end: end, class: "outage", label: nodes + " · " + o.Reason,
			short: number(int64(len(o.Nodes))), title: title, hatched: true})
	}
	return out
}

// over says that a booking takes no node any more.
func over(phase string) bool {
	return phase == "ended" || phase == "expired" || phase == "cancelled"
}

// phaseClass names the phases that look different; all others are firm.
func phaseClass(phase string) string {
	switch phase {
	case "held", "active", "grace":
		return phase
	}
	return "firm"
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
