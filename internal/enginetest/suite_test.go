// SPDX-License-Identifier: Apache-2.0

package enginetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func subject(fault string) Subject[*toy, event] {
	return Subject[*toy, event]{
		New:     func() *toy { return newToy(fault) },
		Restore: restorer(fault), Decode: decoder(fault),
		Do: do, Ask: ask, Check: (*toy).check,
	}.prepared()
}

// A judge notes the failures that the suite reports, and stops it at the first.
type judge struct{ said []string }

type stop struct{}

func (j *judge) Errorf(format string, args ...any) {
	j.said = append(j.said, fmt.Sprintf(format, args...))
}
func (j *judge) FailNow() { panic(stop{}) }

// verdict runs a property over some histories and gives what it says of the first that fails.
func verdict(property func(require.TestingT, *rand.Rand), histories uint64) string {
	j := &judge{}
	one := func(seed uint64) {
		defer func() {
			if r := recover(); r != nil && r != (stop{}) {
				panic(r)
			}
		}()
		property(j, rand.New(rand.NewPCG(seed, 9)))
	}
	for seed := range histories {
		if one(seed); j.said != nil {
			break
		}
	}
	return strings.Join(j.said, "\n")
}

// The suite passes a sound engine.
func TestSoundEnginePasses(t *testing.T) { Run(t, subject("")) }

// The suite fails an engine that breaks one of its properties, and names it.
func TestSuiteBites(t *testing.T) {
	type suite = Subject[*toy, event]
	thousand := func(s suite) func(require.TestingT, *rand.Rand) {
		return func(t require.TestingT, r *rand.Rand) { s.answers(t, r, rounds) }
	}
	short := func(s suite) func(require.TestingT, *rand.Rand) { return s.replay }
	apart := func(s suite) func(require.TestingT, *rand.Rand) { return s.isolation }
	clocks := func(s suite) func(require.TestingT, *rand.Rand) { return s.time }
	codecs := func(s suite) func(require.TestingT, *rand.Rand) { return s.codec }
	for _, tt := range []struct {
		fault, want string
		property    func(suite) func(require.TestingT, *rand.Rand)
	}{
		{"E1 replay", "E1: replay is not the live value", short},
		{"E1 hidden answer", "E1: in round 0", short},
		{"E1 hidden refusal", "E1: in round", short},
		{"E1 late answer", "E1: in round 3", thousand}, // 3xx
		{"E2 refused command", "E2: a refused command changed the state", short},
		{"E2 event of a refused command", "E2: a refused command left events", short},
		{"E2 refused event", "E2: a refused event changed the state", codecs},
		{"E3 shared items", "E3: changing value", apart},
		{"E4 chance", "E4: same commands, different bytes", short},
		{"E5 clock back", "E5: a clock that went back changed the state", clocks},
		{"E5 late stamp", "E5: one jump is not the sum of its steps", clocks},
		{"E5 Next is late", "E5: something happened before Next", clocks},
		{"E5 Next is early", "E5: nothing happened at Next", clocks},
		{"E6 cut snapshot", "E6: a cut snapshot was accepted", codecs},
		{"E6 longer snapshot", "E6: a longer snapshot was accepted", codecs},
		{"E6 damaged snapshot", "E6: an accepted snapshot encodes differently", codecs},
		{"E6 cut event", "E6: a cut event was accepted", codecs},
		{"E6 damaged event", "E6: an accepted event encodes differently", codecs},
		{"E7 half an event", "E7: after event", short},
	} {
		t.Run(tt.fault, func(t *testing.T) {
			require.Contains(t, verdict(tt.property(subject(tt.fault)), 40), tt.want)
			require.Empty(t, verdict(tt.property(subject("")), 3))
		})
	}
	require.Empty(t, verdict(subject("E1 late answer").replay, 40), "what shows late shows only in the long run")
}

// The suite fails a subject whose commands are all of one kind.
func TestSuiteNeedsBothKinds(t *testing.T) {
	both := func(s Subject[*toy, event]) string {
		return verdict(func(t require.TestingT, _ *rand.Rand) { s.bothKinds(t) }, 1)
	}
	require.Empty(t, both(subject("")))
	s := subject("")
	s.Do = func(*rand.Rand, *toy, time.Time) (string, error) { return "", errors.New("no") }
	require.Contains(t, both(s), "0 were accepted")
	s = subject("")
	s.Do = func(*rand.Rand, *toy, time.Time) (string, error) { return "nothing to do", nil }
	require.Contains(t, both(s), "0 were refused")
}
