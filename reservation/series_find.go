// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"iter"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/reservation/recur"
)

// FindSeries returns the series of an id. One that is over is known until all its
// bookings are forgotten.
func (c *Calendar) FindSeries(id string) (SeriesStatus, bool) {
	v := c.core.S.seriesOf(id)
	if v == nil {
		return SeriesStatus{}, false
	}
	return v.clone(), true
}

// AllSeries yields the series by id.
func (c *Calendar) AllSeries() iter.Seq[SeriesStatus] {
	return func(yield func(SeriesStatus) bool) {
		for v := range c.core.S.series.All() {
			if !yield(v.clone()) {
				return
			}
		}
	}
}

// Occurrences yields the bookings of a series by index, also those that are over
// or cancelled and not forgotten. It costs O(log n) for each.
func (c *Calendar) Occurrences(series string) iter.Seq[Booking] {
	return func(yield func(Booking) bool) {
		for r := range c.core.S.occurrences(series) {
			if !yield(r.booking()) {
				return
			}
		}
	}
}

// Drift compares the bookings of a series that have not begun with what its rule
// says in a zone, and returns those that differ, by index: after an update of the
// zone data, their time on the clock has changed. Nothing is moved. An occurrence
// that ShiftWithin has moved is compared by where the rule had it; detached ones
// are left out. It costs O(log n) per booking.
//
// Possible errors: [ErrUnknown], [ErrInvalid] for a wrong zone.
func (c *Calendar) Drift(at time.Time, id string, zone *time.Location) ([]recur.Drift, error) {
	s := &c.asOf(at).core.S
	v := s.seriesOf(id)
	if v == nil {
		return nil, unknown("series", id)
	}
	rule, err := v.compile(zone)
	if err != nil {
		return nil, err
	}
	var out []recur.Drift
	for r := range s.occurrences(id) {
		if r.phase != Confirmed || r.detached {
			continue
		}
		booked := recur.Window{Start: tick.Time(r.start - r.shift), End: tick.Time(r.end - r.shift)}
		if d, ok := rule.Drift(int(r.index), booked); ok {
			out = append(out, d)
		}
	}
	return out, nil
}
