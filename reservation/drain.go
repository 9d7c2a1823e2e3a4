// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"cmp"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/cow"
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
	case dueYield:
		r := s.rec(d.id)
		if err := c.clear(at, r.id, r.nodes()); err != nil {
			return err
		}
		return c.decide(Yielded{at, r.id, at})
	case dueNoShow:
		r := s.rec(d.id)
		return c.leave(max(d.at, s.now), r, NotShown{at, r.id})
	case dueOutage:
		return c.decide(OutageEnded{at, d.id}, s.outagePools(s.outage(d.id))...)
	case dueNotice:
		n, _ := s.node(d.id)
		next, _ := s.reclaimer(d.id, s.now)
		return c.decide(ReclaimNotice{at, n.standby, d.id, tick.Time(next.from), next.id})
	case dueNear:
		r := s.rec(d.id)
		l := &r.lines[d.line]
		plan := append(slices.Clone(l.plan), s.pick(l.pool, l.from, l.to, r.id, l.plan, l.count-int64(len(l.plan)), nil)...)
		slices.Sort(plan)
		return c.decide(Planned{at, l.pool, []Plan{{r.id, plan, true}}}, l.pool)
	case dueOpen:
		return c.open(d)
	case dueLapse:
		return c.decide(WaitLapsed{at, d.id})
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
	if err := c.clear(at, r.id, nodes); err != nil {
		return err
	}
	return c.decide(Opened{at, r.id, l.pool, nodes}, l.pool)
}

// clear takes nodes from the Standby claims that have them, because the envelope
// of a Firm booking begins on them.
func (c *Calendar) clear(at time.Time, forID string, nodes []string) error {
	var claims []string
	by := map[string][]string{}
	for _, name := range nodes {
		if n, _ := c.core.S.node(name); n.standby != "" {
			if by[n.standby] == nil {
				claims = append(claims, n.standby)
			}
			by[n.standby] = append(by[n.standby], name)
		}
	}
	slices.Sort(claims)
	for _, id := range claims {
		if err := c.decide(Unseated{at, id, by[id], forID}); err != nil {
			return err
		}
	}
	return nil
}

// settle returns the seats with which a line begins: those it has and can use,
// then its plan, then other free nodes, then seats in outage, which are better
// than none because they may come back.
func (s *state) settle(r *record, l *line) []string {
	if len(l.pinned) > 0 {
		return l.seats
	}
	if l.within != "" {
		return s.settleWithin(r, l)
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
		slices.Sort(nodes)
		nodes = append(nodes, s.pick(l.pool, l.from, l.to, r.id, nodes, need, nil)...)
	}
	if need := l.count - int64(len(nodes)); need > 0 && s.lastFixed(l.pool) <= max(s.now, l.from) {
		// Where the count decides, a plan of a later line is only a wish.
		slices.Sort(nodes)
		nodes = append(nodes, s.wishes(r, l, nodes, need)...)
	}
	if room := l.count - int64(len(nodes)); room > 0 {
		nodes = append(nodes, out[:min(room, int64(len(out)))]...)
	}
	slices.Sort(nodes)
	return nodes
}

// pick returns up to need open nodes, other than those in the sorted list
// chosen, that nobody but self has, plans or has in outage in [from, to) and
// that the trial has not given away. First come nodes that somebody needs again
// later, the soonest first, so that long gaps stay whole; then those without a
// Standby claim; then those that became free last; then the first of the pool.
//
// Nodes with a seat or an outage that begins after from are looked at one by
// one. All others are free for good from the end of their last seat on, so an
// index has them in order.
func (s *state) pick(pool string, from, to int64, self string, chosen []string, need int64, taken overlay) []string {
	usable := func(name string) bool {
		return !inSorted(chosen, name) && s.free(name, from, to, self, true) && taken.free(name, from, to)
	}
	type candidate struct {
		next    int64
		standby int
		n       node
	}
	var list []candidate
	later := s.usedAfter(pool, from)
	for name, next := range later {
		if n, ok := s.node(name); ok && n.pool == pool && !n.spare && usable(name) {
			x := candidate{next: next, n: n}
			if n.standby != "" {
				x.standby = 1
			}
			list = append(list, x)
		}
	}
	var out []string
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.next, b.next), cmp.Compare(a.standby, b.standby), cmp.Compare(a.n.ord, b.n.ord))
	})
	for _, x := range list[:min(need, int64(len(list)))] {
		out = append(out, x.n.name)
	}
	for _, standby := range []bool{false, true} {
		for x := range s.ready.Before(ready{pool: pool, standby: standby, last: from, ord: -1}) {
			if int64(len(out)) == need || x.pool != pool || x.standby != standby {
				break
			}
			if _, ok := later[x.node]; !ok && usable(x.node) {
				out = append(out, x.node)
			}
		}
	}
	return out
}

// usedAfter returns the nodes with a seat or an outage that begins after an
// instant, and when the first one does. It looks at those begins or, if they
// are many, at the nodes.
func (s *state) usedAfter(pool string, from int64) map[string]int64 {
	units := s.pool(pool).Units
	out, seen := map[string]int64{}, 0
	for x := range s.fixed.From(fix{pool: pool, from: from + 1}) {
		if x.pool != pool {
			return out
		}
		if seen++; seen > 2*len(units) {
			break
		}
		if _, ok := out[x.node]; !ok {
			out[x.node] = x.from
		}
	}
	if seen <= 2*len(units) {
		return out
	}
	clear(out)
	for _, u := range units {
		next := int64(tick.Forever)
		for _, set := range []*cow.Sorted[slot]{&s.seats, &s.outs, &s.drains} {
			for x := range set.From(slot{node: u.Name, from: from + 1}) {
				if x.node == u.Name {
					next = min(next, x.from)
				}
				break
			}
		}
		if next < tick.Forever {
			out[u.Name] = next
		}
	}
	return out
}

// wishes returns up to need nodes that are free for line l but for plans.
func (s *state) wishes(r *record, l *line, chosen []string, need int64) []string {
	var out []string
	for _, u := range s.pool(l.pool).Units {
		if int64(len(out)) == need {
			break
		}
		if !u.Spare && !inSorted(chosen, u.Name) && s.free(u.Name, l.from, l.to, r.id, false) {
			out = append(out, u.Name)
		}
	}
	return out
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
