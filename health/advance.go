// SPDX-License-Identifier: Apache-2.0

package health

import (
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// Next returns when the next date passes, if no command comes first. It costs O(log n).
func (r *Record) Next() (time.Time, bool) {
	first, ok := r.core.S.due.Min()
	if !ok {
		return time.Time{}, false
	}
	return tick.Time(first.expected), true
}

// Advance moves every date that passes up to at, in order of the dates, then of component and owner: each by the length of its
// hold's step, again and again, until it is after at (H3). It ends no hold (H2). A clock that goes back undoes nothing.
//
// It costs O(log n) for each date that slips.
func (r *Record) Advance(at time.Time) { r.slip(tick.Floor(at)) }

func (r *Record) slip(now int64) {
	for {
		first, ok := r.core.S.due.Min()
		if !ok || first.expected > now {
			return
		}
		end := r.core.S.lengths.from(first.expected, first.step)
		r.decide(fact{kind: kindSlipped, at: first.expected, key: first.key, expected: end})
	}
}
