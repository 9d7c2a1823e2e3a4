// SPDX-License-Identifier: Apache-2.0

package reservationtest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/reservation"
)

// A FrontEnd is what is tested: anything that takes bookings.
//
// A FrontEnd is safe for concurrent use by multiple goroutines only if its
// [Suite] says so.
type FrontEnd interface {
	// Do runs one command. An error means that it was refused and that it changed
	// nothing. An Advance is never refused.
	Do(c Command) error
	// MinFree returns the least number of free nodes of a pool in a window that
	// does not begin before the last command. A front end that does not tell
	// returns errors.ErrUnsupported, and only its yes and no are checked.
	MinFree(pool string, w reservation.Window) (int64, error)
}

// calendar is the front end that a calendar is itself.
type calendar struct{ *reservation.Calendar }

func (c calendar) Do(x Command) error { return x.On(c.Calendar) }

// Front returns a calendar as a [FrontEnd].
func Front(c *reservation.Calendar) FrontEnd { return calendar{c} }

// Run gives a front end, which has the pools of the model and no bookings, the
// commands of a load and returns the first answer that the model does not allow,
// or nil. After each command it compares what is free at every instant. A model
// that returns nil has all that was accepted.
func Run(fe FrontEnd, m *Model, load []Command) error {
	for i, c := range load {
		verdict, why := m.Judge(c)
		err := fe.Do(c)
		switch {
		case err == nil && verdict == Refuse:
			return fmt.Errorf("command %d: %s: accepted, but %s", i, c, why)
		case err != nil && verdict == Accept:
			return fmt.Errorf("command %d: %s: refused, but it fits: %w", i, c, err)
		case err == nil:
			m.apply(c)
		}
		now := Command{Op: Advance, At: c.At}
		m.apply(now)
		if err := fe.Do(now); err != nil {
			return fmt.Errorf("command %d: %s: Advance was refused: %w", i, c, err)
		}
		if err := compare(fe, m); err != nil {
			return fmt.Errorf("after command %d: %s: %w", i, c, err)
		}
	}
	return nil
}

// compare asks for the free nodes between each two changes.
func compare(fe FrontEnd, m *Model) error {
	for _, p := range m.pools {
		at := m.Changes(p.Name)
		for i, from := range at {
			w := reservation.Window{Start: from, End: from.Add(time.Hour)}
			if i+1 < len(at) {
				w.End = at[i+1]
			}
			got, err := fe.MinFree(p.Name, w)
			if errors.Is(err, errors.ErrUnsupported) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("MinFree of pool %q in %s: %w", p.Name, w, err)
			}
			if least, most := m.Free(p.Name, from); got < least || got > most {
				return fmt.Errorf("pool %q has %s free nodes in %s, not %d", p.Name, between(least, most), w, got)
			}
		}
	}
	return nil
}

func between(least, most int64) string {
	if least == most {
		return fmt.Sprint(least)
	}
	return fmt.Sprint(least, " to ", most)
}

// AtOnce books all requests at one instant, each from a goroutine of its own,
// and returns an error if those that were accepted do not fit together, or if
// one was refused that fits beside them all. The model must be that of the front
// end, and the requests must be for floating lines of pools in which the count
// decides; on success the model has what was accepted.
func AtOnce(fe FrontEnd, m *Model, at time.Time, requests []reservation.Request) error {
	commands := make([]Command, len(requests))
	answers := make([]error, len(requests))
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for i, q := range requests {
		commands[i] = Command{Op: Book, At: at, Request: q}
		wg.Go(func() {
			<-begin
			answers[i] = fe.Do(commands[i])
		})
	}
	close(begin)
	wg.Wait()
	for i, c := range commands {
		if answers[i] == nil {
			if err := m.Do(c); err != nil {
				return fmt.Errorf("%d requests at once: one too many was accepted: %w", len(requests), err)
			}
		}
	}
	for i, c := range commands {
		if v, _ := m.Judge(c); answers[i] != nil && v == Accept {
			return fmt.Errorf("%d requests at once: %s: refused, but it fits beside the others: %w", len(requests), c, answers[i])
		}
	}
	return compare(fe, m)
}

// A Suite tests a front end.
//
// A Suite is immutable and safe for concurrent use.
type Suite struct {
	// Open returns a new front end with these pools, no bookings, and a present
	// that is start.
	Open func(pools []reservation.Pool, start time.Time) FrontEnd
	// Pools draws what Open is given; nil: [Pools].
	Pools *rapid.Generator[[]reservation.Pool]
	// Mix says what the loads hold.
	Mix Mix
	// Concurrent says that the front end may be called from many goroutines;
	// then several requests come at once.
	Concurrent bool
}

// Run runs the suite: every answer of the front end to random loads is one that
// the [Model] allows.
func (s Suite) Run(t *testing.T) {
	if s.Pools == nil {
		s.Pools = Pools()
	}
	t.Run("one after the other", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			pools := s.Pools.Draw(t, "pools")
			load := Loads(pools, s.Mix).Draw(t, "load")
			if err := Run(s.Open(pools, Start), New(pools, Start), load); err != nil {
				t.Fatal(err)
			}
		})
	})
	if !s.Concurrent || s.Mix.Ops != nil && !slices.Contains(s.Mix.Ops, Book) {
		return
	}
	t.Run("at once", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			pools := s.Pools.Draw(t, "pools")
			var requests []reservation.Request
			for i := range rapid.IntRange(2, 8).Draw(t, "requests") {
				requests = append(requests, Requests(pools, Mix{Several: s.Mix.Several}, fmt.Sprint("r", i), Start).Draw(t, "request"))
			}
			if err := AtOnce(s.Open(pools, Start), New(pools, Start), Start, requests); err != nil {
				t.Fatal(err)
			}
		})
	})
}
