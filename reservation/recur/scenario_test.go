// SPDX-License-Identifier: Apache-2.0

package recur_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/reservation/recur"
)

const minutes = "2006-01-02T15:04Z"

// Scenario 19: leaving out the second of a weekly series, to book it elsewhere,
// moves no other occurrence and renumbers none (I1).
func TestScenario19(t *testing.T) {
	r := rule(t, "FREQ=WEEKLY;BYDAY=MO;COUNT=3", "2026-06-01T09:00:00")
	before := series(t, r, time.UTC)
	r.ExDates = []recur.Local{local(t, "2026-06-08T09:00:00")}
	after := series(t, r, time.UTC)
	for _, i := range []int{0, 2} {
		want, _ := before.Occurrence(i)
		got, ok := after.Occurrence(i)
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	_, ok := after.Occurrence(1)
	require.False(t, ok)
	require.Equal(t, recur.Excluded, after.Absence(1))
	require.Equal(t, []string{"2026-06-01T09:00Z", "2026-06-15T09:00Z"}, starts(after, 9, minutes))
}

// Scenario 27: the wall clock decides, not the distance.
func TestScenario27(t *testing.T) {
	r := rule(t, "FREQ=WEEKLY;COUNT=3", "2025-03-02T15:00:00")
	r.Ends = recur.Elapsed(90 * time.Minute)
	s := series(t, r, zone(t, "America/Chicago"))
	require.Equal(t, []string{"2025-03-02T21:00Z", "2025-03-09T20:00Z", "2025-03-16T20:00Z"}, starts(s, 9, minutes))
	w, _ := s.Occurrence(1)
	require.Equal(t, "[2025-03-09T20:00:00Z, 2025-03-09T21:30:00Z)", w.String())
}

// Scenario 28 and I7: the server's own zone plays no part.
func TestScenario28(t *testing.T) {
	machine := time.Local
	defer func() { time.Local = machine }()
	for _, server := range []string{"Asia/Dubai", "Pacific/Kiritimati", "America/Los_Angeles", "UTC"} {
		time.Local = zone(t, server)
		s := series(t, rule(t, "FREQ=WEEKLY;BYDAY=MO;COUNT=3", "2025-03-03T10:00:00"), zone(t, "America/New_York"))
		require.Equal(t, []string{"2025-03-03T15:00Z", "2025-03-10T14:00Z", "2025-03-17T14:00Z"}, starts(s, 9, minutes), server)
		i, ok := s.Index(time.Date(2025, time.March, 10, 18, 0, 0, 0, zone(t, "Asia/Dubai")))
		require.True(t, ok)
		require.Equal(t, 1, i, server)
	}
}

// Scenario 29: a time in the gap takes the offset before it, a time that comes twice is the first.
func TestScenario29(t *testing.T) {
	newYork := zone(t, "America/New_York")
	s := series(t, rule(t, "FREQ=DAILY;COUNT=3", "2026-03-07T02:30:00"), newYork)
	require.Equal(t, []string{"2026-03-07T07:30Z", "2026-03-08T07:30Z", "2026-03-09T06:30Z"}, starts(s, 9, minutes))
	w, _ := s.Occurrence(1)
	require.Equal(t, "03:30 EDT", w.Start.In(newYork).Format("15:04 MST"))
	s = series(t, rule(t, "FREQ=DAILY;COUNT=3", "2026-10-31T01:30:00"), newYork)
	require.Equal(t, []string{"2026-10-31T05:30Z", "2026-11-01T05:30Z", "2026-11-02T06:30Z"}, starts(s, 9, minutes))
}

// Scenario 35: a window of a long series is found without walking the rule.
func TestScenario35(t *testing.T) {
	s := series(t, rule(t, "FREQ=DAILY;COUNT=5000", "2026-01-01T09:00:00"), zone(t, "Europe/Berlin"))
	require.Equal(t, 5000, s.Len())
	last := fmt.Sprint(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, 4999).Format(time.DateOnly), "T09:00:00")
	got, ok := s.Local(4999)
	require.True(t, ok)
	require.Equal(t, last, got.String())
	w, ok := s.Occurrence(4999)
	require.True(t, ok)
	i, ok := s.Index(w.Start)
	require.True(t, ok)
	require.Equal(t, 4999, i)
	_, ok = s.Index(w.Start.Add(time.Second))
	require.False(t, ok)
}
