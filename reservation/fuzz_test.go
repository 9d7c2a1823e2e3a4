// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/berth-gpu/berth/internal/enginetest"
	"github.com/berth-gpu/berth/reservation"
	"github.com/stretchr/testify/require"
)

// seedCalendars returns calendars with a history.
func seedCalendars(t require.TestingT) (out []*reservation.Calendar) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 7))
		c, now := newCalendar(t, enginetest.Start, suitePools...), enginetest.Start
		for range 40 {
			now = now.Add(time.Duration(r.IntN(1800)) * time.Second)
			_, _ = randomCommand(r, c, now)
		}
		out = append(out, c)
	}
	c := under(t, enginetest.Start, 2, full())
	require.NoError(t, c.SetPool(enginetest.Start, poolOf("p", 3, 0, full())))
	return append(out, c)
}

// FuzzRestore: what is accepted passes Check, encodes to the same bytes, and
// answers and runs on without a panic.
func FuzzRestore(f *testing.F) {
	for _, c := range seedCalendars(f) {
		b, err := c.MarshalBinary()
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := reservation.Restore(b)
		if err != nil {
			require.ErrorIs(t, err, reservation.ErrCorrupt)
			return
		}
		again, err := c.MarshalBinary()
		require.NoError(t, err)
		require.Equal(t, b, again)
		require.NoError(t, c.Check())
		randomQuestions(rand.New(rand.NewPCG(1, 1)), c)
		c.Advance(c.Present().Add(time.Hour))
		require.NoError(t, c.Check())
	})
}

// FuzzDecodeEvent: what is accepted encodes to the same bytes, and applying it
// either fails and changes nothing, or leaves a state that passes Check.
func FuzzDecodeEvent(f *testing.F) {
	calendars := seedCalendars(f)
	for _, c := range calendars {
		for _, e := range c.Events() {
			b, err := e.AppendBinary(nil)
			require.NoError(f, err)
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := reservation.DecodeEvent(b)
		if err != nil {
			require.ErrorIs(t, err, reservation.ErrCorrupt)
			return
		}
		again, err := e.AppendBinary(nil)
		require.NoError(t, err)
		require.Equal(t, b, again)
		_, err = reservation.EventJSON(e)
		require.NoError(t, err)
		for _, c := range calendars {
			fork := c.Fork()
			before, _ := fork.MarshalBinary()
			if err := fork.Apply(e); err != nil {
				after, _ := fork.MarshalBinary()
				require.Equal(t, before, after)
				continue
			}
			require.NoError(t, fork.Check())
		}
	})
}
