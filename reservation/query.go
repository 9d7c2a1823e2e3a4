// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// Budgets of one question, beside those of each search ([maxSteps], [maxTrials]).
const (
	maxPieces  = 16  // pieces of an answer
	maxOthers  = 16  // other pools that are tried
	maxRefined = 256 // trials that make a smaller answer larger
)

// asked is a Query in ticks, with the defaults filled in.
type asked struct {
	owner             string
	lines             []Line // normal
	least             []Line // the same, with the least counts
	length, minLength int64
	wish              int64 // the wished start
	lo, hi            int64 // starts
	deadline          int64
	align             int64
	pieces            int
	others            map[string][]string
	limit             int
	trials            int // left
}

// ask checks q against the present of s.
func (s *state) ask(q Query) (*asked, error) {
	a := &asked{owner: q.Owner, hi: lastTick, deadline: lastTick, others: q.Others, trials: maxRefined}
	instant := func(field string, t time.Time, to *int64) (err error) {
		if !t.IsZero() {
			*to, err = exact(field, t)
		}
		return err
	}
	a.lo = s.now
	a.wish = none
	for _, f := range []struct {
		field string
		t     time.Time
		to    *int64
	}{{"Query.Earliest", q.Earliest, &a.lo}, {"Query.Latest", q.Latest, &a.hi}, {"Query.Start", q.Start, &a.wish}, {"Query.Deadline", q.Deadline, &a.deadline}} {
		if err := instant(f.field, f.t, f.to); err != nil {
			return nil, err
		}
	}
	a.lo = max(a.lo, s.now)
	if a.hi < a.lo {
		return nil, fmt.Errorf("%w: Query.Latest %s is before the earliest start %s", ErrHorizon, until(a.hi), until(a.lo))
	}
	var err error
	if a.length, err = tick.Seconds(q.Length); err != nil || a.length == 0 || a.length > lastTick-s.now {
		return nil, fmt.Errorf("%w: Query.Length %s is not a positive number of whole seconds before the year 10000", ErrInvalid, q.Length)
	}
	if a.minLength, err = tick.Seconds(q.MinLength); err != nil || a.minLength > a.length {
		return nil, fmt.Errorf("%w: Query.MinLength %s is not a number of whole seconds up to Length %s", ErrInvalid, q.MinLength, q.Length)
	}
	if a.align, err = tick.Seconds(q.Align); err != nil {
		return nil, fmt.Errorf("%w: Query.Align: %w", ErrInvalid, err)
	}
	a.align = max(a.align, 1)
	if q.Segments < 0 || q.Segments > maxPieces {
		return nil, fmt.Errorf("%w: Query.Segments is %d, not 0 … %d", ErrInvalid, q.Segments, maxPieces)
	}
	if a.pieces = max(1, q.Segments); a.pieces > 1 && a.minLength == 0 {
		return nil, fmt.Errorf("%w: Query.Segments is %d, and MinLength is not set; say how short a piece may be", ErrInvalid, q.Segments)
	}
	if a.minLength == 0 {
		a.minLength = a.length
	}
	if a.limit = q.Limit; q.Limit < 0 {
		return nil, fmt.Errorf("%w: Query.Limit is %d; 0 is no limit", ErrInvalid, q.Limit)
	}
	if a.deadline-a.lo < a.minLength {
		return nil, fmt.Errorf("%w: no window of %s from %s on ends by Query.Deadline %s", ErrHorizon, time.Duration(a.minLength)*time.Second, until(a.lo), until(a.deadline))
	}
	sample := Request{ID: "query", Owner: cmp.Or(q.Owner, "query"), Window: windowOf(s.now, s.now+a.length), Lines: q.Lines}
	if sample, err = sample.normal(); err != nil {
		return nil, err
	}
	if err := s.named(q.Owner, sample.Lines); err != nil {
		return nil, err
	}
	a.lines = sample.Lines
	if err := s.askLines(a, q); err != nil {
		return nil, err
	}
	if a.wish == none { // as soon as the rules allow
		a.wish = a.lo
		for _, l := range a.lines {
			p := s.pool(l.Pool)
			a.wish = max(a.wish, s.now+max(p.prep, p.lead))
		}
	} else if a.wish < a.lo || a.wish > a.hi {
		return nil, fmt.Errorf("%w: Query.Start %s is not between the earliest start %s and Latest %s", ErrHorizon, until(a.wish), until(a.lo), until(a.hi))
	}
	a.wish, _ = aligned(a.wish, a.align)
	return a, nil
}

// askLines checks the pools of a query and fills in the least counts.
func (s *state) askLines(a *asked, q Query) error {
	a.least = slices.Clone(a.lines)
	for i, l := range a.lines {
		if s.pool(l.Pool) == nil {
			return fmt.Errorf("%w pool %q in Query.Lines", ErrUnknown, l.Pool)
		}
		n, ok := q.MinCounts[l.Pool]
		if !ok {
			continue
		}
		if n < 1 || n > l.Count || len(l.Nodes) > 0 && n < l.Count {
			return fmt.Errorf("%w: Query.MinCounts[%q] is %d; its line needs 1 … %d, or all of its Nodes", ErrInvalid, l.Pool, n, l.Count)
		}
		a.least[i].Count = n
	}
	has := func(pool string) bool {
		return slices.ContainsFunc(a.lines, func(l Line) bool { return l.Pool == pool })
	}
	for _, pool := range slices.Sorted(maps.Keys(q.MinCounts)) {
		if !has(pool) {
			return fmt.Errorf("%w: Query.MinCounts[%q] has no line", ErrInvalid, pool)
		}
	}
	for _, pool := range slices.Sorted(maps.Keys(q.Others)) {
		if !has(pool) {
			return fmt.Errorf("%w: Query.Others[%q] has no line", ErrInvalid, pool)
		}
		for _, o := range q.Others[pool] {
			if s.pool(o) == nil {
				return fmt.Errorf("%w pool %q in Query.Others[%q]", ErrUnknown, o, pool)
			}
		}
	}
	return nil
}

// graceOf returns the greatest grace of the pools of lines: work leaves all of
// them at one instant.
func (s *state) graceOf(lines []Line) int64 {
	var grace int64
	for _, l := range lines {
		if p := s.pool(l.Pool); p != nil {
			grace = max(grace, p.grace)
		}
	}
	return grace
}

// aligned rounds up to a multiple of align; ok is false past the end of time.
func aligned(at, align int64) (int64, bool) { return comb{0, align}.up(at) }

// EarliestFit returns the earliest window from the present on in which the
// lines fit, under the rules of their pools. At is the present of the question;
// what is due up to it is seen as done, nothing is changed. Where the count
// decides (see [ReasonUnplaced]) it promises:
//
//   - No earlier aligned start fits, with as few nodes as MinCounts and as short
//     as MinLength. At that start the window is as long as it can be with
//     MinCounts, and for that window each line has as many nodes as it can.
//     Length comes first, since work that is cut off is lost, and on fewer nodes
//     it is only slower.
//   - With Segments, the last piece ends as early as it can, and there are as few
//     pieces as that allows. The pieces' envelopes do not overlap. Not promised,
//     but sought, if a rule of a pool forbids a window of Length, or pools differ
//     in Prep + Grace + Cleanup.
//
// The kind of the offer says how it differs from the wish. Elsewhere the offer
// fits, but an earlier one may not be found: up to 127 starts are tried by laying plans.
// A search looks into 65,536 gaps. If it ends there, or a trial was in vain, the
// refusal is Unplaced, never Count.
//
// It costs O((1+g) log n), where g is the number of gaps that are too short; with
// Segments O(g·k²) for k pieces.
//
// Possible errors: [*ConflictError] if nothing fits, [ErrUnknown] for a pool or
// a node, [ErrHorizon] for a range without a start, [ErrUnaligned], [ErrInvalid].
func (c *Calendar) EarliestFit(at time.Time, q Query) (Offer, error) {
	c = c.asOf(at)
	a, err := c.core.S.ask(q)
	if err != nil {
		return Offer{}, err
	}
	if a.pieces > 1 {
		return c.segments(a)
	}
	return c.elastic(a, a.lo, a.least, a.minLength)
}

// elastic returns the earliest answer from lo on that has least and minLength,
// made as long and then as large as it can be.
func (c *Calendar) elastic(a *asked, lo int64, least []Line, minLength int64) (Offer, error) {
	s := &c.core.S
	length := a.length // what the rules forbid is no answer
	minLength = shortest(s.poolsOf(a.lines), minLength, a.length)
	start, err := c.earliest(s.now, least, minLength, lo, min(a.hi, a.deadline-minLength), a.align, a.owner)
	if err != nil {
		return Offer{}, err
	}
	length = c.longest(a, start, minLength, min(length, a.deadline-start), least)
	lines := c.largest(a, start, length, least)
	return a.offer(start, length, lines), nil
}

// offer returns a window in its own words.
func (a *asked) offer(start, length int64, lines []Line) Offer {
	o := Offer{Kind: Exact, Window: windowOf(start, start+length), Lines: lines}
	switch {
	case slices.ContainsFunc(a.lines, func(l Line) bool {
		return slices.ContainsFunc(lines, func(x Line) bool { return x.Pool == l.Pool && x.Count < l.Count })
	}):
		o.Kind = Smaller
	case length < a.length:
		o.Kind = Shorter
	case start > a.wish:
		o.Kind = Later
	case start < a.wish:
		o.Kind = Earlier
	}
	return o
}

// request is what would be booked.
func (a *asked) request(start, length int64, lines []Line) Request {
	q := Request{ID: "query", Owner: a.owner, Window: windowOf(start, start+length), Lines: slices.Clone(lines)}
	if q.Owner == "" {
		q.Owner = "query"
	}
	return q
}

// try reports whether a window could be booked, while there are trials left.
func (c *Calendar) try(a *asked, start, length int64, lines []Line) bool {
	if a.trials == 0 {
		return false
	}
	a.trials--
	return c.fits(c.core.S.now, a.request(start, length, lines))
}

// longest returns how long a window from start on can be, from minLength, which
// fits, up to most.
func (c *Calendar) longest(a *asked, start, minLength, most int64, lines []Line) int64 {
	s := &c.core.S
	grace := s.graceOf(lines)
	for _, l := range lines {
		p := s.pool(l.Pool)
		before, after := p.prep, grace+p.cleanup
		if p.horizon > 0 {
			most = min(most, s.now+p.horizon-start)
		}
		most = min(most, lastTick-after-start)
		for x := range p.load.Steps(start-before, start+most+after) {
			if x.Level > p.open-l.Count {
				most = min(most, x.From-after-start)
				break
			}
		}
		for _, n := range l.Nodes {
			if x, ok := s.firstBusy(n, start-before, start+most+after, ""); ok {
				most = min(most, x-after-start)
			}
		}
	}
	pools := s.poolsOf(lines)
	allowed := func(n int64) int64 { return max(minLength, longest(pools, s.now, start, start+n)-start) }
	return allowed(bisect(minLength, most, func(n int64) bool {
		n = allowed(n)
		return n == minLength || c.try(a, start, n, lines)
	}))
}

// largest returns the lines with as many nodes as fit, at least those of least,
// which fit.
func (c *Calendar) largest(a *asked, start, length int64, least []Line) []Line {
	s := &c.core.S
	grace := s.graceOf(least)
	best, equal := slices.Clone(least), true
	for i, l := range a.lines {
		if l.Count > least[i].Count {
			p := s.pool(l.Pool)
			free := p.open - p.load.Max(start-p.prep, start+length+grace+p.cleanup)
			best[i].Count = max(least[i].Count, min(l.Count, free))
			equal = equal && best[i].Count == least[i].Count
		}
	}
	if equal || c.try(a, start, length, best) {
		return best
	}
	lines := slices.Clone(least) // seats are in the way: one line after the other
	for i := range lines {
		lines[i].Count = bisect(lines[i].Count, best[i].Count, func(n int64) bool {
			more := slices.Clone(lines)
			more[i].Count = n
			return c.try(a, start, length, more)
		})
	}
	return lines
}
