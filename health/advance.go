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
// hold's step, doubled for each slip the hold has had, up to [MaxSlip], again and again, until it is after at (H3). One call
// decides what any number of calls in between would have decided. It ends no hold (H2). A clock that goes back undoes nothing.
//
// It costs O(log n) for each date that slips: for one hold at most 21 times and then once in [MaxSlip], whatever the step.
func (r *Record) Advance(at time.Time) { r.slip(tick.Floor(at)) }

func (r *Record) slip(now int64) {
	for {
		first, ok := r.core.S.due.Min()
		if !ok || first.expected > now {
			return
		}
		end := r.core.S.lengths.slip(first.expected, first.step, first.slips)
		r.decide(fact{kind: kindSlipped, at: first.expected, key: first.key, expected: end})
	}
}
