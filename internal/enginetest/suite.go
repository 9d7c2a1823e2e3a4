// SPDX-License-Identifier: Apache-2.0

package enginetest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// An Event is what the suite needs of an engine's event type.
type Event interface {
	Kind() string
	AppendBinary([]byte) ([]byte, error)
}

// An Engine is what the suite needs of a forkable value: E is the engine's own
// pointer type, V its event type.
type Engine[E any, V Event] interface {
	Fork() E
	Events() []V
	Apply(V) error
	Next() (time.Time, bool)
	Advance(time.Time)
	AppendBinary([]byte) ([]byte, error)
}

// A Subject says how to make, drive and question one engine.
type Subject[E Engine[E, V], V Event] struct {
	// New returns a value worth testing, with configuration in place.
	New func() E
	// Restore and Decode are the package's readers.
	Restore func([]byte) (E, error)
	Decode  func([]byte) (V, error)
	// Do draws one command from r, runs it and returns the answer as text. It
	// must draw the same numbers whatever the engine answers, and some of its
	// commands must be refused.
	Do func(r *rand.Rand, e E, at time.Time) (string, error)
	// Ask returns the answers to questions drawn from r as text.
	Ask func(r *rand.Rand, e E) string
	// Check recounts the value from its records. Optional.
	Check func(E) error
	// Steps is the number of commands in one run; 0 means 40.
	Steps int
}

// Start is the instant at which every run of the suite begins.
var Start = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

// Run runs the whole suite.
func Run[E Engine[E, V], V Event](t *testing.T, s Subject[E, V]) {
	if s.Steps == 0 {
		s.Steps = 40
	}
	t.Run("E1 replay, E2 refusal, E4 determinism, E7 prefix", func(t *testing.T) { rapid.Check(t, s.replay) })
	t.Run("E3 isolation", func(t *testing.T) { rapid.Check(t, s.isolation) })
	t.Run("E3 isolation under race", s.race)
	t.Run("E5 time", func(t *testing.T) { rapid.Check(t, s.time) })
	t.Run("E6 codec", func(t *testing.T) { rapid.Check(t, s.codec) })
}

// clock draws the instants of a run: mostly forward, sometimes back.
func clock(r *rand.Rand, at time.Time) time.Time {
	switch r.IntN(8) {
	case 0:
		return at.Add(-time.Duration(r.IntN(3600)) * time.Second)
	case 1:
		return at.Add(time.Duration(r.IntN(24*3600)) * time.Second)
	default:
		return at.Add(time.Duration(r.IntN(1200)) * time.Second)
	}
}

func seed(t *rapid.T, name string) *rand.Rand {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, name), 1))
}

func (s Subject[E, V]) bytes(t require.TestingT, e E) []byte {
	b, err := e.AppendBinary(nil)
	require.NoError(t, err)
	return b
}

func (s Subject[E, V]) check(t require.TestingT, e E) {
	if s.Check != nil {
		require.NoError(t, s.Check(e))
	}
}

// step runs one command and checks E2.
func (s Subject[E, V]) step(t require.TestingT, r *rand.Rand, e E, at time.Time) string {
	before, events := s.bytes(t, e), len(e.Events())
	if r.IntN(6) == 0 {
		e.Advance(at)
		s.check(t, e)
		return "advanced"
	}
	answer, err := s.Do(r, e, at)
	if err != nil {
		require.Equal(t, before, s.bytes(t, e), "E2: a refused command changed the state: %v", err)
		require.Len(t, e.Events(), events, "E2: a refused command left events: %v", err)
		return "refused: " + err.Error()
	}
	s.check(t, e)
	return answer
}

func (s Subject[E, V]) replay(t *rapid.T) {
	r := seed(t, "commands")
	live := s.New()
	base := s.bytes(t, live)
	live = live.Fork()
	require.Empty(t, live.Events(), "a fork starts with no events")
	at := Start
	for range s.Steps {
		at = clock(r, at)
		s.step(t, r, live, at)
	}
	copied, err := s.Restore(base)
	require.NoError(t, err)
	for i, ev := range live.Events() {
		raw, err := ev.AppendBinary(nil)
		require.NoError(t, err)
		back, err := s.Decode(raw)
		require.NoError(t, err, "E1: event %d %s", i, ev.Kind())
		require.Equal(t, ev.Kind(), back.Kind())
		require.NoError(t, copied.Apply(back), "E1: event %d %s", i, ev.Kind())
		s.check(t, copied) // E7
	}
	require.Equal(t, s.bytes(t, live), s.bytes(t, copied), "E1: replay is not the live value")
	again, err := s.Restore(s.bytes(t, live))
	require.NoError(t, err)
	require.Equal(t, s.bytes(t, live), s.bytes(t, again), "E1: restore is not the live value")

	// The next answers, refusals and events are the same on all three.
	next := rapid.Uint64().Draw(t, "next")
	var want []string
	for n, e := range []E{live, copied, again} {
		r, at := rand.New(rand.NewPCG(next, 2)), at
		var got []string
		for range s.Steps / 2 {
			at = clock(r, at)
			got = append(got, s.step(t, r, e, at), s.Ask(r, e))
		}
		got = append(got, fmt.Sprintf("%x", s.bytes(t, e)))
		if n == 0 {
			want = got
		}
		require.Equal(t, want, got, "E1: value %d (0 live, 1 replayed, 2 restored) answers differently", n)
	}
}

func (s Subject[E, V]) isolation(t *rapid.T) {
	r := seed(t, "commands")
	values := []E{s.New()}
	at := Start
	for range s.Steps {
		at = clock(r, at)
		i := r.IntN(len(values))
		if len(values) < 4 && r.IntN(4) == 0 {
			values = append(values, values[i].Fork())
		}
		before := make([][]byte, len(values))
		for k, v := range values {
			before[k] = s.bytes(t, v)
		}
		s.step(t, r, values[i], at)
		for k, v := range values {
			if k != i {
				require.Equal(t, before[k], s.bytes(t, v), "E3: changing value %d changed value %d", i, k)
			}
		}
	}
}

// race forks, reads and changes from many goroutines; run it with -race.
func (s Subject[E, V]) race(t *testing.T) {
	base := s.New()
	r := rand.New(rand.NewPCG(1, 1))
	at := Start
	for range s.Steps {
		at = clock(r, at)
		s.step(t, r, base, at)
	}
	want := s.bytes(t, base)
	results := make([][]byte, 8)
	var wg sync.WaitGroup
	for g := range results {
		wg.Go(func() {
			for round := range 4 {
				r := rand.New(rand.NewPCG(uint64(g/2), 3)) // neighbours run the same commands
				fork := base.Fork()
				at := at
				for range s.Steps / 2 {
					at = clock(r, at)
					_, _ = s.Do(r, fork, at)
				}
				s.Ask(rand.New(rand.NewPCG(uint64(round), 4)), base)
				results[g], _ = fork.AppendBinary(nil)
			}
		})
	}
	wg.Wait()
	require.Equal(t, want, s.bytes(t, base), "E3: forks changed their base")
	for g := 0; g < len(results); g += 2 {
		require.Equal(t, results[g], results[g+1], "E4: same commands, different bytes")
	}
}

func (s Subject[E, V]) time(t *rapid.T) {
	r := seed(t, "commands")
	e := s.New()
	at := Start
	for range s.Steps {
		at = at.Add(time.Duration(r.IntN(1800)) * time.Second)
		s.step(t, r, e, at)
	}
	e.Advance(at)
	b := s.bytes(t, e)
	e.Advance(at.Add(-time.Hour))
	require.Equal(t, b, s.bytes(t, e), "E5: a clock that went back changed the state")

	far := at.Add(time.Duration(r.IntN(20*24*3600)) * time.Second)
	jump := e.Fork()
	jump.Advance(far)
	steps := e.Fork()
	for n := 0; ; n++ {
		next, ok := steps.Next()
		if !ok || next.After(far) {
			break
		}
		require.True(t, next.After(at), "E5: Next is %s, not after the present %s", next, at)
		require.Less(t, n, 10_000, "E5: Next does not move")
		before := s.bytes(t, steps)
		steps.Advance(next.Add(-time.Second))
		require.Equal(t, before, s.bytes(t, steps), "E5: something happened before Next %s", next)
		steps.Advance(next)
		require.NotEqual(t, before, s.bytes(t, steps), "E5: nothing happened at Next %s", next)
		at = next
	}
	steps.Advance(far)
	require.Equal(t, s.bytes(t, jump), s.bytes(t, steps), "E5: one jump is not the sum of its steps")
	require.Equal(t, s.log(t, jump), s.log(t, steps), "E5: one jump made other events than its steps")
}

// log returns the encoded events of e.
func (s Subject[E, V]) log(t require.TestingT, e E) []string {
	var out []string
	for _, ev := range e.Events() {
		b, err := ev.AppendBinary(nil)
		require.NoError(t, err)
		out = append(out, fmt.Sprintf("%s %x", ev.Kind(), b))
	}
	return out
}

func (s Subject[E, V]) codec(t *rapid.T) {
	r := seed(t, "commands")
	e := s.New()
	at := Start
	for range s.Steps {
		at = clock(r, at)
		s.step(t, r, e, at)
	}
	b := s.bytes(t, e)
	_, err := s.Restore(b[:r.IntN(len(b))])
	require.Error(t, err, "E6: a cut snapshot was accepted")
	_, err = s.Restore(append(append([]byte(nil), b...), 0))
	require.Error(t, err, "E6: a longer snapshot was accepted")
	for range 20 {
		bad := append([]byte(nil), b...)
		bad[r.IntN(len(bad))] ^= byte(1 << r.IntN(8))
		if got, err := s.Restore(bad); err == nil {
			require.Equal(t, bad, s.bytes(t, got), "E6: an accepted snapshot encodes differently")
			s.Ask(r, got)
		}
	}
	for _, ev := range e.Events() {
		raw, err := ev.AppendBinary(nil)
		require.NoError(t, err)
		_, err = s.Decode(raw[:r.IntN(len(raw))])
		require.Error(t, err, "E6: a cut event was accepted")
		raw[r.IntN(len(raw))] ^= byte(1 << r.IntN(8))
		if got, err := s.Decode(raw); err == nil {
			back, err := got.AppendBinary(nil)
			require.NoError(t, err)
			require.Equal(t, raw, back, "E6: an accepted event encodes differently")
			fork := e.Fork()
			before := s.bytes(t, fork)
			if fork.Apply(got) != nil {
				require.Equal(t, before, s.bytes(t, fork), "E2: a refused event changed the state")
			}
		}
	}
}
