// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/reservation"
)

// A hold cannot continue a booking: when it expired, the other could not always
// have its turnaround back.
func TestHoldDoesNotContinue(t *testing.T) {
	c := cal8(t)
	require.NoError(t, book(c, "a", "10:00", "12:00", 2))
	a, _ := c.Find("a")
	q := request("b", a.Owner, span("12:00", "14:00"), 2)
	q.Continues = "a"
	_, err := c.Hold(at("00:00"), q, 10*time.Minute)
	require.ErrorIs(t, err, reservation.ErrInvalid)
	require.NoError(t, c.Check())
}

// What continues a line within a domain lies within the same.
func TestContinuesWithin(t *testing.T) {
	c := newCalendar(t, at("00:00"), inRacks(h100(4), 2))
	require.NoError(t, book(c, "a", "10:00", "12:00", 2))
	_, err := c.Seat(at("00:00"), "a", []string{"n1", "n3"})
	require.NoError(t, err)
	a, _ := c.Find("a")
	q := request("b", a.Owner, span("12:00", "14:00"), 2)
	q.Continues, q.Lines[0].Within = "a", "rack"
	_, err = c.Book(at("00:00"), q)
	require.ErrorIs(t, err, reservation.ErrInvalid)
	require.NoError(t, c.Check())
}

// Ids that look like those of trials do not catch a question.
func TestQuestionsEndWhateverTheIDs(t *testing.T) {
	c := cal8(t)
	prefix, id := "query "+at("00:00").Format(time.RFC3339)+" ", "query"
	for i := range 8 {
		_, err := c.Book(at("00:00"), request(id, "o", span("10:00", "12:00"), 1))
		require.NoError(t, err, i)
		id = prefix + id[:min(len(id), 128)]
		if i < 7 {
			_, _ = c.Book(at("00:00"), request(fmt.Sprint("query ", i), "o", span("20:00", "21:00"), 1))
		}
		if _, ok := c.Find(id); ok {
			break
		}
	}
	_, err := c.Book(at("00:00"), request("query", "p", span("10:00", "12:00"), 8))
	require.ErrorIs(t, err, reservation.ErrExists)
	_, err = c.Book(at("00:00"), request("x", "p", span("10:00", "12:00"), 8))
	require.ErrorIs(t, err, reservation.ErrConflict)
	_, err = c.EarliestFit(at("00:00"), reservation.Query{Lines: []reservation.Line{{Pool: "h100", Count: 8}}, Length: time.Hour})
	require.NoError(t, err)
}

// A drain leaves alone who has a seat there, also when that booking changes.
func TestChangeOnADrainedNode(t *testing.T) {
	c := newCalendar(t, at("00:00"), h100(3))
	require.NoError(t, book(c, "a", "10:00", "14:00", 3))
	_, err := c.Seat(at("00:00"), "a", []string{"n1", "n2", "n3"})
	require.NoError(t, err)
	_, err = c.SetOutage(at("00:00"), reservation.Outage{ID: "o", Owner: "ops", Nodes: []string{"n3"}, Window: span("09:00", "15:00"), Mode: reservation.Drain})
	require.NoError(t, err)
	b, err := c.Transfer(at("00:00"), "a", "other", 0)
	require.NoError(t, err)
	require.Len(t, b.Seats, 3)
	require.Empty(t, lacks(c))
	_, err = c.Move(at("00:00"), "a", span("11:00", "13:00"), 0)
	require.NoError(t, err, "inside what it had")
	require.Empty(t, lacks(c))
	_, err = c.Move(at("00:00"), "a", span("12:00", "14:30"), 0)
	require.ErrorIs(t, err, reservation.ErrConflict, "n3 is closed to what it had not")
	require.Empty(t, lacks(c))
	require.NoError(t, c.Check())
}

// To repair a yielded booking costs the claims on its healthy nodes nothing.
func TestRepairOfAYieldedBooking(t *testing.T) {
	c := newCalendar(t, at("09:00"), h100(3))
	require.NoError(t, book(c, "a", "10:00", "14:00", 2))
	_, err := c.Book(at("09:00"), reservation.Request{ID: "s", Owner: "batch", Class: reservation.Standby,
		Window: reservation.Window{Start: at("09:00")}, Lines: []reservation.Line{{Pool: "h100"}}})
	require.NoError(t, err)
	c.Advance(at("10:00"))
	_, err = c.Yield(at("10:00"), "a", at("12:00"), 0)
	require.NoError(t, err)
	_, err = c.Seat(at("10:01"), "s", []string{"n1"})
	require.NoError(t, err)
	_, err = c.SetOutage(at("10:02"), reservation.Outage{ID: "o", Owner: "ops", Nodes: []string{"n2"}})
	require.NoError(t, err)
	require.NoError(t, c.Repair(at("10:03"), c.PlanRepair(at("10:03"))))
	s, _ := c.Find("s")
	require.Equal(t, []reservation.Seat{{Pool: "h100", Node: "n1"}}, s.Seats)
	require.Empty(t, lacks(c))
	require.NoError(t, c.Check())
}

// A refusal of a move names no booking of others outside its data.
func TestMoveOntoATakenNode(t *testing.T) {
	c := cal8(t)
	for id, w := range map[string]reservation.Window{"secret-project": span("10:00", "12:00"), "mine": span("12:00", "14:00")} {
		q := request(id, id, w, 0)
		q.Lines = []reservation.Line{{Pool: "h100", Nodes: []string{"n1"}}}
		_, err := c.Book(at("00:00"), q)
		require.NoError(t, err)
	}
	_, err := c.Move(at("00:00"), "mine", span("11:00", "13:00"), 0)
	e := asConflict(t, err)
	require.NotContains(t, e.Error(), "secret")
	require.NotContains(t, fmt.Sprintf("%+v", e.For("mine")), "secret")
}
