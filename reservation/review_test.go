// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/reservation"
)

var reviewStart = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func reviewed(from, to int) reservation.Window {
	return reservation.Window{Start: reviewStart.Add(time.Duration(from) * time.Minute), End: reviewStart.Add(time.Duration(to) * time.Minute)}
}

// A node that changes its pool while it is being cleaned: a refusal, not a panic.
func TestNodeChangesPoolInCleanup(t *testing.T) {
	pool := func(name string, p reservation.Policy, nodes ...string) reservation.Pool {
		out := reservation.Pool{Name: name, GPUsPerUnit: 8, Policy: p}
		for _, n := range nodes {
			out.Units = append(out.Units, reservation.Unit{Name: n})
		}
		return out
	}
	slow := reservation.Policy{Cleanup: time.Hour}
	c, err := reservation.New(reservation.Config{Pools: []reservation.Pool{pool("p", slow, "p-1", "p-2"), pool("q", reservation.Policy{}, "q-1")}})
	require.NoError(t, err)
	_, err = c.Book(reviewStart, reservation.Request{ID: "a", Owner: "x", Window: reviewed(0, 10), Lines: []reservation.Line{{Pool: "p", Nodes: []string{"p-1"}}}})
	require.NoError(t, err)
	at := reviewStart.Add(11 * time.Minute)
	require.ErrorIs(t, c.SetPool(at, pool("p", slow, "p-2")), reservation.ErrState, "its cleanup has to end first")
	at = reviewStart.Add(70 * time.Minute)
	require.NoError(t, c.SetPool(at, pool("p", slow, "p-2")))
	require.NoError(t, c.SetPool(at, pool("q", reservation.Policy{}, "q-1", "p-1")))
	_, err = c.Book(at, reservation.Request{ID: "b", Owner: "y", Window: reviewed(70, 80), Lines: []reservation.Line{{Pool: "q", Nodes: []string{"p-1"}}}})
	require.NoError(t, err)
}

// A search among many fixed seats ends, whatever lies in the way.
func TestEarliestFitEnds(t *testing.T) {
	c, err := reservation.New(reservation.Config{Pools: []reservation.Pool{{Name: "p", GPUsPerUnit: 8, Units: []reservation.Unit{{Name: "p-1"}, {Name: "p-2"}}}}})
	require.NoError(t, err)
	_, err = c.Book(reviewStart, reservation.Request{ID: "float", Owner: "x", Window: reviewed(10, 710), Lines: []reservation.Line{{Pool: "p", Count: 1}}})
	require.NoError(t, err)
	for i := range 70 {
		_, err = c.Book(reviewStart, reservation.Request{ID: fmt.Sprint("pin-", i), Owner: "x", Window: reviewed(10+10*i, 15+10*i),
			Lines: []reservation.Line{{Pool: "p", Nodes: []string{"p-2"}}}})
		require.NoError(t, err)
	}
	o, err := c.EarliestFit(c.Present(), reservation.Query{Owner: "y", Lines: []reservation.Line{{Pool: "p", Nodes: []string{"p-1"}}}, Length: 2 * time.Minute, Earliest: reviewStart.Add(10 * time.Minute)})
	require.NoError(t, err)
	require.Equal(t, reviewed(710, 712), o.Window)
}

// All lines of a booking have the greatest grace of their pools: no node is given
// on while work may still be leaving it.
func TestOneGraceForAllLines(t *testing.T) {
	c, err := reservation.New(reservation.Config{Pools: []reservation.Pool{
		{Name: "p", GPUsPerUnit: 8, Units: []reservation.Unit{{Name: "p-1"}}},
		{Name: "q", GPUsPerUnit: 8, Units: []reservation.Unit{{Name: "q-1"}}, Policy: reservation.Policy{Grace: time.Hour}}}})
	require.NoError(t, err)
	_, err = c.Book(reviewStart, reservation.Request{ID: "a", Owner: "x", Window: reviewed(0, 10), Lines: []reservation.Line{{Pool: "p", Count: 1}, {Pool: "q", Count: 1}}})
	require.NoError(t, err)
	_, err = c.Book(reviewStart, reservation.Request{ID: "b", Owner: "y", Window: reviewed(10, 20), Lines: []reservation.Line{{Pool: "p", Count: 1}}})
	require.ErrorIs(t, err, reservation.ErrConflict)
}

func reviewPool(units int, p reservation.Policy) reservation.Pool {
	out := reservation.Pool{Name: "p", GPUsPerUnit: 8, Policy: p}
	for i := range units {
		out.Units = append(out.Units, reservation.Unit{Name: fmt.Sprint("p-", i+1)})
	}
	return out
}

func bookIn(c *reservation.Calendar, id string, from, to int, l reservation.Line) error {
	l.Pool = "p"
	_, err := c.Book(reviewStart, reservation.Request{ID: id, Owner: id, Window: reviewed(from, to), Lines: []reservation.Line{l}})
	return err
}

func lacks(c *reservation.Calendar) (out []string) {
	for d := range c.Degraded() {
		out = append(out, fmt.Sprintf("%s %d-%d %d", d.ID, int(d.Window.Start.Sub(reviewStart).Minutes()), int(d.Window.End.Sub(reviewStart).Minutes()), d.Shortfall))
	}
	return out
}

// Where one booking ends and an equal one begins, the levels do not change, but
// who lacks a node does.
func TestDegradedBehindOneAnother(t *testing.T) {
	c, err := reservation.New(reservation.Config{Start: reviewStart, Pools: []reservation.Pool{reviewPool(2, reservation.Policy{})}})
	require.NoError(t, err)
	require.NoError(t, bookIn(c, "a", 10, 20, reservation.Line{Count: 2}))
	hold, err := c.Hold(reviewStart, reservation.Request{ID: "h", Owner: "y", Window: reviewed(20, 30), Lines: []reservation.Line{{Pool: "p", Count: 2}}}, 5*time.Minute)
	require.NoError(t, err)
	impact, err := c.SetOutage(reviewStart, reservation.Outage{ID: "o", Owner: "ops", Nodes: []string{"p-1"}})
	require.NoError(t, err)
	require.Equal(t, []string{"a 10-20 1", "h 20-30 1"}, lacks(c))
	require.Len(t, impact.Degraded, 2)
	_, err = c.Confirm(reviewStart, hold.ID, hold.Version)
	require.ErrorIs(t, err, reservation.ErrConflict)
	require.NoError(t, c.Check())
}

// A node that becomes a spare under a booking stays with it, and counts for it
// alone.
func TestSpareUnderBooking(t *testing.T) {
	c, err := reservation.New(reservation.Config{Start: reviewStart, Pools: []reservation.Pool{reviewPool(2, reservation.Policy{})}})
	require.NoError(t, err)
	require.NoError(t, bookIn(c, "pin", 10, 20, reservation.Line{Nodes: []string{"p-1"}}))
	require.NoError(t, bookIn(c, "float", 10, 20, reservation.Line{Count: 1}))
	p := reviewPool(2, reservation.Policy{})
	p.Units[0].Spare = true
	require.NoError(t, c.SetPool(reviewStart, p))
	free, err := c.MinFree("p", reviewed(10, 20))
	require.NoError(t, err)
	require.Equal(t, int64(0), free)
	free, err = c.MinFree("p", reviewed(20, 30))
	require.NoError(t, err)
	require.Equal(t, int64(1), free)
	require.Empty(t, lacks(c))
	require.NoError(t, c.Check())
	_, err = c.SetOutage(reviewStart, reservation.Outage{ID: "o", Owner: "ops", Nodes: []string{"p-1"}, Window: reviewed(12, 15)})
	require.NoError(t, err)
	require.Equal(t, []string{"pin 12-15 1"}, lacks(c))
	require.NoError(t, c.Check())
	c.Advance(reviewed(0, 11).End)
	b, _ := c.Find("float")
	require.Equal(t, []reservation.Seat{{Pool: "p", Node: "p-2"}}, b.Seats)
}

// A spare replaces a node that a booking lost, and nothing else.
func TestSpareRepairs(t *testing.T) {
	p := reviewPool(3, reservation.Policy{})
	p.Units[2].Spare = true
	c, err := reservation.New(reservation.Config{Start: reviewStart, Pools: []reservation.Pool{p}})
	require.NoError(t, err)
	require.NoError(t, bookIn(c, "a", 0, 20, reservation.Line{Count: 2}))
	_, err = c.Seat(reviewStart, "a", []string{"p-1", "p-3"})
	require.ErrorIs(t, err, reservation.ErrState, "a healthy node stays")
	at := reviewed(5, 6).Start
	_, err = c.SetOutage(at, reservation.Outage{ID: "o", Owner: "ops", Nodes: []string{"p-2"}})
	require.NoError(t, err)
	require.Equal(t, []string{"a 5-20 1"}, lacks(c))
	_, err = c.Seat(at, "a", []string{"p-1", "p-3"})
	require.NoError(t, err)
	require.Empty(t, lacks(c))
	free, err := c.MinFree("p", reviewed(6, 20))
	require.NoError(t, err)
	require.Equal(t, int64(0), free)
	free, err = c.MinFree("p", reviewed(20, 21))
	require.NoError(t, err)
	require.Equal(t, int64(1), free, "the spare goes back")
	require.NoError(t, c.Check())
}

// In a pool that is short already, no command moves the shortfall to a booking
// that did not have it, and shrinking is never refused.
func TestShortfallStays(t *testing.T) {
	c, err := reservation.New(reservation.Config{Start: reviewStart, Pools: []reservation.Pool{reviewPool(3, reservation.Policy{})}})
	require.NoError(t, err)
	require.NoError(t, bookIn(c, "first", 10, 40, reservation.Line{Count: 2}))
	require.NoError(t, bookIn(c, "late", 20, 40, reservation.Line{Count: 1}))
	_, err = c.SetOutage(reviewStart, reservation.Outage{ID: "o", Owner: "ops", Nodes: []string{"p-3"}})
	require.NoError(t, err)
	require.Equal(t, []string{"late 20-40 1"}, lacks(c), "who begins last lacks")
	_, err = c.Seat(reviewStart, "late", []string{"p-1"})
	require.ErrorIs(t, err, reservation.ErrConflict, "it would cost first a node")
	require.Equal(t, []string{"late 20-40 1"}, lacks(c))
	_, err = c.Extend(reviewStart, "late", reviewed(0, 30).End, 0)
	require.NoError(t, err, "shrinking a booking that lacks a node")
	require.Equal(t, []string{"late 20-30 1"}, lacks(c))
	require.NoError(t, bookIn(c, "after", 40, 50, reservation.Line{Nodes: []string{"p-1"}}))
	require.Equal(t, []string{"late 20-30 1"}, lacks(c))
	c.Advance(reviewed(0, 25).End)
	b, _ := c.Find("first")
	require.Len(t, b.Seats, 2, "as Degraded has said")
	require.Equal(t, []string{"late 20-30 1"}, lacks(c))
	require.NoError(t, c.Check())
}

// A claim is told once, ReclaimLead before, also when the calendar seats by itself.
func TestStandbyIsToldInTime(t *testing.T) {
	c, err := reservation.New(reservation.Config{Start: reviewStart, Pools: []reservation.Pool{reviewPool(2, reservation.Policy{})}})
	require.NoError(t, err)
	_, err = c.Book(reviewStart, reservation.Request{ID: "s", Owner: "batch", Class: reservation.Standby, Window: reservation.Window{Start: reviewStart}, Lines: []reservation.Line{{Pool: "p"}}})
	require.NoError(t, err)
	_, err = c.Seat(reviewStart, "s", []string{"p-1", "p-2"})
	require.NoError(t, err)
	require.NoError(t, bookIn(c, "f", 60, 90, reservation.Line{Count: 1}))
	c.TakeEvents()
	told := func() (out []string) {
		for _, e := range c.TakeEvents() {
			if n, ok := e.(reservation.ReclaimNotice); ok {
				out = append(out, fmt.Sprint(n.Node, " at ", int(n.At.Sub(reviewStart).Minutes()), " by ", int(n.By.Sub(reviewStart).Minutes())))
			}
		}
		return out
	}
	c.Advance(reviewed(0, 44).End)
	require.Empty(t, told())
	c.Advance(reviewed(0, 45).End)
	require.Equal(t, []string{"p-1 at 45 by 60"}, told())
	_, err = c.Seat(reviewed(46, 47).Start, "s", []string{"p-1"}) // it gives the other one up
	require.NoError(t, err)
	_, err = c.Seat(reviewed(47, 48).Start, "s", []string{"p-1", "p-2"})
	require.NoError(t, err)
	_, err = c.Seat(reviewed(48, 49).Start, "f", []string{"p-1"}) // the host confirms the choice
	require.NoError(t, err)
	c.Advance(reviewed(0, 60).End)
	require.Empty(t, told(), "nobody is told twice")
	s, _ := c.Find("s")
	require.Equal(t, []reservation.Seat{{Pool: "p", Node: "p-2"}}, s.Seats)
	require.NoError(t, c.Check())
}

// A node that comes back to its pool comes back to the booking that named it.
func TestPinnedNodeReturns(t *testing.T) {
	c, err := reservation.New(reservation.Config{Start: reviewStart, Pools: []reservation.Pool{reviewPool(2, reservation.Policy{})}})
	require.NoError(t, err)
	require.NoError(t, bookIn(c, "pin", 10, 20, reservation.Line{Nodes: []string{"p-2"}}))
	require.NoError(t, c.SetPool(reviewStart, reviewPool(1, reservation.Policy{})))
	require.Equal(t, []string{"pin 10-20 1"}, lacks(c))
	require.NoError(t, c.SetPool(reviewStart, reviewPool(2, reservation.Policy{})))
	require.Empty(t, lacks(c))
	b, _ := c.Find("pin")
	require.Equal(t, []reservation.Seat{{Pool: "p", Node: "p-2"}}, b.Seats)
	require.NoError(t, c.Check())
}
