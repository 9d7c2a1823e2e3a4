// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// Hold keeps nodes for ttl, in which the caller may confirm. A hold takes
// capacity like a booking. Only Firm requests are held.
//
// The id is the request key: the same call again is answered from the record
// and changes nothing. Cost: O(log n) for floating lines, and for pinned ones
// O(log n) per node; see the package comment for pools with future seats.
//
// Possible errors: [*ConflictError], [ErrExists], [ErrHorizon], [ErrUnknown] for
// a pool or a node, [ErrEmptyWindow], [ErrUnaligned], [ErrInvalid].
func (c *Calendar) Hold(at time.Time, q Request, ttl time.Duration) (Booking, error) {
	secs, err := tick.Seconds(ttl)
	if err == nil && secs == 0 {
		err = errors.New("a hold must last at least a second")
	}
	if err != nil {
		return Booking{}, fmt.Errorf("%w: ttl: %w", ErrInvalid, err)
	}
	if q.Class == Standby {
		return Booking{}, fmt.Errorf("%w: Request.Class is Standby, which keeps no nodes; use Book", ErrInvalid)
	}
	return c.add(at, q, secs)
}

// Book makes a booking that needs no confirmation, in one event. See
// [Calendar.Hold] for its key, its cost and the possible errors.
func (c *Calendar) Book(at time.Time, q Request) (Booking, error) { return c.add(at, q, 0) }

// add books q, or holds it for ttl seconds if ttl is not 0.
func (c *Calendar) add(at time.Time, q Request, ttl int64) (Booking, error) {
	q, err := q.normal()
	if err != nil {
		return Booking{}, err
	}
	err = c.command(at, func(now int64) error {
		err := c.place(now, q, ttl)
		if refusal, ok := errors.AsType[*ConflictError](err); ok {
			refusal.Offers = c.offers(now, q)
		}
		return err
	})
	if err != nil {
		return Booking{}, err
	}
	return c.core.S.rec(q.ID).booking(), nil
}

// place decides the booking of a normal request, or that it is there already.
func (c *Calendar) place(now int64, q Request, ttl int64) error {
	s := &c.core.S
	if r := s.rec(q.ID); r != nil {
		switch {
		case !r.original().equal(q):
			return fmt.Errorf("%w: booking %q exists with another body; choose a new id", ErrExists, q.ID)
		case r.held != (ttl > 0) || r.held && r.expires-r.created != ttl:
			return fmt.Errorf("%w: booking %q was made by another call or with another ttl; confirm it or choose a new id", ErrExists, q.ID)
		}
		return nil
	}
	if err := s.claimable(q.ID, q.Owner); err != nil {
		return err
	}
	e := Booked{At: tick.Time(now), Request: q}
	if ttl > 0 {
		end, _ := tick.Exact(q.Window.End)
		if addTicks(now, ttl) > end {
			return fmt.Errorf("%w: ttl: the hold would last until after its window; at most %s", ErrInvalid, time.Duration(end-now)*time.Second)
		}
		e.Expires = tick.Time(now + ttl)
	}
	if q.Continues != "" {
		if ttl > 0 { // when it expired, the other could not always have its turnaround back
			return fmt.Errorf("%w: Request.Continues: a hold cannot continue booking %q; use Book", ErrInvalid, q.Continues)
		}
		return c.placeBehind(now, e)
	}
	var err error
	if e.Spans, err = s.envelopes(now, q); err != nil {
		return err
	}
	e.Show = s.showBy(q)
	r, err := recordOf(e)
	if err != nil {
		return err
	}
	if err := s.admit(r); err != nil {
		return err
	}
	return c.choose(e, r, func(e Booked) Event { return e })
}

// showBy returns how long after its start somebody has to check in to q.
func (s *state) showBy(q Request) time.Duration {
	var least int64
	for _, l := range q.Lines {
		if p := s.pool(l.Pool); p != nil && q.Class == Firm && p.noShow > 0 && (least == 0 || p.noShow < least) {
			least = p.noShow
		}
	}
	return time.Duration(least) * time.Second
}

// envelopes checks the window of q against the present and the rules of its
// pools, and returns the envelope of each line.
func (s *state) envelopes(now int64, q Request) ([]Span, error) {
	start, end, err := q.Window.ticks("Request.Window", q.Class == Standby)
	if err != nil {
		return nil, err
	}
	if start < now {
		return nil, fmt.Errorf("%w: Request.Window starts at %s, the present is %s", ErrHorizon, until(start), until(now))
	}
	out := make([]Span, len(q.Lines))
	var grace int64 // the greatest of its pools: work leaves all of them at one instant
	for _, l := range q.Lines {
		if p := s.pool(l.Pool); p != nil {
			grace = max(grace, p.grace)
		}
	}
	for i, l := range q.Lines {
		p := s.pool(l.Pool)
		if p == nil {
			return nil, fmt.Errorf("%w pool %q in Request.Lines", ErrUnknown, l.Pool)
		}
		if err := p.level(l); err != nil {
			return nil, err
		}
		if q.Class == Standby {
			if e := p.standbyRule(q.ID, start, end); e != nil {
				return nil, e
			}
			out[i] = Span{From: q.Window.Start, To: q.Window.End}
			continue
		}
		if e := p.rule(now, start, end); e != nil {
			e.ID = q.ID
			return nil, e
		}
		from, to := start-p.prep, end+grace+p.cleanup
		if from < now {
			return nil, fmt.Errorf("%w: Request.Window starts at %s, but pool %q needs %s to prepare; the earliest start is %s",
				ErrHorizon, until(start), p.Name, p.Policy.Prep, until(now+p.prep))
		}
		if to > lastTick {
			return nil, fmt.Errorf("%w: Request.Window ends at %s; with grace and cleanup that is after the year 9999", ErrInvalid, until(end))
		}
		out[i] = Span{tick.Time(from), tick.Time(to), p.Policy.Cleanup, time.Duration(p.reclaim) * time.Second}
	}
	return out, nil
}

// admissible checks what an event cannot contradict: that the pools and pinned
// nodes of r are there and no other booking has those nodes.
func (s *state) admissible(r *record) error { return s.admissibleAfter(r, "") }

func (s *state) admissibleAfter(r *record, first string) error {
	for i := range r.lines {
		l := &r.lines[i]
		p := s.pool(l.pool)
		if p == nil {
			return fmt.Errorf("%w pool %q in Request.Lines", ErrUnknown, l.pool)
		}
		if r.class == Firm && l.count > maxSum-p.sum {
			return fmt.Errorf("%w: pool %q: %d more nodes pass the sum of 1<<62", ErrInvalid, l.pool, l.count)
		}
		for _, name := range l.pinned {
			if n, ok := s.node(name); !ok || n.pool != l.pool {
				return fmt.Errorf("%w node %q in Request.Lines[pool %q].Nodes", ErrUnknown, name, l.pool)
			}
			if id, busy := s.otherSeat(name, l.from, l.to, r.id); busy && id != first {
				return fmt.Errorf("node %q belongs to booking %q", name, id)
			}
		}
	}
	return nil
}

// admit refuses r unless the count and the named nodes of every line are free.
func (s *state) admit(r *record) error {
	for i := range r.lines {
		l := &r.lines[i]
		for _, name := range l.pinned {
			if n, ok := s.node(name); !ok || n.pool != l.pool {
				return fmt.Errorf("%w node %q in Request.Lines[pool %q].Nodes", ErrUnknown, name, l.pool)
			}
		}
		if r.class == Standby {
			continue
		}
		if e := s.cellConflict(r, l, l.from, l.to); e != nil {
			return e
		}
		if len(l.pinned) > 0 {
			if e := s.seatConflict(r, l, l.pinned, l.from, l.to, nil); e != nil {
				return e
			}
		}
		if p := s.pool(l.pool); p.load.Max(l.from, l.to) > p.open-l.count {
			return s.conflict(r, l, ReasonCount)
		}
		if e := s.domainConflict(r, l); e != nil {
			return e
		}
	}
	return nil
}

// seatably decides e, which makes or changes the booking that will look like r,
// and refuses it if then r, or any other booking, has less at any instant than
// it would have without e.
func (c *Calendar) seatably(e Event, r *record) error {
	s := &c.core.S
	old := s.rec(r.id)
	plain, pools := true, r.pools()
	if old != nil { // seats may be on spares or in a drain, and it may be somebody's turn to lack
		for _, pool := range old.pools() {
			p := s.pool(pool)
			plain = plain && len(old.nodes()) == 0 && p.load.Max(s.now, tick.Forever) <= p.open
		}
		pools = slices.Compact(slices.Sorted(slices.Values(append(pools, old.pools()...))))
	}
	for i := range r.lines {
		l := &r.lines[i]
		plain = plain && (r.class == Standby || r.floating(l) && l.from >= max(s.now, s.lastFixed(l.pool)) && len(l.plan) == 0)
	}
	if plain { // the count has decided
		return c.decide(e, pools...)
	}
	return c.core.Try(func() error {
		base := c.core.S
		if err := c.decide(e, pools...); err != nil {
			return err
		}
		for _, pool := range pools {
			after := c.core.S.degraded(pool, c.core.S.now)
			if len(after) == 0 || !worse(base.degraded(pool, c.core.S.now), after) {
				continue
			}
			l := r.line(pool)
			if l == nil {
				l = &r.lines[0]
			}
			x := base.conflict(r, l, ReasonUnplaced)
			x.Free, x.Shortfall = max(x.Free, x.Need), 0 // its own nodes are free for it
			x.tried = "keeping the plans of the others and laying all anew in order of begin"
			return x
		}
		return nil
	})
}

// worse reports whether a booking lacks more at some instant after than before.
// Both lists are of one pool; the windows of one booking do not overlap.
func worse(before, after []Degradation) bool {
	by := map[string][]Degradation{}
	for _, d := range before {
		by[d.ID] = append(by[d.ID], d)
	}
	for _, d := range after {
		from := d.Window.Start // up to here it is no worse
		for _, b := range by[d.ID] {
			if b.Shortfall >= d.Shortfall && !b.Window.Start.After(from) && b.Window.End.After(from) {
				from = b.Window.End
			}
		}
		if from.Before(d.Window.End) {
			return true
		}
	}
	return false
}
