// SPDX-License-Identifier: Apache-2.0

package reservationtest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/reservation"
)

// Check fails the test if [Recount] finds a difference.
func Check(t require.TestingT, c *reservation.Calendar) {
	require.NoError(t, Recount(c))
}

// Recount counts a calendar anew, from what its exported methods list: its
// pools, bookings and outages. It returns an error that joins every difference:
//
//   - the steps of each profile are the counts at every change (I1);
//   - where the bookings are more than the capacity, as many nodes or more are
//     in [reservation.Calendar.Degraded] (I2);
//   - no node is in two envelopes, and every live Firm booking is seated on
//     healthy nodes, or floating, or degraded by what it lacks (I3).
//
// It looks at the present and the future. It costs O(c·n) for n bookings and c
// changes, and is meant for small calendars.
//
// A booking of several lines does not tell the envelope of each. There the widest
// is the bound from above, and its window with the grace the bound from below.
func Recount(c *reservation.Calendar) error {
	r := recount{c: c, now: c.Present(), outages: slices.Collect(c.Outages()), degraded: slices.Collect(c.Degraded())}
	always := reservation.Window{Start: time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC)}
	for b := range c.Bookings("", always) {
		if b.Class == reservation.Firm && (b.Phase.Live() || cleans(b)) && b.Envelope.End.After(r.now) {
			r.add(b)
		}
	}
	for p := range c.Pools() {
		r.levels(p)
	}
	r.nodes()
	for _, x := range r.lines {
		if x.booking.Phase.Live() {
			r.seated(x)
		}
	}
	return errors.Join(r.errs...)
}

type recount struct {
	c        *reservation.Calendar
	now      time.Time
	outages  []reservation.Outage
	degraded []reservation.Degradation
	lines    []taken
	errs     []error
}

// taken is one line of a Firm booking. Its envelope is at least sure and at
// most widest; of a booking with one line both are the same.
type taken struct {
	booking      reservation.Booking
	line         reservation.Line
	sure, widest reservation.Window
	seats        []string
}

// nodes returns how many nodes the line keeps from others: in the cleanup those
// that it had, before that its count.
func (x taken) nodes() int64 {
	if cleans(x.booking) {
		return int64(len(x.seats))
	}
	return x.line.Count
}

// cleans reports whether a booking is over and its nodes may be in cleanup.
func cleans(b reservation.Booking) bool {
	return b.Phase == reservation.Ended || b.Phase == reservation.NoShow || b.Phase == reservation.Revoked
}

func (r *recount) wrong(format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf(format, args...))
}

// add notes the lines of a booking with their envelopes.
func (r *recount) add(b reservation.Booking) {
	for _, l := range b.Lines {
		x := taken{booking: b, line: l, sure: b.Envelope, widest: b.Envelope}
		if len(b.Lines) > 1 {
			x.sure = reservation.Window{Start: b.Window.Start, End: b.GraceEnd}
			if !b.EndedAt.IsZero() && b.EndedAt.Before(b.GraceEnd) {
				x.sure.End = b.EndedAt
			}
		}
		for _, s := range b.Seats {
			if s.Pool == l.Pool {
				x.seats = append(x.seats, s.Node)
			}
		}
		r.lines = append(r.lines, x)
	}
}

// levels checks the profile of a pool at every change.
func (r *recount) levels(p reservation.Pool) {
	changes := []time.Time{r.now}
	for _, x := range r.lines {
		changes = append(changes, x.sure.Start, x.sure.End, x.widest.Start, x.widest.End)
	}
	for _, o := range r.outages {
		changes = append(changes, o.Window.Start, o.Window.End)
	}
	steps := slices.Collect(r.c.Profile(p.Name, reservation.Window{Start: r.now}))
	if len(steps) == 0 || !steps[0].Window.Start.Equal(r.now) || !steps[len(steps)-1].Window.End.IsZero() {
		r.wrong("I1: pool %q: the profile %v does not go from the present on for ever", p.Name, steps)
		return
	}
	for i, s := range steps {
		changes = append(changes, s.Window.Start)
		if i > 0 && !s.Window.Start.Equal(steps[i-1].Window.End) {
			r.wrong("I1: pool %q: the profile has a gap or an overlap at %s", p.Name, s.Window.Start)
		}
	}
	slices.SortFunc(changes, time.Time.Compare)
	for _, at := range slices.CompactFunc(changes, time.Time.Equal) {
		if at.Before(r.now) {
			continue
		}
		step := steps[slices.IndexFunc(steps, func(s reservation.Step) bool { return contains(s.Window, at) })]
		r.level(p, at, step)
	}
}

// level checks one step of a profile at an instant.
func (r *recount) level(p reservation.Pool, at time.Time, step reservation.Step) {
	var least, most, live int64 // nodes in envelopes
	sure, maybe := map[string]bool{}, map[string]bool{}
	for _, x := range r.lines {
		if x.line.Pool != p.Name {
			continue
		}
		if contains(x.widest, at) {
			most += x.nodes()
			for _, n := range x.seats {
				maybe[n] = true
			}
		}
		if contains(x.sure, at) {
			least += x.nodes()
			if x.booking.Phase.Live() {
				live += x.nodes()
			}
			for _, n := range x.seats {
				sure[n] = true
			}
		}
	}
	var few, many int64 // nodes that are there; one that became a spare stays with its booking
	for _, u := range p.Units {
		// A drained node counts, like a spare, while a booking has it.
		closed := u.Spare || r.out(u.Name, at, reservation.Drain)
		switch {
		case r.out(u.Name, at, reservation.Break):
		case !closed || sure[u.Name]:
			few++
			many++
		case maybe[u.Name]:
			many++
		}
	}
	if step.Capacity < few || step.Capacity > many || step.Firm < least || step.Firm > most || step.Free != step.Capacity-step.Firm {
		r.wrong("I1: pool %q at %s: capacity %s, Firm %s, the profile says %+v", p.Name, at, between(few, many), between(least, most), step)
	}
	var short int64
	for _, d := range r.degraded {
		if d.Pool == p.Name && contains(d.Window, at) {
			short += d.Shortfall
		}
	}
	if short < live-many {
		r.wrong("I2: pool %q at %s: %d nodes for bookings of %d, and only %d are recorded as short", p.Name, at, many, live, short)
	}
}

func (r *recount) out(node string, at time.Time, mode reservation.OutageMode) bool {
	return slices.ContainsFunc(r.outages, func(o reservation.Outage) bool {
		return o.Mode == mode && slices.Contains(o.Nodes, node) && contains(o.Window, at)
	})
}

// nodes looks for a node that two bookings have at once, from the present on.
func (r *recount) nodes() {
	rest := func(w reservation.Window) reservation.Window {
		return reservation.Window{Start: later(w.Start, r.now), End: w.End}
	}
	for i, a := range r.lines {
		for k, n := range a.seats {
			if slices.Contains(a.seats[:k], n) {
				r.wrong("I3: booking %q has node %q twice", a.booking.ID, n)
			}
		}
		for _, b := range r.lines[:i] {
			x, y := rest(a.sure), rest(b.sure)
			if a.booking.ID == b.booking.ID || !x.Start.Before(x.End) || !y.Start.Before(y.End) || !x.Overlaps(y) {
				continue
			}
			for _, n := range a.seats {
				if slices.Contains(b.seats, n) {
					r.wrong("I3: node %q belongs to %q in %s and to %q in %s", n, b.booking.ID, y, a.booking.ID, x)
				}
			}
		}
	}
}

// seated checks that a live line has its seats, floats, or is degraded by what
// it lacks, at each instant at which an outage begins.
func (r *recount) seated(x taken) {
	pinned, begun := len(x.line.Nodes) > 0, !x.sure.Start.After(r.now)
	if !pinned && !begun && len(x.seats) == 0 {
		return // it floats
	}
	if int64(len(x.seats)) > x.line.Count {
		r.wrong("I3: booking %q has %d seats in pool %q, more than its %d", x.booking.ID, len(x.seats), x.line.Pool, x.line.Count)
	}
	instants := []time.Time{later(r.now, x.sure.Start)}
	for _, o := range r.outages {
		instants = append(instants, o.Window.Start)
	}
	for _, at := range instants {
		if at.Before(r.now) || !contains(x.sure, at) {
			continue
		}
		lacks := x.line.Count
		for _, n := range x.seats {
			if !r.out(n, at, reservation.Break) {
				lacks--
			}
		}
		for _, d := range r.degraded {
			if d.ID == x.booking.ID && d.Pool == x.line.Pool && contains(d.Window, at) {
				lacks -= d.Shortfall
			}
		}
		if lacks > 0 {
			r.wrong("I3: booking %q in pool %q at %s: %d of its %d nodes are neither seated nor recorded as short, it has %q",
				x.booking.ID, x.line.Pool, at, lacks, x.line.Count, x.seats)
		}
	}
}

// Agree compares a model and a calendar that have accepted the same commands: the
// free nodes at every change and the phase of every booking. Both must stand at
// the same instant: Advance both before.
func Agree(m *Model, c *reservation.Calendar) error {
	var errs []error
	for _, p := range m.pools {
		for s := range c.Profile(p.Name, reservation.Window{Start: m.now}) {
			for _, at := range append(m.Changes(p.Name), s.Window.Start) {
				if least, most := m.Free(p.Name, at); contains(s.Window, at) && (s.Free < least || s.Free > most) {
					errs = append(errs, fmt.Errorf("I1: pool %q at %s: %s free, the profile says %+v", p.Name, at, between(least, most), s))
				}
			}
		}
	}
	for _, b := range m.bookings {
		got, ok := c.Find(b.asked.ID)
		if want := m.phase(b); !ok || got.Phase != want {
			errs = append(errs, fmt.Errorf("booking %q is %s, the calendar says %s, %t", b.asked.ID, want, got.Phase, ok))
		}
	}
	return errors.Join(errs...)
}
