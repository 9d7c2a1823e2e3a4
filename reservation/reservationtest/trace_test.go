// SPDX-License-Identifier: Apache-2.0

package reservationtest_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/reservation"
	rt "github.com/berth-gpu/berth/reservation/reservationtest"
)

var traces = []struct {
	make func(int, uint64) rt.Trace
	size int
	fits bool // every request is accepted
	load float64
}{
	{rt.Uniform, 500, false, 0.9}, {rt.Bursty, 500, false, 0.9}, {rt.Diurnal, 500, false, 0.9}, {rt.ShortJobs, 500, false, 0.9},
	{rt.Fragmented, 1000, true, 0.83}, {rt.D90, 2000, true, 0.85}, {rt.S90, 3000, true, 0.64}, {rt.D611, 2000, true, 0.9},
}

// TestTraces: a trace is in order, repeats, asks for the load it promises, and
// what is said to fit is accepted by the calendar.
func TestTraces(t *testing.T) {
	for _, x := range traces {
		tr := x.make(x.size, 1)
		t.Run(tr.Name, func(t *testing.T) {
			require.Equal(t, tr, x.make(x.size, 1))
			require.NotEqual(t, tr.Arrivals, x.make(x.size, 2).Arrivals)
			require.GreaterOrEqual(t, len(tr.Arrivals), x.size)
			require.InDelta(t, x.load, tr.Load(), 0.08)
			c := open(t, []reservation.Pool{tr.Pool})
			at, accepted := tr.Start, 0
			for cmd := range tr.Commands() {
				w := cmd.Request.Window
				require.False(t, cmd.At.Before(at) || w.Start.Before(cmd.At) || !w.Start.Before(w.End), "%s", cmd)
				at = cmd.At
				if err := cmd.On(c); err == nil {
					accepted++
				} else {
					require.False(t, x.fits, "%s: %v", cmd, err)
				}
			}
			require.Greater(t, accepted, x.size/2)
		})
	}
	for _, size := range []int{0, 1, 7} {
		for _, x := range traces {
			require.GreaterOrEqual(t, len(x.make(size, 3).Arrivals), size)
		}
	}
}

// TestFragmentedHasNoHour: between the stretches in which every node is busy no
// gap lasts an hour, and in the gaps at most half of the nodes are busy.
func TestFragmentedHasNoHour(t *testing.T) {
	tr := rt.Fragmented(500, 1)
	change := map[time.Time]int64{}
	for _, a := range tr.Arrivals {
		change[a.Start] += a.Nodes
		change[a.Start.Add(a.Length)] -= a.Nodes
	}
	busy, full, gaps := int64(0), tr.Start, 0
	for _, at := range slices.SortedFunc(maps.Keys(change), time.Time.Compare) {
		was := busy
		busy += change[at]
		require.True(t, busy == 100 || busy <= 50, "%d", busy)
		if busy < was {
			full = at
		} else if at.After(tr.Start) && was < 100 {
			require.Less(t, at.Sub(full), time.Hour)
			gaps++
		}
	}
	require.Greater(t, gaps, 40)
}
