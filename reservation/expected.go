// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// A Certainty says what an expected start is worth.
//
// A Certainty is immutable and safe for concurrent use.
type Certainty uint8

// What an expected start is worth. A waiting entry keeps no capacity, and whoever
// books first has it; so it is never given a Promise.
const (
	// Promise: the entry has been served. Its booking keeps its start unless a node
	// fails, or, for a hold, unless its owner does not confirm it in time.
	Promise Certainty = iota
	// KnownEnds: the entry fits there if everything ends when it says, if the
	// entries in front of it are served where they fit first, and if nobody else
	// books before the host asks [Calendar.Due]. Where the start is beyond the
	// Horizon of a pool it can only be booked later.
	KnownEnds
	// Forecast: a guess. The entry fits there only if the holds that nobody has
	// confirmed are given up, or it has to let an entry in front of it go first that
	// was passed over too often, or more than 256 entries are in front of it, or its
	// booking lacks nodes.
	Forecast
)

var certaintyNames = []string{"Promise", "KnownEnds", "Forecast"}

// String returns the name of c.
func (c Certainty) String() string { return name("Certainty", certaintyNames, int(c)) }

// MarshalText returns the name of c.
func (c Certainty) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// An Expectation is when a waiting entry may begin.
//
// An Expectation is immutable and safe for concurrent use.
type Expectation struct {
	Window    Window    `json:"window"`
	Certainty Certainty `json:"certainty"`
}

// Expected returns when a waiting entry, or the Firm booking that serves it, may
// begin, and what that is worth. It costs an EarliestFit and a Book for each of the
// entries in front of it, at most 256 of them, perhaps twice.
//
// Possible errors: [ErrUnknown]; [ErrState] for a booking that is over or Standby;
// [*ConflictError] if as things are the entry does not fit in its range.
func (c *Calendar) Expected(at time.Time, id string) (Expectation, error) {
	c = c.asOf(at)
	s := &c.core.S
	if r := s.rec(id); r != nil {
		if !r.phase.Live() || r.class == Standby {
			return Expectation{}, fmt.Errorf("%w: booking %q is %s and %s; nothing is expected of it", ErrState, id, r.class, r.phase)
		}
		e := Expectation{Window: windowOf(r.start, r.end)}
		for i := range r.lines {
			for _, d := range s.degraded(r.lines[i].pool, s.now) {
				if d.ID == id {
					e.Certainty = Forecast
				}
			}
		}
		return e, nil
	}
	w := s.waiting(id)
	if w == nil {
		return Expectation{}, unknown("waiting entry", id)
	}
	f := c.Fork()
	f.dropHorizons()
	e, err := f.expect(s.now, w)
	if err == nil {
		return e, nil
	}
	for r := range s.live.All() {
		if r.phase == Held {
			if err := f.decide(BookingCancelled{tick.Time(s.now), r.id}, r.pools()...); err != nil {
				return Expectation{}, err
			}
		}
	}
	if e, again := f.expect(s.now, w); again == nil {
		e.Certainty = Forecast
		return e, nil
	}
	return Expectation{}, err
}

// expect serves the entries in front of w and returns where w fits then.
func (c *Calendar) expect(now int64, w *Waiter) (Expectation, error) {
	f := c.Fork()
	e := Expectation{Certainty: Forecast}
	var before []*Waiter
	for _, x := range f.core.S.front(defaultDueLimit + 1) {
		if x.ID == w.ID {
			e.Certainty = KnownEnds
			break
		}
		start, err := f.fitOf(now, x)
		switch {
		case err != nil && !f.core.S.possible(x, err): // it holds nobody up
		case err != nil || f.command(tick.Time(now), func(now int64) error { return f.place(now, x.request(start), 0) }) != nil:
			before = append(before, x)
		}
	}
	start, err := f.fitOf(now, w)
	if err != nil {
		return Expectation{}, err
	}
	if q := w.request(start); !f.allowed(now, q, before) {
		e.Certainty = Forecast
	}
	e.Window = windowOf(start, start+w.seconds())
	return e, nil
}
