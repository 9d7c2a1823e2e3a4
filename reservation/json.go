// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// MarshalJSON returns the snapshot for people: the present, the pools, the
// outages, all bookings and series, each list in order of its ids, and the waiting
// list in the order in which it is served. Durations are in nanoseconds.
func (c *Calendar) MarshalJSON() ([]byte, error) {
	s := &c.core.S
	v := struct {
		Present  time.Time `json:"present"`
		Pools    []Pool    `json:"pools"`
		Outages  []Outage  `json:"outages"`
		Bookings []Booking `json:"bookings"`

		Series   []*SeriesStatus `json:"series,omitempty"`
		Waitlist []*Waiter       `json:"waitlist,omitempty"`
	}{tick.Time(s.now), []Pool{}, []Outage{}, []Booking{}, slices.Collect(s.series.All()), slices.Collect(s.waits.All())}
	for p := range s.pools.All() {
		v.Pools = append(v.Pools, p.Pool)
	}
	for o := range s.outages.All() {
		v.Outages = append(v.Outages, o.public())
	}
	for r := range s.recs.All() {
		v.Bookings = append(v.Bookings, r.booking())
	}
	return json.Marshal(v)
}
