// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// taker is a booking that is in the way, with the nodes that it has there.
type taker struct {
	r        *record
	from, to int64
	n        int64
}

func blockings(list []taker) []Blocking {
	slices.SortFunc(list, func(a, b taker) int { return byStart(a.r, b.r) })
	out := make([]Blocking, len(list))
	for i, x := range list {
		out[i] = Blocking{x.r.id, x.r.owner, windowOf(x.from, x.to), x.n}
	}
	return out
}

// inTheWay returns as few Firm bookings other than self as together have n nodes
// of a pool at an instant, those of one owner if owner is not empty, or nil if all of them have less. See
// [ConflictError.Blocking] for which. The largest first give the fewest; the
// smallest that will do in place of the last one leaves the most alone.
func (s *state) inTheWay(pool, owner string, at, n int64, self string) []Blocking {
	var all []taker
	var sum int64
	for x := range s.touching(pool, at, at+1) {
		r := s.rec(x.id)
		if r.id == self || owner != "" && r.owner != owner {
			continue
		}
		if k := r.uses(r.line(pool)); k > 0 {
			all = append(all, taker{r, x.from, x.to, k})
			sum += k
		}
	}
	if n <= 0 || sum < n {
		return nil
	}
	slices.SortFunc(all, func(a, b taker) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(b.r.start, a.r.start),
			cmp.Compare(b.r.created, a.r.created), strings.Compare(b.r.id, a.r.id))
	})
	k := 0
	for ; all[k].n < n; k++ {
		n -= all[k].n
	}
	last := k
	for i := k + 1; i < len(all) && all[i].n >= n; i++ {
		if all[i].n < all[last].n {
			last = i
		}
	}
	all[k] = all[last]
	return blockings(all[:k+1])
}

// holders returns who has the seats that hold at, and how many these are.
func (s *state) holders(seats []slot, at int64, pool string) ([]Blocking, int64) {
	var out []taker
	var sum int64
	for _, x := range seats {
		if x.from > at || x.to <= at {
			continue
		}
		sum++
		r := s.rec(x.id)
		if i := slices.IndexFunc(out, func(t taker) bool { return t.r == r }); i >= 0 {
			out[i].n++
			continue
		}
		l := r.lineNear(pool)
		out = append(out, taker{r, l.from, l.to, 1})
	}
	return blockings(out), sum
}

// seatSlots yields the Firm seats of a node that overlap [from, to), in order.
func (s *state) seatSlots(name string, from, to int64) iter.Seq[slot] {
	return func(yield func(slot) bool) {
		for x := range s.seats.Before(slot{node: name, from: from, id: lastID}) {
			if x.node == name && x.to > from && x.from < to && !yield(x) {
				return
			}
			break
		}
		for x := range s.seats.From(slot{node: name, from: from + 1}) {
			if x.node != name || x.from >= to || !yield(x) {
				return
			}
		}
	}
}
