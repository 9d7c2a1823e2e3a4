// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"iter"
	"slices"
)

// Find returns the booking of an id, also one that is over and not forgotten.
func (c *Calendar) Find(id string) (Booking, bool) {
	r := c.core.S.rec(id)
	if r == nil {
		return Booking{}, false
	}
	return r.booking(), true
}

// Bookings yields bookings by start and id; pool "" means any pool. The zero
// Window selects the live ones. Any other selects those whose own window
// overlaps it, also ended ones that are not forgotten, but none that expired or
// was cancelled. It costs O(k log k) for k bookings in w, apart from the zero
// Window, which goes over all live ones.
func (c *Calendar) Bookings(pool string, w Window) iter.Seq[Booking] {
	s := &c.core.S
	return func(yield func(Booking) bool) {
		if w == (Window{}) {
			for r := range s.live.All() {
				if (pool == "" || r.line(pool) != nil) && !yield(r.booking()) {
					return
				}
			}
			return
		}
		from, to, err := w.ticks("Window", true)
		if err != nil {
			return
		}
		var recs []*record
		for p := range s.pools.All() {
			if pool != "" && p.Name != pool {
				continue
			}
			for x := range s.touching(p.Name, from, to) {
				if r := s.rec(x.id); r.start < to && r.last() > from {
					recs = append(recs, r)
				}
			}
		}
		slices.SortFunc(recs, byStart)
		for _, r := range slices.Compact(recs) {
			if !yield(r.booking()) {
				return
			}
		}
	}
}
