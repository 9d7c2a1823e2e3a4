// SPDX-License-Identifier: Apache-2.0

package recur_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/reservation/recur"
)

// Each mistake is refused with its field and value.
func TestMistakes(t *testing.T) {
	day := func(d time.Weekday, nth int) []recur.Day { return []recur.Day{{Weekday: d, Nth: nth}} }
	clock := recur.LocalEnd(recur.Clock{Hour: 6})
	for _, c := range []struct {
		want   string
		change func(*recur.Rule)
	}{
		{"Freq is Freq(0)", func(r *recur.Rule) { r.Freq = 0 }},
		{"Freq is Freq(9)", func(r *recur.Rule) { r.Freq = 9 }},
		{"Interval is -1", func(r *recur.Rule) { r.Interval = -1 }},
		{"Interval is 1000001", func(r *recur.Rule) { r.Interval = 1_000_001 }},
		{"Count is -2", func(r *recur.Rule) { r.Count = -2 }},
		{"Count is 3 and Until is 20260901T000000Z", func(r *recur.Rule) { r.Count, r.Until = 3, time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC) }},
		{"Until is 20260901T000000.5Z", func(r *recur.Rule) { r.Until = time.Date(2026, 9, 1, 0, 0, 0, 5e8, time.UTC) }},
		{"Until is 100000101T000000Z", func(r *recur.Rule) { r.Until = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }},
		{"ByDay has 1 entries; an Hourly", func(r *recur.Rule) { r.Freq, r.ByDay = recur.Hourly, day(time.Monday, 0) }},
		{"ByDay[0].Weekday is 7", func(r *recur.Rule) { r.ByDay = day(7, 0) }},
		{"ByDay[0].Nth is 6", func(r *recur.Rule) { r.Freq, r.ByDay = recur.Monthly, day(time.Monday, 6) }},
		{"ByDay[0].Nth is 1; only a Monthly", func(r *recur.Rule) { r.ByDay = day(time.Monday, 1) }},
		{"ByDay[1] is MO once more", func(r *recur.Rule) { r.ByDay = append(day(time.Monday, 0), day(time.Monday, 0)...) }},
		{"ByMonthDay has 1 entries; only a Monthly", func(r *recur.Rule) { r.ByMonthDay = []int{1} }},
		{"ByMonthDay[1] is 0", func(r *recur.Rule) { r.Freq, r.ByMonthDay = recur.Monthly, []int{1, 0} }},
		{"ByMonthDay[0] is -32", func(r *recur.Rule) { r.Freq, r.ByMonthDay = recur.Monthly, []int{-32} }},
		{"ByMonthDay[1] is 4 once more", func(r *recur.Rule) { r.Freq, r.ByMonthDay = recur.Monthly, []int{4, 4} }},
		{"Start is 2026-02-29T00:00:00", func(r *recur.Rule) { r.Start = recur.Local{Year: 2026, Month: 2, Day: 29} }},
		{"Start is 0000-00-00T00:00:00", func(r *recur.Rule) { r.Start = recur.Local{} }},
		{"Start is 2026-02-01T24:00:00", func(r *recur.Rule) { r.Start = recur.Local{Year: 2026, Month: 2, Day: 1, Hour: 24} }},
		{"ExDates[0] is 2026-06-31T09:00:00", func(r *recur.Rule) { r.ExDates = []recur.Local{{Year: 2026, Month: 6, Day: 31, Hour: 9}} }},
		{"ExDates[0] is 2026-06-02T10:00:00, which is no start", func(r *recur.Rule) { r.ExDates = []recur.Local{{Year: 2026, Month: 6, Day: 2, Hour: 10}} }},
		{"ExDates[0] is 2026-05-31T09:00:00, which is no start", func(r *recur.Rule) { r.ExDates = []recur.Local{{Year: 2026, Month: 5, Day: 31, Hour: 9}} }},
		{"ExDates has 10001 entries", func(r *recur.Rule) { r.ExDates = make([]recur.Local, 10_001) }},
		{"Ends.Elapsed is 0s", func(r *recur.Rule) { r.Ends = recur.End{} }},
		{"Ends.Elapsed is -1h0m0s", func(r *recur.Rule) { r.Ends = recur.Elapsed(-time.Hour) }},
		{"Ends.Elapsed is 1.5s", func(r *recur.Rule) { r.Ends = recur.Elapsed(1500 * time.Millisecond) }},
		{"Ends has Elapsed 1h0m0s and Local", func(r *recur.Rule) { r.Ends = clock; r.Ends.Elapsed = time.Hour }},
		{"Ends has Days 1 and At 00:00:00 without Local", func(r *recur.Rule) { r.Ends.Days = 1 }},
		{"Ends.Days is 367", func(r *recur.Rule) { r.Ends = clock; r.Ends.Days = 367 }},
		{"Ends.At is 06:60:00", func(r *recur.Rule) { r.Ends = clock; r.Ends.At.Minute = 60 }},
		{"Gap is Gap(3)", func(r *recur.Rule) { r.Gap = 3 }},
		{"Ambiguous is Ambiguous(2)", func(r *recur.Rule) { r.Ambiguous = 2 }},
		{`"FREQ=DAILY;INTERVAL=7;BYDAY=SU" leave no day`, func(r *recur.Rule) { r.Interval, r.ByDay = 7, day(time.Sunday, 0) }},
		{"leave no day", func(r *recur.Rule) { r.Freq, r.ByDay, r.ByMonthDay = recur.Monthly, day(time.Monday, 1), []int{8} }},
		{"leave no day", func(r *recur.Rule) {
			r.Freq, r.ByDay, r.Start = recur.Weekly, day(time.Sunday, 0), recur.Local{Year: 9999, Month: 12, Day: 30}
		}},
	} {
		r := rule(t, "FREQ=DAILY", "2026-06-01T09:00:00")
		c.change(&r)
		s, err := recur.New(recur.Config{Rule: r, Location: time.UTC})
		require.ErrorIs(t, err, recur.ErrInvalid, c.want)
		require.ErrorContains(t, err, c.want)
		require.Nil(t, s)
	}
}

// All mistakes are in one answer.
func TestMistakesJoin(t *testing.T) {
	_, err := recur.New(recur.Config{Rule: recur.Rule{Interval: -1, Count: -1, Gap: 7, Ambiguous: 7, ByMonthDay: []int{99}}})
	require.ErrorIs(t, err, recur.ErrInvalid)
	require.ErrorIs(t, err, recur.ErrZone)
	for _, field := range []string{"Freq", "Interval", "Count", "ByMonthDay", "Start", "Ends", "Gap", "Ambiguous", "Location"} {
		require.ErrorContains(t, err, field)
	}
}

// Whatever the fields hold, nothing panics, and what is accepted keeps I2 and I4.
func TestWildRules(t *testing.T) {
	number := func(t *rapid.T, name string, usual int) int {
		return rapid.OneOf(rapid.IntRange(-1, usual), rapid.IntRange(0, usual), rapid.Int()).Draw(t, name)
	}
	reading := func(t *rapid.T, name string) recur.Local {
		return recur.Local{
			Year: number(t, name+" year", 9999), Month: time.Month(number(t, name+" month", 12)), Day: number(t, name+" day", 28),
			Hour: number(t, name+" hour", 23), Minute: number(t, name+" minute", 59), Second: number(t, name+" second", 59),
		}
	}
	apia := zone(t, "Pacific/Apia")
	rapid.Check(t, func(t *rapid.T) {
		r := recur.Rule{
			Freq: recur.Freq(number(t, "freq", 4)), Interval: number(t, "interval", 3000), Count: number(t, "count", 3), Start: reading(t, "start"),
			Gap: recur.Gap(number(t, "gap", 2)), Ambiguous: recur.Ambiguous(number(t, "ambiguous", 1)),
			Ends: recur.End{Elapsed: time.Duration(number(t, "elapsed", 3)) * time.Second},
		}
		if rapid.Bool().Draw(t, "local end") {
			r.Ends = recur.End{Local: true, Days: number(t, "days", 3), At: recur.Clock{Hour: number(t, "at", 23)}}
		}
		if rapid.Bool().Draw(t, "days") {
			r.ByDay = []recur.Day{{Weekday: time.Weekday(number(t, "weekday", 6)), Nth: number(t, "nth", 5)}}
			r.ByMonthDay = []int{number(t, "month day", 31)}
		}
		_ = r.String()
		s, err := recur.New(recur.Config{Rule: r, Location: apia})
		if err != nil {
			return
		}
		for _, i := range []int{0, 1, s.Len() - 1, s.Len(), number(t, "index", 1000)} {
			l, _ := s.Local(i)
			w, ok := s.Occurrence(i)
			require.Equal(t, ok, s.Absence(i) == recur.Present, "%s %s", l, s.Absence(i))
			if ok {
				require.True(t, w.Start.Before(w.End))
				got, found := s.Index(w.Start)
				require.True(t, found)
				require.Equal(t, i, got)
			}
		}
	})
}
