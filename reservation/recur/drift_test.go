// SPDX-License-Identifier: Apache-2.0

package recur_test

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/reservation/recur"
)

// A new version of a zone, or of the rule, moves nothing; it shows what differs.
func TestDrift(t *testing.T) {
	before := zone(t, "America/New_York")
	after := time.FixedZone("America/New_York", -4*3600) // summer time for ever
	r := rule(t, "FREQ=WEEKLY;COUNT=4", "2026-10-18T09:00:00")
	booked := series(t, r, before)

	for range booked.Drifts(booked.All(0)) {
		require.Fail(t, "a series drifts from itself")
	}
	for range booked.Drifts(nil) {
		require.Fail(t, "nothing was booked")
	}

	r.ExDates = []recur.Local{local(t, "2026-10-25T09:00:00")}
	r.Count = 3
	now := series(t, r, after)
	var got []recur.Drift
	for d := range now.Drifts(booked.All(0)) {
		got = append(got, d)
	}
	hour := func(month time.Month, day, hour int) recur.Window {
		start := time.Date(2026, month, day, hour, 0, 0, 0, time.UTC)
		return recur.Window{Start: start, End: start.Add(time.Hour)}
	}
	require.Equal(t, []recur.Drift{
		{Index: 1, Booked: hour(time.October, 25, 13), Absence: recur.Excluded},
		{Index: 2, Booked: hour(time.November, 1, 14), Now: hour(time.November, 1, 13)},
		{Index: 3, Booked: hour(time.November, 8, 14), Absence: recur.Beyond},
	}, got)
	for d := range now.Drifts(maps.All(map[int]recur.Window{2: hour(time.November, 1, 14), 3: hour(time.November, 8, 14)})) {
		require.NotZero(t, d.Index)
		break // the reader may stop
	}

	// The same instants in another form are no drift; another end is.
	w, _ := now.Occurrence(0)
	_, moved := now.Drift(0, recur.Window{Start: w.Start.In(before), End: w.End.In(before)})
	require.False(t, moved)
	d, moved := now.Drift(0, recur.Window{Start: w.Start, End: w.End.Add(time.Second)})
	require.True(t, moved)
	require.Equal(t, w, d.Now)
}
