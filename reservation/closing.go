// SPDX-License-Identifier: Apache-2.0

package reservation

import "github.com/berth-gpu/berth/internal/cow"

// An outage takes a node from whoever has it. A drain closes it to what is new:
//
//	seats     ██████████░░░░░░░░░░░███████░░░
//	outage    ░░░░░████████░░░░░░░░░░░░░░░░░░   dead seat, then lost
//	drain     ░░░░░░░░░░░░░░░░█████████████░░   kept by its seat, else lost
//	lost      ░░░░░████████░░░█████░░░░░░░█░░
//
// So what is in the way of a new seat, plan or booking is both (closedIn), while
// what a booking lacks is outages alone (outIn).

// outsOf returns the index of the slots of an outage.
func (s *state) outsOf(o *outage) *cow.Sorted[slot] {
	if o.drain {
		return &s.drains
	}
	return &s.outs
}

// meets reports whether a slot of the node overlaps [from, to). The node's slots
// may overlap each other.
func meets(set *cow.Sorted[slot], name string, from, to int64) bool {
	for x := range set.From(slot{node: name, from: none}) {
		if x.node != name || x.from >= to {
			break
		}
		if x.to > from {
			return true
		}
	}
	return false
}

// closedIn reports whether an outage or a drain of the node overlaps [from, to).
func (s *state) closedIn(name string, from, to int64) bool {
	return meets(&s.outs, name, from, to) || meets(&s.drains, name, from, to)
}

// ranges returns the slots of a node, joined where they overlap.
func ranges(set *cow.Sorted[slot], name string) []slot {
	var out []slot
	for x := range set.From(slot{node: name, from: none}) {
		if x.node != name {
			break
		}
		out = append(out, slot{node: name, from: x.from, to: x.to})
	}
	return union(out)
}

// closedRanges returns the ranges in which an outage or a drain has the node.
func (s *state) closedRanges(name string) []slot {
	drains := ranges(&s.drains, name)
	if len(drains) == 0 {
		return s.outUnion(name)
	}
	return union(append(drains, s.outUnion(name)...))
}

// lostRanges returns the ranges in which an open node is no capacity: its
// outages, and its drains where no booking has a seat.
func (s *state) lostRanges(name string) []slot {
	drains := ranges(&s.drains, name)
	if len(drains) == 0 {
		return s.outUnion(name)
	}
	return union(append(subtract(drains, ranges(&s.seats, name)), s.outUnion(name)...))
}

// subtract returns what of the ranges none of the others covers; both are sorted
// and disjoint.
func subtract(list, others []slot) []slot {
	var out []slot
	for _, x := range list {
		for _, o := range others {
			if o.to <= x.from || o.from >= x.to {
				continue
			}
			if o.from > x.from {
				out = append(out, slot{node: x.node, from: x.from, to: o.from})
			}
			x.from = min(o.to, x.to)
		}
		if x.from < x.to {
			out = append(out, x)
		}
	}
	return out
}
