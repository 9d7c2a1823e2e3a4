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

	tally *tally
}

// Start is the instant at which every run of the suite begins.
var Start = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

// rounds is how many commands and as many questions E1 compares after a replay.
const rounds = 1000

// Run runs the whole suite.
func Run[E Engine[E, V], V Event](t *testing.T, s Subject[E, V]) {
	s = s.prepared()
	check := func(name string, property func(require.TestingT, *rand.Rand)) {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { property(t, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "commands"), 1))) })
		})
	}
	check("E1 replay, E2 refusal, E4 determinism, E7 prefix", s.replay)
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("E1 the next thousand answers, history ", seed), func(t *testing.T) { s.answers(t, rand.New(rand.NewPCG(seed, 5)), rounds) })
	}
	check("E3 isolation", s.isolation)
	t.Run("E3 isolation under race", func(t *testing.T) { s.race(t) })
	check("E5 time", s.time)
	check("E6 codec", s.codec)
	t.Run("commands of both kinds", func(t *testing.T) { s.bothKinds(t) })
}

// tally counts what became of the commands.
type tally struct{ accepted, refused int }

func (s Subject[E, V]) prepared() Subject[E, V] {
	if s.Steps == 0 {
		s.Steps = 40
	}
	s.tally = &tally{}
	return s
}

// bothKinds fails a subject whose commands are nearly all refused, or nearly all
// accepted: the properties would say little of it.
func (s Subject[E, V]) bothKinds(t require.TestingT) {
	for seed := range uint64(10) {
		s.history(t, seed)
	}
	all := s.tally.accepted + s.tally.refused
	require.GreaterOrEqual(t, s.tally.accepted*leastShare, all, "of %d commands %d were accepted", all, s.tally.accepted)
	require.GreaterOrEqual(t, s.tally.refused*leastShare, all, "of %d commands %d were refused", all, s.tally.refused)
}

// leastShare is how many commands may come to one accepted, or to one refused.
const leastShare = 50

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

func (s Subject[E, V]) bytes(t require.TestingT, e E) []byte {
	b, err := e.AppendBinary(nil)
	require.NoError(t, err)
	return b
}

func (s Subject[E, V]) check(t require.TestingT, e E, when string, args ...any) {
	if s.Check != nil {
		require.NoError(t, s.Check(e), append([]any{when}, args...)...)
	}
}

// act runs one command, or lets time pass.
func (s Subject[E, V]) act(r *rand.Rand, e E, at time.Time) (answer string, command bool, err error) {
	if r.IntN(6) == 0 {
		e.Advance(at)
		return "advanced", false, nil
	}
	answer, err = s.Do(r, e, at)
	return answer, true, err
}

// step acts and checks E2.
func (s Subject[E, V]) step(t require.TestingT, r *rand.Rand, e E, at time.Time) string {
	before, events := s.bytes(t, e), len(e.Events())
	answer, command, err := s.act(r, e, at)
	if err != nil {
		s.tally.refused++
		require.Equal(t, before, s.bytes(t, e), "E2: a refused command changed the state: %v", err)
		require.Len(t, e.Events(), events, "E2: a refused command left events: %v", err)
		return "refused: " + err.Error()
	}
	if command {
		s.tally.accepted++
	}
	s.check(t, e, "at %s, answered %s", at, answer)
	return answer
}

func (s Subject[E, V]) replay(t require.TestingT, r *rand.Rand) {
	s.answers(t, r, s.Steps/2)
}

// answers makes a value by commands, copies it by replay and by restore, and
// compares the next answers of the three, n rounds of a command and a question.
func (s Subject[E, V]) answers(t require.TestingT, r *rand.Rand, n int) {
	seed, next := r.Uint64(), r.Uint64()
	live, at := s.history(t, seed)
	twin := s.twin(seed)
	require.Equal(t, s.bytes(t, live), s.bytes(t, twin), "E4: same commands, different bytes")
	require.Equal(t, s.log(t, live), s.log(t, twin), "E4: same commands, different events")

	copied, err := s.Restore(s.bytes(t, s.New()))
	require.NoError(t, err)
	for i, ev := range live.Events() {
		raw, err := ev.AppendBinary(nil)
		require.NoError(t, err)
		back, err := s.Decode(raw)
		require.NoError(t, err, "E1: event %d %s", i, ev.Kind())
		require.Equal(t, ev.Kind(), back.Kind(), "E1: event %d comes back as another", i)
		require.NoError(t, copied.Apply(back), "E1: event %d %s", i, ev.Kind())
		s.check(t, copied, "E7: after event %d %s", i, ev.Kind())
	}
	require.Equal(t, s.bytes(t, live), s.bytes(t, copied), "E1: replay is not the live value")
	again, err := s.Restore(s.bytes(t, live))
	require.NoError(t, err)
	require.Equal(t, s.bytes(t, live), s.bytes(t, again), "E1: restore is not the live value")

	// The next answers, refusals and events are the same on all three.
	values := []E{live, copied, again}
	draws, past := make([]*rand.Rand, len(values)), make([]int, len(values))
	for i, v := range values {
		draws[i], past[i] = rand.New(rand.NewPCG(next, 2)), len(v.Events())
	}
	for round := range n {
		var want [2]string
		var now time.Time
		for i, v := range values {
			now = clock(draws[i], at)
			got := [2]string{s.step(t, draws[i], v, now), s.Ask(draws[i], v)}
			if i == 0 {
				want = got
			}
			require.Equal(t, want, got, "E1: in round %d value %d (0 live, 1 replayed, 2 restored) answers differently", round, i)
		}
		at = now
	}
	for i, v := range values {
		require.Equal(t, s.bytes(t, values[0]), s.bytes(t, v), "E1: value %d (0 live, 1 replayed, 2 restored) has come to other bytes", i)
		require.Equal(t, s.log(t, values[0])[past[0]:], s.log(t, v)[past[i]:], "E1: value %d (0 live, 1 replayed, 2 restored) decided other events", i)
	}
}

// history makes a value by commands, with the events since New.
func (s Subject[E, V]) history(t require.TestingT, seed uint64) (E, time.Time) {
	r := rand.New(rand.NewPCG(seed, 1))
	e := s.New().Fork()
	require.Empty(t, e.Events(), "a fork starts with no events")
	at := Start
	for range s.Steps {
		at = clock(r, at)
		s.step(t, r, e, at)
	}
	return e, at
}

// twin is history without any check.
func (s Subject[E, V]) twin(seed uint64) E {
	r, e, at := rand.New(rand.NewPCG(seed, 1)), s.New().Fork(), Start
	for range s.Steps {
		at = clock(r, at)
		_, _, _ = s.act(r, e, at)
	}
	return e
}

func (s Subject[E, V]) isolation(t require.TestingT, r *rand.Rand) {
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
func (s Subject[E, V]) race(t require.TestingT) {
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

func (s Subject[E, V]) time(t require.TestingT, r *rand.Rand) {
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
	out := []string{}
	for _, ev := range e.Events() {
		b, err := ev.AppendBinary(nil)
		require.NoError(t, err)
		out = append(out, fmt.Sprintf("%s %x", ev.Kind(), b))
	}
	return out
}

func (s Subject[E, V]) codec(t require.TestingT, r *rand.Rand) {
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
