// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// A Query asks when a request would fit. [Calendar.EarliestFit] gives one
// answer, [Calendar.Search] a ranked list.
//
// A Query is immutable and safe for concurrent use.
type Query struct {
	Owner    string        // whose cell it is, in pools with cells; else for the caller
	Lines    []Line        // as in a [Request]
	Length   time.Duration // of the window, whole seconds
	Earliest time.Time     // least start; zero: the present
	Latest   time.Time     // greatest start; zero: none
	Align    time.Duration // Start is a multiple of it since the Unix epoch; 0: any second

	Start    time.Time // the wished start, for Search; zero: Earliest, or as soon as the rules allow
	Deadline time.Time // greatest end; zero: none
	// MinLength is how short an answer may be; 0: no shorter than Length. With
	// Segments it is how short each piece may be.
	MinLength time.Duration
	// MinCounts says by pool how few nodes an answer may have. A pool that is
	// not there gets its Count. A line with Nodes cannot have less.
	MinCounts map[string]int64
	// Segments is in how many pieces an answer may be, at most 16; 0 and 1: in
	// one. All pieces together have Length, each has the full Count.
	Segments int
	// Others names by pool those that may stand in for it, in order of
	// preference, for Search. A pool that is not there may be replaced by those
	// with its Label, if it has one, and as many GPUs per unit, by name.
	Others map[string][]string
	Limit  int // most offers of a Search; 0: all that are found
}

// maxTrials bounds how many starts are tried by laying plans. After them the
// search goes on where the count alone decides.
const maxTrials = 64

// maxSteps bounds how many gaps one search looks into.
const maxSteps = 1 << 16

// asOf returns c, or a fork of it on which what is due up to at has happened.
func (c *Calendar) asOf(at time.Time) *Calendar {
	now := tick.Floor(at)
	if now <= c.core.S.now {
		return c
	}
	f := c.Fork()
	f.Advance(at)
	f.core.S.now = now
	return f
}

// search is one look for a start.
type search struct {
	s         *state
	lines     []Line
	pools     []*pool
	length    int64
	starts    comb // where the grids let it begin
	hi        int64
	lastFixed []int64
	owner     string
	runs      map[int][]run // of the lines with Within
	grace     int64         // the greatest of its pools, as in [state.envelopes]
	steps     int           // left of the budget
}

// earliest returns the least aligned start in [lo, hi] at which normal lines fit.
func (c *Calendar) earliest(now int64, lines []Line, length, lo, hi, align int64, owner string) (int64, error) {
	x := search{s: &c.core.S, lines: lines, length: length, starts: comb{0, align}, owner: owner, grace: c.core.S.graceOf(lines), steps: maxSteps}
	for _, l := range lines {
		p, err := x.s.poolOf(l.Pool)
		if err != nil {
			return 0, err
		}
		for _, n := range l.Nodes {
			if nd, ok := x.s.node(n); !ok || nd.pool != l.Pool {
				return 0, fmt.Errorf("%w node %q in Lines[pool %q].Nodes", ErrUnknown, n, l.Pool)
			}
		}
		if err := p.level(l); err != nil {
			return 0, err
		}
		lo = max(lo, now+max(p.prep, p.lead))
		b := p.ofLength(length)
		if b.none() {
			b = firstBreach(over("MaxLead", lo-now, limit(p.maxLead)), over("Horizon", lo+length-now, limit(p.horizon)))
		}
		if b.none() {
			x.starts, b = p.starts(x.starts, length)
		}
		if !b.none() {
			e := p.refuse(b, "", lo, lo+length, p.allowed(now, lo, lo+length))
			e.Need = l.Count
			return 0, e
		}
		hi = min(hi, lastTick-length-x.grace-p.cleanup, latestStart([]*pool{p}, now, length))
		x.pools = append(x.pools, p)
		x.lastFixed = append(x.lastFixed, max(now, x.s.lastFixed(l.Pool)))
	}
	x.hi = hi
	first, ok := x.aligned(lo)
	if !ok || first > hi {
		return 0, fmt.Errorf("%w: no start that the pools and Align allow lies between %s and %s", ErrHorizon, until(lo), until(hi))
	}
	for trials := 0; ; {
		start, ok := x.byCount(lo)
		if !ok {
			return 0, x.none(first, trials-trials/(maxTrials+1)) // less the jump
		}
		if x.decided(start) {
			return start, nil
		}
		if trials == 0 {
			first = start // the first one that is tried
		}
		if trials++; trials > 2*maxTrials {
			return 0, x.none(first, trials-2) // less the jump and this one
		}
		if trials == maxTrials+1 { // go on behind everything that is fixed
			lo = start + 1
			for i, p := range x.pools {
				lo = max(lo, x.lastFixed[i]+p.prep)
			}
			continue
		}
		if c.fits(now, x.request(start)) {
			return start, nil
		}
		lo = x.nextEnd(start)
	}
}

// aligned rounds up to an allowed start; ok is false past the end of time.
func (x *search) aligned(at int64) (int64, bool) { return x.starts.up(at) }

// byCount returns the least aligned start from lo on at which every pool has
// the count and the named nodes.
func (x *search) byCount(lo int64) (int64, bool) {
	start, ok := x.aligned(lo)
	for moved := true; moved; {
		moved = false
		for i, p := range x.pools {
			if x.steps--; x.steps < 0 || !ok || start > x.hi {
				return 0, false
			}
			whole := p.prep + x.length + x.grace + p.cleanup
			from, fit := p.load.FirstFit(start-p.prep, x.hi-p.prep, whole, p.open-x.lines[i].Count)
			if !fit {
				return 0, false
			}
			for _, n := range x.lines[i].Nodes {
				if nd, _ := x.s.node(n); nd.spare {
					return 0, false
				}
				for end, busy := x.s.busyUntil(n, from, from+whole); busy; end, busy = x.s.busyUntil(n, from, from+whole) {
					if x.steps--; x.steps < 0 || end > x.hi {
						return 0, false
					}
					from = end
				}
			}
			if from, fit = x.byCell(i, from, whole); !fit {
				return 0, false
			}
			if from, fit = x.byDomain(i, from, whole); !fit {
				return 0, false
			}
			if from+p.prep != start {
				moved = true
				start, ok = x.aligned(from + p.prep)
			}
		}
	}
	return start, ok && start <= x.hi
}

// busyUntil returns the end of the last seat or outage of a node in [from, to).
func (s *state) busyUntil(name string, from, to int64) (int64, bool) {
	for x := range s.seats.Before(slot{node: name, from: to - 1, id: lastID}) {
		if x.node == name && x.to > from {
			return x.to, true
		}
		break
	}
	for _, x := range s.closedRanges(name) {
		if x.from < to && x.to > from {
			return x.to, true
		}
	}
	return 0, false
}

// decided reports whether the count is enough to say yes at start.
func (x *search) decided(start int64) bool {
	for i, p := range x.pools {
		if len(x.lines[i].Nodes) == 0 && x.lines[i].Within == "" && start-p.prep >= x.lastFixed[i] {
			continue
		}
		if (len(x.lines[i].Nodes) > 0 || x.lines[i].Within != "") && x.s.needy.Len()+x.s.full.Len() == 0 {
			continue
		}
		return false
	}
	return true
}

// nextEnd returns the next start at which something of one of the pools has
// ended that had not at start: before it no other nodes become free. The levels
// do not tell, since where one ends another may begin.
func (x *search) nextEnd(start int64) int64 {
	next := int64(tick.Forever - 1)
	for i, p := range x.pools {
		from, first := start-p.prep, int64(tick.Forever)
		for sp := range x.s.touching(x.lines[i].Pool, from, from+1) {
			first = min(first, sp.to)
		}
		for o := range x.s.outages.All() {
			if o.to > from {
				first = min(first, o.to)
			}
		}
		for sp := range x.s.touching(x.lines[i].Pool, from, first) {
			first = min(first, sp.to)
		}
		if first < tick.Forever {
			next = min(next, first+p.prep)
		}
	}
	return max(next, start+1)
}

// request is what would be booked at start.
func (x *search) request(start int64) Request {
	return Request{ID: "query", Owner: cmp.Or(x.owner, "query"), Window: windowOf(start, start+x.length), Lines: slices.Clone(x.lines)}
}

// none returns why nothing fits from lo on. It is a proof only if no start that
// the count allows was tried in vain, and the budget is not spent.
func (x *search) none(lo int64, trials int) *ConflictError {
	probe := &record{owner: x.owner, class: Firm, lines: make([]line, len(x.lines))}
	for i, p := range x.pools {
		l := &probe.lines[i]
		*l = line{pool: p.Name, count: x.lines[i].Count, pinned: x.lines[i].Nodes, within: x.lines[i].Within}
		l.from, l.to = lo-p.prep, lo+x.length+x.grace+p.cleanup
		if trials > 0 || x.steps < 0 {
			continue
		}
		if e := x.s.cellConflict(probe, l, l.from, l.to); e != nil {
			return e
		}
		if e := x.s.seatConflict(probe, l, l.pinned, l.from, l.to, nil); e != nil {
			return e
		}
		if p.load.Max(l.from, l.to) > p.open-l.count {
			return x.s.conflict(probe, l, ReasonCount)
		}
		if e := x.s.domainConflict(probe, l); e != nil {
			return e
		}
	}
	e := x.s.conflict(probe, &probe.lines[0], ReasonUnplaced)
	e.Shortfall = 0
	e.tried = fmt.Sprintf("%d starts at which the count suffices", trials)
	if x.steps < 0 {
		e.tried += fmt.Sprintf(", up to the %dth gap", maxSteps)
	}
	return e
}
