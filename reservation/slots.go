// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"iter"
	"slices"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/tick"
)

// overlap returns who takes the node in [from, to). The node's slots must not
// overlap each other, so the last one that begins before to decides.
func overlap(set *cow.Sorted[slot], name string, from, to int64) (string, bool) {
	for x := range set.Before(slot{node: name, from: to - 1, id: lastID}) {
		return x.id, x.node == name && x.to > from
	}
	return "", false
}

// lastID is greater than every id: no id holds this byte.
const lastID = "\xff"

// outIn reports whether an outage of the node overlaps [from, to).
func (s *state) outIn(name string, from, to int64) bool {
	for x := range s.outs.From(slot{node: name, from: none}) {
		if x.node != name || x.from >= to {
			break
		}
		if x.to > from {
			return true
		}
	}
	return false
}

// outUnion returns the ranges in which at least one outage has the node.
func (s *state) outUnion(name string) []slot {
	var out []slot
	for x := range s.outs.From(slot{node: name, from: none}) {
		if x.node != name {
			break
		}
		if k := len(out) - 1; k >= 0 && x.from <= out[k].to {
			out[k].to = max(out[k].to, x.to)
		} else {
			out = append(out, slot{node: name, from: x.from, to: x.to})
		}
	}
	return out
}

// spareUse returns the ranges in which a booking has a spare that is not in outage.
func (s *state) spareUse(name string) []slot {
	var out []slot
	outs := s.outUnion(name)
	for x := range s.seats.From(slot{node: name, from: none}) {
		if x.node != name {
			break
		}
		from := x.from
		for _, o := range outs {
			if o.to <= from || o.from >= x.to {
				continue
			}
			if o.from > from {
				out = append(out, slot{node: name, from: from, to: o.from})
			}
			from = min(o.to, x.to)
		}
		if from < x.to {
			out = append(out, slot{node: name, from: from, to: x.to})
		}
	}
	return out
}

// addUnit adds n times what one node does to the levels of its pool: an open
// node is lost in its outages, and in its drains while nobody has it; a spare is
// one node more while a booking has it.
// It is taken off before a seat or an outage of the node changes, and put back
// afterwards.
func (s *state) addUnit(tok *cow.Token, name string, n int64) {
	nd, ok := s.node(name)
	if !ok {
		return
	}
	if nd.spare {
		if ranges := s.spareUse(name); len(ranges) > 0 {
			p := *s.pool(nd.pool)
			for _, x := range ranges {
				p.load.Add(tok, x.from, x.to, -n)
				p.extra.Add(tok, x.from, x.to, n)
			}
			s.pools.Put(tok, p.Name, &p)
		}
		return
	}
	if ranges := s.lostRanges(name); len(ranges) > 0 {
		p := *s.pool(nd.pool)
		for _, x := range ranges {
			p.load.Add(tok, x.from, x.to, n)
			p.lost.Add(tok, x.from, x.to, n)
		}
		s.pools.Put(tok, p.Name, &p)
	}
}

// swapOutage replaces outage old by now, either of which may be nil.
func (s *state) swapOutage(tok *cow.Token, old, now *outage) {
	var names []string
	if old != nil {
		names = append(names, old.nodes...)
	}
	if now != nil {
		names = append(names, now.nodes...)
		taken := make([]slot, len(now.nodes))
		for i, name := range now.nodes {
			taken[i] = slot{node: name, from: now.from, to: now.to}
		}
		s.evict(tok, taken)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range names {
		nd, ok := s.node(name)
		if !ok {
			continue // gone from the pools; its slots went with it
		}
		s.addUnit(tok, name, -1)
		if old.has(name) {
			s.outsOf(old).Remove(tok, slot{name, old.from, old.to, old.id})
			s.fixed.Remove(tok, fix{nd.pool, old.from, name, outageRef + old.id})
		}
		if now.has(name) {
			s.outsOf(now).Put(tok, slot{name, now.from, now.to, now.id})
			s.fixed.Put(tok, fix{nd.pool, now.from, name, outageRef + now.id})
		}
		s.addUnit(tok, name, +1)
		s.touch(tok, name)
	}
	if old != nil {
		if old.to != tick.Forever {
			s.due.Remove(tok, due{at: old.to, kind: dueOutage, id: old.id})
		}
		s.outages.Remove(tok, old.id)
	}
	if now != nil {
		if now.to != tick.Forever {
			s.due.Put(tok, due{at: now.to, kind: dueOutage, id: now.id})
		}
		s.outages.Put(tok, now.id, now)
	}
}

// has reports whether o, which may be nil, has the node.
func (o *outage) has(name string) bool {
	return o != nil && inSorted(o.nodes, name)
}

// outageRef keeps the ids of outages apart from those of bookings: no id
// begins with a control character.
const outageRef = "\x00"

// lastFixed returns the last instant at which a seat or an outage of the pool
// begins. From there on every busy node is busy once and then free for good,
// so the count alone decides; before it, floating lines need a plan.
func (s *state) lastFixed(pool string) int64 {
	for x := range s.fixed.Before(fix{pool: pool, from: tick.Forever, node: lastID}) {
		if x.pool == pool {
			return x.from
		}
		break
	}
	return none
}

// touching yields the lines of a pool whose span overlaps [from, to), in no
// particular order.
func (s *state) touching(pool string, from, to int64) iter.Seq[span] {
	return func(yield func(span) bool) {
		for class := uint8(0); class <= 64; class++ {
			first, some := span{}, false
			for x := range s.spans.From(span{pool: pool, class: class, from: none}) {
				first, some = x, true
				break
			}
			if !some || first.pool != pool {
				return
			}
			class = first.class
			// A span of this class is shorter than 1<<class.
			low := int64(none)
			if class < 62 && from > none+(1<<class) {
				low = from - 1<<class
			}
			for x := range s.spans.From(span{pool: pool, class: class, from: low}) {
				if x.pool != pool || x.class != class || x.from >= to {
					break
				}
				if x.to > from && !yield(x) {
					return
				}
			}
		}
	}
}

// floats yields the lines of a pool that wait for their seats, who is served
// first before the others.
func (s *state) floats(pool string) iter.Seq[float] {
	return func(yield func(float) bool) {
		x, some := s.nextFull(float{pool: pool, from: none, created: none}, false)
		for y := range s.needy.From(float{pool: pool, from: none, created: none}) {
			if y.pool != pool {
				break
			}
			for ; some && x.less(y); x, some = s.nextFull(x, true) {
				if !yield(x) {
					return
				}
			}
			if !yield(y) {
				return
			}
		}
		for ; some; x, some = s.nextFull(x, true) {
			if !yield(x) {
				return
			}
		}
	}
}

// nextFull returns the first line of a pool with a full plan from x on, or after x.
func (s *state) nextFull(x float, after bool) (float, bool) {
	for y := range s.full.From(x) {
		if after && y == x {
			continue
		}
		return y, y.pool == x.pool
	}
	return float{}, false
}
