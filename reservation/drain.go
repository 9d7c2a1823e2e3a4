// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"cmp"
	"slices"

	"github.com/berth-gpu/berth/internal/tick"
)

// drain makes happen what is due up to now.
func (c *Calendar) drain(now int64) error {
	for {
		d, ok := c.core.S.due.Min()
		if !ok || d.at > now {
			return nil
		}
		if err := c.happen(d); err != nil {
			return err
		}
	}
}

// happen decides one due item. What became due in the past, because a command
// made it so, happens in the present.
func (c *Calendar) happen(d due) error {
	s := &c.core.S
	at := tick.Time(max(d.at, s.now))
	switch d.kind {
	case dueExpiry:
		return c.decide(HoldExpired{at, d.id}, s.rec(d.id).pools()...)
	case dueEnd:
		r := s.rec(d.id)
		if r.phase == Active && r.graceEnd() > r.end {
			return c.decide(GraceBegan{at, d.id})
		}
		return c.decide(BookingEnded{at, d.id}, r.pools()...)
	case dueOutage:
		return c.decide(OutageEnded{at, d.id}, s.outagePools(s.outage(d.id))...)
	case dueNotice:
		n, _ := s.node(d.id)
		next, _ := s.nextSeat(d.id, s.now)
		return c.decide(ReclaimNotice{at, n.standby, d.id, tick.Time(next.from), next.id})
	case dueOpen:
		return c.open(d)
	default:
		return c.decide(Started{at, d.id})
	}
}

// open settles the seats of a line whose envelope begins.
func (c *Calendar) open(d due) error {
	s := &c.core.S
	at := tick.Time(max(d.at, s.now))
	r := s.rec(d.id)
	l := &r.lines[d.line]
	nodes := s.settle(r, l)
	for _, name := range nodes {
		if n, _ := s.node(name); n.standby != "" {
			if err := c.decide(Unseated{at, n.standby, name, r.id}); err != nil {
				return err
			}
		}
	}
	return c.decide(Opened{at, r.id, l.pool, nodes}, l.pool)
}

// settle returns the seats with which a line begins: those it has and can use,
// then its plan, then other free nodes, then seats in outage, which are better
// than none because they may come back.
func (s *state) settle(r *record, l *line) []string {
	if len(l.pinned) > 0 {
		return l.seats
	}
	var nodes, out []string
	for _, n := range l.seats {
		if s.outIn(n, l.from, l.to) {
			out = append(out, n)
		} else {
			nodes = append(nodes, n)
		}
	}
	nodes = append(nodes, l.plan...)
	if need := l.count - int64(len(nodes)); need > 0 {
		nodes = append(nodes, s.pick(r, l, need)...)
	}
	if room := l.count - int64(len(nodes)); room > 0 {
		nodes = append(nodes, out[:min(room, int64(len(out)))]...)
	}
	slices.Sort(nodes)
	return nodes
}

// pick returns up to need further nodes that are free for the whole envelope:
// first those whose next use is soonest, so that long gaps stay whole, then
// those without a Standby claim, then the first of the pool.
func (s *state) pick(r *record, l *line, need int64) []string {
	type candidate struct {
		next    int64
		standby int
		ord     int
		name    string
	}
	var list []candidate
	idle := int64(0)
	future := s.lastFixed(l.pool) > s.now
	for i, u := range s.pool(l.pool).Units {
		if u.Spare || slices.Contains(l.seats, u.Name) || slices.Contains(l.plan, u.Name) || !s.free(u.Name, l.from, l.to, r.id, true) {
			continue
		}
		x := candidate{next: tick.Forever, ord: i, name: u.Name}
		if future {
			x.next = s.nextUse(u.Name, l.to)
		}
		if n, _ := s.node(u.Name); n.standby != "" {
			x.standby = 1
		} else {
			idle++
		}
		list = append(list, x)
		if !future && idle == need {
			break // nothing later in the pool is better
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.next, b.next), cmp.Compare(a.standby, b.standby), cmp.Compare(a.ord, b.ord))
	})
	var names []string
	for _, x := range list[:min(need, int64(len(list)))] {
		names = append(names, x.name)
	}
	return names
}

// nextUse returns when a seat, a plan or an outage of the node next begins.
func (s *state) nextUse(name string, from int64) int64 {
	at := int64(tick.Forever)
	if x, ok := s.nextSeat(name, from); ok {
		at = x.from
	}
	for x := range s.plans.From(slot{node: name, from: from}) {
		if x.node == name {
			at = min(at, x.from)
		}
		break
	}
	for x := range s.outs.From(slot{node: name, from: from}) {
		if x.node == name {
			at = min(at, x.from)
		}
		break
	}
	return at
}

// outagePools returns the pools of an outage's nodes.
func (s *state) outagePools(o *outage) []string {
	var out []string
	for _, name := range o.nodes {
		if n, ok := s.node(name); ok {
			out = append(out, n.pool)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
