// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"time"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/tick"
)

// enact changes the state as a validated event says. Commands and Apply both
// end here, so replay equals live by construction.
func (s *state) enact(tok *cow.Token, ev Event) {
	switch e := ev.(type) {
	case ReservedEvent:
		s.now = tick.Floor(e.At)
		s.reserve(tok, &e)
	case CommittedEvent:
		s.revise(tok, e.ID, e.At, func(r *record, t int64) {
			r.state, r.expires = Committed, tick.Forever
			r.current.amounts = e.Amounts
			r.spans = r.respan(t, r.current.from(t))
		})
	case ResizedEvent:
		s.revise(tok, e.ID, e.At, func(r *record, t int64) {
			from, to, _ := e.Window.ticks("")
			r.current = plan{from, to, e.Amounts}
			r.spans = r.respan(t, r.current.from(t))
		})
	case ReleasedEvent:
		s.revise(tok, e.ID, e.At, func(r *record, t int64) { r.stop(Released, t) })
	case ExpiredEvent:
		s.revise(tok, e.ID, e.At, func(r *record, t int64) { r.stop(Expired, t) })
	case EndedEvent:
		s.revise(tok, e.ID, e.At, func(r *record, t int64) { r.stop(Ended, t) })
	case TenantSetEvent:
		s.now = tick.Floor(e.At)
		s.setTenant(tok, e.Tenant)
	case TenantRemovedEvent:
		s.now = tick.Floor(e.At)
		s.removeTenant(tok, s.node(e.Name))
	case ForgottenEvent:
		s.now = tick.Floor(e.At)
		for _, f := range s.forgettable(tick.Floor(e.Before)) {
			s.replace(tok, f.old, f.now)
		}
	}
}

func (s *state) reserve(tok *cow.Token, e *ReservedEvent) {
	from, to, _ := e.Window.ticks("")
	r := &record{
		id: e.ID, node: s.node(e.Tenant), class: e.Class, state: Held, booked: e.Booked, note: e.Note,
		ttl: int64(e.TTL / time.Second), expires: tick.Forever, version: 1,
		asked: plan{from, to, e.Amounts},
	}
	if r.ttl > 0 {
		r.expires = s.now + r.ttl
	}
	if e.Booked {
		r.state = Committed
	}
	r.current = r.asked
	r.spans = r.respan(s.now, r.current.from(s.now))
	s.replace(tok, nil, r)
}

// revise puts a changed copy of a record in its place.
func (s *state) revise(tok *cow.Token, id string, at time.Time, f func(r *record, t int64)) {
	s.now = tick.Floor(at)
	old := s.record(id)
	r := *old
	r.version++
	f(&r, s.now)
	s.replace(tok, old, &r)
}

// stop ends a charge at t.
func (r *record) stop(as State, t int64) {
	if as != Expired {
		r.expires = tick.Forever
	}
	r.state, r.stopped = as, t
	r.spans = r.respan(t, span{})
}

// replace puts a record in the place of another of the same id and tenant, in
// every index and level. A nil old adds, a nil now removes.
func (s *state) replace(tok *cow.Token, old, now *record) {
	var before, after []span
	var r *record
	if old != nil {
		r, before = old, old.spans
		if d, ok := old.due(); ok {
			s.agenda.Remove(tok, d)
		}
	}
	if now != nil {
		r, after = now, now.spans
		if d, ok := now.due(); ok {
			s.agenda.Put(tok, d)
		}
		s.records.Put(tok, recordRef{now.id, now})
	} else {
		s.records.Remove(tok, recordRef{id: old.id})
		s.owners.Remove(tok, ownerRef{old.node, old.id})
	}
	if old == nil {
		s.owners.Put(tok, ownerRef{now.node, now.id})
	}
	for _, c := range contrast(before, after) {
		f := flow{raw: c.in, balance: c.in, gross: c.gross}
		if r.class == Guaranteed {
			f.guaranteed = c.in
		}
		s.climb(tok, s.ensure(tok, r.node, c.key), f)
	}
}
