// SPDX-License-Identifier: Apache-2.0

package recur_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/reservation/recur"
)

// I5: single readings in zones with changes of every kind. The instants follow
// from the offsets of the IANA database, in the comment on each group.
func TestI5ClockChanges(t *testing.T) {
	const offsetBefore, gapEnd, skip = recur.UseOffsetBefore, recur.UseGapEnd, recur.SkipGap
	const first, second = recur.First, recur.Second
	for _, c := range []struct {
		zone, local string
		gap         recur.Gap
		ambiguous   recur.Ambiguous
		want        string // "" for none
	}{
		// −05:00 to −04:00 at 2026-03-08T07:00Z, back at 2026-11-01T06:00Z.
		{"America/New_York", "2026-03-08T01:59:59", offsetBefore, first, "2026-03-08T06:59:59Z"},
		{"America/New_York", "2026-03-08T02:00:00", offsetBefore, first, "2026-03-08T07:00:00Z"},
		{"America/New_York", "2026-03-08T02:30:00", offsetBefore, first, "2026-03-08T07:30:00Z"},
		{"America/New_York", "2026-03-08T02:30:00", gapEnd, first, "2026-03-08T07:00:00Z"},
		{"America/New_York", "2026-03-08T02:30:00", skip, first, ""},
		{"America/New_York", "2026-03-08T03:00:00", offsetBefore, first, "2026-03-08T07:00:00Z"},
		{"America/New_York", "2026-11-01T00:59:59", offsetBefore, second, "2026-11-01T04:59:59Z"},
		{"America/New_York", "2026-11-01T01:00:00", offsetBefore, first, "2026-11-01T05:00:00Z"},
		{"America/New_York", "2026-11-01T01:30:00", offsetBefore, first, "2026-11-01T05:30:00Z"},
		{"America/New_York", "2026-11-01T01:30:00", offsetBefore, second, "2026-11-01T06:30:00Z"},
		{"America/New_York", "2026-11-01T02:00:00", offsetBefore, first, "2026-11-01T07:00:00Z"},
		// +10:30 to +11:00 at 2026-10-03T15:30Z, back at 2026-04-04T15:00Z.
		{"Australia/Lord_Howe", "2026-10-04T02:15:00", offsetBefore, first, "2026-10-03T15:45:00Z"},
		{"Australia/Lord_Howe", "2026-10-04T02:30:00", offsetBefore, first, "2026-10-03T15:30:00Z"},
		{"Australia/Lord_Howe", "2026-04-05T01:45:00", offsetBefore, first, "2026-04-04T14:45:00Z"},
		{"Australia/Lord_Howe", "2026-04-05T01:45:00", offsetBefore, second, "2026-04-04T15:15:00Z"},
		// −10:00 to +14:00 at 2011-12-30T10:00Z: no 30th.
		{"Pacific/Apia", "2011-12-29T23:59:59", offsetBefore, first, "2011-12-30T09:59:59Z"},
		{"Pacific/Apia", "2011-12-30T00:00:00", offsetBefore, first, "2011-12-30T10:00:00Z"},
		{"Pacific/Apia", "2011-12-30T10:00:00", offsetBefore, first, "2011-12-30T20:00:00Z"},
		{"Pacific/Apia", "2011-12-30T10:00:00", gapEnd, first, "2011-12-30T10:00:00Z"},
		{"Pacific/Apia", "2011-12-30T10:00:00", skip, first, ""},
		{"Pacific/Apia", "2011-12-31T10:00:00", offsetBefore, first, "2011-12-30T20:00:00Z"},
		// −03:00 to −02:00 at 2018-11-04T03:00Z: no midnight; back at 2018-02-18T02:00Z.
		{"America/Sao_Paulo", "2018-11-04T00:00:00", offsetBefore, first, "2018-11-04T03:00:00Z"},
		{"America/Sao_Paulo", "2018-11-04T00:30:00", offsetBefore, first, "2018-11-04T03:30:00Z"},
		{"America/Sao_Paulo", "2018-11-03T23:59:59", offsetBefore, first, "2018-11-04T02:59:59Z"},
		{"America/Sao_Paulo", "2018-02-17T23:30:00", offsetBefore, first, "2018-02-18T01:30:00Z"},
		{"America/Sao_Paulo", "2018-02-17T23:30:00", offsetBefore, second, "2018-02-18T02:30:00Z"},
		// −12:00 to +12:00 at 1993-08-21T12:00Z: no 21st.
		{"Pacific/Kwajalein", "1993-08-21T08:00:00", offsetBefore, first, "1993-08-21T20:00:00Z"},
		// −15:56:08 to +08:03:52 at 1844-12-31T15:56:08Z: no 31st, the largest offset there ever was.
		{"Asia/Manila", "1844-12-31T10:00:00", offsetBefore, first, "1845-01-01T01:56:08Z"},
		{"Asia/Manila", "1844-12-30T23:59:59", offsetBefore, first, "1844-12-31T15:56:07Z"},
		// +05:30 to +05:45 at 1985-12-31T18:30Z.
		{"Asia/Kathmandu", "1986-01-01T00:10:00", offsetBefore, first, "1985-12-31T18:40:00Z"},
		// +00:00 to +02:00 at 2026-03-29T01:00Z.
		{"Antarctica/Troll", "2026-03-29T02:30:00", offsetBefore, first, "2026-03-29T02:30:00Z"},
		// +15:02:19 to −08:57:41, a day twice, at 1867-10-19T00:31:13Z by the wall 15:33:32.
		{"America/Juneau", "1867-10-18T16:00:00", offsetBefore, first, "1867-10-18T00:57:41Z"},
		{"America/Juneau", "1867-10-18T16:00:00", offsetBefore, second, "1867-10-19T00:57:41Z"},
		// Far beyond the listed changes the rule of the zone goes on.
		{"America/New_York", "9998-07-01T12:00:00", offsetBefore, first, "9998-07-01T16:00:00Z"},
		{"America/New_York", "0001-06-01T12:00:00", offsetBefore, first, "0001-06-01T16:56:02Z"},
	} {
		r := recur.Rule{Freq: recur.Daily, Count: 1, Start: local(t, c.local), Ends: recur.Elapsed(time.Hour), Gap: c.gap, Ambiguous: c.ambiguous}
		if c.zone == "Pacific/Apia" || c.zone == "Pacific/Kwajalein" || c.zone == "Asia/Manila" {
			r.Freq = recur.Weekly // the next day of a daily rule would stand at the same instant
		}
		w, ok := series(t, r, zone(t, c.zone)).Occurrence(0)
		require.Equal(t, c.want != "", ok, "%s %s", c.zone, c.local)
		if ok {
			require.Equal(t, c.want, w.Start.Format(time.RFC3339), "%s %s %s %s", c.zone, c.local, c.gap, c.ambiguous)
			require.Equal(t, time.UTC, w.Start.Location())
		}
	}
}

// I5 for ends: nights of seven and nine hours, and ends that are themselves moved.
func TestI5LocalEnds(t *testing.T) {
	for _, c := range []struct {
		zone, start, end string
		days             int
		freq             recur.Freq
		want             string
	}{
		{"Europe/Berlin", "2026-03-28T22:00:00", "06:00:00", 0, recur.Daily, "[2026-03-28T21:00:00Z, 2026-03-29T04:00:00Z)"},
		{"Europe/Berlin", "2026-10-24T22:00:00", "06:00:00", 0, recur.Daily, "[2026-10-24T20:00:00Z, 2026-10-25T05:00:00Z)"},
		{"Europe/Berlin", "2026-03-27T18:00:00", "08:00:00", 3, recur.Weekly, "[2026-03-27T17:00:00Z, 2026-03-30T06:00:00Z)"},
		{"Europe/Berlin", "2026-03-28T22:00:00", "02:30:00", 0, recur.Daily, "[2026-03-28T21:00:00Z, 2026-03-29T01:30:00Z)"},
		{"Europe/Berlin", "2026-10-24T22:00:00", "02:30:00", 0, recur.Daily, "[2026-10-24T20:00:00Z, 2026-10-25T00:30:00Z)"},
		{"Europe/Berlin", "2026-03-29T02:15:00", "02:45:00", 0, recur.Daily, "[2026-03-29T01:15:00Z, 2026-03-29T01:45:00Z)"},
		{"Europe/Berlin", "2026-06-01T00:00:00", "00:00:00", 0, recur.Daily, "[2026-05-31T22:00:00Z, 2026-06-01T22:00:00Z)"},
		{"Europe/Berlin", "2026-06-01T09:00:00", "09:00:00", 1, recur.Daily, "[2026-06-01T07:00:00Z, 2026-06-02T07:00:00Z)"},
	} {
		at := local(t, "2000-01-01T"+c.end)
		r := recur.Rule{Freq: c.freq, Start: local(t, c.start), Ends: recur.LocalEnd(recur.Clock{Hour: at.Hour, Minute: at.Minute})}
		r.Ends.Days = c.days
		w, ok := series(t, r, zone(t, c.zone)).Occurrence(0)
		require.True(t, ok)
		require.Equal(t, c.want, w.String())
	}
}

// A start that is moved past its end leaves nothing to book (I2).
func TestI2Empty(t *testing.T) {
	r := rule(t, "FREQ=DAILY;COUNT=3", "2026-03-07T02:30:00")
	r.Ends = recur.LocalEnd(recur.Clock{Hour: 3})
	s := series(t, r, zone(t, "America/New_York"))
	require.Equal(t, []string{"2026-03-07T07:30Z", "2026-03-09T06:30Z"}, starts(s, 9, minutes))
	require.Equal(t, recur.Empty, s.Absence(1))
}

// Days that share an instant have one occurrence (I2), also when the last of them is
// beyond the end, and the numbers stay (I1).
func TestI2Overtaken(t *testing.T) {
	apia := zone(t, "Pacific/Apia")
	for _, gap := range []recur.Gap{recur.UseOffsetBefore, recur.SkipGap} {
		r := rule(t, "FREQ=DAILY;COUNT=4", "2011-12-28T10:00:00")
		r.Gap = gap
		s := series(t, r, apia)
		require.Equal(t, []string{"2011-12-28T20:00Z", "2011-12-29T20:00Z", "2011-12-30T20:00Z"}, starts(s, 9, minutes))
		last, _ := s.Local(3)
		require.Equal(t, "2011-12-31T10:00:00", last.String())
	}
	r := rule(t, "FREQ=DAILY;COUNT=4", "2011-12-28T10:00:00")
	r.Gap = recur.UseGapEnd // midnight of the 31st is before 10:00 of the 31st
	require.Equal(t, []string{"2011-12-28T20:00Z", "2011-12-29T20:00Z", "2011-12-30T10:00Z", "2011-12-30T20:00Z"},
		starts(series(t, r, apia), 9, minutes))
	// In weekly terms there is no next day in the way: Friday the 30th is the instant at which the clocks show Saturday.
	require.Equal(t, []string{"2011-12-23T20:00Z", "2011-12-30T20:00Z", "2012-01-05T20:00Z"},
		starts(series(t, rule(t, "FREQ=WEEKLY;COUNT=3", "2011-12-23T10:00:00"), apia), 9, minutes))
}

// Hourly rules count elapsed hours through both changes.
func TestHourly(t *testing.T) {
	newYork := zone(t, "America/New_York")
	s := series(t, rule(t, "FREQ=HOURLY;COUNT=4", "2026-03-08T00:30:00"), newYork)
	require.Equal(t, []string{"2026-03-08T05:30Z", "2026-03-08T06:30Z", "2026-03-08T07:30Z", "2026-03-08T08:30Z"}, starts(s, 9, minutes))
	s = series(t, rule(t, "FREQ=HOURLY;COUNT=4", "2026-11-01T00:30:00"), newYork)
	require.Equal(t, []string{"2026-11-01T04:30Z", "2026-11-01T05:30Z", "2026-11-01T06:30Z", "2026-11-01T07:30Z"}, starts(s, 9, minutes))
	shown, _ := s.Local(2)
	require.Equal(t, "2026-11-01T01:30:00", shown.String())

	r := rule(t, "FREQ=HOURLY;INTERVAL=6;COUNT=9", "2026-03-08T02:30:00")
	r.Gap = recur.SkipGap
	s = series(t, r, newYork)
	require.Equal(t, recur.InGap, s.Absence(0))
	i, ok := s.Index(time.Date(2026, time.March, 8, 0, 0, 0, 0, time.UTC))
	require.True(t, ok)
	require.Equal(t, 1, i)

	// 01:45 comes twice; from the second 01:30 the next 01:45 is the second.
	r = rule(t, "FREQ=HOURLY;COUNT=3", "2026-11-01T00:30:00")
	r.Ends = recur.LocalEnd(recur.Clock{Hour: 1, Minute: 45})
	w, ok := series(t, r, newYork).Occurrence(2)
	require.True(t, ok)
	require.Equal(t, "[2026-11-01T06:30:00Z, 2026-11-01T06:45:00Z)", w.String())
}

// A zone that would give other answers elsewhere, or none, is refused.
func TestZones(t *testing.T) {
	r := rule(t, "FREQ=DAILY", "2026-01-01T09:00:00")
	machine := time.Local
	defer func() { time.Local = machine }()
	time.Local = zone(t, "Asia/Dubai")
	for name, loc := range map[string]*time.Location{
		"nil": nil, "time.Local": time.Local, "more than 24 h": time.FixedZone("far", 2*86400),
	} {
		_, err := recur.New(recur.Config{Rule: r, Location: loc})
		require.ErrorIs(t, err, recur.ErrZone)
		require.ErrorContains(t, err, name)
	}
	time.Local = time.UTC // a common habit of servers, and the same everywhere
	require.Equal(t, time.UTC, series(t, r, time.UTC).Location())
	for _, offset := range []int{-86400, 86400} {
		w, ok := series(t, r, time.FixedZone("edge", offset)).Occurrence(0)
		require.True(t, ok)
		require.Equal(t, time.Date(2026, time.January, 1, 9, 0, -offset, 0, time.UTC), w.Start)
	}
}
