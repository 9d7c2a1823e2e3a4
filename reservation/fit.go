// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// A Query asks when a request would fit.
//
// A Query is immutable and safe for concurrent use.
type Query struct {
	Owner    string        // for the caller; it does not change the answer
	Lines    []Line        // as in a [Request]
	Length   time.Duration // of the window, whole seconds
	Earliest time.Time     // least start; zero: the present
	Latest   time.Time     // greatest start; zero: none
	Align    time.Duration // Start is a multiple of it since the Unix epoch; 0: any second
}

// maxTrials bounds how many starts are tried by laying plans. After them the
// search goes on where the count alone decides.
const maxTrials = 64

// EarliestFit returns the earliest window from the present on in which the
// lines fit, under the rules of their pools. Where the count decides (see
// [ReasonUnplaced]) no earlier aligned start fits. Since the present is the
// instant of the last event, give an Earliest that leaves the caller time to book.
// It costs O((1+g) log n), where g is the number of gaps that are too short.
//
// Possible errors: [*ConflictError] if nothing fits, [ErrUnknown] for a pool or
// a node, [ErrHorizon] for a range without a start, [ErrUnaligned], [ErrInvalid].
func (c *Calendar) EarliestFit(q Query) (Offer, error) {
	s := &c.core.S
	lo := s.now
	if !q.Earliest.IsZero() {
		at, err := exact("Query.Earliest", q.Earliest)
		if err != nil {
			return Offer{}, err
		}
		lo = max(lo, at)
	}
	hi := int64(lastTick)
	if !q.Latest.IsZero() {
		at, err := exact("Query.Latest", q.Latest)
		if err != nil {
			return Offer{}, err
		}
		if at < lo {
			return Offer{}, fmt.Errorf("%w: Query.Latest %s is before the earliest start %s", ErrHorizon, until(at), until(lo))
		}
		hi = at
	}
	length, err := tick.Seconds(q.Length)
	if err != nil || length == 0 || length > lastTick-s.now {
		return Offer{}, fmt.Errorf("%w: Query.Length %s is not a positive number of whole seconds before the year 10000", ErrInvalid, q.Length)
	}
	align, err := tick.Seconds(q.Align)
	if err != nil {
		return Offer{}, fmt.Errorf("%w: Query.Align: %w", ErrInvalid, err)
	}
	sample := Request{ID: "query", Owner: "query", Window: windowOf(s.now, s.now+length), Lines: q.Lines}
	if sample, err = sample.normal(); err != nil {
		return Offer{}, err
	}
	start, err := c.earliest(s.now, sample.Lines, length, lo, hi, max(align, 1))
	if err != nil {
		return Offer{}, err
	}
	return Offer{Kind: Later, Window: windowOf(start, start+length), Lines: sample.Lines}, nil
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
}

// earliest returns the least aligned start in [lo, hi] at which normal lines fit.
func (c *Calendar) earliest(now int64, lines []Line, length, lo, hi, align int64) (int64, error) {
	x := search{s: &c.core.S, lines: lines, length: length, starts: comb{0, align}}
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
		hi = min(hi, lastTick-length-p.grace-p.cleanup, latestStart([]*pool{p}, now, length))
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
			return 0, x.none(first)
		}
		if x.decided(start) {
			return start, nil
		}
		if trials++; trials > 2*maxTrials {
			return 0, x.none(first)
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
			if !ok || start > x.hi {
				return 0, false
			}
			whole := p.prep + x.length + p.grace + p.cleanup
			from, fit := p.load.FirstFit(start-p.prep, x.hi-p.prep, whole, p.open-x.lines[i].Count)
			if !fit {
				return 0, false
			}
			for _, n := range x.lines[i].Nodes {
				if nd, _ := x.s.node(n); nd.spare {
					return 0, false
				}
				for end, busy := x.s.busyUntil(n, from, from+whole); busy; end, busy = x.s.busyUntil(n, from, from+whole) {
					if end > x.hi {
						return 0, false
					}
					from = end
				}
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
	for _, x := range s.outUnion(name) {
		if x.from < to && x.to > from {
			return x.to, true
		}
	}
	return 0, false
}

// decided reports whether the count is enough to say yes at start.
func (x *search) decided(start int64) bool {
	for i, p := range x.pools {
		if len(x.lines[i].Nodes) == 0 && start-p.prep >= x.lastFixed[i] {
			continue
		}
		if len(x.lines[i].Nodes) > 0 && x.s.floats.Len() == 0 {
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
	return Request{ID: "query", Owner: "query", Window: windowOf(start, start+x.length), Lines: slices.Clone(x.lines)}
}

// none returns why nothing fits from lo on.
func (x *search) none(lo int64) *ConflictError {
	probe := &record{class: Firm, lines: make([]line, len(x.lines))}
	for i, p := range x.pools {
		l := &probe.lines[i]
		*l = line{pool: p.Name, count: x.lines[i].Count, pinned: x.lines[i].Nodes}
		l.from, l.to = lo-p.prep, lo+x.length+p.grace+p.cleanup
		if e := x.s.seatConflict(probe, l, l.pinned, l.from, l.to); e != nil {
			return e
		}
		if p.load.Max(l.from, l.to) > p.open-l.count {
			return x.s.conflict(probe, l, ReasonCount)
		}
	}
	e := x.s.conflict(probe, &probe.lines[0], ReasonUnplaced)
	e.tried = "every start at which something ends"
	return e
}
