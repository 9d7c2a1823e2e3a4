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
	require.NoError(t, c.SetPool(at, pool("p", slow, "p-2")))
	require.NoError(t, c.SetPool(at, pool("q", reservation.Policy{}, "q-1", "p-1")))
	_, err = c.Book(at, reservation.Request{ID: "b", Owner: "y", Window: reviewed(12, 20), Lines: []reservation.Line{{Pool: "q", Nodes: []string{"p-1"}}}})
	require.ErrorIs(t, err, reservation.ErrConflict)
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
	o, err := c.EarliestFit(reservation.Query{Owner: "y", Lines: []reservation.Line{{Pool: "p", Nodes: []string{"p-1"}}}, Length: 2 * time.Minute, Earliest: reviewStart.Add(10 * time.Minute)})
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
