// SPDX-License-Identifier: Apache-2.0

package health_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/health"
)

// TestH7SlipsDouble reads the distances between the dates of one hold.
func TestH7SlipsDouble(t *testing.T) {
	const day = 24 * time.Hour
	for _, tt := range []struct {
		name   string
		length time.Duration
		want   []time.Duration // of the first slips
		last   time.Duration
	}{
		{"one second", time.Second, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, 14 * day},
		{"five days", 5 * day, []time.Duration{5 * day, 10 * day, 14 * day, 14 * day}, 14 * day},
		{"the bound", 14 * day, []time.Duration{14 * day, 14 * day}, 14 * day},
		{"longer than the bound", 40 * day, []time.Duration{40 * day, 40 * day}, 40 * day},
		{"the longest", health.MaxStepLength, []time.Duration{health.MaxStepLength, health.MaxStepLength}, health.MaxStepLength},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := health.New(health.Config{StepLength: map[health.Step]time.Duration{health.StepReset: tt.length}})
			require.NoError(t, err)
			_, err = r.Hold(monday, health.HoldRequest{Component: health.Component{Node: "n"}, Owner: "human/oncall", Step: health.StepReset})
			require.NoError(t, err)
			r.TakeEvents()
			r.Advance(monday.AddDate(200, 0, 0))
			var got []time.Duration
			for _, e := range r.Events() {
				slip := e.(health.Slipped)
				got = append(got, slip.Expected.Sub(slip.At))
			}
			require.Equal(t, tt.want, got[:len(tt.want)])
			require.Equal(t, tt.last, got[len(got)-1])
		})
	}
}

// TestH7JumpOfTheClockMakesFewEvents holds a GPU at the beginning of time as clocks know it, and releases it today.
func TestH7JumpOfTheClockMakesFewEvents(t *testing.T) {
	for _, length := range []time.Duration{time.Second, 15 * time.Minute} {
		r, err := health.New(health.Config{StepLength: map[health.Step]time.Duration{health.StepReset: length}})
		require.NoError(t, err)
		c := health.Component{Node: "n", GPU: "GPU-0"}
		_, err = r.Hold(time.Unix(100, 0), health.HoldRequest{Component: c, Owner: "health/xid-48", Step: health.StepReset})
		require.NoError(t, err)
		require.NoError(t, r.Release(monday, c, "health/xid-48"))
		require.Less(t, len(r.Events()), 1500, "56 years of fortnights")
		require.Greater(t, len(r.Events()), 1400)
	}
}

// TestH7OneJumpIsItsSteps advances one record at once and another hour by hour.
func TestH7OneJumpIsItsSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := time.Duration(rapid.Int64Range(1, 400).Draw(t, "minutes")) * time.Minute
		jumping, err := health.New(health.Config{Slip: length})
		require.NoError(t, err)
		for _, node := range someNodes {
			_, err = jumping.Hold(monday, health.HoldRequest{Component: health.Component{Node: node}, Owner: "human/oncall",
				Expected: monday.Add(time.Duration(rapid.Int64Range(1, 100).Draw(t, "expected")) * time.Minute)})
			require.NoError(t, err)
		}
		stepping := jumping.Fork()
		jumping.TakeEvents()
		end := monday.Add(time.Duration(rapid.IntRange(0, 1000).Draw(t, "hours")) * time.Hour)
		for at := monday; !at.After(end); at = at.Add(time.Hour) {
			stepping.Advance(at)
		}
		jumping.Advance(end)
		require.Equal(t, stepping.Events(), jumping.Events())
		a, err := stepping.MarshalBinary()
		require.NoError(t, err)
		b, err := jumping.MarshalBinary()
		require.NoError(t, err)
		require.Equal(t, a, b)
	})
}
