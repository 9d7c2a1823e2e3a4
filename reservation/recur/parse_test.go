// SPDX-License-Identifier: Apache-2.0

package recur_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/reservation/recur"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		want recur.Rule
	}{
		{"FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;COUNT=10", recur.Rule{
			Freq: recur.Weekly, Interval: 2, Count: 10, ByDay: []recur.Day{{Weekday: time.Monday}, {Weekday: time.Wednesday}},
		}},
		{"rrule:freq=hourly", recur.Rule{Freq: recur.Hourly, Interval: 1}},
		{"UNTIL=20261231T235959Z;FREQ=DAILY;WKST=MO", recur.Rule{
			Freq: recur.Daily, Interval: 1, Until: time.Date(2026, time.December, 31, 23, 59, 59, 0, time.UTC),
		}},
		{"FREQ=MONTHLY;BYMONTHDAY=+1,-31;BYDAY=+5SU,-1sa", recur.Rule{
			Freq: recur.Monthly, Interval: 1, ByMonthDay: []int{1, -31}, ByDay: []recur.Day{{Weekday: time.Sunday, Nth: 5}, {Weekday: time.Saturday, Nth: -1}},
		}},
	} {
		got, err := recur.Parse(c.text)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
}

func TestParseMistakes(t *testing.T) {
	for _, c := range []struct {
		text string
		is   error
		want string
	}{
		{"", recur.ErrSyntax, `part ""; write NAME=VALUE`},
		{"", recur.ErrSyntax, "FREQ is missing"},
		{"FREQ=DAILY;", recur.ErrSyntax, `part ""`},
		{"FREQ=YEARLY", recur.ErrSyntax, `FREQ="YEARLY"`},
		{"FREQ=", recur.ErrSyntax, `FREQ=""`},
		{"FREQ=DAILY;FREQ=DAILY", recur.ErrSyntax, `"FREQ" comes twice`},
		{"FREQ=DAILY;BYSETPOS=1", recur.ErrSyntax, `"BYSETPOS" is not supported`},
		{"FREQ=DAILY;BYHOUR=1", recur.ErrSyntax, `"BYHOUR" is not supported`},
		{"FREQ=DAILY;ıNTERVAL=2", recur.ErrSyntax, "is not supported"},
		{"FREQ=DAILY;INTERVAL=0", recur.ErrSyntax, `INTERVAL="0"`},
		{"FREQ=DAILY;INTERVAL=+2", recur.ErrSyntax, `INTERVAL="+2"`},
		{"FREQ=DAILY;INTERVAL=1000001", recur.ErrInvalid, "Interval is 1000001"},
		{"FREQ=DAILY;COUNT=2147483648", recur.ErrSyntax, `COUNT="2147483648"`},
		{"FREQ=DAILY;COUNT=1;UNTIL=20260101T000000Z", recur.ErrInvalid, "set one of them"},
		{"FREQ=DAILY;UNTIL=20260101", recur.ErrSyntax, `UNTIL="20260101"; write the instant in UTC`},
		{"FREQ=DAILY;UNTIL=20260101T000000", recur.ErrSyntax, `UNTIL="20260101T000000"`},
		{"FREQ=DAILY;UNTIL=20260230T000000Z", recur.ErrSyntax, `UNTIL="20260230T000000Z"`},
		{"FREQ=DAILY;UNTIL=00000101T000000Z", recur.ErrSyntax, `UNTIL="00000101T000000Z"`},
		{"FREQ=WEEKLY;BYDAY=", recur.ErrSyntax, `BYDAY has ""`},
		{"FREQ=WEEKLY;BYDAY=MO,XX", recur.ErrSyntax, `BYDAY has "XX"`},
		{"FREQ=WEEKLY;BYDAY=1MO", recur.ErrInvalid, "only a Monthly rule takes an ordinal"},
		{"FREQ=MONTHLY;BYDAY=0MO", recur.ErrSyntax, `BYDAY has "0MO"`},
		{"FREQ=MONTHLY;BYDAY=6MO", recur.ErrSyntax, `BYDAY has "6MO"`},
		{"FREQ=MONTHLY;BYDAY=1MO,1MO", recur.ErrInvalid, "ByDay[1] is 1MO once more"},
		{"FREQ=MONTHLY;BYMONTHDAY=32", recur.ErrSyntax, `BYMONTHDAY has "32"`},
		{"FREQ=MONTHLY;BYMONTHDAY=0", recur.ErrSyntax, `BYMONTHDAY has "0"`},
		{"FREQ=WEEKLY;BYMONTHDAY=1", recur.ErrInvalid, "only a Monthly rule"},
		{"FREQ=HOURLY;BYDAY=MO", recur.ErrInvalid, "an Hourly rule takes none"},
		{"FREQ=WEEKLY;WKST=SU", recur.ErrSyntax, `WKST="SU"`},
		{"FREQ=DAILY;COUNT=" + strings.Repeat("1", 5000), recur.ErrSyntax, "has 5017 bytes"},
	} {
		got, err := recur.Parse(c.text)
		require.ErrorIs(t, err, c.is, c.text)
		require.ErrorContains(t, err, c.want)
		require.Equal(t, recur.Rule{}, got)
	}
}

// I6: String and Parse are inverse on the fields of an RRULE.
func TestI6RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rules(t, time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC))
		switch rapid.IntRange(0, 2).Draw(t, "bound") {
		case 1:
			r.Count = rapid.IntRange(1, 1<<31-1).Draw(t, "count")
		case 2:
			r.Until = time.Unix(rapid.Int64Range(-62135596799, 253402300799).Draw(t, "until"), 0).In(time.FixedZone("elsewhere", 3600))
		}
		want := recur.Rule{Freq: r.Freq, Interval: max(r.Interval, 1), ByDay: r.ByDay, ByMonthDay: r.ByMonthDay, Count: r.Count, Until: r.Until}
		if !r.Until.IsZero() {
			want.Until = r.Until.UTC()
		}
		if len(r.ByDay) == 0 {
			want.ByDay = nil
		}
		if len(r.ByMonthDay) == 0 {
			want.ByMonthDay = nil
		}
		got, err := recur.Parse(r.String())
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

// FuzzParse: no text panics (I6), and what is read is written so that it is read again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;COUNT=10", "rrule:freq=monthly;byday=-1fr,+2SU;bymonthday=1,-31", "FREQ=HOURLY;WKST=MO",
		"FREQ=DAILY;UNTIL=20261231T235959Z", "FREQ=DAILY;UNTIL=00010101T000000Z", "FREQ=MONTHLY;INTERVAL=4800;BYDAY=5FR", ";;=;", "FREQ=DAILY;BYDAY=é",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := recur.Parse(text)
		if err != nil {
			require.Equal(t, recur.Rule{}, r)
			return
		}
		again, err := recur.Parse(r.String())
		require.NoError(t, err, "%q from %q", r.String(), text)
		require.Equal(t, r, again)
		r.Start = recur.Local{Year: 2026, Month: time.January, Day: 31, Hour: 2}
		r.Ends = recur.Elapsed(time.Hour)
		if s, err := recur.New(recur.Config{Rule: r, Location: time.UTC}); err == nil {
			s.Occurrence(s.Len() - 1)
		}
	})
}

// FuzzParseLocal: what is read is written back as it was.
func FuzzParseLocal(f *testing.F) {
	for _, s := range []string{"2026-03-02T09:00:00", "0000-01-01T00:00:00", "2026-02-29T00:00:00", "2026-03-02T09:00:00.5", "2026-3-2T9:00:00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := recur.ParseLocal(text)
		if err != nil {
			require.ErrorIs(t, err, recur.ErrSyntax)
			return
		}
		require.Equal(t, text, l.String())
	})
}

func TestNames(t *testing.T) {
	require.Equal(t, "HOURLY DAILY WEEKLY MONTHLY", strings.Join([]string{
		recur.Hourly.String(), recur.Daily.String(), recur.Weekly.String(), recur.Monthly.String(),
	}, " "))
	require.Equal(t, "UseGapEnd", recur.UseGapEnd.String())
	require.Equal(t, "Second", recur.Second.String())
	require.Equal(t, "Absence(6)", recur.Absence(6).String())
	bad := recur.Rule{Freq: 9, Interval: -3, ByDay: []recur.Day{{Weekday: 8, Nth: 1}}}
	require.Equal(t, "FREQ=Freq(9);INTERVAL=-3;BYDAY=1?8", bad.String(), "a wrong rule can still be shown")
}
