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

// Only bookings that are yielded alike are merged, and a shorter yield gives its
// notice.
func TestMergeAndExtendOfAYieldedBooking(t *testing.T) {
	c := newCalendar(t, at("09:00"), h100(2))
	for id, n := range map[string]string{"a": "n1", "b": "n2"} {
		q := request(id, "o", span("10:00", "14:00"), 0)
		q.Lines = []reservation.Line{{Pool: "h100", Nodes: []string{n}}}
		_, err := c.Book(at("09:00"), q)
		require.NoError(t, err)
	}
	_, err := c.Book(at("09:00"), reservation.Request{ID: "s", Owner: "batch", Class: reservation.Standby,
		Window: reservation.Window{Start: at("09:00")}, Lines: []reservation.Line{{Pool: "h100"}}})
	require.NoError(t, err)
	c.Advance(at("10:00"))
	_, err = c.Yield(at("10:05"), "b", time.Time{}, 0)
	require.NoError(t, err)
	_, err = c.Seat(at("10:06"), "s", []string{"n2"})
	require.NoError(t, err)
	_, err = c.Merge(at("10:07"), "b", "a", 0)
	require.ErrorIs(t, err, reservation.ErrState)
	_, err = c.Extend(at("10:07"), "b", at("10:10"), 0)
	require.ErrorIs(t, err, reservation.ErrInvalid, "no notice")
	_, err = c.Extend(at("10:07"), "b", at("12:00"), 0)
	require.NoError(t, err)
	next, _ := c.Next()
	require.Equal(t, at("11:45"), next, "the claim is told for the new end")
	require.NoError(t, c.Check())
}

// Yielding is no matter of the year.
func TestYieldBefore1970(t *testing.T) {
	start := time.Date(1960, 3, 1, 0, 0, 0, 0, time.UTC)
	w := func(from, to int) reservation.Window {
		return reservation.Window{Start: start.Add(time.Duration(from) * time.Minute), End: start.Add(time.Duration(to) * time.Minute)}
	}
	c := newCalendar(t, start, h100(1))
	_, err := c.Book(start, request("a", "o", w(10, 120), 1))
	require.NoError(t, err)
	_, err = c.Book(start, reservation.Request{ID: "s", Owner: "batch", Class: reservation.Standby, Window: reservation.Window{Start: start}, Lines: []reservation.Line{{Pool: "h100"}}})
	require.NoError(t, err)
	now := w(20, 21).Start
	c.Advance(now)
	_, err = c.Seat(now, "s", []string{"n1"})
	require.ErrorIs(t, err, reservation.ErrConflict)
	_, err = c.Yield(now, "a", time.Time{}, 0)
	require.NoError(t, err)
	_, err = c.Seat(now, "s", []string{"n1"})
	require.NoError(t, err)
	require.NoError(t, c.Check())
}

// What continues a booking does not take the node that somebody else plans.
func TestFollowTakesNoPlan(t *testing.T) {
	c, err := reservation.New(reservation.Config{Start: reviewStart, Pools: []reservation.Pool{reviewPool(2, reservation.Policy{})}})
	require.NoError(t, err)
	require.NoError(t, bookIn(c, "P", 0, 10, reservation.Line{Nodes: []string{"p-2"}}))
	require.NoError(t, bookIn(c, "R", 20, 30, reservation.Line{Nodes: []string{"p-2"}}))
	require.NoError(t, bookIn(c, "A", 1, 10, reservation.Line{Count: 1}))
	_, err = c.Book(reviewStart, reservation.Request{ID: "B", Owner: "A", Window: reviewed(10, 20), Lines: []reservation.Line{{Pool: "p", Count: 1}}, Continues: "A"})
	require.NoError(t, err)
	require.NoError(t, bookIn(c, "X", 10, 25, reservation.Line{Count: 1}))
	require.Empty(t, lacks(c))
	c.Advance(reviewed(0, 1).End)
	require.Empty(t, lacks(c))
	c.Advance(reviewed(0, 10).End)
	require.Empty(t, lacks(c))
	require.NoError(t, c.Check())
}

// A booking that is over is cleaned, also if what continued it goes.
func TestCleanupAfterAChain(t *testing.T) {
	c, err := reservation.New(reservation.Config{Start: reviewStart, Pools: []reservation.Pool{reviewPool(1, reservation.Policy{Cleanup: 10 * time.Minute})}})
	require.NoError(t, err)
	require.NoError(t, bookIn(c, "A", 10, 60, reservation.Line{Count: 1}))
	_, err = c.Book(reviewStart, reservation.Request{ID: "B", Owner: "A", Window: reviewed(60, 90), Lines: []reservation.Line{{Pool: "p", Count: 1}}, Continues: "A"})
	require.NoError(t, err)
	at := reviewed(59, 60).Start
	_, err = c.Release(at, "A", 0)
	require.NoError(t, err)
	_, err = c.Cancel(at, "B", 0)
	require.NoError(t, err)
	free, err := c.MinFree("p", reviewed(59, 69))
	require.NoError(t, err)
	require.Zero(t, free, "the cleanup of A")
	free, err = c.MinFree("p", reviewed(69, 90))
	require.NoError(t, err)
	require.Equal(t, int64(1), free)
	require.NoError(t, c.Check())
}

// In a short pool no change of a floating booking makes it somebody else's turn.
func TestTurnsToLackStay(t *testing.T) {
	world := func() *reservation.Calendar {
		c, err := reservation.New(reservation.Config{Start: reviewStart, Pools: []reservation.Pool{reviewPool(3, reservation.Policy{})}})
		require.NoError(t, err)
		return c
	}
	out := func(c *reservation.Calendar, nodes ...string) {
		_, err := c.SetOutage(reviewStart, reservation.Outage{ID: "o", Owner: "ops", Nodes: nodes})
		require.NoError(t, err)
	}
	c := world()
	require.NoError(t, bookIn(c, "Z", 100, 200, reservation.Line{Count: 1}))
	require.NoError(t, bookIn(c, "r", 100, 200, reservation.Line{Count: 2}))
	out(c, "p-1")
	before := lacks(c)
	_, _ = c.Move(reviewStart, "r", reviewed(90, 200), 0)
	for _, d := range lacks(c) {
		require.Contains(t, before[0], d[:1], "whoever lacks lacked before")
	}
	c = world()
	require.NoError(t, bookIn(c, "r", 100, 200, reservation.Line{Count: 2}))
	require.NoError(t, bookIn(c, "m", 100, 200, reservation.Line{Count: 1}))
	out(c, "p-1", "p-2")
	before = lacks(c)
	_, _, err := c.Split(reviewStart, "r", "a", reservation.Part{Lines: []reservation.Line{{Pool: "p", Count: 1}}}, 0)
	if err != nil {
		require.ErrorIs(t, err, reservation.ErrConflict)
		require.Equal(t, before, lacks(c))
	}
}

// A fork of another branch is stale, too.
func TestCommitOfACousin(t *testing.T) {
	c := cal8(t)
	f := c.Fork()
	require.NoError(t, book(f, "B", "10:00", "11:00", 1))
	trial := f.Fork()
	require.NoError(t, book(c, "A", "10:00", "11:00", 1))
	require.ErrorIs(t, c.Commit(trial), reservation.ErrStale)
	_, ok := c.Find("A")
	require.True(t, ok)
}

// Many nodes leave a pool at once, in a time that a person can wait.
func BenchmarkSetPoolDrop(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			c, err := reservation.New(reservation.Config{Start: reviewStart, Pools: []reservation.Pool{reviewPool(n, reservation.Policy{})}})
			require.NoError(b, err)
			require.NoError(b, bookIn(c, "a", 0, 100, reservation.Line{Count: 1}))
			_, err = c.Resize(reviewed(1, 2).Start, "a", []reservation.Line{{Pool: "p", Count: int64(n)}}, 0)
			require.NoError(b, err)
			for b.Loop() {
				require.NoError(b, c.Fork().SetPool(reviewed(2, 3).Start, reviewPool(1, reservation.Policy{})))
			}
		})
	}
}

// What is planned only so that Standby claims are told gives way to a line that
// needs the node, also beside fixed seats.
func TestWishesGiveWay(t *testing.T) {
	c, err := reservation.New(reservation.Config{Start: reviewStart, Pools: []reservation.Pool{reviewPool(4, reservation.Policy{})}})
	require.NoError(t, err)
	require.NoError(t, bookIn(c, "Y", 10, 20, reservation.Line{Count: 1})) // a wish: p-1
	require.NoError(t, bookIn(c, "Q", 0, 10, reservation.Line{Nodes: []string{"p-2"}}))
	require.NoError(t, bookIn(c, "R", 9, 12, reservation.Line{Nodes: []string{"p-3"}}))
	require.NoError(t, bookIn(c, "X", 8, 12, reservation.Line{Count: 1}))
	_, err = c.SetOutage(reviewStart, reservation.Outage{ID: "o", Owner: "ops", Nodes: []string{"p-4"}, Window: reviewed(0, 100)})
	require.NoError(t, err)
	require.Empty(t, lacks(c))
	c.Advance(reviewed(0, 10).End)
	require.Empty(t, lacks(c))
	for _, id := range []string{"X", "Y"} {
		b, _ := c.Find(id)
		require.Len(t, b.Seats, 1, id)
	}
	require.NoError(t, c.Check())

	c, err = reservation.New(reservation.Config{Start: reviewStart, Pools: []reservation.Pool{reviewPool(3, reservation.Policy{})}})
	require.NoError(t, err)
	require.NoError(t, bookIn(c, "Y", 10, 20, reservation.Line{Count: 1}))
	require.NoError(t, bookIn(c, "Q", 0, 10, reservation.Line{Nodes: []string{"p-2"}}))
	require.NoError(t, bookIn(c, "R", 9, 12, reservation.Line{Nodes: []string{"p-3"}}))
	require.NoError(t, bookIn(c, "X", 8, 12, reservation.Line{Count: 1}), "without an outage it is not refused either")
	require.NoError(t, c.Check())
}

// The second of a chain that sits elsewhere gives Standby claims their notice.
func TestChainElsewhereTellsInTime(t *testing.T) {
	c, err := reservation.New(reservation.Config{Start: reviewStart, Pools: []reservation.Pool{reviewPool(3, reservation.Policy{})}})
	require.NoError(t, err)
	require.NoError(t, bookIn(c, "A", 60, 120, reservation.Line{Count: 1}))
	_, err = c.Book(reviewStart, reservation.Request{ID: "B", Owner: "A", Window: reviewed(120, 180), Lines: []reservation.Line{{Pool: "p", Count: 1}}, Continues: "A"})
	require.NoError(t, err)
	require.NoError(t, bookIn(c, "pin", 130, 140, reservation.Line{Nodes: []string{"p-1"}})) // where A will sit
	c.Advance(reviewed(0, 60).End)
	a, _ := c.Find("A")
	require.Equal(t, "p-1", a.Seats[0].Node)
	_, err = c.Book(reviewed(61, 62).Start, reservation.Request{ID: "s", Owner: "batch", Class: reservation.Standby, Window: reservation.Window{Start: reviewed(61, 62).Start}, Lines: []reservation.Line{{Pool: "p"}}})
	require.NoError(t, err)
	_, err = c.Seat(reviewed(61, 62).Start, "s", []string{"p-2", "p-3"})
	require.NoError(t, err)
	c.TakeEvents()
	c.Advance(reviewed(0, 120).End)
	var told []string
	for _, e := range c.TakeEvents() {
		if n, ok := e.(reservation.ReclaimNotice); ok {
			told = append(told, fmt.Sprint(int(n.At.Sub(reviewStart).Minutes()), " for ", n.For))
		}
	}
	require.Equal(t, []string{"105 for B"}, told)
	require.NoError(t, c.Check())
}

// A booking whose first part was released keeps its link until it begins: that
// one's nodes are cleaned, whatever becomes of it.
func TestChainAfterAnEarlyRelease(t *testing.T) {
	pools := []reservation.Pool{reviewPool(1, reservation.Policy{Cleanup: 10 * time.Minute}), {Name: "q", GPUsPerUnit: 8, Units: []reservation.Unit{{Name: "q-1"}}}}
	c, err := reservation.New(reservation.Config{Start: reviewStart, Pools: pools})
	require.NoError(t, err)
	require.NoError(t, bookIn(c, "A", 10, 60, reservation.Line{Count: 1}))
	_, err = c.Book(reviewStart, reservation.Request{ID: "B", Owner: "A", Window: reviewed(60, 90), Lines: []reservation.Line{{Pool: "p", Count: 1}}, Continues: "A"})
	require.NoError(t, err)
	at := reviewed(55, 56).Start
	_, err = c.Release(at, "A", 0)
	require.NoError(t, err)
	_, err = c.Resize(at, "B", []reservation.Line{{Pool: "p", Count: 1}, {Pool: "q", Count: 1}}, 0)
	require.ErrorIs(t, err, reservation.ErrState)
	_, err = c.Cancel(at, "B", 0)
	require.NoError(t, err)
	free, err := c.MinFree("p", reviewed(60, 65))
	require.NoError(t, err)
	require.Zero(t, free)
	require.NoError(t, c.Check())
}
