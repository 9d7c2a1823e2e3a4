// SPDX-License-Identifier: Apache-2.0

package recur

import "iter"

// A Drift is an occurrence that is not where it was booked, because the rule or
// the zone data has changed since. A booking never moves by itself: a drift is a
// proposal to its owner.
//
// A Drift is immutable and safe for concurrent use.
type Drift struct {
	Index  int
	Booked Window
	// Now is the window by this series, zero if there is none.
	Now Window
	// Absence says why there is none, or Present.
	Absence Absence
}

// Drift compares the window that was booked for index i with what this series
// says, and reports whether they differ. After an update of the zone data, make
// the series again from the same rule with the new location, and ask it.
func (s *Series) Drift(i int, booked Window) (Drift, bool) {
	now, absence := s.at(int64(i))
	if absence == Present && now.equal(booked) {
		return Drift{}, false
	}
	return Drift{Index: i, Booked: booked, Now: now, Absence: absence}, true
}

// Drifts yields, in the order given, those of the booked windows that differ.
func (s *Series) Drifts(booked iter.Seq2[int, Window]) iter.Seq[Drift] {
	return func(yield func(Drift) bool) {
		if booked == nil {
			return
		}
		for i, w := range booked {
			if d, ok := s.Drift(i, w); ok && !yield(d) {
				return
			}
		}
	}
}
