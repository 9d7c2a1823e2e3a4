// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"slices"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/tick"
)

// swap replaces record old by now, either of which may be nil, and keeps every
// index in step. It is the only way in which a record changes.
func (s *state) swap(tok *cow.Token, old, now *record) {
	some := now
	if some == nil {
		some = old
	}
	// Lines first: what they push aside swaps other records.
	for i := range some.lines {
		s.swapLine(tok, old, now, i)
	}
	s.swapDue(tok, old, now)
	if old != nil && old.phase.Live() && (now == nil || !now.phase.Live() || now.start != old.start) {
		s.live.Remove(tok, old)
	}
	if old != nil && !old.phase.Live() && (now == nil || now.phase.Live() || now.clearAt() != old.clearAt()) {
		s.final.Remove(tok, clearing{old.clearAt(), old.id})
	}
	if now == nil {
		s.recs.Remove(tok, old)
		return
	}
	s.recs.Put(tok, now)
	if now.phase.Live() {
		s.live.Put(tok, now)
	} else {
		s.final.Put(tok, clearing{now.clearAt(), now.id})
	}
}

// dues returns what a record will do by itself.
func (r *record) dues(out []due) []due {
	switch r.phase {
	case Held:
		out = append(out, due{at: r.expires, kind: dueExpiry, id: r.id})
	case Confirmed:
		out = append(out, due{at: r.start, kind: dueStart, id: r.id})
	case Active:
		if r.end != tick.Forever {
			out = append(out, due{at: r.end, kind: dueEnd, id: r.id})
		}
	case Grace:
		out = append(out, due{at: r.graceEnd(), kind: dueEnd, id: r.id})
	}
	if r.class == Firm && r.phase.Live() {
		for i := range r.lines {
			if !r.lines[i].open {
				out = append(out, due{at: r.lines[i].from, kind: dueOpen, id: r.id, line: i})
			}
		}
	}
	return out
}

func (s *state) swapDue(tok *cow.Token, old, now *record) {
	var was, is [8]due
	a, b := was[:0], is[:0]
	if old != nil {
		a = old.dues(a)
	}
	if now != nil {
		b = now.dues(b)
	}
	for _, d := range a {
		if !slices.Contains(b, d) {
			s.due.Remove(tok, d)
		}
	}
	for _, d := range b {
		if !slices.Contains(a, d) {
			s.due.Put(tok, d)
		}
	}
}

// place is what a line contributes to the indexes.
type place struct {
	from, to           int64
	count              int64 // nodes kept from others, 0: none
	span               bool
	float, plan, short bool
	seats              []slot
	plans, stand       []string
}

func (r *record) place(i int) place {
	if r == nil {
		return place{}
	}
	l := &r.lines[i]
	p := place{from: l.from, to: l.to}
	p.span = r.phase <= Ended && l.from < l.to
	if r.occupies(l) {
		p.count = l.count
		for _, n := range l.seats {
			if from := l.seatFrom(n); from < l.to {
				p.seats = append(p.seats, slot{n, from, l.to, r.id})
			}
		}
	}
	if p.float = r.floating(l); p.float {
		p.plans, p.plan = l.plan, len(l.plan) > 0
	}
	p.short = r.isShort(l)
	if r.class == Standby && r.phase.Live() {
		p.stand = l.seats
	}
	return p
}

func (s *state) swapLine(tok *cow.Token, old, now *record, i int) {
	a, b := old.place(i), now.place(i)
	r := now
	if r == nil {
		r = old
	}
	pool, id := r.lines[i].pool, r.id
	moved := a.from != b.from || a.to != b.to

	if a.count != b.count || moved {
		s.addLoad(tok, pool, a.from, a.to, -a.count)
		s.addLoad(tok, pool, b.from, b.to, b.count)
	}
	if a.span && (!b.span || moved) {
		s.spans.Remove(tok, span{pool, lengthClass(a.from, a.to), a.from, a.to, id})
	}
	if b.span && (!a.span || moved) {
		s.spans.Put(tok, span{pool, lengthClass(b.from, b.to), b.from, b.to, id})
	}
	swapFloat(tok, &s.floats, float{pool, a.from, id}, float{pool, b.from, id}, a.float, b.float)
	swapFloat(tok, &s.planned, float{pool, a.from, id}, float{pool, b.from, id}, a.plan, b.plan)
	swapFloat(tok, &s.short, float{pool, a.from, id}, float{pool, b.from, id}, a.short, b.short)

	if moved || !slices.Equal(a.plans, b.plans) {
		for _, n := range a.plans {
			s.plans.Remove(tok, slot{n, a.from, a.to, id})
		}
		for _, n := range b.plans {
			s.plans.Put(tok, slot{n, b.from, b.to, id})
		}
	}
	if moved || !slices.Equal(a.seats, b.seats) {
		for _, x := range a.seats {
			s.seats.Remove(tok, x)
			s.fixed.Remove(tok, fix{pool, x.from, x.node, id})
		}
		for _, x := range b.seats {
			s.evict(tok, x.node, x.from, x.to)
			s.seats.Put(tok, x)
			s.fixed.Put(tok, fix{pool, x.from, x.node, id})
		}
		for _, x := range a.seats {
			s.touch(tok, x.node)
		}
		for _, x := range b.seats {
			s.touch(tok, x.node)
		}
	}
	if !slices.Equal(a.stand, b.stand) {
		for _, n := range a.stand {
			s.setStandby(tok, n, "")
		}
		for _, n := range b.stand {
			s.setStandby(tok, n, id)
		}
	}
}

func swapFloat(tok *cow.Token, set *cow.Sorted[float], a, b float, was, is bool) {
	if was && (!is || a != b) {
		set.Remove(tok, a)
	}
	if is && (!was || a != b) {
		set.Put(tok, b)
	}
}

func (s *state) addLoad(tok *cow.Token, name string, from, to, count int64) {
	if count == 0 || from >= to {
		return
	}
	p := *s.pool(name)
	p.load.Add(tok, from, to, count)
	p.sum += count
	s.pools.Put(tok, &p)
}

// evict takes a node from the plans that overlap [from, to): a plan gives way
// to a seat and to an outage. [Calendar.replan] looks for another node.
func (s *state) evict(tok *cow.Token, name string, from, to int64) {
	for {
		id, ok := overlap(&s.plans, name, from, to)
		if !ok {
			return
		}
		n, _ := s.node(name)
		old := s.rec(id)
		r := old.change()
		l := r.line(n.pool)
		l.plan = without(l.plan, name)
		s.swap(tok, old, r)
	}
}

func inSorted(list []string, name string) bool {
	_, found := slices.BinarySearch(list, name)
	return found
}

// without returns a copy of the sorted list without name.
func without(list []string, name string) []string {
	out := make([]string, 0, len(list))
	for _, n := range list {
		if n != name {
			out = append(out, n)
		}
	}
	return out
}

func (s *state) setStandby(tok *cow.Token, name, id string) {
	n, ok := s.node(name)
	if !ok {
		return
	}
	n.standby, n.notice = id, ""
	s.nodes.Put(tok, n)
	s.touch(tok, name)
}

// touch brings the notice of a node in line with its next Firm seat.
func (s *state) touch(tok *cow.Token, name string) {
	n, ok := s.node(name)
	if !ok {
		return
	}
	was, at, notice := n, int64(none), ""
	if n.standby != "" {
		if next, ok := s.nextSeat(name, s.now); ok {
			if n.notice == next.id {
				notice = next.id
			} else {
				at = next.from - s.pool(n.pool).reclaim
			}
		}
	}
	n.notice, n.reclaimAt = notice, at
	if n == was {
		return
	}
	if was.reclaimAt != none {
		s.due.Remove(tok, due{at: was.reclaimAt, kind: dueNotice, id: name})
	}
	if at != none {
		s.due.Put(tok, due{at: at, kind: dueNotice, id: name})
	}
	s.nodes.Put(tok, n)
}

// nextSeat returns the first Firm seat of a node that begins at or after from.
func (s *state) nextSeat(name string, from int64) (slot, bool) {
	for x := range s.seats.From(slot{node: name, from: from}) {
		return x, x.node == name
	}
	return slot{}, false
}
