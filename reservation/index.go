// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"slices"
	"strings"

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
	if old != nil && now != nil && !samePools(old.lines, now.lines) {
		for i := range old.lines {
			s.swapLine(tok, old, nil, i)
		}
		for i := range now.lines {
			s.swapLine(tok, nil, now, i)
		}
	} else {
		for i := range some.lines {
			s.swapLine(tok, old, now, i)
		}
	}
	s.swapDue(tok, old, now)
	if old != nil && old.phase.Live() && (now == nil || !now.phase.Live() || now.start != old.start) {
		s.live.Remove(tok, old)
	}
	if old != nil && !old.phase.Live() && (now == nil || now.phase.Live() || now.clearAt() != old.clearAt()) {
		s.final.Remove(tok, clearing{old.clearAt(), old.id})
	}
	if now == nil {
		s.recs.Remove(tok, old.id)
		s.swapOccurrence(tok, old, nil)
		return
	}
	s.recs.Put(tok, now.id, now)
	s.swapOccurrence(tok, old, now)
	if old != nil && old.yield != now.yield { // when its nodes are wanted back
		for _, name := range bothOf(old.nodes(), now.nodes()) {
			s.touch(tok, name)
		}
	}
	if now.phase.Live() {
		s.live.Put(tok, now)
	} else {
		s.final.Put(tok, clearing{now.clearAt(), now.id})
	}
}

func samePools(a, b []line) bool {
	return slices.EqualFunc(a, b, func(a, b line) bool { return a.pool == b.pool })
}

// nextDue returns what a record will do by itself next: there is never more than
// one such item in the queue.
func (r *record) nextDue() (due, bool) {
	d, some := due{at: tick.Forever}, false
	add := func(at int64, kind uint8, line int) {
		x := due{at: at, kind: kind, id: r.id}
		if kind == dueNear || kind == dueOpen {
			x.line, x.created = uint8(line), r.created
		}
		if at != tick.Forever && (!some || x.less(d)) {
			d, some = x, true
		}
	}
	switch r.phase {
	case Held:
		add(r.expires, dueExpiry, 0)
	case Confirmed:
		add(r.start, dueStart, 0)
	case Active:
		add(r.end, dueEnd, 0)
		if r.show > 0 && !r.shown {
			add(r.start+r.show, dueNoShow, 0)
		}
		if r.yield != none {
			add(r.yield, dueYield, 0)
		}
	case Grace:
		add(r.graceEnd(), dueEnd, 0)
	}
	if r.class == Firm && r.phase.Live() {
		for i := range r.lines {
			l := &r.lines[i]
			if !l.open {
				add(l.from, dueOpen, i)
			}
			if r.floating(l) && !l.near {
				add(l.from-l.lead, dueNear, i)
			}
		}
	}
	return d, some
}

func (s *state) swapDue(tok *cow.Token, old, now *record) {
	var was, is due
	var had, has bool
	if old != nil {
		was, had = old.nextDue()
	}
	if now != nil {
		is, has = now.nextDue()
	}
	if had && (!has || was != is) {
		s.due.Remove(tok, was)
	}
	if has && (!had || was != is) {
		s.due.Put(tok, is)
	}
}

// place is what a line contributes to the indexes.
type place struct {
	from, to                 int64
	count                    int64 // nodes kept from others, 0: none
	span                     bool
	plan, needy, full, short bool
	seats                    []slot // by node
	plans, told, stand       []string
}

func (r *record) place(i int) place {
	if r == nil {
		return place{}
	}
	l := &r.lines[i]
	p := place{from: l.from, to: l.to, count: r.uses(l)}
	p.span = (r.phase.Live() || r.phase.cleans()) && l.from < l.to
	if r.occupies(l) && len(l.seats) > 0 {
		p.seats = make([]slot, 0, len(l.seats))
		for _, n := range l.seats {
			if from := l.seatFrom(n); from < l.to {
				p.seats = append(p.seats, slot{n, from, l.to, r.id})
			}
		}
	}
	if r.floating(l) {
		p.plans, p.plan = l.plan, len(l.plan) > 0 && !l.near
		if l.near && r.phase == Confirmed {
			p.told = l.plan
		}
		p.full = int64(len(l.plan)) >= l.count
		p.needy = !p.full
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
	s.swapCell(tok, old, now, i)
	if a.span && (!b.span || moved) {
		s.spans.Remove(tok, span{pool, lengthClass(a.from, a.to), a.from, a.to, id})
	}
	if b.span && (!a.span || moved) {
		s.spans.Put(tok, span{pool, lengthClass(b.from, b.to), b.from, b.to, id})
	}
	was, is := float{pool, a.from, r.created, id}, float{pool, b.from, r.created, id}
	swapFloat(tok, &s.full, was, is, a.full, b.full)
	swapFloat(tok, &s.planned, was, is, a.plan, b.plan)
	swapFloat(tok, &s.needy, was, is, a.needy, b.needy)
	swapFloat(tok, &s.short, was, is, a.short, b.short)

	gone, come := difference(a.plans, b.plans, strings.Compare, moved)
	for _, n := range gone {
		s.plans.Remove(tok, slot{n, a.from, a.to, id})
	}
	for _, n := range come {
		s.plans.Put(tok, slot{n, b.from, b.to, id})
	}
	gone, come = difference(a.told, b.told, strings.Compare, moved)
	for _, n := range gone {
		s.told.Remove(tok, slot{n, a.from, a.to, id})
	}
	for _, n := range come {
		s.told.Put(tok, slot{n, b.from, b.to, id})
	}
	touched := append(gone, come...)
	touched = append(touched, s.swapSeats(tok, pool, a.seats, b.seats)...)
	for _, n := range touched { // only now, since a plan may have become a seat
		s.touch(tok, n)
	}
	gone, come = difference(a.stand, b.stand, strings.Compare, false)
	for _, n := range gone {
		s.setStandby(tok, n, "")
	}
	for _, n := range come {
		s.setStandby(tok, n, id)
	}
}

// swapSeats replaces seats of a line and returns the nodes of those that differ.
func (s *state) swapSeats(tok *cow.Token, pool string, was, is []slot) []string {
	gone, come := difference(was, is, slot.compare, false)
	if len(gone)+len(come) == 0 {
		return nil
	}
	s.evict(tok, come)
	for _, x := range gone {
		s.addUnit(tok, x.node, -1)
		s.seats.Remove(tok, x)
		s.fixed.Remove(tok, fix{pool, x.from, x.node, x.id})
		s.addUnit(tok, x.node, +1)
	}
	for _, x := range come {
		s.addUnit(tok, x.node, -1)
		s.seats.Put(tok, x)
		s.fixed.Put(tok, fix{pool, x.from, x.node, x.id})
		s.addUnit(tok, x.node, +1)
	}
	names := make([]string, 0, len(gone)+len(come))
	for _, x := range append(gone, come...) {
		names = append(names, x.node)
	}
	return names
}

// difference returns what is only in a and what is only in b, both sorted; with
// all set that is everything.
func difference[T comparable](a, b []T, compare func(x, y T) int, all bool) (gone, come []T) {
	if all { // of their own, since callers append to them
		return slices.Clone(a), slices.Clone(b)
	}
	for len(a) > 0 && len(b) > 0 {
		switch c := compare(a[0], b[0]); {
		case c == 0 && a[0] == b[0]:
			a, b = a[1:], b[1:]
		case c <= 0:
			gone, a = append(gone, a[0]), a[1:]
		default:
			come, b = append(come, b[0]), b[1:]
		}
	}
	return append(gone, a...), append(come, b...)
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
	s.pools.Put(tok, p.Name, &p)
}

// evict takes nodes from the plans that overlap the slots: a plan gives way to a
// seat and to an outage. [state.replan] looks for other nodes.
func (s *state) evict(tok *cow.Token, slots []slot) {
	if s.plans.Len() == 0 {
		return
	}
	type owner struct{ id, pool string }
	lost := map[owner][]string{}
	for _, x := range slots {
		for y := range s.plans.Before(slot{node: x.node, from: x.to - 1, id: lastID}) {
			if y.node != x.node || y.to <= x.from {
				break
			}
			n, _ := s.node(x.node)
			who := owner{y.id, n.pool}
			lost[who] = append(lost[who], x.node)
		}
	}
	// The order does not matter: each one changes another line.
	for who, names := range lost {
		slices.Sort(names)
		old := s.rec(who.id)
		r := old.change()
		l := r.line(who.pool)
		l.plan = minus(l.plan, names)
		s.swap(tok, old, r)
	}
}

func inSorted(list []string, name string) bool {
	_, found := slices.BinarySearch(list, name)
	return found
}

// minus returns a copy of a sorted list without the names of another.
func minus(list, names []string) []string {
	out := make([]string, 0, len(list))
	for _, n := range list {
		for len(names) > 0 && names[0] < n {
			names = names[1:]
		}
		if len(names) == 0 || names[0] != n {
			out = append(out, n)
		}
	}
	return out
}

// setNode replaces what is kept about a node; old is nil for a new one.
func (s *state) setNode(tok *cow.Token, old *node, n node) {
	if old != nil && *old == n {
		return
	}
	if old == nil || old.ready() != n.ready() || old.spare != n.spare {
		if old != nil && !old.spare {
			s.ready.Remove(tok, old.ready())
		}
		if !n.spare {
			s.ready.Put(tok, n.ready())
		}
	}
	if old != nil && old.reclaimAt != none && old.reclaimAt != n.reclaimAt {
		s.due.Remove(tok, due{at: old.reclaimAt, kind: dueNotice, id: n.name})
	}
	if n.reclaimAt != none && (old == nil || old.reclaimAt != n.reclaimAt) {
		s.due.Put(tok, due{at: n.reclaimAt, kind: dueNotice, id: n.name})
	}
	s.nodes.Put(tok, n)
}

func (n *node) ready() ready { return ready{n.pool, n.standby != "", n.last, n.ord, n.name} }

// removeNode forgets a node.
func (s *state) removeNode(tok *cow.Token, n node) {
	if !n.spare {
		s.ready.Remove(tok, n.ready())
	}
	if n.reclaimAt != none {
		s.due.Remove(tok, due{at: n.reclaimAt, kind: dueNotice, id: n.name})
	}
	s.dead.Remove(tok, deadSeat{n.pool, n.name})
	s.nodes.Remove(tok, n)
}

func (s *state) setStandby(tok *cow.Token, name, id string) {
	if n, ok := s.node(name); ok && n.standby != id {
		was := n
		n.standby, n.notice, n.noticeBy = id, "", 0
		s.setNode(tok, &was, n)
		s.touch(tok, name)
	}
}

// touch brings what is kept about a node in line with its seats and outages.
func (s *state) touch(tok *cow.Token, name string) {
	n, ok := s.node(name)
	if !ok {
		return
	}
	was := n
	n.last = s.lastSeat(name)
	at, notice, by := int64(none), "", int64(0)
	if n.standby != "" {
		if next, ok := s.reclaimer(name, s.now); ok {
			if n.notice == next.id && n.noticeBy == next.from {
				notice, by = next.id, next.from
			} else {
				at = next.from - s.pool(n.pool).reclaim
			}
		}
	}
	n.notice, n.noticeBy, n.reclaimAt = notice, by, at
	s.setNode(tok, &was, n)
	if s.hasDeadSeat(name) {
		s.dead.Put(tok, deadSeat{n.pool, name})
	} else {
		s.dead.Remove(tok, deadSeat{n.pool, name})
	}
}

// nextSeat returns the first Firm seat of a node that begins at or after from.
func (s *state) nextSeat(name string, from int64) (slot, bool) {
	for x := range s.seats.From(slot{node: name, from: from}) {
		return x, x.node == name
	}
	return slot{}, false
}

// reclaimer returns for whom a Standby claim has to leave a node: the first Firm
// seat, or plan of a confirmed booking that begins soon, from an instant on.
func (s *state) reclaimer(name string, from int64) (slot, bool) {
	for x := range s.seats.Before(slot{node: name, from: from, id: lastID}) {
		if r := s.rec(x.id); x.node == name && x.to > from && r != nil && r.yield >= from {
			return slot{name, r.yield, x.to, x.id}, true
		}
		break
	}
	next, ok := s.nextSeat(name, from)
	for x := range s.told.From(slot{node: name, from: from}) {
		if x.node == name && (!ok || x.from < next.from) {
			return x, true
		}
		break
	}
	return next, ok
}

// lastSeat returns the end of a node's last Firm seat.
func (s *state) lastSeat(name string) int64 {
	for x := range s.seats.Before(slot{node: name, from: tick.Forever, id: lastID}) {
		if x.node == name {
			return x.to
		}
		break
	}
	return none
}

// hasDeadSeat reports whether a node has a Firm seat and an outage at one time.
func (s *state) hasDeadSeat(name string) bool {
	for x := range s.outs.From(slot{node: name, from: none}) {
		if x.node != name {
			break
		}
		if _, busy := s.otherSeat(name, x.from, x.to, ""); busy {
			return true
		}
	}
	return false
}
