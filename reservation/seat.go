// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// Seat gives a booking the nodes that the host has chosen: all that it has from
// now on, for all its lines together. It is all or nothing, and refused if it
// would cost another booking its own.
//
// A Firm booking gets exactly as many nodes as it asked for, each free for its
// whole envelope, and in one domain where a line asks for it. Before its envelope
// begins a floating booking may be seated again elsewhere, also one that the
// calendar has seated within a domain. Once it has begun, and always if it is pinned, only seats
// that are missing or in outage may be replaced; healthy ones stay. In their
// place, and only there, nodes may be spares. A booking that continues it follows,
// if that costs nobody anything.
//
// A Standby claim that has begun may get any set, also none, of nodes that no
// other Standby claim has and no Firm envelope holds or will hold within the
// pool's ReclaimLead.
//
// Possible errors: [ErrUnknown], [ErrState], [ErrInvalid], [*ConflictError].
func (c *Calendar) Seat(at time.Time, id string, nodes []string) (Booking, error) {
	nodes = slices.Clone(nodes)
	slices.Sort(nodes)
	return c.on(at, id, 0, func(now int64, r *record) error {
		s := &c.core.S
		byPool, err := s.split(r, nodes)
		if err != nil {
			return err
		}
		e := Seated{tick.Time(now), id, nodes}
		if r.class == Standby {
			return c.seatStandby(now, r, e, byPool)
		}
		if r.phase > Active {
			return fmt.Errorf("%w: booking %q is %s; only a live one has seats", ErrState, id, r.phase)
		}
		n := r.next()
		same := true
		for i := range n.lines {
			l := &n.lines[i]
			if int64(len(byPool[i])) != l.count {
				return fmt.Errorf("%w: nodes has %d of pool %q, booking %q needs %d", ErrInvalid, len(byPool[i]), l.pool, id, l.count)
			}
			same = same && slices.Equal(l.seats, byPool[i])
			if err := s.seatLine(now, n, l, byPool[i]); err != nil {
				return err
			}
			l.seats, l.plan = byPool[i], nil
		}
		if same {
			return nil
		}
		return c.core.Try(func() error {
			// An envelope that has begun leaves a Standby claim no time.
			for i, l := range r.lines {
				if l.open && r.yield == none {
					if err := c.clear(e.At, id, minus(byPool[i], l.seats)); err != nil {
						return err
					}
				}
			}
			if err := c.seatably(e, n); err != nil {
				return err
			}
			c.seatBehind(now, n)
			return nil
		})
	})
}

// seatBehind seats the booking that continues r where r is, if that costs
// nobody anything.
func (c *Calendar) seatBehind(now int64, r *record) {
	s := &c.core.S
	b := s.rec(r.before)
	if b == nil || !b.phase.Live() || b.begun() {
		return
	}
	n := b.next()
	for i := range n.lines {
		l := &n.lines[i]
		nodes := r.lines[i].seats
		if int64(len(nodes)) != l.count || s.seatLine(now, n, l, nodes) != nil {
			return
		}
		l.seats, l.plan, l.near = nodes, nil, false
	}
	if slices.Equal(n.nodes(), b.nodes()) {
		return
	}
	// A refusal leaves it where it was.
	_ = c.seatably(Seated{tick.Time(now), b.id, n.nodes()}, n)
}

// seatLine checks the nodes proposed for one line of a Firm booking.
func (s *state) seatLine(now int64, r *record, l *line, nodes []string) error {
	from := max(now, l.from)
	if err := s.together(l, nodes); err != nil {
		return err
	}
	var spares []string
	if l.open || len(l.pinned) > 0 {
		for _, n := range l.seats {
			if !inSorted(nodes, n) && !s.outIn(n, from, l.to) {
				return fmt.Errorf("%w: booking %q has begun or is pinned, and its node %q is healthy; name it, too", ErrState, r.id, n)
			}
		}
	}
	// Spares are for what a booking lacks.
	lacks := l.count - int64(len(l.seats))
	for _, n := range l.seats {
		if s.outIn(n, from, l.to) {
			lacks++
		}
	}
	var fresh []string
	for _, n := range nodes {
		if inSorted(l.seats, n) {
			continue
		}
		fresh = append(fresh, n)
		if nd, _ := s.node(n); nd.spare && lacks > 0 && !r.floating(l) {
			lacks--
			spares = append(spares, n)
		}
	}
	if e := s.seatConflict(r, l, fresh, from, l.to, spares); e != nil {
		return e
	}
	return nil
}

func (c *Calendar) seatStandby(now int64, r *record, e Seated, byPool [][]string) error {
	s := &c.core.S
	if r.phase != Active {
		return fmt.Errorf("%w: Standby claim %q is %s; it has seats once it is Active", ErrState, r.id, r.phase)
	}
	same := true
	for i := range r.lines {
		l := &r.lines[i]
		same = same && slices.Equal(l.seats, byPool[i])
		if l.count > 0 && int64(len(byPool[i])) > l.count {
			return fmt.Errorf("%w: nodes has %d of pool %q, Standby claim %q may have %d", ErrInvalid, len(byPool[i]), l.pool, r.id, l.count)
		}
		for _, name := range byPool[i] {
			if inSorted(l.seats, name) {
				continue
			}
			if x := s.notForStandby(r, l, name, now); x != nil {
				return x
			}
		}
	}
	if same {
		return nil
	}
	return c.decide(e)
}

// notForStandby refuses a node that is a spare, that another Standby claim has,
// or that a Firm envelope holds or will hold before a claim could leave again.
func (s *state) notForStandby(r *record, l *line, name string, now int64) error {
	n, _ := s.node(name)
	to := addTicks(now, s.pool(l.pool).reclaim) + 1
	id, busy := s.kept(name, now, to)
	if !busy {
		id, busy = overlap(&s.plans, name, now, to)
	}
	drained := meets(&s.drains, name, now, to)
	if !busy && !n.spare && n.standby == "" && !drained {
		return nil
	}
	e := &ConflictError{ID: r.id, Pool: l.pool, Reason: ReasonSeats, At: windowOf(now, to), Need: 1, Shortfall: 1, Nodes: []string{name}}
	if n.standby != "" {
		o := s.rec(n.standby)
		e.Blocking = []Blocking{{o.id, o.owner, windowOf(o.start, o.end), 1}}
	} else if busy {
		o := s.rec(id)
		x := o.lineNear(l.pool)
		e.At = windowOf(max(now, x.from), x.to)
		e.Blocking = []Blocking{{o.id, o.owner, windowOf(x.from, x.to), x.count}}
	}
	return e
}

// kept returns who keeps the node from Standby claims in [from, to).
func (s *state) kept(name string, from, to int64) (string, bool) {
	for x := range s.seats.Before(slot{node: name, from: to - 1, id: lastID}) {
		if x.node != name || x.to <= from {
			break
		}
		if s.rec(x.id).yield < to {
			return x.id, true
		}
	}
	return "", false
}

// Binding yields what the host should seat by at: the confirmed Firm bookings
// with a floating line whose envelope begins within BindLead, by begin of the
// window and id. What is not seated when its envelope begins, the calendar
// seats itself.
func (c *Calendar) Binding(at time.Time) iter.Seq[Booking] {
	s := &c.core.S
	now := max(tick.Floor(at), s.now)
	return func(yield func(Booking) bool) {
		var recs []*record
		for p := range s.pools.All() {
			for f := range s.floats(p.Name) {
				if f.from > addTicks(now, p.bind) {
					break
				}
				if r := s.rec(f.id); r.phase == Confirmed && !slices.Contains(recs, r) {
					recs = append(recs, r)
				}
			}
		}
		slices.SortFunc(recs, byStart)
		for _, r := range recs {
			if !yield(r.booking()) {
				return
			}
		}
	}
}

// NextBinding returns from when on [Calendar.Binding] has something to seat; an
// instant that is not after the present means that it has now.
func (c *Calendar) NextBinding() (time.Time, bool) {
	s := &c.core.S
	first := int64(tick.Forever)
	for p := range s.pools.All() {
		for f := range s.floats(p.Name) {
			if s.rec(f.id).phase == Confirmed {
				first = min(first, f.from-p.bind)
				break
			}
		}
	}
	if first == tick.Forever {
		return time.Time{}, false
	}
	return tick.Time(first), true
}
