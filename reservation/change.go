// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// known returns a booking in the version that the caller has seen; 0 is any.
func (s *state) known(id string, ifVersion uint64) (*record, error) {
	r := s.rec(id)
	if r == nil {
		return nil, fmt.Errorf("%w booking %q", ErrUnknown, id)
	}
	if ifVersion != 0 && ifVersion != r.version {
		return nil, fmt.Errorf("%w: booking %q has version %d, not %d; read it again", ErrVersion, id, r.version, ifVersion)
	}
	return r, nil
}

// on runs a command on one booking and returns what became of it.
func (c *Calendar) on(at time.Time, id string, ifVersion uint64, f func(now int64, r *record) error) (Booking, error) {
	err := c.command(at, func(now int64) error {
		r, err := c.core.S.known(id, ifVersion)
		if err != nil {
			return err
		}
		return f(now, r)
	})
	if err != nil {
		return Booking{}, err
	}
	return c.core.S.rec(id).booking(), nil
}

// Confirm keeps a hold for good. It fails from the very instant at which the
// hold expires, and for a hold that an outage has made short since. A booking
// that is already confirmed is returned as it is. IfVersion 0 means any.
//
// Possible errors: [ErrUnknown], [ErrVersion], [ErrExpired], [ErrState],
// [*ConflictError].
func (c *Calendar) Confirm(at time.Time, id string, ifVersion uint64) (Booking, error) {
	return c.on(at, id, ifVersion, func(now int64, r *record) error {
		s := &c.core.S
		switch r.phase {
		case Held:
		case Expired:
			return fmt.Errorf("%w: hold %q expired at %s; hold again", ErrExpired, id, until(r.expires))
		case Cancelled:
			return fmt.Errorf("%w: booking %q is Cancelled; book under a new id", ErrState, id)
		default:
			return nil
		}
		for i := range r.lines {
			l := &r.lines[i]
			for _, d := range s.degraded(l.pool, now) {
				if d.ID != id {
					continue
				}
				reason := ReasonCount
				if len(l.seats) > 0 {
					reason = ReasonSeats
				}
				e := s.conflict(r, l, ReasonSeats)
				e.Reason, e.At, e.Need, e.Shortfall = reason, d.Window, l.count, d.Shortfall
				e.Free = l.count - d.Shortfall
				if reason == ReasonCount {
					e.short = d.Shortfall
					at, _ := tick.Exact(d.Window.Start)
					e.Blocking = s.inTheWay(l.pool, "", at, d.Shortfall, id)
				}
				for _, n := range l.seats {
					if s.outIn(n, l.from, l.to) {
						e.Nodes = append(e.Nodes, n)
					}
				}
				return e
			}
		}
		return c.decide(HoldConfirmed{tick.Time(now), id}, r.pools()...)
	})
}

// Cancel gives back a hold or a booking before its window begins; its nodes are
// free at once, unless its pool has locked it (NoCancel and CancelUntil of
// [Policy]). Cancelling again changes nothing.
//
// Possible errors: [ErrUnknown], [ErrVersion], [ErrExpired], [ErrState],
// [*ConflictError] of [ReasonPolicy].
func (c *Calendar) Cancel(at time.Time, id string, ifVersion uint64) (Booking, error) {
	return c.on(at, id, ifVersion, func(now int64, r *record) error {
		switch r.phase {
		case Held, Confirmed:
			if err := r.alone("cancel"); err != nil {
				return err
			}
			if err := c.core.S.canUnchain(r); err != nil {
				return err
			}
			if err := c.core.S.cancelRule(now, r); err != nil {
				return err
			}
			return c.decide(BookingCancelled{tick.Time(now), id}, r.pools()...)
		case Cancelled:
			return nil
		case Expired:
			return fmt.Errorf("%w: hold %q expired at %s and is free already", ErrExpired, id, until(r.expires))
		case Active, Grace:
			return fmt.Errorf("%w: booking %q is %s; use Release", ErrState, id, r.phase)
		default:
			return fmt.Errorf("%w: booking %q is over", ErrState, id)
		}
	})
}

// Release ends a booking early, in its window or its grace. Its nodes are free
// after the cleanup; those of a Standby claim at once. Releasing a booking that
// has ended changes nothing.
//
// Possible errors: [ErrUnknown], [ErrVersion], [ErrState].
func (c *Calendar) Release(at time.Time, id string, ifVersion uint64) (Booking, error) {
	return c.on(at, id, ifVersion, func(now int64, r *record) error {
		switch r.phase {
		case Active, Grace:
			return c.leave(now, r, Released{tick.Time(now), id})
		case Ended:
			return nil
		case Held, Confirmed:
			return fmt.Errorf("%w: booking %q is %s; use Cancel", ErrState, id, r.phase)
		default:
			return fmt.Errorf("%w: booking %q is %s and has no nodes", ErrState, id, r.phase)
		}
	})
}

func (c *Calendar) extend(now int64, r *record, newEnd time.Time) error {
	s := &c.core.S
	if !newEnd.IsZero() {
		if _, err := exact("newEnd", newEnd); err != nil {
			return err
		}
	}
	if r.phase > Active {
		return fmt.Errorf("%w: booking %q is %s and its end is past", ErrState, r.id, r.phase)
	}
	n, err := s.extended(r, newEnd)
	if err != nil {
		return err
	}
	if n.end == r.end {
		return nil
	}
	if err := r.alone("extend"); err != nil {
		return err
	}
	if n.end < r.yield && n.end < addTicks(now, s.notice(r)) && s.vacant(r) != nil {
		return fmt.Errorf("%w: newEnd %s leaves the Standby claims on booking %q no notice; reclaim it first", ErrInvalid, until(n.end), r.id)
	}
	if n.end <= now {
		return fmt.Errorf("%w: newEnd %s is not after the present %s; use Release", ErrHorizon, until(n.end), until(now))
	}
	if n.phase == Held && n.end < n.expires {
		return fmt.Errorf("%w: newEnd %s is before the hold expires; confirm it first", ErrInvalid, until(n.end))
	}
	for i := range n.lines {
		if err := s.admitLonger(now, r, n, &r.lines[i], &n.lines[i]); err != nil {
			return err
		}
	}
	e := Extended{tick.Time(now), r.id, tick.Time(n.end)}
	if n.end == tick.Forever {
		e.End = time.Time{}
	}
	return c.seatably(e, n)
}

// extended returns r with another end.
func (s *state) extended(r *record, newEnd time.Time) (*record, error) {
	_, end, err := Window{tick.Time(r.start), newEnd}.ticks("Window", r.class == Standby)
	if err != nil {
		return nil, err
	}
	if end != tick.Forever && r.class == Firm && end-r.end > lastTick-r.lines[0].to {
		return nil, fmt.Errorf("%w: newEnd %s is, with grace and cleanup, after the year 9999", ErrInvalid, until(end))
	}
	n := r.next()
	n.keep()
	n.end = end
	n.yield = min(n.yield, end)
	n.detached = n.series != ""
	for i := range n.lines {
		l := &n.lines[i]
		if r.class == Standby {
			l.to = end
			continue
		}
		l.to += end - r.end
		if l.to > lastTick {
			return nil, fmt.Errorf("%w: newEnd %s is, with grace and cleanup, after the year 9999", ErrInvalid, until(end))
		}
		if len(l.plan) == 0 {
			continue
		}
		var plan []string
		for _, name := range l.plan {
			if s.free(name, l.from, l.to, r.id, true) {
				plan = append(plan, name)
			}
		}
		l.plan = plan
	}
	return n, n.checkShape()
}

// admitLonger checks the rules and the range that n has more than r.
func (s *state) admitLonger(now int64, r, n *record, old, l *line) error {
	p := s.pool(l.pool)
	if e := p.endRule(now, r, n.end); e != nil {
		return e
	}
	if n.class == Standby || l.to <= old.to {
		return nil
	}
	more := *l
	more.from = old.to
	if e := s.cellConflict(n, &more, more.from, more.to); e != nil {
		return e
	}
	if e := s.seatConflict(n, &more, l.seats, more.from, more.to, l.seats); e != nil {
		return e
	}
	if p.load.Max(more.from, more.to) > p.open-l.count {
		return s.conflict(n, &more, ReasonCount)
	}
	return nil
}
