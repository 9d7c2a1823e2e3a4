// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// maxPushed bounds how many bookings one [Calendar.Push] looks at.
const maxPushed = 256

// Push extends a booking and moves later what is in the way behind it: the
// confirmed Firm bookings of its pools that begin at or after its old end and
// have not begun, in order of begin, each to the earliest start from its own on
// at which it fits; those that fit where they are stay. It is all or nothing: no
// booking is lost, shortened or moved against a rule of its pools. Bookings within
// a domain, and those that continue others, stay where they are. It returns the
// extended booking and those that moved, by id. It looks at the first 256 bookings
// behind; later ones stay where they are.
//
// Possible errors: as of [Calendar.Extend]; [ErrState] that names the booking which
// could not be moved.
func (c *Calendar) Push(at time.Time, id string, newEnd time.Time, ifVersion uint64) (Booking, []Booking, error) {
	var moved []string
	b, err := c.on(at, id, ifVersion, func(now int64, r *record) error {
		if r.class != Firm || r.phase > Active {
			return fmt.Errorf("%w: %s booking %q is %s; only a Firm one that is not over pushes others", ErrState, r.class, id, r.phase)
		}
		if newEnd.IsZero() {
			return fmt.Errorf("%w: newEnd is not set", ErrEmptyWindow)
		}
		behind := c.behind(r)
		// On a trial without them, each gets its place in order of begin.
		trial := c.Fork()
		for _, x := range behind {
			trial.core.S.swap(trial.core.Token(), x, nil)
		}
		if err := trial.extend(now, trial.core.S.rec(id), newEnd); err != nil {
			return err
		}
		var events []Changed
		for _, x := range behind {
			e, err := trial.settleBehind(now, x)
			if err != nil {
				return fmt.Errorf("%w: booking %q is in the way and cannot be moved: %w", ErrState, x.id, err)
			}
			if e != nil {
				events = append(events, *e)
				moved = append(moved, x.id)
			}
		}
		return c.core.Try(func() error {
			base := c.core.S
			// The last one first, so that no two are ever on one node.
			for _, e := range slices.Backward(events) {
				if err := c.decide(e, c.core.S.rec(e.Request.ID).pools()...); err != nil {
					return err
				}
			}
			if err := c.extend(now, c.core.S.rec(id), newEnd); err != nil {
				return err
			}
			for _, pool := range c.core.S.poolNames(moved, r) {
				if worse(base.degraded(pool, now), c.core.S.degraded(pool, now)) {
					return fmt.Errorf("%w: some booking in pool %q would have less than before", ErrState, pool)
				}
			}
			return nil
		})
	})
	if err != nil {
		return Booking{}, nil, err
	}
	slices.Sort(moved)
	var out []Booking
	for _, x := range moved {
		out = append(out, c.core.S.rec(x).booking())
	}
	return b, out, nil
}

// behind returns the bookings that may have to give way when r ends later, in
// order of begin.
func (c *Calendar) behind(r *record) []*record {
	s := &c.core.S
	var out []*record
	for x := range s.live.From(&record{start: r.end}) {
		if len(out) == maxPushed {
			break
		}
		if x.class != Firm || x.phase != Confirmed || x.id == r.id || x.begun() || s.continued(x) != nil || x.before != "" ||
			slices.ContainsFunc(x.lines, func(l line) bool { return l.within != "" }) {
			continue
		}
		if slices.ContainsFunc(x.lines, func(l line) bool { return r.line(l.pool) != nil }) {
			out = append(out, x)
		}
	}
	return out
}

// poolNames returns the pools of the bookings and of r, in order.
func (s *state) poolNames(ids []string, r *record) []string {
	out := r.pools()
	for _, id := range ids {
		out = append(out, s.rec(id).pools()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// settleBehind puts x back into a trial where it was or, if that is taken, where
// it fits first after that. It returns the event that moves it, or nil.
func (c *Calendar) settleBehind(now int64, x *record) (*Changed, error) {
	s := &c.core.S
	if c.put(x) == nil {
		return nil, nil
	}
	q := x.request()
	at, err := c.earliest(now, q.Lines, x.end-x.start, x.start, lastTick, 1, x.owner)
	if err != nil {
		return nil, err
	}
	q.Window = windowOf(at, at+x.end-x.start)
	e := Changed{At: tick.Time(now), Request: q, Show: time.Duration(x.show) * time.Second}
	if e.Spans, err = s.envelopes(now, q); err != nil {
		return nil, err
	}
	for _, l := range q.Lines {
		e.Nodes = append(e.Nodes, l.Nodes...)
	}
	slices.Sort(e.Nodes)
	n, err := recordOf(Booked{At: tick.Time(x.created), Request: q, Spans: e.Spans})
	if err != nil {
		return nil, err
	}
	if err := c.put(n); err != nil {
		return nil, err
	}
	return &e, nil
}

// put adds a booking to a trial, with all the checks of a new one.
func (c *Calendar) put(x *record) error {
	return c.core.Try(func() error {
		s := &c.core.S
		n := x.change()
		for i := range n.lines {
			l := &n.lines[i]
			l.plan, l.near = nil, false
			if e := s.seatConflict(n, l, l.seats, l.from, l.to, l.seats); e != nil {
				return e
			}
		}
		if err := s.admit(n); err != nil {
			return err
		}
		base := *s
		s.swap(c.core.Token(), nil, n)
		for _, pool := range n.pools() {
			if plans := s.replan(pool); len(plans) > 0 {
				if err := c.apply(Planned{At: tick.Time(s.now), Pool: pool, Plans: plans}); err != nil {
					return err
				}
			}
			if worse(base.degraded(pool, s.now), s.degraded(pool, s.now)) {
				return errors.New("no seats that last its whole envelope were found")
			}
		}
		return nil
	})
}
