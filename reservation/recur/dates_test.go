// SPDX-License-Identifier: Apache-2.0

package recur_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/reservation/recur"
)

// I3: the dates listed in RFC 5545, section 3.8.5.3, for the rules read here.
func TestI3StandardDates(t *testing.T) {
	newYork := zone(t, "America/New_York")
	for _, c := range []struct{ text, start, want string }{
		{"FREQ=DAILY;INTERVAL=10;COUNT=5", "1997-09-02T09:00:00", "97-09-02 97-09-12 97-09-22 97-10-02 97-10-12"},
		{"FREQ=WEEKLY;UNTIL=19971007T000000Z;WKST=MO;BYDAY=TU,TH", "1997-09-02T09:00:00",
			"97-09-02 97-09-04 97-09-09 97-09-11 97-09-16 97-09-18 97-09-23 97-09-25 97-09-30 97-10-02"},
		{"FREQ=WEEKLY;INTERVAL=2;UNTIL=19971224T000000Z;BYDAY=MO,WE,FR", "1997-09-01T09:00:00",
			"97-09-01 97-09-03 97-09-05 97-09-15 97-09-17 97-09-19 97-09-29 97-10-01 97-10-03 97-10-13 97-10-15 97-10-17 " +
				"97-10-27 97-10-29 97-10-31 97-11-10 97-11-12 97-11-14 97-11-24 97-11-26 97-11-28 97-12-08 97-12-10 97-12-12 97-12-22"},
		{"FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU", "1997-08-05T09:00:00", "97-08-05 97-08-10 97-08-19 97-08-24"},
		{"FREQ=MONTHLY;COUNT=10;BYDAY=1FR", "1997-09-05T09:00:00",
			"97-09-05 97-10-03 97-11-07 97-12-05 98-01-02 98-02-06 98-03-06 98-04-03 98-05-01 98-06-05"},
		{"FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU", "1997-09-07T09:00:00",
			"97-09-07 97-09-28 97-11-02 97-11-30 98-01-04 98-01-25 98-03-01 98-03-29 98-05-03 98-05-31"},
		{"FREQ=MONTHLY;COUNT=6;BYDAY=-2MO", "1997-09-22T09:00:00", "97-09-22 97-10-20 97-11-17 97-12-22 98-01-19 98-02-16"},
		{"FREQ=MONTHLY;BYMONTHDAY=-3;COUNT=6", "1997-09-28T09:00:00", "97-09-28 97-10-29 97-11-28 97-12-29 98-01-29 98-02-26"},
		{"FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1", "1997-09-30T09:00:00",
			"97-09-30 97-10-01 97-10-31 97-11-01 97-11-30 97-12-01 97-12-31 98-01-01 98-01-31 98-02-01"},
		{"FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15", "1997-09-10T09:00:00",
			"97-09-10 97-09-11 97-09-12 97-09-13 97-09-14 97-09-15 99-03-10 99-03-11 99-03-12 99-03-13"},
		{"FREQ=MONTHLY;INTERVAL=2;BYDAY=TU;COUNT=9", "1997-09-02T09:00:00",
			"97-09-02 97-09-09 97-09-16 97-09-23 97-09-30 97-11-04 97-11-11 97-11-18 97-11-25"},
		{"FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=5", "1997-09-02T09:00:00", "98-02-13 98-03-13 98-11-13 99-08-13 00-10-13"},
		{"FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13;COUNT=10", "1997-09-13T09:00:00",
			"97-09-13 97-10-11 97-11-08 97-12-13 98-01-10 98-02-07 98-03-07 98-04-11 98-05-09 98-06-13"},
		{"FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5", "2007-01-15T09:00:00", "07-01-15 07-01-30 07-02-15 07-03-15 07-03-30"},
		// Not in the RFC: a start that does not match, a day that short months lack, filtered days.
		{"FREQ=WEEKLY;BYDAY=MO,WE;COUNT=3", "2026-06-02T09:00:00", "26-06-03 26-06-08 26-06-10"},
		{"FREQ=MONTHLY;COUNT=4", "2026-01-31T09:00:00", "26-01-31 26-03-31 26-05-31 26-07-31"},
		{"FREQ=MONTHLY;INTERVAL=12;COUNT=3", "2096-02-29T09:00:00", "96-02-29 04-02-29 08-02-29"},
		{"FREQ=MONTHLY;BYDAY=5MO;COUNT=4", "2026-01-01T09:00:00", "26-03-30 26-06-29 26-08-31 26-11-30"},
		{"FREQ=MONTHLY;BYDAY=-5MO;COUNT=4", "2026-01-01T09:00:00", "26-03-02 26-06-01 26-08-03 26-11-02"},
		{"FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;COUNT=4", "2026-06-04T09:00:00", "26-06-04 26-06-05 26-06-08 26-06-09"},
		{"FREQ=DAILY;INTERVAL=3;BYDAY=SA,SU;COUNT=4", "2026-06-06T09:00:00", "26-06-06 26-06-21 26-06-27 26-07-12"},
	} {
		got := starts(series(t, rule(t, c.text, c.start), newYork), 99, "06-01-02")
		require.Equal(t, c.want, strings.Join(got, " "), c.text)
	}
	got := starts(series(t, rule(t, "FREQ=HOURLY;INTERVAL=3;UNTIL=19970902T210000Z", "1997-09-02T09:00:00"), newYork), 99, minutes)
	require.Equal(t, []string{"1997-09-02T13:00Z", "1997-09-02T16:00Z", "1997-09-02T19:00Z"}, got)
}

// The millionth occurrence is where arithmetic puts it.
func TestFar(t *testing.T) {
	const million = 1_000_000
	s := series(t, rule(t, "FREQ=DAILY", "2026-01-01T09:00:00"), zone(t, "Asia/Dubai"))
	w, ok := s.Occurrence(million)
	require.True(t, ok)
	require.Equal(t, time.Date(2026, time.January, 1, 5, 0, 0, 0, time.UTC).AddDate(0, 0, million), w.Start)
	i, ok := s.Index(w.Start)
	require.True(t, ok)
	require.Equal(t, million, i)

	s = series(t, rule(t, "FREQ=HOURLY;INTERVAL=6", "2026-01-01T09:00:00"), zone(t, "America/New_York"))
	w, ok = s.Occurrence(million)
	require.True(t, ok)
	require.Equal(t, time.Date(2026, time.January, 1, 14+6*million, 0, 0, 0, time.UTC), w.Start)
}

// The last instants of the calendar: nothing overflows, nothing is past the year 9999.
func TestEndOfTime(t *testing.T) {
	s := series(t, rule(t, "FREQ=DAILY", "9999-12-30T22:00:00"), time.UTC)
	require.Equal(t, 2, s.Len())
	require.Equal(t, []string{"9999-12-30T22:00Z", "9999-12-31T22:00Z"}, starts(s, 9, minutes))

	r := rule(t, "FREQ=DAILY", "9999-12-30T23:30:00")
	s = series(t, r, time.UTC)
	require.Equal(t, recur.Beyond, s.Absence(1), "the end is in the year 10000")
	r.Ends = recur.Elapsed(math.MaxInt64 / time.Second * time.Second)
	require.Equal(t, recur.Beyond, series(t, r, time.UTC).Absence(0))

	s = series(t, rule(t, "FREQ=HOURLY", "0001-01-01T00:00:00"), time.UTC)
	require.Equal(t, 9999*365+9999/4-9999/100+9999/400, s.Len()/24)
	for _, i := range []int{math.MinInt, -1, s.Len(), math.MaxInt} {
		_, ok := s.Occurrence(i)
		require.False(t, ok)
		_, ok = s.Local(i)
		require.False(t, ok)
		require.Equal(t, recur.Beyond, s.Absence(i))
		for range s.All(max(i, 0)) {
			if i >= 0 {
				require.Fail(t, "an occurrence after the last")
			}
			break
		}
	}
	i, ok := s.Index(time.Time{})
	require.True(t, ok)
	require.Zero(t, i)
	for _, at := range []time.Time{time.Unix(math.MinInt64/2, 0), time.Unix(-1<<40, 5)} {
		i, ok = s.Index(at)
		require.True(t, ok)
		require.Zero(t, i)
	}
	for _, at := range []time.Time{time.Unix(1<<40, 0), time.Unix(math.MaxInt64/2, 0), time.Date(9999, 12, 31, 23, 0, 0, 1, time.UTC)} {
		_, ok = s.Index(at)
		require.False(t, ok)
	}
	// East of Greenwich the first hours of the year 1 are in the year 0 in UTC.
	s = series(t, rule(t, "FREQ=DAILY;COUNT=2", "0001-01-01T00:00:00"), time.FixedZone("east", 3600))
	require.Equal(t, recur.Beyond, s.Absence(0))
	require.Equal(t, recur.Present, s.Absence(1))

	var zero recur.Series
	require.Zero(t, zero.Len())
	_, ok = zero.Occurrence(0)
	require.False(t, ok)
	_, ok = zero.Index(time.Time{})
	require.False(t, ok)
}

// Until is the last start that is allowed; an instant before the first is a mistake.
func TestUntil(t *testing.T) {
	r := rule(t, "FREQ=DAILY;UNTIL=20260310T063000Z", "2026-03-07T02:30:00")
	newYork := zone(t, "America/New_York")
	require.Equal(t, 4, series(t, r, newYork).Len())
	r.Until = r.Until.Add(-time.Second)
	require.Equal(t, 3, series(t, r, newYork).Len())
	r.Until = time.Date(2026, time.March, 7, 7, 29, 59, 0, time.UTC)
	_, err := recur.New(recur.Config{Rule: r, Location: newYork})
	require.ErrorIs(t, err, recur.ErrInvalid)
	require.ErrorContains(t, err, "Until is 20260307T072959Z, before the first occurrence at 2026-03-07T02:30:00")
}

// Long runs of ExDates are passed in one step, and an hourly rule takes them too.
func TestExDates(t *testing.T) {
	r := rule(t, "FREQ=DAILY;COUNT=10000", "2026-01-01T09:00:00")
	for i := range 9_000 {
		d := time.Date(2026, time.January, 9_000-i, 0, 0, 0, 0, time.UTC)
		r.ExDates = append(r.ExDates, recur.Local{Year: d.Year(), Month: d.Month(), Day: d.Day(), Hour: 9})
	}
	r.ExDates = append(r.ExDates, r.ExDates[0])
	s := series(t, r, time.UTC)
	i, ok := s.Index(time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC))
	require.True(t, ok)
	require.Equal(t, 9_000, i)
	for i := range s.All(0) {
		require.Equal(t, 9_000, i)
		break
	}
	require.Equal(t, recur.Excluded, s.Absence(17))

	r = rule(t, "FREQ=HOURLY;INTERVAL=2;COUNT=5", "2026-11-01T01:00:00")
	r.ExDates = []recur.Local{local(t, "2026-11-01T04:00:00"), local(t, "2026-11-01T01:00:00")}
	require.Equal(t, []string{"2026-11-01T07:00Z", "2026-11-01T11:00Z", "2026-11-01T13:00Z"},
		starts(series(t, r, zone(t, "America/New_York")), 9, minutes))
}

// What a series hands out is the caller's own.
func TestRuleIsCopied(t *testing.T) {
	r := rule(t, "FREQ=WEEKLY;BYDAY=MO,WE;COUNT=4", "2026-06-01T09:00:00")
	r.Interval = 0
	s := series(t, r, time.UTC)
	want := starts(s, 9, minutes)
	r.ByDay[0].Weekday = time.Sunday
	s.Rule().ByDay[1].Weekday = time.Sunday
	require.Equal(t, want, starts(s, 9, minutes))
	require.Equal(t, "FREQ=WEEKLY;BYDAY=MO,WE;COUNT=4", s.Rule().String())
	require.Equal(t, 1, s.Rule().Interval)
}
