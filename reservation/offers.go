// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"strings"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// An OfferKind says how an [Offer] differs from what was asked.
//
// An OfferKind is immutable and safe for concurrent use.
type OfferKind uint8

// Kinds of offers. New ones are added at the end.
const (
	Later     OfferKind = iota // the same, later
	Earlier                    // the same, earlier
	Shorter                    // the same nodes, for less time; in an answer to a [Query] perhaps later
	Smaller                    // with fewer nodes; in an answer to a [Query] perhaps later and shorter, too
	Exact                      // just what was asked
	OtherPool                  // a line in another pool, perhaps later
	Segments                   // the same nodes and time in all, in several pieces
)

var offerNames = []string{"Later", "Earlier", "Shorter", "Smaller", "Exact", "OtherPool", "Segments"}

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
	// Segments are the pieces, in order, if there are several: each is a booking
	// of Lines of its own. Window reaches from the first to the last.
	Segments []Window `json:"segments,omitempty"`
}

// String returns the offer for people.
func (o Offer) String() string {
	switch o.Kind {
	case Smaller:
		n := int64(0)
		for _, l := range o.Lines {
			n += l.Count
		}
		return fmt.Sprintf("%s in %s", nodes(n), o.Window)
	case OtherPool:
		var parts []string
		for _, l := range o.Lines {
			parts = append(parts, fmt.Sprintf("%s of pool %q", nodes(l.Count), l.Pool))
		}
		return fmt.Sprintf("%s in %s", strings.Join(parts, " and "), o.Window)
	case Segments:
		var parts []string
		for _, w := range o.Segments {
			parts = append(parts, w.String())
		}
		return strings.Join(parts, " and ")
	}
	return o.Window.String()
}

// Offers returns what could be had at an instant instead of q, or nothing if q
// itself fits or is not valid: the nearest later and the nearest earlier window,
// the longest window with the same start, and the most nodes in the same window,
// in this order, each if there is one and it is found within the budget. Every
// offer has passed the very check that Book makes. A Standby request has no
// offers. It costs a few fits; the earlier window costs O(m) for the m changes
// between it and q. [Calendar.Search] has more kinds and ranks them.
func (c *Calendar) Offers(at time.Time, q Request) []Offer {
	c = c.asOf(at)
	q, err := q.normal()
	if err != nil || q.Continues != "" || c.fits(c.core.S.now, q) {
		return nil
	}
	return c.offers(c.core.S.now, q)
}

// fits reports whether the normal request q could be booked now under some id.
// It tries that on a fork.
func (c *Calendar) fits(now int64, q Request) bool {
	trial := c.Fork()
	s := &trial.core.S
	for n := 0; s.rec(q.ID) != nil || s.claimable(q.ID, q.Owner) != nil; n++ {
		q.ID = fmt.Sprint("query ", n)
	}

	spans, err := s.envelopes(now, q)
	if err != nil {
		return false
	}
	e := Booked{At: tick.Time(now), Request: q, Spans: spans}
	r, err := recordOf(e)
	return err == nil && s.admit(r) == nil && trial.choose(e, r, func(e Booked) Event { return e }) == nil
}

func (c *Calendar) offers(now int64, q Request) []Offer {
	if q.Class != Firm || q.Continues != "" {
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
		out = append(out, Offer{Kind: kind, Window: o.Window, Lines: lines})
		return true
	}
	if at, err := c.earliest(now, q.Lines, length, max(start, now), lastTick, 1, q.Owner); err == nil {
		add(Later, at, at+length, q.Lines)
	}
	fit := func(at int64) bool { return add(Earlier, at, at+length, q.Lines) }
	_, _ = c.latestBefore(q.Owner, q.Lines, now, start, length, 1, fit)
	if to := c.firstShort(now, q, start, end); to > start && to < end {
		add(Shorter, start, to, q.Lines)
	}
	if lines, ok := c.smaller(q, start, end); ok {
		add(Smaller, start, end, lines)
	}
	return out
}

// firstShort returns the end of the longest window from start on, up to end,
// that the count and the rules on its length and end allow.
func (c *Calendar) firstShort(now int64, q Request, start, end int64) int64 {
	for _, l := range q.Lines {
		p := c.core.S.pool(l.Pool)
		after := c.core.S.graceOf(q.Lines) + p.cleanup
		for x := range p.load.Steps(start-p.prep, end+after) {
			if x.Level > p.open-l.Count {
				end = min(end, x.From-after)
				break
			}
		}
		for _, n := range l.Nodes {
			if at, busy := c.core.S.firstBusy(n, start-p.prep, end+after, ""); busy {
				end = min(end, at-after)
			}
		}
		end = min(end, c.core.S.sameShort(q.Owner, l, start, end, c.core.S.graceOf(q.Lines)))
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
		from, to := start-p.prep, end+c.core.S.graceOf(q.Lines)+p.cleanup
		if to > lastTick || len(l.Nodes) > 0 || p.Policy.Partial != PartialSmaller {
			return nil, false
		}
		lines[i] = l
		lines[i].Count = min(l.Count, p.open-p.load.Max(from, to), c.core.S.sameMost(q.Owner, l, from, to))
		if lines[i].Count < 1 {
			return nil, false
		}
		less = less || lines[i].Count < l.Count
	}
	return lines, less
}
