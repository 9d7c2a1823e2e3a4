// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/tick"
)

// A chain is a booking and the one that continues it: one owner, the same lines,
// the second starts where the first ends. The first has no grace and no cleanup
// then, the second no prep; what the first dropped, the second has at its end.
//
//	first   prep├──────window──────┤
//	second                         ├────window────┤grace cleanup

// chainable checks that r can continue first.
func (s *state) chainable(r *record, first string) (*record, error) {
	p := s.rec(first)
	switch {
	case p == nil:
		return nil, fmt.Errorf("%w booking %q in Request.Continues", ErrUnknown, first)
	case p.phase != Confirmed && p.phase != Active || p.class != Firm:
		return nil, fmt.Errorf("%w: Request.Continues: %s booking %q is %s; only a confirmed or active Firm one goes on", ErrState, p.class, first, p.phase)
	case p.before != "":
		return nil, fmt.Errorf("%w: Request.Continues: booking %q is continued by %q already", ErrState, first, p.before)
	case p.owner != r.owner:
		return nil, fmt.Errorf("%w: Request.Continues: booking %q has another owner", ErrInvalid, first)
	case p.end != r.start:
		return nil, fmt.Errorf("%w: Request.Window starts at %s, but booking %q ends at %s", ErrInvalid, until(r.start), first, until(p.end))
	case !slices.EqualFunc(p.lines, r.lines, func(a, b line) bool {
		return a.pool == b.pool && a.count == b.count && a.within == b.within && slices.Equal(a.pinned, b.pinned)
	}):
		return nil, fmt.Errorf("%w: Request.Lines differ from those of booking %q", ErrInvalid, first)
	}
	return p, nil
}

// placeBehind decides e, which continues another booking.
func (c *Calendar) placeBehind(now int64, e Booked) error {
	s, q := &c.core.S, e.Request
	start, end, err := q.Window.ticks("Request.Window", false)
	if err != nil {
		return err
	}
	if start < now {
		return fmt.Errorf("%w: Request.Window starts at %s, the present is %s", ErrHorizon, until(start), until(now))
	}
	e.Spans = make([]Span, len(q.Lines))
	for i, l := range q.Lines {
		p, err := s.poolOf(l.Pool)
		if err != nil {
			return err
		}
		if x := p.rule(now, start, end); x != nil {
			x.ID = q.ID
			return x
		}
		e.Spans[i] = Span{From: q.Window.Start, To: q.Window.End}
	}
	r, err := recordOf(e)
	if err != nil {
		return err
	}
	first, err := s.chainable(r, q.Continues)
	if err != nil {
		return err
	}
	n := first.next()
	chain(n, r)
	if err := s.whole(r); err != nil {
		return err
	}
	for i := range r.lines {
		l := &r.lines[i]
		if l.to > lastTick {
			return fmt.Errorf("%w: Request.Window ends at %s; with grace and cleanup that is after the year 9999", ErrInvalid, until(end))
		}
		e.Spans[i].To, e.Spans[i].Cleanup = tick.Time(l.to), time.Duration(l.cleanup)*time.Second
	}
	// Without the turnaround between them there must be room for it.
	trial := c.Fork()
	trial.core.S.swap(trial.core.Token(), first, n)
	if err := trial.core.S.admit(r); err != nil {
		return err
	}
	for i := range r.lines {
		l := &r.lines[i]
		if x := trial.core.S.seatConflict(r, l, l.seats, l.from, l.to, l.seats); x != nil {
			return x
		}
	}
	return c.seatably(e, r)
}

// whole checks that each line of r that lies within a domain sits in one.
func (s *state) whole(r *record) error {
	for i := range r.lines {
		l := r.lines[i]
		l.open = false
		if err := s.together(&l, l.seats); err != nil {
			return fmt.Errorf("%w: booking %q cannot stay where the one before it is: %w", ErrState, r.id, err)
		}
	}
	return nil
}

// chain gives what a booking has after its window to the one that continues it.
// Both are copies for a change.
func chain(first, second *record) {
	first.before, second.after = second.id, first.id
	for i := range first.lines {
		a, b := &first.lines[i], &second.lines[i]
		b.to, b.cleanup = second.end+(a.to-first.end), a.cleanup
		a.to, a.cleanup = first.end, 0
		b.from, b.lead = second.start, a.lead
		if !first.floating(a) { // it stays where the first one is
			b.seats, b.late, b.plan, b.near = slices.Clone(a.seats), nil, nil, false
		}
	}
}

// unchain gives the tail back to the booking that second was to continue. It is
// put into force by the caller's swap of second.
func (s *state) unchain(tok *cow.Token, second *record) {
	old := s.continued(second)
	if old == nil {
		return
	}
	first := old.next()
	first.before = ""
	for i := range first.lines {
		a, b := &first.lines[i], &second.lines[i]
		a.to, a.cleanup, a.plan = first.tail(a, b, second.end), b.cleanup, nil
		a.cleanup = min(a.cleanup, a.to-a.from)
	}
	s.swap(tok, old, first)
}

// canUnchain checks that the booking that second was to continue can have its
// tail again on the nodes it has.
func (s *state) canUnchain(second *record) error {
	first := s.continued(second)
	if first == nil {
		return nil
	}
	for i := range first.lines {
		a, b := &first.lines[i], &second.lines[i]
		for _, name := range a.seats {
			for x := range s.seats.Before(slot{node: name, from: first.tail(a, b, second.end) - 1, id: lastID}) {
				if x.node != name || x.to <= a.to {
					break
				}
				if x.id != second.id && x.id != first.id {
					return fmt.Errorf("%w: without %q, booking %q needs node %q after its end, which is taken by then", ErrState, second.id, first.id, name)
				}
			}
		}
	}
	return nil
}

// follow gives the seats of one line to the booking that continues it, if they
// are free for it and it has none of its own.
func (s *state) follow(tok *cow.Token, r *record, pool string) {
	old := s.rec(r.before)
	if old == nil || !old.phase.Live() {
		return
	}
	second := old.change()
	l := second.line(pool)
	seats := r.line(pool).seats
	if !old.floating(l) || int64(len(seats)) < l.count {
		return
	}
	for _, n := range seats {
		if !s.free(n, l.from, l.to, second.id, true) { // nobody loses a plan for it
			return
		}
	}
	l.seats, l.plan, l.near = slices.Clone(seats), nil, false
	s.swap(tok, old, second)
}

// continued returns the booking that r, which has not begun, continues. It may be
// over before its time: then the cleanup of r was to clean its nodes.
func (s *state) continued(r *record) *record {
	if r.after == "" || r.begun() {
		return nil
	}
	first := s.rec(r.after)
	if first == nil || first.before != r.id || !first.phase.Live() && !first.phase.cleans() || !samePools(first.lines, r.lines) {
		return nil
	}
	return first
}

// tail returns until when line a of r has its nodes if nothing continues it;
// b is the line of the booking that was to, which ends at end.
func (r *record) tail(a, b *line, end int64) int64 {
	if r.phase.Live() {
		return r.end + (b.to - end)
	}
	return max(a.to, addTicks(r.ended, b.cleanup))
}

// alone refuses a change of a booking that is a part of a chain.
func (r *record) alone(what string) error {
	if r.before != "" {
		return fmt.Errorf("%w: booking %q is continued by %q; merge or cancel that one before you %s it", ErrState, r.id, r.before, what)
	}
	return nil
}

// checkChain checks the links of a booking that is not over.
func (s *state) checkChain(r *record) error {
	if !r.phase.Live() || r.before == "" {
		return nil
	}
	n := s.rec(r.before)
	if n == nil || !n.phase.Live() || n.after != r.id || n.start != r.end || n.owner != r.owner || !samePools(r.lines, n.lines) {
		return fmt.Errorf("booking %q is not continued by %q", r.id, r.before)
	}
	for i := range r.lines {
		if a, b := &r.lines[i], &n.lines[i]; a.to != r.end || a.cleanup != 0 || b.from != n.start || a.count != b.count {
			return fmt.Errorf("bookings %q and %q do not meet in pool %q", r.id, n.id, a.pool)
		}
	}
	return nil
}
