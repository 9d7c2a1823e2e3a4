// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/berth-gpu/berth/reservation"
	"github.com/stretchr/testify/require"
)

// waiter is an entry for nodes of h100 on the examples' day.
func waiter(id string, count int64, length time.Duration, latest string) reservation.Waiting {
	return reservation.Waiting{ID: id, Owner: "o", Lines: []reservation.Line{{Pool: "h100", Count: count}}, Length: length, Latest: at(latest)}
}

func wait(t *testing.T, c *reservation.Calendar, when string, list ...reservation.Waiting) {
	for _, w := range list {
		_, err := c.Wait(at(when), w)
		require.NoError(t, err)
	}
}

// due lists the proposals as "id start".
func due(t *testing.T, c *reservation.Calendar, when string) (out []string) {
	list, err := c.Due(at(when), reservation.DueQuery{})
	require.NoError(t, err)
	for _, p := range list {
		out = append(out, p.ID+" "+p.Requests[0].Window.Start.Format("15:04"))
	}
	return out
}

func take(t *testing.T, c *reservation.Calendar, when string) {
	list, err := c.Due(at(when), reservation.DueQuery{})
	require.NoError(t, err)
	for _, p := range list {
		require.NoError(t, do(c, at(when), p))
	}
}

// What is given back early goes to who waits, at that very instant.
func TestScenario25FreedTimeIsOffered(t *testing.T) {
	c := cal8(t)
	require.NoError(t, book(c, "R", "10:00", "12:00", 8))
	wait(t, c, "09:00", waiter("W", 8, time.Hour, "11:00"))
	require.Empty(t, due(t, c, "10:14"))
	_, err := c.Release(at("10:15"), "R", 0)
	require.NoError(t, err)
	require.Equal(t, []string{"W 10:15"}, due(t, c, "10:15"))
	take(t, c, "10:15")
	b, _ := c.Find("W")
	require.Equal(t, reservation.Active, b.Phase)
	require.Empty(t, slices.Collect(c.Waitlist()), "served")
	require.NoError(t, c.Check())
}

// By priority, then in the order of coming; a smaller one behind may go first.
func TestWaitlistOrder(t *testing.T) {
	c := cal8(t)
	require.NoError(t, book(c, "R", "00:00", "12:00", 6))
	big, first, second := waiter("big", 4, time.Hour, "10:00"), waiter("first", 1, time.Hour, "10:00"), waiter("second", 2, time.Hour, "00:30")
	first.Priority = 1
	wait(t, c, "00:00", second, big, first)
	require.Equal(t, []string{"first 00:00"}, due(t, c, "00:00"), "two nodes are free; second wants both")
	ids := []string{}
	for w := range c.Waitlist() {
		ids = append(ids, fmt.Sprint(w.ID, w.Seq))
	}
	require.Equal(t, []string{"first3", "second1", "big2"}, ids)
	take(t, c, "00:00")
	require.Equal(t, time.Time{}, func() time.Time { at, _ := c.NextDue(at("00:00")); return at }(), "time alone makes no room")
	next, ok := c.Next()
	require.True(t, ok)
	require.Equal(t, at("00:30").Add(time.Second), next, "second lapses")
	c.Advance(next)
	require.Contains(t, kinds(c), "wait-lapsed")
	require.NoError(t, c.Withdraw(next, "big"))
	require.ErrorIs(t, c.Withdraw(next, "big"), reservation.ErrUnknown)
	require.ErrorIs(t, c.Withdraw(next, "first"), reservation.ErrState)
	require.NoError(t, c.Check())
}

// S32: an offer is a hold; if it is not confirmed the next one gets it.
func TestWaitlistOfferGoesOn(t *testing.T) {
	c := cal8(t)
	a, b := waiter("a", 8, time.Hour, "01:00"), waiter("b", 8, time.Hour, "01:00")
	a.TTL, b.TTL = 10*time.Minute, 10*time.Minute
	a.Deadline = at("02:00")
	b.Deadline = at("02:00")
	wait(t, c, "00:00", a, b)
	require.Equal(t, []string{"a 00:00", "b 01:00"}, due(t, c, "00:00"))
	list, err := c.Due(at("00:00"), reservation.DueQuery{Limit: 1})
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, 10*time.Minute, list[0].TTL)
	require.NoError(t, do(c, at("00:00"), list[0]))
	block := request("c", "o", span("01:00", "02:00"), 1)
	_, err = c.Book(at("00:00"), block)
	require.NoError(t, err)
	require.Empty(t, due(t, c, "00:09"))
	e, err := c.Expected(at("00:00"), "a")
	require.NoError(t, err)
	require.Equal(t, reservation.Expectation{Window: span("00:00", "01:00"), Certainty: reservation.Promise}, e)
	require.Empty(t, due(t, c, "00:10"), "b cannot end by 01:10 beside c")
	_, err = c.Cancel(at("00:10"), "c", 0)
	require.NoError(t, err)
	require.Equal(t, []string{"b 00:10"}, due(t, c, "00:10"))
	_, err = c.Wait(at("00:10"), a)
	require.ErrorIs(t, err, reservation.ErrExists, "it has had its offer")
}

// Bounded bypass: a gang is passed over MaxBypass times, and then the nodes are
// left to gather for it.
func TestBoundedBypass(t *testing.T) {
	c, err := reservation.New(reservation.Config{Start: at("00:00"), MaxBypass: 2, Pools: []reservation.Pool{h100(2)}})
	require.NoError(t, err)
	require.NoError(t, book(c, "R", "00:00", "04:00", 1))
	wait(t, c, "00:00", waiter("gang", 2, time.Hour, "03:00"))
	for i := range 4 {
		wait(t, c, "00:00", waiter(fmt.Sprint("small", i), 1, 30*time.Minute, "02:30"))
	}
	later := waiter("later", 1, time.Hour, "12:00")
	later.Earliest = at("04:00")
	wait(t, c, "00:00", later)
	require.Equal(t, []string{"small0 00:00", "small1 00:30", "later 04:00"}, due(t, c, "00:00"), "later is behind the range of the gang")
	take(t, c, "00:00")
	w, _ := c.FindWaiting("gang")
	require.Equal(t, int64(2), w.Passed)
	require.Empty(t, due(t, c, "01:00"), "a node is free for small2, and kept")
	e, err := c.Expected(at("01:00"), "small2")
	require.NoError(t, err)
	require.Equal(t, reservation.Forecast, e.Certainty)
	_, err = c.Release(at("02:00"), "R", 0)
	require.NoError(t, err)
	require.Equal(t, []string{"gang 02:00"}, due(t, c, "02:00"))
	require.NoError(t, c.Withdraw(at("02:00"), "gang"))
	require.Equal(t, []string{"small2 02:00", "small3 02:00"}, due(t, c, "02:00"))

	// What is larger than the pool, or than a rule allows, holds nobody up.
	p := h100(2)
	p.Policy.MaxLength = 2 * time.Hour
	c, err = reservation.New(reservation.Config{Start: at("00:00"), MaxBypass: -1, Pools: []reservation.Pool{p}})
	require.NoError(t, err)
	wait(t, c, "00:00", waiter("large", 3, time.Hour, "03:00"), waiter("long", 1, 3*time.Hour, "03:00"), waiter("small", 1, time.Hour, "02:00"))
	require.Equal(t, []string{"small 00:00"}, due(t, c, "00:00"))
	e, err = c.Expected(at("00:00"), "small")
	require.NoError(t, err)
	require.Equal(t, reservation.KnownEnds, e.Certainty)

	strict, err := reservation.New(reservation.Config{Start: at("00:00"), MaxBypass: -1, Pools: []reservation.Pool{h100(2)}})
	require.NoError(t, err)
	require.NoError(t, book(strict, "R", "00:00", "04:00", 1))
	wait(t, strict, "00:00", waiter("gang", 2, time.Hour, "03:00"), waiter("small", 1, time.Hour, "02:00"))
	require.Empty(t, due(t, strict, "00:00"))
}

// What an expected start is worth.
func TestExpected(t *testing.T) {
	p := h100(2)
	p.Policy.Horizon = 4 * time.Hour
	c := newCalendar(t, at("00:00"), p)
	require.NoError(t, book(c, "R", "00:00", "04:00", 2))
	a, b := waiter("a", 2, time.Hour, "12:00"), waiter("b", 1, time.Hour, "12:00")
	wait(t, c, "00:00", a, b)
	require.Empty(t, due(t, c, "00:00"), "the horizon ends with R")
	for id, want := range map[string]string{"a": "04:00", "b": "05:00"} {
		e, err := c.Expected(at("00:00"), id)
		require.NoError(t, err)
		require.Equal(t, reservation.KnownEnds, e.Certainty, id)
		require.Equal(t, at(want), e.Window.Start, id)
	}
	next, ok := c.NextDue(at("00:00"))
	require.True(t, ok)
	require.Equal(t, at("01:00"), next, "4 hours before a would end")
	require.Empty(t, due(t, c, "00:59"))
	require.Equal(t, []string{"a 04:00"}, due(t, c, "01:00"))

	// Only a hold in the way: a guess.
	_, err := c.Hold(at("01:00"), request("h", "x", span("04:00", "05:00"), 1), 30*time.Minute)
	require.NoError(t, err)
	wait(t, c, "01:00", waiter("g", 2, time.Hour, "04:30"))
	require.NoError(t, c.Withdraw(at("01:00"), "a"))
	require.NoError(t, c.Withdraw(at("01:00"), "b"))
	e, err := c.Expected(at("01:00"), "g")
	require.NoError(t, err)
	require.Equal(t, reservation.Expectation{Window: span("04:00", "05:00"), Certainty: reservation.Forecast}, e)
	// Nothing helps, or nobody knows it.
	wait(t, c, "01:00", waiter("never", 2, time.Hour, "03:30"))
	_, err = c.Expected(at("01:00"), "never")
	require.ErrorIs(t, err, reservation.ErrConflict)
	_, err = c.Expected(at("01:00"), "none")
	require.ErrorIs(t, err, reservation.ErrUnknown)
	// A booking keeps its start, unless a node failed.
	e, err = c.Expected(at("01:00"), "R")
	require.NoError(t, err)
	require.Equal(t, reservation.Promise, e.Certainty)
	_, err = c.SetOutage(at("01:00"), reservation.Outage{ID: "o", Owner: "ops", Nodes: []string{"n1"}})
	require.NoError(t, err)
	e, err = c.Expected(at("01:00"), "R")
	require.NoError(t, err)
	require.Equal(t, reservation.Forecast, e.Certainty)
	_, err = c.Release(at("01:00"), "R", 0)
	require.NoError(t, err)
	_, err = c.Expected(at("01:00"), "R")
	require.ErrorIs(t, err, reservation.ErrState)
}

func TestWaitKeysAndMistakes(t *testing.T) {
	c := cal8(t)
	w := waiter("w", 9, time.Hour, "10:00")
	first, err := c.Wait(at("00:00"), w)
	require.NoError(t, err)
	again, err := c.Wait(at("00:01"), w)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Len(t, c.Events(), 1)
	w.Priority = 3
	_, err = c.Wait(at("00:01"), w)
	require.ErrorIs(t, err, reservation.ErrExists)
	// The booking of that id has to be its owner's, and need not be as large.
	q := request("w", "somebody", span("01:00", "02:00"), 1)
	_, err = c.Book(at("00:01"), q)
	require.ErrorIs(t, err, reservation.ErrExists)
	q.Owner = "o"
	_, err = c.Book(at("00:01"), q)
	require.NoError(t, err)
	_, ok := c.FindWaiting("w")
	require.False(t, ok)

	_, err = c.Wait(at("00:00"), reservation.Waiting{TTL: -1, Align: time.Millisecond, Latest: at("00:00").Add(1)})
	for _, field := range []string{"Request.ID", "Request.Owner", "Request.Lines", "Waiting.Length", "Waiting.TTL", "Waiting.Align", "Waiting.Latest"} {
		require.ErrorContains(t, err, field)
	}
	for what, x := range map[string]struct {
		change func(w *reservation.Waiting)
		want   error
	}{
		"empty range": {func(w *reservation.Waiting) { w.Earliest = at("10:01") }, reservation.ErrInvalid},
		"deadline":    {func(w *reservation.Waiting) { w.Earliest, w.Deadline = at("09:30"), at("10:00") }, reservation.ErrInvalid},
		"over":        {func(w *reservation.Waiting) { w.Latest = at("00:00") }, reservation.ErrHorizon},
		"pool":        {func(w *reservation.Waiting) { w.Lines = []reservation.Line{{Pool: "x", Count: 1}} }, reservation.ErrUnknown},
		"node":        {func(w *reservation.Waiting) { w.Lines = []reservation.Line{{Pool: "h100", Nodes: []string{"x"}}} }, reservation.ErrUnknown},
	} {
		w := waiter("new", 1, time.Hour, "10:00")
		x.change(&w)
		_, err := c.Wait(at("00:02"), w)
		require.ErrorIs(t, err, x.want, what)
	}
}
