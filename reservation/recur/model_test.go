// SPDX-License-Identifier: Apache-2.0

package recur_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/reservation/recur"
)

// The model walks the calendar day by day and the clock minute by minute. It uses
// nothing of the package but the fields of a Rule. Its times are whole minutes
// since 1973, when the last zone gave up an offset with seconds.

// wall is a wall-clock time as if it were in UTC.
func wall(l recur.Local) time.Time {
	return time.Date(l.Year, l.Month, l.Day, l.Hour, l.Minute, l.Second, 0, time.UTC)
}

// onDay says whether the rule recurs on the day that holds d.
func onDay(r recur.Rule, d time.Time) bool {
	midnight := func(t time.Time) time.Time { return t.Truncate(24 * time.Hour) }
	monday := func(t time.Time) time.Time { return midnight(t).AddDate(0, 0, -(int(t.Weekday())+6)%7) }
	daysBetween := func(a, b time.Time) int { return int(b.Sub(a).Hours() / 24) }
	start, n := wall(r.Start), max(r.Interval, 1)
	length := time.Date(d.Year(), d.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	named := slices.ContainsFunc(r.ByDay, func(x recur.Day) bool {
		return x.Weekday == d.Weekday() && (x.Nth == 0 || x.Nth == (d.Day()+6)/7 || x.Nth == -(length-d.Day()+7)/7)
	})
	switch r.Freq {
	case recur.Daily:
		return daysBetween(midnight(start), midnight(d))%n == 0 && (len(r.ByDay) == 0 || named)
	case recur.Weekly:
		return daysBetween(monday(start), monday(d))/7%n == 0 && (named || len(r.ByDay) == 0 && d.Weekday() == start.Weekday())
	default:
		if (d.Year()*12+int(d.Month())-start.Year()*12-int(start.Month()))%n != 0 {
			return false
		}
		dated := slices.Contains(r.ByMonthDay, d.Day()) || slices.Contains(r.ByMonthDay, d.Day()-length-1)
		if len(r.ByDay) == 0 && len(r.ByMonthDay) == 0 {
			return d.Day() == start.Day()
		}
		return (len(r.ByDay) == 0 || named) && (len(r.ByMonthDay) == 0 || dated)
	}
}

// instant scans 26 hours before and after for minutes at which the clock shows w.
func instant(loc *time.Location, w time.Time, r recur.Rule) (at time.Time, gap bool) {
	var shown []time.Time
	var jump, before time.Time // the first minute that shows more than w, and what w is by the clock before it
	last := 0
	for t := w.Add(-26 * time.Hour); t.Before(w.Add(26 * time.Hour)); t = t.Add(time.Minute) {
		_, offset := t.In(loc).Zone()
		shows := t.Add(time.Duration(offset) * time.Second)
		if shows.Equal(w) {
			shown = append(shown, t)
		}
		if jump.IsZero() && shows.After(w) {
			jump, before = t.Truncate(time.Minute), w.Add(-time.Duration(last)*time.Second)
		}
		last = offset
	}
	switch {
	case len(shown) == 0 && r.Gap == recur.UseGapEnd:
		return jump, true
	case len(shown) == 0:
		return before, true
	case r.Ambiguous == recur.Second:
		return shown[len(shown)-1], false
	}
	return shown[0], false
}

// model returns the windows of the first n indexes; a zero window is an absence.
func model(r recur.Rule, loc *time.Location, n int) []recur.Window {
	var walls, at []time.Time
	var gaps []bool
	first, lacking := instant(loc, wall(r.Start), r)
	for d := wall(r.Start); len(walls) < n+3 && d.Year() < 2150; d = d.AddDate(0, 0, 1) {
		if r.Freq == recur.Hourly {
			t := first.Add(time.Duration(len(at)*max(r.Interval, 1)) * time.Hour)
			_, offset := t.In(loc).Zone()
			walls, at, gaps = append(walls, t.Add(time.Duration(offset)*time.Second)), append(at, t), append(gaps, lacking && len(at) == 0)
		} else if onDay(r, d) {
			t, gap := instant(loc, d, r)
			walls, at, gaps = append(walls, d), append(at, t), append(gaps, gap)
		}
	}
	var out []recur.Window
	for i := range min(n, len(at)) {
		w := recur.Window{Start: at[i], End: at[i].Add(r.Ends.Elapsed)}
		if r.Ends.Local {
			e := r.Ends.At
			until := walls[i].Truncate(24*time.Hour).AddDate(0, 0, r.Ends.Days).
				Add(time.Duration(e.Hour)*time.Hour + time.Duration(e.Minute)*time.Minute)
			if !until.After(walls[i]) {
				until = until.AddDate(0, 0, 1)
			}
			w.End, _ = instant(loc, until, r)
			if !w.End.After(w.Start) {
				r := r
				r.Ambiguous = recur.Second
				w.End, _ = instant(loc, until, r)
			}
		}
		overtaken := slices.ContainsFunc(at[i+1:], func(t time.Time) bool { return !t.After(at[i]) })
		excluded := slices.ContainsFunc(r.ExDates, func(x recur.Local) bool {
			if r.Freq == recur.Hourly { // of two equal readings only one is named
				t, _ := instant(loc, wall(x), r)
				return t.Equal(at[i])
			}
			return wall(x).Equal(walls[i])
		})
		late := !r.Until.IsZero() && w.Start.After(r.Until) || r.Count > 0 && i >= r.Count
		if gaps[i] && (overtaken || r.Gap == recur.SkipGap) || excluded || late || !w.End.After(w.Start) {
			w = recur.Window{}
		}
		out = append(out, w)
	}
	return out
}

// eves are days just before something odd happens to a clock.
var eves = []struct{ zone, day string }{
	{"America/New_York", "2026-03-07"}, {"America/New_York", "2026-10-31"}, {"America/Chicago", "2025-03-08"},
	{"Europe/Berlin", "2026-03-28"}, {"Europe/Berlin", "2026-10-24"}, {"Europe/Dublin", "2026-10-24"},
	{"Australia/Lord_Howe", "2026-10-03"}, {"Australia/Lord_Howe", "2026-04-04"}, {"Antarctica/Troll", "2026-03-28"},
	{"Pacific/Apia", "2011-12-28"}, {"Pacific/Kwajalein", "1993-08-19"}, {"Pacific/Kiritimati", "1994-12-30"},
	{"America/Sao_Paulo", "2018-11-03"}, {"America/Sao_Paulo", "2018-02-17"}, {"America/Havana", "2026-03-07"},
	{"Asia/Kathmandu", "1985-12-31"}, {"Africa/Casablanca", "2026-02-14"}, {"Africa/Cairo", "2026-04-23"},
	{"Asia/Gaza", "2026-03-27"}, {"Asia/Beirut", "2026-03-28"}, {"Asia/Pyongyang", "2018-05-04"}, {"America/Caracas", "2007-12-08"},
	{"UTC", "2026-02-27"}, {"Asia/Tehran", "2020-03-20"}, {"America/New_York", "2037-10-31"}, {"Europe/Berlin", "2099-03-28"},
}

// rules draws valid rules that begin at most some days after an eve.
func rules(t *rapid.T, start time.Time) recur.Rule {
	r := recur.Rule{
		Freq:      recur.Freq(rapid.IntRange(int(recur.Hourly), int(recur.Monthly)).Draw(t, "freq")),
		Interval:  rapid.SampledFrom([]int{0, 1, 1, 1, 2, 3, 7}).Draw(t, "interval"),
		Gap:       recur.Gap(rapid.IntRange(0, int(recur.SkipGap)).Draw(t, "gap")),
		Ambiguous: recur.Ambiguous(rapid.IntRange(0, int(recur.Second)).Draw(t, "ambiguous")),
	}
	start = start.AddDate(0, 0, rapid.IntRange(0, 2).Draw(t, "day"))
	hours := rapid.SampledFrom([]int{0, 0, 1, 1, 2, 2, 3, 10, 23}) // most clocks change at night
	quarters := rapid.SampledFrom([]int{0, 15, 30, 45})
	r.Start = recur.Local{Year: start.Year(), Month: start.Month(), Day: start.Day(), Hour: hours.Draw(t, "hour"), Minute: quarters.Draw(t, "minute")}
	if rapid.Bool().Draw(t, "local end") {
		r.Ends = recur.LocalEnd(recur.Clock{Hour: hours.Draw(t, "end hour"), Minute: quarters.Draw(t, "end minute")})
		r.Ends.Days = rapid.IntRange(0, 2).Draw(t, "days")
	} else {
		r.Ends = recur.Elapsed(time.Duration(rapid.IntRange(1, 3000).Draw(t, "minutes")) * time.Minute)
	}
	if r.Freq != recur.Hourly {
		nth := 0
		if r.Freq == recur.Monthly {
			nth = 5
		}
		r.ByDay = rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) recur.Day {
			return recur.Day{
				Weekday: time.Weekday(rapid.IntRange(0, 6).Draw(t, "weekday")), Nth: rapid.IntRange(-nth, nth).Draw(t, "nth"),
			}
		}), 0, 4, rapid.ID[recur.Day]).Draw(t, "byday")
	}
	if r.Freq == recur.Monthly {
		r.ByMonthDay = rapid.SliceOfNDistinct(rapid.IntRange(-31, 31).Filter(func(d int) bool { return d != 0 }), 0, 5, rapid.ID[int]).Draw(t, "bymonthday")
	}
	return r
}

// bound adds Count, Until or ExDates that s, the same rule without them, allows.
func bound(t *rapid.T, r recur.Rule, s *recur.Series) recur.Rule {
	for _, i := range rapid.SliceOfN(rapid.IntRange(0, 11), 0, 3).Draw(t, "excluded") {
		if l, ok := s.Local(i); ok && (r.Freq != recur.Hourly || s.Absence(i) == recur.Present) {
			if back, gap := instant(s.Location(), wall(l), r); r.Freq == recur.Hourly {
				if w, _ := s.Occurrence(i); gap || !back.Equal(w.Start) {
					continue // an hour that comes twice, of which r names the other
				}
			}
			r.ExDates = append(r.ExDates, l)
		}
	}
	switch rapid.IntRange(0, 2).Draw(t, "bound") {
	case 1:
		r.Count = rapid.IntRange(1, 14).Draw(t, "count")
	case 2:
		if w, ok := s.Occurrence(rapid.IntRange(0, 14).Draw(t, "until")); ok {
			r.Until = w.Start
		}
	}
	return r
}

// I2, I3, I4, I5: occurrences, and the answers of Index around each, are those of the model.
func TestI3Model(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eve := rapid.SampledFrom(eves).Draw(t, "eve")
		loc, err := time.LoadLocation(eve.zone)
		require.NoError(t, err)
		day, err := time.Parse(time.DateOnly, eve.day)
		require.NoError(t, err)
		r := rules(t, day)
		s, err := recur.New(recur.Config{Rule: r, Location: loc})
		if err != nil {
			require.ErrorContains(t, err, "leave no day")
			require.Empty(t, model(r, loc, 1))
			return
		}
		r = bound(t, r, s)
		s, err = recur.New(recur.Config{Rule: r, Location: loc})
		if err != nil { // the excluded ones are past the bound
			require.ErrorIs(t, err, recur.ErrInvalid)
			require.ErrorContains(t, err, "ExDates")
			return
		}
		const n = 12
		want := model(r, loc, n)
		var present []int
		for i, w := range want {
			got, ok := s.Occurrence(i)
			require.Equal(t, w, got, "index %d of %+v: %s", i, r, s.Absence(i))
			require.Equal(t, !w.Start.IsZero(), ok)
			require.Equal(t, ok, s.Absence(i) == recur.Present)
			if !ok {
				continue
			}
			require.True(t, w.Start.Before(w.End))
			if len(present) > 0 {
				require.True(t, want[present[len(present)-1]].Start.Before(w.Start), "I2 at %d of %+v", i, r)
			}
			present = append(present, i)
		}
		for k, i := range present {
			lowest, start := i, want[i].Start
			if k > 0 {
				after, ok := s.Index(want[present[k-1]].Start.Add(1))
				require.True(t, ok)
				require.Equal(t, lowest, after, "I4 after %d of %+v", present[k-1], r)
			}
			for _, at := range []time.Time{start, start.Add(-1), start.Add(-time.Second)} {
				got, ok := s.Index(at)
				require.True(t, ok)
				require.Equal(t, lowest, got, "I4 at %s of %+v", at, r)
			}
		}
		var all []int
		for i, w := range s.All(0) {
			if i >= len(want) {
				break
			}
			require.Equal(t, want[i], w)
			all = append(all, i)
		}
		require.Equal(t, present, all)
	})
}

// I1 and I3 far out: the dates of the first thousands of indexes are those of a walk over the calendar.
func TestI3FarDates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := time.Date(rapid.IntRange(1, 2100).Draw(t, "year"), 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rapid.IntRange(0, 364).Draw(t, "day of year"))
		r := rules(t, start)
		if r.Freq == recur.Hourly {
			r.Freq = recur.Daily
		}
		s, err := recur.New(recur.Config{Rule: r, Location: time.UTC})
		i, d := 0, wall(r.Start)
		for range 20_000 {
			if onDay(r, d) {
				require.NoError(t, err)
				if i%97 == 0 || i < 5 {
					w, ok := s.Occurrence(i)
					require.True(t, ok)
					require.Equal(t, d, w.Start, "index %d of %+v", i, r)
					got, ok := s.Index(d)
					require.True(t, ok)
					require.Equal(t, i, got)
				}
				i++
			}
			d = d.AddDate(0, 0, 1)
		}
	})
}
