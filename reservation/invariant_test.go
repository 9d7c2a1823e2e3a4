// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-gpu/berth/internal/enginetest"
	"github.com/berth-gpu/berth/reservation"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func drawRequest(t *rapid.T, id string) reservation.Request {
	from := rapid.IntRange(0, 40).Draw(t, "from")
	q := reservation.Request{ID: id, Owner: "o", Window: minutes(from, from+rapid.IntRange(1, 20).Draw(t, "length"))}
	q.Lines = []reservation.Line{{Pool: "p", Count: int64(rapid.IntRange(1, 3).Draw(t, "count"))}}
	return q
}

func profile(c *reservation.Calendar) []reservation.Step {
	return slices.Collect(c.Profile("p", reservation.Window{Start: modelStart}))
}

// TestBookCancel checks I5, and I12: accepted bookings in another order give
// the same profile.
func TestBookCancel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCalendar(t, modelStart, poolOf("p", 6, 0, reservation.Policy{}))
		var accepted []reservation.Request
		for i := range rapid.IntRange(1, 15).Draw(t, "n") {
			q := drawRequest(t, fmt.Sprint(i))
			if _, err := c.Book(modelStart, q); err == nil {
				accepted = append(accepted, q)
			}
		}
		before := profile(c)
		q := drawRequest(t, "extra")
		if _, err := c.Book(modelStart, q); err == nil && q.Window.Start.After(modelStart) {
			_, err := c.Cancel(modelStart, "extra", 0)
			require.NoError(t, err)
			require.Equal(t, before, profile(c), "I5")
		} else if err == nil {
			t.Skip("it began")
		}
		other := newCalendar(t, modelStart, poolOf("p", 6, 0, reservation.Policy{}))
		for _, q := range rapid.Permutation(accepted).Draw(t, "order") {
			_, err := other.Book(modelStart, q)
			require.NoError(t, err)
		}
		require.Equal(t, before, profile(other), "I12")
	})
}

// TestShift checks I11: the same commands and questions a week and a second
// later give the same answers, a week and a second later.
func TestShift(t *testing.T) {
	const by = 7*24*time.Hour + time.Second
	rapid.Check(t, func(t *rapid.T) {
		var answers [2]string
		n, seed := rapid.IntRange(1, 20).Draw(t, "n"), rapid.Uint64().Draw(t, "seed")
		for k, shift := range []time.Duration{0, by} {
			r := rand.New(rand.NewPCG(seed, 1))
			start := modelStart.Add(shift)
			c := newCalendar(t, start, poolOf("p", 6, 0, modelPolicy))
			var b strings.Builder
			for i := range n {
				from := start.Add(time.Duration(2+r.IntN(40)) * time.Minute)
				q := request(fmt.Sprint(i), "o", reservation.Window{Start: from, End: from.Add(time.Duration(1+r.IntN(20)) * time.Minute)}, int64(1+r.IntN(4)))
				q.Lines[0].Pool = "p"
				if r.IntN(4) == 0 {
					q.Lines[0] = reservation.Line{Pool: "p", Nodes: []string{fmt.Sprint("p-", 1+r.IntN(6))}}
				}
				_, err := c.Book(start, q)
				fmt.Fprintln(&b, err == nil, errors.Is(err, reservation.ErrHorizon), conflictOffers(&b, err, shift))
				c.Advance(start.Add(time.Duration(r.IntN(4)) * time.Minute))
			}
			for s := range c.Profile("p", reservation.Window{Start: c.Present()}) {
				fmt.Fprintln(&b, s.Window.Start.Add(-shift), s.Free)
			}
			answers[k] = b.String()
		}
		require.Equal(t, answers[0], answers[1], "I11")
	})
}

func conflictOffers(b *strings.Builder, err error, shift time.Duration) bool {
	x, ok := err.(*reservation.ConflictError)
	if ok {
		fmt.Fprintln(b, x.Reason, x.At.Start.Add(-shift), x.Free)
		for _, o := range x.Offers {
			fmt.Fprintln(b, o.Kind, o.Window.Start.Add(-shift), o.Window.Length(), o.Lines)
		}
	}
	return ok
}

// TestMoreCapacity checks I13: what fits n nodes fits n + 1 in the same order.
func TestMoreCapacity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := newCalendar(t, modelStart, poolOf("p", 4, 0, modelPolicy))
		large := newCalendar(t, modelStart, poolOf("p", 5, 0, modelPolicy))
		for i := range rapid.IntRange(1, 15).Draw(t, "n") {
			q := drawRequest(t, fmt.Sprint(i))
			if _, err := small.Book(modelStart, q); err == nil {
				_, err := large.Book(modelStart, q)
				require.NoError(t, err, "I13")
			}
		}
	})
}

// TestApplyContradictions gives a calendar events that are not its own.
func TestApplyContradictions(t *testing.T) {
	c := newCalendar(t, at("00:00"), h100(3))
	require.NoError(t, book(c, "b", "10:00", "12:00", 2))
	require.NoError(t, pin(c, "pin", span("10:00", "12:00"), "n3"))
	now := at("01:00")
	q := request("b", "o", span("10:00", "12:00"), 2)
	spans := []reservation.Span{{From: at("10:00"), To: at("12:00")}}
	for i, e := range []reservation.Event{
		nil,
		reservation.HoldConfirmed{At: at("00:00").Add(-time.Hour), ID: "b"},
		reservation.HoldConfirmed{At: now, ID: "x"},
		reservation.HoldConfirmed{At: now, ID: "b"},
		reservation.HoldExpired{At: now, ID: "b"},
		reservation.Started{At: now, ID: "b"},
		reservation.GraceBegan{At: now, ID: "b"},
		reservation.BookingEnded{At: now, ID: "b"},
		reservation.Released{At: now, ID: "b"},
		reservation.Booked{At: now, Request: q, Spans: spans},
		reservation.Booked{At: now, Request: request("new", "o", span("10:00", "12:00"), 2)},
		reservation.Booked{At: now, Request: request("new", "o", span("10:00", "12:00"), 1<<40+1), Spans: spans},
		reservation.Booked{At: now, Request: request("new", "o", span("09:00", "12:00"), 1), Spans: spans},
		reservation.Opened{At: now, ID: "b", Pool: "x"},
		reservation.Opened{At: now, ID: "b", Pool: "h100", Nodes: []string{"n2", "n1"}},
		reservation.Opened{At: now, ID: "b", Pool: "h100", Nodes: []string{"n3"}},
		reservation.Seated{At: now, ID: "b", Nodes: []string{"n1", "n2", "n3"}},
		reservation.Seated{At: now, ID: "b", Nodes: []string{"n2", "n3"}},
		reservation.Unseated{At: now, ID: "b", Nodes: []string{"n1"}},
		reservation.ReclaimNotice{At: now, ID: "b", Node: "n1"},
		reservation.Planned{At: now, Pool: "h100", Plans: []reservation.Plan{{ID: "b", Nodes: []string{"n3"}}}},
		reservation.Planned{At: now, Pool: "h100", Plans: []reservation.Plan{{ID: "pin", Nodes: []string{"n1"}}}},
		reservation.Extended{At: now, ID: "b", End: at("09:00")},
		reservation.Extended{At: now, ID: "b"},
		reservation.PoolRemoved{At: now, Name: "h100"},
		reservation.PoolSet{At: now, Pool: reservation.Pool{Name: "z", GPUsPerUnit: 1, Units: h100(1).Units}},
		reservation.OutageSet{At: now, Outage: reservation.Outage{ID: "o"}},
		reservation.OutageEnded{At: now, ID: "o"},
		reservation.Forgotten{At: now, Before: now, Count: 1},
	} {
		before, _ := c.MarshalBinary()
		require.ErrorIs(t, c.Apply(e), reservation.ErrEvent, "%d %+v", i, e)
		after, _ := c.MarshalBinary()
		require.Equal(t, before, after, "I6: %d", i)
	}
	require.NoError(t, c.Check())
}

// TestEventKinds sees every kind of event at least once, in both encodings.
func TestEventKinds(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		c, now := newCalendar(t, enginetest.Start, suitePools...), enginetest.Start
		for range 40 {
			now = now.Add(time.Duration(r.IntN(1800)) * time.Second)
			_, _ = randomCommand(r, c, now)
		}
		for _, e := range c.Events() {
			if seen[e.Kind()] {
				continue
			}
			seen[e.Kind()] = true
			b, err := reservation.EventJSON(e)
			require.NoError(t, err)
			require.Contains(t, string(b), fmt.Sprintf(`{"kind":%q,"at":"2026-`, e.Kind()))
		}
	}
	require.Len(t, seen, 34, "%v", seen)
}
