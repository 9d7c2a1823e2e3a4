// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// Search returns what could be had for q at an instant, the best first. The wish
// is a window of Length at Start with the full counts. If it fits it is the only
// offer, of kind Exact. Otherwise there is at most one offer of each kind, and
// one for each other pool:
//
//   - Later and Earlier: the nearest starts between Earliest and Latest.
//   - Segments, if q allows it: see [Calendar.EarliestFit].
//   - OtherPool: for each pool that may stand in for one of a line, the wish or the
//     next later start. As many nodes as have at least as many GPUs.
//   - Shorter, if MinLength allows it: the earliest start from the wished one on
//     for the full counts, then the longest window.
//   - Smaller, if MinCounts allows it: likewise for the whole Length, then the most
//     nodes; and the earliest start for both the least nodes and length.
//
// First come those that give all that was asked, Later to OtherPool: those whose
// end is nearest to the wished end, and of equal ones in the order of this list.
// Then come those that give a part: those with most node-seconds, and of equal
// ones those that end first.
//
// Each offer has passed the check that Book makes, all pieces of a Segments
// together. A kind that is missing either does not exist or was not found within
// the budgets: 127 trials for each kind, 64 for Earlier, 16 other pools,
// 65,536 gaps for each kind. If there is no offer, the error says why the wish cannot be had.
//
// Possible errors: as those of [Calendar.EarliestFit].
func (c *Calendar) Search(at time.Time, q Query) ([]Offer, error) {
	c = c.asOf(at)
	s := &c.core.S
	a, err := s.ask(q)
	if err != nil {
		return nil, err
	}
	var out []Offer
	add := func(o Offer) {
		if !slices.ContainsFunc(out, func(x Offer) bool { return x.Window == o.Window && slices.EqualFunc(x.Lines, o.Lines, equalLines) }) {
			out = append(out, o)
		}
	}
	hi := min(a.hi, a.deadline-a.length)
	start, why := c.earliest(s.now, a.lines, a.length, a.wish, hi, a.align, a.owner)
	if why == nil && c.fits(s.now, a.request(start, a.length, a.lines)) {
		add(a.offer(start, a.length, a.lines))
		if start == a.wish {
			return out, nil
		}
	}
	fit := func(at int64) bool { return c.fits(s.now, a.request(at, a.length, a.lines)) }
	if at, ok := c.latestBefore(a.owner, a.lines, a.lo, min(a.wish, a.deadline-a.length+1), a.length, a.align, fit); ok {
		add(a.offer(at, a.length, a.lines))
	}
	if a.pieces > 1 {
		if o, err := c.segments(a); err == nil && len(o.Segments) > 1 {
			add(o)
		}
	}
	for _, lines := range s.otherLines(a) {
		if at, err := c.earliest(s.now, lines, a.length, a.wish, hi, a.align, a.owner); err == nil && c.fits(s.now, a.request(at, a.length, lines)) {
			add(Offer{Kind: OtherPool, Window: windowOf(at, at+a.length), Lines: lines})
		}
	}
	for _, x := range []struct {
		lines  []Line
		length int64
	}{{a.lines, a.minLength}, {a.least, a.length}, {a.least, a.minLength}} {
		if x.length == a.length && slices.EqualFunc(x.lines, a.lines, equalLines) {
			continue
		}
		a.trials = maxRefined
		o, err := c.elastic(a, a.wish, x.lines, x.length)
		if err == nil && (o.Kind == Shorter || o.Kind == Smaller) && c.fits(s.now, a.at(o)) {
			add(o)
		}
	}
	if len(out) == 0 {
		if why == nil { // the count was wrong
			why = s.unplaced(a, start, a.length, "the earliest start by count")
		}
		return nil, why
	}
	slices.SortStableFunc(out, a.compare)
	if a.limit > 0 {
		out = out[:min(len(out), a.limit)]
	}
	return out, nil
}

// at returns what would be booked for an offer in one piece.
func (a *asked) at(o Offer) Request {
	q := a.request(0, 1, o.Lines)
	q.Window = o.Window
	return q
}

func equalLines(a, b Line) bool {
	return a.Pool == b.Pool && a.Count == b.Count && a.Within == b.Within && slices.Equal(a.Nodes, b.Nodes)
}

// compare ranks offers; see [Calendar.Search].
func (a *asked) compare(x, y Offer) int {
	part := func(o Offer) int {
		if o.Kind == Shorter || o.Kind == Smaller {
			return 1
		}
		return 0
	}
	if c := cmp.Compare(part(x), part(y)); c != 0 {
		return c
	}
	if part(x) == 1 {
		xh, xl := x.work()
		yh, yl := y.work()
		return cmp.Or(cmp.Compare(yh, xh), cmp.Compare(yl, xl), x.Window.End.Compare(y.Window.End))
	}
	off := func(o Offer) int64 {
		d := o.Window.End.Unix() - (a.wish + a.length)
		return max(d, -d)
	}
	return cmp.Compare(off(x), off(y))
}

// work returns the node-seconds of an offer in one piece, as two words: 2⁴⁶ nodes
// and 2³⁸ seconds do not fit into one.
func (o *Offer) work() (high, low uint64) {
	var n uint64
	for _, l := range o.Lines {
		n += uint64(l.Count)
	}
	return bits.Mul64(n, uint64(o.Window.End.Unix()-o.Window.Start.Unix()))
}

// otherLines returns the lines of a query with one of them moved to another pool.
func (s *state) otherLines(a *asked) [][]Line {
	var out [][]Line
	for i, l := range a.lines {
		from := s.pool(l.Pool)
		if len(l.Nodes) > 0 {
			continue
		}
		names, given := a.others[l.Pool]
		if !given && from.Label != "" {
			for p := range s.pools.All() {
				if p.Label == from.Label && p.GPUsPerUnit == from.GPUsPerUnit {
					names = append(names, p.Name)
				}
			}
		}
		for _, n := range names {
			if slices.ContainsFunc(a.lines, func(x Line) bool { return x.Pool == n }) {
				continue
			}
			if len(out) == maxOthers {
				return out
			}
			to := s.pool(n).GPUsPerUnit
			lines := slices.Clone(a.lines)
			// Count ≤ 2⁴⁰ and GPUsPerUnit ≤ 2²⁰: no overflow.
			lines[i] = Line{Pool: n, Count: (l.Count*from.GPUsPerUnit + to - 1) / to, Within: l.Within}
			out = append(out, normalLines(lines))
		}
	}
	return out
}

// latestBefore returns the greatest aligned start in [lo, start) at which fit says
// yes, of those that the count allows. It looks back in steps that double, so a
// near answer is cheap, and tries the last and the first start of each run of
// starts that the count allows.
func (c *Calendar) latestBefore(owner string, lines []Line, lo, start, length, align int64, fit func(int64) bool) (int64, bool) {
	s := &c.core.S
	x := search{s: s, lines: lines, length: length, starts: comb{0, align}, owner: owner, grace: s.graceOf(lines), steps: maxSteps}
	for _, l := range lines {
		p := s.pool(l.Pool)
		lo = max(lo, s.now+max(p.prep, p.lead))
		x.pools = append(x.pools, p)
		var b breach
		if x.starts, b = p.starts(x.starts, length); !b.none() {
			return 0, false
		}
	}
	hi := min(start-1, latestStart(x.pools, s.now, length)) // starts in [from, hi] are looked at next
	trials := maxTrials
	start = hi + 1
	for back := max(length, align); hi >= lo; back *= 2 {
		from := max(lo, start-back)
		var runs []stretch     // both ends are starts
		x.hi, x.runs = hi, nil // those were counted from a later instant on
		for at := from; ; {
			first, ok := x.byCount(at)
			if !ok {
				break
			}
			last, ok := x.starts.down(x.runEnd(first))
			if !ok || last < first {
				last = first
			}
			runs = append(runs, stretch{first, last})
			at = last + 1
		}
		for i := len(runs) - 1; i >= 0; i-- {
			for _, at := range slices.Compact([]int64{runs[i].to, runs[i].from}) {
				if trials--; trials < 0 {
					return 0, false
				}
				if fit(at) {
					return at, true
				}
			}
		}
		if x.steps < 0 || back > tick.Forever/2 {
			break
		}
		hi = from - 1
	}
	return 0, false
}

// runEnd returns the greatest start up to hi such that the count suffices from
// the window at first through the one at it.
func (x *search) runEnd(first int64) int64 {
	last := x.hi
	for i, p := range x.pools {
		after := x.length + x.grace + p.cleanup
		for y := range p.load.Steps(first-p.prep, last+after) {
			if x.steps--; x.steps < 0 || y.Level > p.open-x.lines[i].Count {
				last = min(last, y.From-after)
				break
			}
		}
		for _, n := range x.lines[i].Nodes {
			if at, busy := x.s.firstBusy(n, first+after, last+after, ""); busy {
				last = min(last, at-after)
			}
		}
	}
	for _, l := range x.lines {
		last = min(last, x.s.sameEnd(x.owner, l, first, last, x.length, x.grace))
	}
	return max(last, first)
}
