// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"

	"github.com/berth-gpu/berth/internal/tick"
)

// An OfferKind says how an [Offer] differs from what was asked.
//
// An OfferKind is immutable and safe for concurrent use.
type OfferKind uint8

// Kinds of offers. New ones are added at the end.
const (
	Later   OfferKind = iota // the same, later
	Earlier                  // the same, earlier
	Shorter                  // the same start and nodes, for less time
	Smaller                  // the same window, with fewer nodes
)

var offerNames = []string{"Later", "Earlier", "Shorter", "Smaller"}

// String returns the name of k.
func (k OfferKind) String() string { return name("OfferKind", offerNames, int(k)) }

// MarshalText returns the name of k.
func (k OfferKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// An Offer is what could be booked at the moment of asking. It keeps nothing;
// use [Calendar.Hold] for that.
//
// An Offer is immutable and safe for concurrent use.
type Offer struct {
	Kind   OfferKind `json:"kind"`
	Window Window    `json:"window"`
	Lines  []Line    `json:"lines"`
}

// String returns the offer for people.
func (o Offer) String() string {
	if o.Kind == Smaller {
		n := int64(0)
		for _, l := range o.Lines {
			n += l.Count
		}
		return fmt.Sprintf("%s in %s", nodes(n), o.Window)
	}
	return o.Window.String()
}

// Offers returns what could be had instead of q, or nothing if q itself fits or
// is not valid: the nearest later and the nearest earlier window, the longest
// window with the same start, and the most nodes in the same window, each if
// there is one. Every offer has passed the very check that Book makes. A
// Standby request has no offers. It costs a few fits; the earlier window costs
// O(m) for the m changes between it and q.
func (c *Calendar) Offers(q Request) []Offer {
	q, err := q.normal()
	if err != nil || c.fits(c.core.S.now, q) {
		return nil
	}
	return c.offers(c.core.S.now, q)
}

// fits reports whether the normal request q could be booked now under some id.
// It tries that on a fork.
func (c *Calendar) fits(now int64, q Request) bool {
	trial := c.Fork()
	s := &trial.core.S
	for s.rec(q.ID) != nil {
		q.ID = "query " + until(now) + " " + q.ID[:min(len(q.ID), maxID/2)]
	}
	spans, err := s.envelopes(now, q)
	if err != nil {
		return false
	}
	e := Booked{At: tick.Time(now), Request: q, Spans: spans}
	r, err := recordOf(e)
	return err == nil && s.admit(r) == nil && trial.seatably(e, r) == nil
}

func (c *Calendar) offers(now int64, q Request) []Offer {
	if q.Class != Firm {
		return nil
	}
	for _, l := range q.Lines {
		if c.core.S.pool(l.Pool) == nil {
			return nil
		}
	}
	start, end, err := q.Window.ticks("Window", false)
	if err != nil {
		return nil
	}
	length := end - start
	var out []Offer
	add := func(kind OfferKind, from, to int64, lines []Line) bool {
		o := q
		o.Window, o.Lines = windowOf(from, to), lines
		if !c.fits(now, o) {
			return false
		}
		out = append(out, Offer{kind, o.Window, lines})
		return true
	}
	if at, err := c.earliest(now, q.Lines, length, max(start, now), lastTick, 1); err == nil {
		add(Later, at, at+length, q.Lines)
	}
	if at, ok := c.latestBefore(now, q, start, length); ok {
		add(Earlier, at, at+length, q.Lines)
	}
	if to := c.firstShort(now, q, start, end); to > start && to < end {
		add(Shorter, start, to, q.Lines)
	}
	if lines, ok := c.smaller(q, start, end); ok {
		add(Smaller, start, end, lines)
	}
	return out
}

// latestBefore returns the greatest start before that of q at which the count
// suffices. It looks back in steps that double, so a near answer is cheap.
func (c *Calendar) latestBefore(now int64, q Request, start, length int64) (int64, bool) {
	floor, grid, pools := now, everySecond(), c.core.S.poolsOf(q.Lines)
	for _, p := range pools {
		floor = max(floor, now+max(p.prep, p.lead))
		var b breach
		if grid, b = p.starts(grid, length); !b.none() {
			return 0, false
		}
	}
	hi := min(start-1, latestStart(pools, now, length)) // starts in [lo, hi] are looked at next
	start = hi + 1
	for back := max(length, 1); hi >= floor; back *= 2 {
		lo := max(floor, start-back)
		best, found := int64(0), false
		for at := lo; at <= hi; {
			got, err := c.earliest(now, q.Lines, length, at, hi, 1)
			if err != nil {
				break
			}
			best, _ = grid.down(c.runEnd(q, got, hi, length))
			best, found = max(best, got), true // got is in the grid
			at = best + 1
		}
		if found {
			return best, true
		}
		hi = lo - 1
	}
	return 0, false
}

// runEnd returns the greatest start up to hi such that the count suffices from
// the window at first through the one at it.
func (c *Calendar) runEnd(q Request, first, hi, length int64) int64 {
	last := hi
	for _, l := range q.Lines {
		p := c.core.S.pool(l.Pool)
		after := length + p.grace + p.cleanup
		for x := range p.load.Steps(first-p.prep, hi+after) {
			if x.Level > p.open-l.Count {
				last = min(last, x.From-after)
				break
			}
		}
		for _, n := range l.Nodes {
			if at := c.core.S.nextUse(n, first+after); at < tick.Forever {
				last = min(last, at-after)
			}
		}
	}
	return max(last, first)
}

// firstShort returns the end of the longest window from start on, up to end,
// that the count and the rules on its length and end allow.
func (c *Calendar) firstShort(now int64, q Request, start, end int64) int64 {
	for _, l := range q.Lines {
		p := c.core.S.pool(l.Pool)
		after := p.grace + p.cleanup
		for x := range p.load.Steps(start-p.prep, end+after) {
			if x.Level > p.open-l.Count {
				end = min(end, x.From-after)
				break
			}
		}
		for _, n := range l.Nodes {
			if at := c.core.S.nextUse(n, start-p.prep); at < tick.Forever {
				end = min(end, at-after)
			}
		}
	}
	return longest(c.core.S.poolsOf(q.Lines), now, start, end)
}

// poolsOf returns the pools of lines, which must be there.
func (s *state) poolsOf(lines []Line) []*pool {
	out := make([]*pool, len(lines))
	for i, l := range lines {
		out[i] = s.pool(l.Pool)
	}
	return out
}

// smaller returns the lines with as many nodes as the whole envelope has free.
func (c *Calendar) smaller(q Request, start, end int64) ([]Line, bool) {
	lines := make([]Line, len(q.Lines))
	less := false
	for i, l := range q.Lines {
		p := c.core.S.pool(l.Pool)
		from, to := start-p.prep, end+p.grace+p.cleanup
		if to > lastTick || len(l.Nodes) > 0 || p.Policy.Partial != PartialSmaller {
			return nil, false
		}
		lines[i] = l
		lines[i].Count = min(l.Count, p.open-p.load.Max(from, to))
		if lines[i].Count < 1 {
			return nil, false
		}
		less = less || lines[i].Count < l.Count
	}
	return lines, less
}
