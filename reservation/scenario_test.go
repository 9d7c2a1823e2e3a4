// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/berth-gpu/berth/reservation"
	"github.com/stretchr/testify/require"
)

// The numbers are those of the project's list of scenarios: public failures of
// other systems, as given → right answer. A node stands for a GPU.

// at is a time of the examples' day, such as "10:30".
func at(hhmm string) time.Time {
	t, err := time.Parse("15:04", hhmm)
	if err != nil {
		panic(err) // a mistake in a test
	}
	return clock(t.Hour(), t.Minute())
}

func span(from, to string) reservation.Window {
	return reservation.Window{Start: at(from), End: at(to)}
}

// book books nodes of h100 at 00:00.
func book(c *reservation.Calendar, id, from, to string, nodes int64) error {
	_, err := c.Book(at("00:00"), request(id, "o", span(from, to), nodes))
	return err
}

func pin(c *reservation.Calendar, id string, w reservation.Window, nodes ...string) error {
	q := request(id, "o", w, 0)
	q.Lines[0].Nodes = nodes
	_, err := c.Book(at("00:00"), q)
	return err
}

func cal8(t *testing.T) *reservation.Calendar { return newCalendar(t, at("00:00"), h100(8)) }

func free(t *testing.T, c *reservation.Calendar, from, to string) int64 {
	n, err := c.MinFree("h100", span(from, to))
	require.NoError(t, err)
	return n
}

func conflict(t *testing.T, err error) *reservation.ConflictError {
	var x *reservation.ConflictError
	require.ErrorAs(t, err, &x)
	return x
}

func kinds(c *reservation.Calendar) (out []string) {
	for _, e := range c.TakeEvents() {
		out = append(out, e.Kind())
	}
	return out
}

func TestScenario1HalfOpen(t *testing.T) {
	c := cal8(t)
	require.NoError(t, book(c, "A", "10:00", "12:00", 8))
	require.NoError(t, book(c, "B", "12:00", "13:00", 8))
	require.ErrorIs(t, book(c, "Z", "12:00", "12:00", 1), reservation.ErrEmptyWindow)
}

func TestScenario2EarlierAfterLater(t *testing.T) {
	c := cal8(t)
	require.NoError(t, book(c, "B", "12:00", "13:00", 8))
	require.NoError(t, book(c, "A", "11:00", "12:00", 8))
	require.Zero(t, free(t, c, "11:00", "13:00"))
}

func TestScenario3Handover(t *testing.T) {
	c := cal8(t)
	require.NoError(t, book(c, "A", "10:00", "12:00", 8))
	require.NoError(t, book(c, "C", "12:00", "13:00", 4))
	require.NoError(t, book(c, "D", "12:00", "14:00", 4))
	x := conflict(t, book(c, "E", "12:00", "13:00", 1))
	require.Equal(t, int64(0), x.Free)
	require.Equal(t, at("12:00"), x.At.Start)
}

func TestScenario4NoRounding(t *testing.T) {
	c := newCalendar(t, at("00:00"), h100(1))
	require.NoError(t, pin(c, "A", span("01:22", "04:24"), "n1"))
	require.NoError(t, pin(c, "B", span("04:25", "05:00"), "n1"))
}

func TestScenario6RequestKey(t *testing.T) {
	c := cal8(t)
	first, err := c.Book(at("00:00"), request("k", "o", span("10:00", "12:00"), 3))
	require.NoError(t, err)
	again, err := c.Book(at("00:01"), request("k", "o", span("10:00", "12:00"), 3))
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Len(t, c.Events(), 1)
	_, err = c.Book(at("00:01"), request("k", "o", span("10:00", "12:00"), 4))
	require.ErrorIs(t, err, reservation.ErrExists)
	_, err = c.Hold(at("00:01"), request("k", "o", span("10:00", "12:00"), 3), time.Minute)
	require.ErrorIs(t, err, reservation.ErrExists)
	// The first body is the key also after the end was moved.
	moved, err := c.Extend(at("00:02"), "k", at("13:00"), 0)
	require.NoError(t, err)
	again, err = c.Book(at("00:03"), request("k", "o", span("10:00", "12:00"), 3))
	require.NoError(t, err)
	require.Equal(t, moved, again)
}

func TestScenario8ShortfallIsNotClamped(t *testing.T) {
	c := newCalendar(t, at("00:00"), h100(10))
	require.NoError(t, book(c, "R", "10:00", "20:00", 8))
	require.NoError(t, c.SetPool(at("01:00"), h100(4)))
	require.Equal(t, int64(-4), free(t, c, "10:00", "20:00"))
	require.Equal(t, []reservation.Degradation{{ID: "R", Pool: "h100", Window: span("10:00", "20:00"), Shortfall: 4, Owner: "o", By: at("10:00")}},
		slices.Collect(c.Degraded()))
	require.NoError(t, c.SetPool(at("02:00"), h100(10)))
	require.Empty(t, slices.Collect(c.Degraded()))
	require.Equal(t, int64(2), free(t, c, "15:00", "16:00"))
	require.ErrorIs(t, book(c, "six", "15:00", "16:00", 6), reservation.ErrConflict)
	require.NoError(t, book(c, "two", "15:00", "16:00", 2))
}

func TestScenario9MoreCapacity(t *testing.T) {
	c := newCalendar(t, at("00:00"), h100(10))
	require.NoError(t, c.SetPool(at("00:00"), h100(20)))
	o, err := c.EarliestFit(c.Present(), reservation.Query{Lines: []reservation.Line{{Pool: "h100", Count: 15}}, Length: time.Hour})
	require.NoError(t, err)
	require.Equal(t, span("00:00", "01:00"), o.Window)
}

func TestScenario11Gaps(t *testing.T) {
	sec := func(n int) time.Time { return at("00:00").Add(time.Duration(n) * time.Second) }
	c := newCalendar(t, at("00:00"), h100(1))
	for _, w := range [][2]int{{0, 100}, {101, 201}} {
		_, err := c.Book(at("00:00"), request(fmt.Sprint("full", w[0]), "o", reservation.Window{Start: sec(w[0]), End: sec(w[1])}, 1))
		require.NoError(t, err)
	}
	for _, x := range []struct{ length, latest, want int }{{1, 0, 100}, {5, 0, 201}, {5, 200, -1}, {5, 201, 201}} {
		q := reservation.Query{Lines: []reservation.Line{{Pool: "h100", Count: 1}}, Length: time.Duration(x.length) * time.Second}
		if x.latest > 0 {
			q.Latest = sec(x.latest)
		}
		o, err := c.EarliestFit(c.Present(), q)
		if x.want < 0 {
			require.ErrorIs(t, err, reservation.ErrConflict)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, sec(x.want), o.Window.Start, "%+v", x)
	}
}

func TestScenario12BeforeTheStart(t *testing.T) {
	c := cal8(t)
	_, err := c.MinFree("h100", reservation.Window{Start: at("00:00").Add(-5 * time.Second), End: at("00:00").Add(-2 * time.Second)})
	require.ErrorIs(t, err, reservation.ErrHorizon)
}

func TestScenario13CountIsNotEnough(t *testing.T) {
	c := newCalendar(t, at("00:00"), h100(2))
	require.NoError(t, pin(c, "a", span("10:00", "20:00"), "n1"))
	require.NoError(t, pin(c, "b", span("00:00", "10:00"), "n2"))
	x := conflict(t, book(c, "ask", "05:00", "15:00", 1))
	require.Equal(t, reservation.ReasonUnplaced, x.Reason)
	require.Equal(t, int64(1), x.Free)
	o, err := c.EarliestFit(c.Present(), reservation.Query{Lines: []reservation.Line{{Pool: "h100", Count: 1}}, Length: 10 * time.Hour, Earliest: at("05:00")})
	require.NoError(t, err)
	require.Equal(t, at("10:00"), o.Window.Start)
	require.NoError(t, book(c, "ask", "10:00", "20:00", 1))
	c.Advance(at("10:00"))
	b, _ := c.Find("ask")
	require.Equal(t, []reservation.Seat{{Pool: "h100", Node: "n2"}}, b.Seats)
}

// A cancelled booking must not make a heuristic lose the seats of a third: what
// was promised is kept.
func TestPlansSurviveCancel(t *testing.T) {
	c := newCalendar(t, at("00:00"), h100(2))
	require.NoError(t, pin(c, "x", span("20:00", "21:00"), "n1"))
	require.NoError(t, pin(c, "y", span("23:00", "23:30"), "n2"))
	require.NoError(t, book(c, "A", "00:00", "05:00", 1))
	require.NoError(t, book(c, "B", "01:00", "08:00", 1))
	require.NoError(t, book(c, "C", "06:00", "18:00", 1))
	require.NoError(t, book(c, "D", "09:00", "22:00", 1))
	_, err := c.Cancel(at("00:00"), "C", 0)
	require.NoError(t, err)
	require.Empty(t, slices.Collect(c.Degraded()))
	c.Advance(at("09:00"))
	b, _ := c.Find("D")
	require.Len(t, b.Seats, 1)
}

func TestScenario16And17Extend(t *testing.T) {
	c := cal8(t)
	require.NoError(t, book(c, "R", "10:00", "12:00", 8))
	require.NoError(t, book(c, "S", "12:00", "14:00", 8))
	before, _ := c.MarshalBinary()
	_, err := c.Extend(at("00:00"), "R", at("13:00"), 0)
	x := conflict(t, err)
	require.Equal(t, at("12:00"), x.At.Start)
	require.Equal(t, "S", x.Blocking[0].ID)
	after, _ := c.MarshalBinary()
	require.Equal(t, before, after, "I6")

	c = cal8(t)
	require.NoError(t, book(c, "R", "10:00", "12:00", 4))
	_, err = c.Extend(at("00:00"), "R", at("14:00"), 0)
	require.NoError(t, err)
	steps := slices.Collect(c.Profile("h100", span("09:00", "15:00")))
	require.Equal(t, []reservation.Step{
		{Window: span("09:00", "10:00"), Capacity: 8, Firm: 0, Free: 8},
		{Window: span("10:00", "14:00"), Capacity: 8, Firm: 4, Free: 4},
		{Window: span("14:00", "15:00"), Capacity: 8, Firm: 0, Free: 8},
	}, steps)
}

func TestScenario21LostNodes(t *testing.T) {
	c := newCalendar(t, at("00:00"), h100(3))
	require.NoError(t, pin(c, "R", span("10:00", "12:00"), "n1", "n2"))
	c.Advance(at("10:00"))
	_, err := c.SetOutage(at("10:30"), reservation.Outage{ID: "o", Owner: "ops", Nodes: []string{"n2"}})
	require.NoError(t, err)
	require.Equal(t, []reservation.Degradation{{ID: "R", Pool: "h100", Window: span("10:30", "12:00"), Shortfall: 1, Owner: "o", By: at("10:30")}}, slices.Collect(c.Degraded()))
	_, err = c.Seat(at("10:31"), "R", []string{"n2", "n3"})
	require.ErrorIs(t, err, reservation.ErrState, "n1 is healthy and stays")
	b, err := c.Seat(at("10:31"), "R", []string{"n1", "n3"})
	require.NoError(t, err)
	require.Len(t, b.Seats, 2)
	require.Empty(t, slices.Collect(c.Degraded()))
	// All units go: it stays Active, with no seat at all.
	require.NoError(t, c.SetPool(at("10:40"), h100(0)))
	b, _ = c.Find("R")
	require.Equal(t, reservation.Active, b.Phase)
	require.Empty(t, b.Seats)
	require.Equal(t, int64(2), slices.Collect(c.Degraded())[0].Shortfall)
	require.NoError(t, c.Check())
}

func TestScenario22ConfirmBrokenHold(t *testing.T) {
	c := cal8(t)
	q := request("R", "o", span("10:00", "12:00"), 0)
	q.Lines[0].Nodes = []string{"n1"}
	_, err := c.Hold(at("09:45"), q, 30*time.Minute)
	require.NoError(t, err)
	_, err = c.SetOutage(at("09:50"), reservation.Outage{ID: "o", Owner: "ops", Nodes: []string{"n1"}})
	require.NoError(t, err)
	_, err = c.Confirm(at("09:55"), "R", 0)
	x := conflict(t, err)
	require.Equal(t, reservation.ReasonSeats, x.Reason)
	require.Equal(t, []string{"n1"}, x.Nodes)
	require.NoError(t, c.EndOutage(at("09:56"), "o"))
	_, err = c.Confirm(at("09:57"), "R", 0)
	require.NoError(t, err)
}

func TestScenario23HoldExpiry(t *testing.T) {
	hold := func() *reservation.Calendar {
		c := newCalendar(t, at("09:00"), h100(8))
		_, err := c.Hold(at("09:00"), request("h", "o", span("10:00", "12:00"), 8), 10*time.Minute)
		require.NoError(t, err)
		return c
	}
	c := hold()
	_, err := c.Confirm(at("09:09").Add(59*time.Second), "h", 0)
	require.NoError(t, err)
	c = hold()
	_, err = c.Confirm(at("09:10"), "h", 0)
	require.ErrorIs(t, err, reservation.ErrExpired)
	_, err = c.Book(at("09:10"), request("other", "o", span("10:00", "12:00"), 8))
	require.NoError(t, err, "nobody called Advance, and yet the hold is gone")
}

func TestScenario26Cleanup(t *testing.T) {
	p := h100(8)
	p.Policy.Cleanup = 10 * time.Minute
	c := newCalendar(t, at("00:00"), p)
	require.NoError(t, book(c, "A", "10:00", "12:00", 8))
	require.ErrorIs(t, book(c, "B", "12:00", "13:00", 8), reservation.ErrConflict)
	require.NoError(t, book(c, "C", "12:10", "13:00", 8))

	p.Policy = reservation.Policy{Prep: 30 * time.Minute, ReclaimLead: time.Hour, Cleanup: 30 * time.Minute}
	c = newCalendar(t, at("00:00"), p)
	require.NoError(t, book(c, "A", "16:00", "16:45", 8))
	o, err := c.EarliestFit(c.Present(), reservation.Query{Lines: []reservation.Line{{Pool: "h100", Count: 1}}, Length: 30 * time.Minute, Earliest: at("15:30")})
	require.NoError(t, err)
	require.Equal(t, at("17:45"), o.Window.Start)
}

func TestScenario32ClockGoesBack(t *testing.T) {
	c := cal8(t)
	require.NoError(t, book(c, "R", "10:00", "12:00", 1))
	_, err := c.Hold(at("00:00"), request("h", "o", span("10:00", "13:00"), 1), time.Minute)
	require.NoError(t, err)
	c.Advance(at("12:00"))
	c.TakeEvents()
	c.Advance(at("11:58"))
	require.Empty(t, c.Events())
	r, _ := c.Find("R")
	h, _ := c.Find("h")
	require.Equal(t, []reservation.Phase{reservation.Ended, reservation.Expired}, []reservation.Phase{r.Phase, h.Phase})
}

func TestScenario33OrderAfterAJump(t *testing.T) {
	c := cal8(t)
	require.NoError(t, book(c, "A", "09:00", "12:00", 8))
	require.NoError(t, book(c, "B", "12:00", "13:30", 8))
	c.Advance(at("09:00"))
	_, err := c.Hold(at("09:00"), request("h", "o", span("14:00", "15:00"), 1), time.Hour)
	require.NoError(t, err)
	c.TakeEvents()
	c.Advance(at("13:00"))
	require.Equal(t, []string{"expired", "planned", "ended", "opened", "started"}, kinds(c))
	c.Advance(at("13:00"))
	require.Empty(t, c.Events())
}

func TestScenario37BadNumbers(t *testing.T) {
	c := cal8(t)
	require.ErrorIs(t, book(c, "zero", "10:00", "11:00", 0), reservation.ErrInvalid)
	require.ErrorIs(t, book(c, "minus", "10:00", "11:00", -1), reservation.ErrInvalid)
	require.ErrorIs(t, book(c, "back", "11:00", "10:00", 1), reservation.ErrEmptyWindow)
	_, err := c.Book(at("00:00"), request("far", "o", reservation.Window{Start: at("10:00"), End: time.Unix(math.MaxInt64, 0)}, 1))
	require.ErrorIs(t, err, reservation.ErrInvalid)
	_, err = c.EarliestFit(c.Present(), reservation.Query{Lines: []reservation.Line{{Pool: "h100", Count: 1}}, Length: math.MaxInt64 / time.Second * time.Second})
	require.NoError(t, err, "292 years are long, and fit")
	_, err = c.Book(at("00:00"), request("2040", "o", reservation.Window{Start: at("10:00"), End: time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)}, 1))
	require.NoError(t, err)
}

func TestScenario39Reclaim(t *testing.T) {
	c := newCalendar(t, at("09:00"), h100(2))
	require.NoError(t, pin(c, "R", span("10:00", "12:00"), "n1"))
	standby := reservation.Request{ID: "s", Owner: "batch", Class: reservation.Standby,
		Window: reservation.Window{Start: at("09:00")}, Lines: []reservation.Line{{Pool: "h100"}}}
	_, err := c.Book(at("09:00"), standby)
	require.NoError(t, err)
	_, err = c.Seat(at("09:00"), "s", []string{"n1", "n2"})
	require.NoError(t, err)
	c.TakeEvents()
	next, _ := c.Next()
	require.Equal(t, at("09:45"), next)
	c.Advance(next)
	require.Equal(t, []reservation.Event{reservation.ReclaimNotice{At: at("09:45"), ID: "s", Node: "n1", By: at("10:00"), For: "R"}}, c.TakeEvents())
	// Within the lead nobody else may sit down there, and what is left is taken at 10:00.
	_, err = c.Seat(at("09:46"), "s", []string{"n2"})
	require.NoError(t, err)
	_, err = c.Seat(at("09:47"), "s", []string{"n1", "n2"})
	require.ErrorIs(t, err, reservation.ErrConflict)

	late := newCalendar(t, at("09:00"), h100(1))
	_, err = late.Book(at("09:00"), standby)
	require.NoError(t, err)
	_, err = late.Seat(at("09:00"), "s", []string{"n1"})
	require.NoError(t, err)
	require.NoError(t, book(late, "R", "10:00", "12:00", 1))
	late.TakeEvents()
	late.Advance(at("10:00"))
	require.Equal(t, []string{"planned", "reclaim-notice", "unseated", "opened", "started"}, kinds(late), "the claim is told, though nobody has seated R")
	require.Empty(t, slices.Collect(late.Degraded()))
}

func TestScenario41ForkDropped(t *testing.T) {
	c := cal8(t)
	before, _ := c.MarshalBinary()
	fork := c.Fork()
	for i := range 100 {
		from := at("00:00").Add(time.Duration(i) * time.Hour)
		_, err := fork.Book(at("00:00"), request(fmt.Sprint(i), "o", reservation.Window{Start: from, End: from.Add(time.Hour)}, 8))
		require.NoError(t, err)
	}
	after, _ := c.MarshalBinary()
	require.Equal(t, before, after, "I9")
	other := c.Fork()
	require.NoError(t, book(other, "A", "10:00", "12:00", 1))
	require.NoError(t, c.Commit(other))
	require.Equal(t, []string{"booked"}, kinds(c))
	require.ErrorIs(t, c.Commit(fork), reservation.ErrStale)
	_, err := c.Cancel(at("00:00"), "A", 0)
	require.NoError(t, err)
	require.Equal(t, int64(8), free(t, c, "00:00", "23:00"))
}
