// SPDX-License-Identifier: Apache-2.0

package reservationtest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berth-gpu/berth/reservation"
)

// ErrRefused marks a command that a [Model] refuses.
var ErrRefused = errors.New("reservationtest: refused")

// A Model is the naive calendar: a slice of bookings that is recounted for every
// answer. It knows how many nodes are taken and never which; nothing in it is
// fast, kept or shared with the calendar that it judges.
//
// A Model may be read by many goroutines while nobody changes it; Fork is safe
// whenever reading is.
type Model struct {
	now      time.Time
	pools    []reservation.Pool
	bookings []*booking // in the order in which they were made
	outages  []reservation.Outage
	broken   map[string]bool // pools that had an outage at any time
}

// booking is one request and what became of it.
type booking struct {
	asked    reservation.Request // as it was first made, in normal form
	ttl      time.Duration       // 0: it was not held
	created  time.Time
	window   reservation.Window
	grace    time.Duration
	held     bool // not confirmed
	gone     time.Time
	goneAs   reservation.Phase    // Cancelled or Ended, once gone is set
	envelope []reservation.Window // per line of asked
	cleanup  []time.Duration
}

// New returns a model of some pools whose present is start.
func New(pools []reservation.Pool, start time.Time) *Model {
	return &Model{now: start, pools: pools, broken: map[string]bool{}}
}

// Present returns the instant up to which the model has got.
func (m *Model) Present() time.Time { return m.now }

// Fork returns an independent copy.
func (m *Model) Fork() *Model {
	c := &Model{now: m.now, pools: m.pools, outages: slices.Clone(m.outages), broken: map[string]bool{}}
	for p := range m.broken {
		c.broken[p] = true
	}
	for _, b := range m.bookings {
		x := *b
		x.envelope = slices.Clone(b.envelope)
		c.bookings = append(c.bookings, &x)
	}
	return c
}

// Do runs a command unless [Model.Judge] says [Refuse].
//
// Possible errors: [ErrRefused].
func (m *Model) Do(c Command) error {
	if v, why := m.Judge(c); v == Refuse {
		return fmt.Errorf("%w: %s: %s", ErrRefused, c, why)
	}
	m.apply(c)
	return nil
}

// Free returns the nodes of a pool that are free at an instant from the present
// on: those that are neither spare nor in outage, less those of all envelopes
// over it. It is negative where there are too few, and 0 for an unknown pool.
//
// Least and most differ only in the cleanup after a booking in a pool that had
// outages: the cleanup is of the nodes that the booking really had, which may
// have been fewer than its count.
func (m *Model) Free(pool string, at time.Time) (least, most int64) {
	return m.free(pool, at, nil)
}

// MinFree returns the least [Model.Free] in a window that does not begin before
// the present.
func (m *Model) MinFree(pool string, w reservation.Window) (least, most int64) {
	return m.minFree(pool, w, nil)
}

// Phase returns the phase of a booking.
func (m *Model) Phase(id string) (reservation.Phase, bool) {
	b := m.find(id)
	if b == nil {
		return 0, false
	}
	return m.phase(b), true
}

// Changes returns the instants from the present on at which the free nodes of a
// pool may change, in order; the present is the first.
func (m *Model) Changes(pool string) []time.Time {
	out := []time.Time{m.now}
	for _, b := range m.bookings {
		for i, l := range b.asked.Lines {
			if l.Pool == pool {
				out = append(out, b.envelope[i].Start, b.envelope[i].End)
			}
		}
	}
	for _, o := range m.outages {
		out = append(out, o.Window.Start, o.Window.End)
	}
	out = slices.DeleteFunc(out, m.now.After) // and an open end, which is the zero time
	slices.SortFunc(out, time.Time.Compare)
	return slices.CompactFunc(out, time.Time.Equal)
}

// free is Free as if the booking but were not there.
func (m *Model) free(pool string, at time.Time, but *booking) (least, most int64) {
	least = m.capacity(pool, at)
	most = least
	for _, b := range m.bookings {
		if b == but || b.asked.Class != reservation.Firm || m.phase(b) > reservation.Ended {
			continue
		}
		for i, l := range b.asked.Lines {
			if l.Pool == pool && contains(b.envelope[i], at) {
				least -= l.Count
				if m.phase(b) < reservation.Ended || !m.broken[pool] {
					most -= l.Count
				}
			}
		}
	}
	return least, most
}

// capacity counts the nodes that are neither spare nor in outage.
func (m *Model) capacity(pool string, at time.Time) int64 {
	var n int64
	if p := m.pool(pool); p != nil {
		for _, u := range p.Units {
			if !u.Spare && !m.outAt(u.Name, at) {
				n++
			}
		}
	}
	return n
}

func (m *Model) outAt(node string, at time.Time) bool {
	return slices.ContainsFunc(m.outages, func(o reservation.Outage) bool {
		return slices.Contains(o.Nodes, node) && contains(o.Window, at)
	})
}

func (m *Model) minFree(pool string, w reservation.Window, but *booking) (least, most int64) {
	least, most = m.free(pool, w.Start, but)
	for _, at := range m.Changes(pool) {
		if contains(w, at) {
			a, b := m.free(pool, at, but)
			least, most = min(least, a), min(most, b)
		}
	}
	return least, most
}

func contains(w reservation.Window, at time.Time) bool {
	return !at.Before(w.Start) && (w.End.IsZero() || at.Before(w.End))
}

func (m *Model) phase(b *booking) reservation.Phase {
	over := func(at time.Time) bool { return !at.IsZero() && !m.now.Before(at) }
	switch {
	case !b.gone.IsZero():
		return b.goneAs
	case b.held && over(b.created.Add(b.ttl)):
		return reservation.Expired
	case b.held:
		return reservation.Held
	case m.now.Before(b.window.Start):
		return reservation.Confirmed
	case b.window.End.IsZero() || m.now.Before(b.window.End):
		return reservation.Active
	case m.now.Before(b.window.End.Add(b.grace)):
		return reservation.Grace
	}
	return reservation.Ended
}

func (m *Model) pool(name string) *reservation.Pool {
	for i := range m.pools {
		if m.pools[i].Name == name {
			return &m.pools[i]
		}
	}
	return nil
}

func (m *Model) poolOf(node string) *reservation.Pool {
	for i := range m.pools {
		if slices.ContainsFunc(m.pools[i].Units, func(u reservation.Unit) bool { return u.Name == node }) {
			return &m.pools[i]
		}
	}
	return nil
}

func (m *Model) find(id string) *booking {
	for _, b := range m.bookings {
		if b.asked.ID == id {
			return b
		}
	}
	return nil
}

// apply does what a command that was accepted does.
func (m *Model) apply(c Command) {
	if m.now.Before(c.At) {
		m.now = c.At
	}
	m.outages = slices.DeleteFunc(m.outages, func(o reservation.Outage) bool {
		return !o.Window.End.IsZero() && !m.now.Before(o.Window.End)
	})
	b := m.find(c.ID)
	switch c.Op {
	case Book, Hold:
		if m.find(c.Request.ID) == nil {
			m.bookings = append(m.bookings, m.booking(c.Request, c.TTL))
		}
	case Confirm:
		b.held = false
	case Cancel:
		if b.gone.IsZero() {
			b.gone, b.goneAs = m.now, reservation.Cancelled
		}
	case Release:
		if m.phase(b).Live() {
			b.gone, b.goneAs = m.now, reservation.Ended
			for i, e := range b.envelope {
				if to := m.now.Add(b.cleanup[i]); e.End.IsZero() || to.Before(e.End) {
					b.envelope[i].End = to
				}
			}
		}
	case Extend:
		for i := range b.envelope {
			b.envelope[i].End = moved(b.envelope[i].End, b.window.End, c.End)
		}
		b.window.End = c.End
	case SetOutage:
		o := m.outage(c.Outage)
		m.outages = append(slices.DeleteFunc(m.outages, func(x reservation.Outage) bool { return x.ID == o.ID }), o)
		for _, n := range o.Nodes {
			if p := m.poolOf(n); p != nil {
				m.broken[p.Name] = true
			}
		}
	case EndOutage:
		m.outages = slices.DeleteFunc(m.outages, func(x reservation.Outage) bool { return x.ID == c.ID })
	}
}

// moved moves the end of an envelope as its window moves from old to end. Only
// Standby claims have open ends, and they have no envelope beyond the window.
func moved(envelope, old, end time.Time) time.Time {
	if old.IsZero() || end.IsZero() {
		return end
	}
	return envelope.Add(end.Sub(old))
}

// booking returns what a request becomes at the present.
func (m *Model) booking(q reservation.Request, ttl time.Duration) *booking {
	b := &booking{asked: normal(q), ttl: ttl, held: ttl > 0, created: m.now, window: q.Window}
	if q.Class == reservation.Firm {
		for _, l := range b.asked.Lines {
			b.grace = max(b.grace, m.pool(l.Pool).Policy.Grace) // work leaves all pools at one instant
		}
	}
	for _, l := range b.asked.Lines {
		e, cleanup := q.Window, time.Duration(0)
		if p := m.pool(l.Pool).Policy; q.Class == reservation.Firm {
			cleanup = p.Cleanup
			e = reservation.Window{Start: e.Start.Add(-p.Prep), End: e.End.Add(b.grace + cleanup)}
		}
		b.envelope, b.cleanup = append(b.envelope, e), append(b.cleanup, cleanup)
	}
	return b
}

// outage returns o with its start: a zero one is the present, or what it was.
func (m *Model) outage(o reservation.Outage) reservation.Outage {
	if o.Window.Start.IsZero() {
		o.Window.Start = m.now
		for _, x := range m.outages {
			if x.ID == o.ID {
				o.Window.Start = x.Window.Start
			}
		}
	}
	return o
}
