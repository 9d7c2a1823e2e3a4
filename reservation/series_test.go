// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/reservation/recur"
	"github.com/stretchr/testify/require"
)

var seriesStart = time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)

// weekly is a series of one hour with two nodes of pool p.
func weekly(t require.TestingT, id, rrule, start, zone string) reservation.Series {
	return reservation.Series{ID: id, Owner: "o", Lines: []reservation.Line{{Pool: "p", Count: 2}}, Rule: ruleOf(t, rrule, start, time.Hour), Zone: zone}
}

func seriesCalendar(t require.TestingT, nodes int) *reservation.Calendar {
	return newCalendar(t, seriesStart, poolOf("p", nodes, 0, reservation.Policy{}))
}

// held lists the live bookings of a series as "index start".
func held(c *reservation.Calendar, series string) (out []string) {
	for b := range c.Occurrences(series) {
		if b.Phase.Live() {
			out = append(out, fmt.Sprint(b.Index, " ", b.Window.Start.Format("01-02T15:04Z")))
		}
	}
	return out
}

func block(t require.TestingT, c *reservation.Calendar, id string, start time.Time, length time.Duration, count int64) {
	_, err := c.Book(c.Present(), reservation.Request{ID: id, Owner: "other", Window: reservation.Window{Start: start, End: start.Add(length)}, Lines: []reservation.Line{{Pool: "p", Count: count}}})
	require.NoError(t, err)
}

// One occurrence is edited; the rule keeps its anchor and the others their time.
func TestScenario19EditOneOccurrence(t *testing.T) {
	c := seriesCalendar(t, 2)
	q := weekly(t, "mon", "FREQ=WEEKLY;BYDAY=MO;COUNT=6", "2025-05-05T09:00:00", "UTC")
	q.BookAhead = 80 * 24 * time.Hour
	report, err := c.BookSeries(seriesStart, q, time.UTC)
	require.NoError(t, err)
	require.Len(t, report.Firm, 3)
	require.Equal(t, int64(3), report.Next)
	require.Equal(t, time.Date(2025, 5, 26, 9, 0, 0, 0, time.UTC), report.Head.Start)

	// 2 goes from 09–10 to 10–11, as long as there is no Move: cancelled, and booked anew.
	_, err = c.Cancel(seriesStart, "mon/2", 0)
	require.NoError(t, err)
	nineteen := time.Date(2025, 5, 19, 9, 0, 0, 0, time.UTC)
	block(t, c, "moved", nineteen.Add(time.Hour), time.Hour, 2)
	block(t, c, "free", nineteen, time.Hour, 2)
	b, err := c.Extend(seriesStart, "mon/1", time.Date(2025, 5, 12, 11, 0, 0, 0, time.UTC), 0)
	require.NoError(t, err)
	require.True(t, b.Detached)

	_, err = c.ContinueSeries(seriesStart.AddDate(0, 0, 10), "mon", time.UTC)
	require.NoError(t, err)
	require.Equal(t, []string{"0 05-05T09:00Z", "1 05-12T09:00Z", "3 05-26T09:00Z"}, held(c, "mon"), "3 is where it was, 2 does not come back")
	b, _ = c.Find("mon/3")
	require.False(t, b.Detached)
	require.NoError(t, c.Check())

	// The series goes; what was detached stays.
	gone, err := c.CancelSeries(seriesStart.AddDate(0, 0, 10), "mon")
	require.NoError(t, err)
	require.Len(t, gone, 2)
	require.Equal(t, []string{"1 05-12T09:00Z"}, held(c, "mon"))
}

// 15:00 in Chicago before and after the clocks change.
func TestScenario27Chicago(t *testing.T) {
	c := seriesCalendar(t, 2)
	q := weekly(t, "sun", "FREQ=WEEKLY;BYDAY=SU;COUNT=3", "2025-03-02T15:00:00", "America/Chicago")
	q.Rule.Ends = recur.Elapsed(90 * time.Minute)
	report, err := c.BookSeries(seriesStart, q, zone(t, "America/Chicago"))
	require.NoError(t, err)
	require.Equal(t, []string{"0 03-02T21:00Z", "1 03-09T20:00Z", "2 03-16T20:00Z"}, held(c, "sun"))
	require.Equal(t, 90*time.Minute, report.Firm[1].Window.Length())
	require.Zero(t, report.Head)
}

// 10:00 in New York, wherever the machine is: the host's zone plays no part.
func TestScenario28NewYork(t *testing.T) {
	c := seriesCalendar(t, 2)
	at := seriesStart.In(zone(t, "Asia/Dubai"))
	_, err := c.BookSeries(at, weekly(t, "mon", "FREQ=WEEKLY;BYDAY=MO;COUNT=3", "2025-03-03T10:00:00", "America/New_York"), zone(t, "America/New_York"))
	require.NoError(t, err)
	require.Equal(t, []string{"0 03-03T15:00Z", "1 03-10T14:00Z", "2 03-17T14:00Z"}, held(c, "mon"))
}

// Times that the night lacks, and times that come twice.
func TestScenario29ClockChange(t *testing.T) {
	c := newCalendar(t, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), poolOf("p", 4, 0, reservation.Policy{}))
	at := c.Present()
	ny := zone(t, "America/New_York")
	_, err := c.BookSeries(at, weekly(t, "gap", "FREQ=DAILY;COUNT=2", "2026-03-08T02:30:00", "America/New_York"), ny)
	require.NoError(t, err)
	require.Equal(t, []string{"0 03-08T07:30Z", "1 03-09T06:30Z"}, held(c, "gap"))
	q := weekly(t, "twice", "FREQ=DAILY;COUNT=1", "2026-11-01T01:30:00", "America/New_York")
	q.BookAhead = 365 * 24 * time.Hour
	_, err = c.BookSeries(at, q, ny)
	require.NoError(t, err)
	require.Equal(t, []string{"0 11-01T05:30Z"}, held(c, "twice"))
}

// A node flaps under 5,000 occurrences: exactly those of its time are hit.
// BenchmarkScenario35 says in how many milliseconds.
func TestScenario35NodeFlap(t *testing.T) {
	c := newCalendar(t, modelStart, poolOf("p", 1, 0, reservation.Policy{}))
	report, err := c.BookSeries(modelStart, longSeries(t, reservation.Line{Count: 1}), zone(t, "America/New_York"))
	require.NoError(t, err)
	require.Len(t, report.Firm, 5000)
	hit := report.Firm[2500].Window
	before, err := c.MarshalBinary()
	require.NoError(t, err)
	impact, err := c.SetOutage(modelStart, reservation.Outage{ID: "flap", Owner: "ops", Nodes: []string{"p-1"}, Window: hit})
	require.NoError(t, err)
	require.Len(t, impact.Degraded, 1)
	require.Equal(t, "long/2500", impact.Degraded[0].ID)
	require.NoError(t, c.EndOutage(modelStart, "flap"))
	after, err := c.MarshalBinary()
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.NoError(t, c.Check())
}

// S23: all conflicts are listed, also one after a change of the clocks, and their
// offers fit beside the occurrences that are firm.
func TestSeriesConflicts(t *testing.T) {
	ny := zone(t, "America/New_York")
	made := func() *reservation.Calendar {
		c := seriesCalendar(t, 2)
		block(t, c, "x", time.Date(2025, 3, 3, 15, 30, 0, 0, time.UTC), time.Hour, 1)   // index 0, 10:00 EST
		block(t, c, "y", time.Date(2025, 3, 17, 13, 0, 0, 0, time.UTC), 2*time.Hour, 2) // index 2, 10:00 EDT
		return c
	}
	q := weekly(t, "s", "FREQ=WEEKLY;BYDAY=MO;COUNT=4", "2025-03-03T10:00:00", "America/New_York")

	c := made()
	before, _ := c.MarshalBinary()
	_, err := c.BookSeries(seriesStart, q, ny)
	var refusal *reservation.SeriesError
	require.ErrorAs(t, err, &refusal)
	require.ErrorIs(t, err, reservation.ErrConflict)
	require.EqualError(t, err, `reservation: conflict: series "s": 2 of 4 occurrences do not fit: 0 at 2025-03-03T15:00:00Z, 2 at 2025-03-17T14:00:00Z; leave them out with SkipConflicts, move them with ShiftWithin, or take their offers`)
	after, _ := c.MarshalBinary()
	require.Equal(t, before, after, "I6")
	for _, x := range refusal.Report.Conflicts {
		require.NotEmpty(t, x.Refusal.Offers)
	}
	require.Equal(t, "x", refusal.Report.Conflicts[0].Refusal.Blocking[0].ID)
	require.Empty(t, refusal.For("o").Report.Conflicts[0].Refusal.Blocking[0].ID)
	require.Equal(t, "x", refusal.Report.Conflicts[0].Refusal.Blocking[0].ID, "the view is a copy")

	q.OnConflict = reservation.SkipConflicts
	report, err := c.BookSeries(seriesStart, q, ny)
	require.NoError(t, err)
	require.Equal(t, []string{"1 03-10T14:00Z", "3 03-24T14:00Z"}, held(c, "s"))
	for _, x := range report.Conflicts {
		for _, o := range x.Refusal.Offers {
			_, err := c.Fork().Book(seriesStart, reservation.Request{ID: "offer", Owner: "o", Window: o.Window, Lines: o.Lines})
			require.NoError(t, err, "I4: %d %s", x.Index, o.Kind)
		}
	}
	require.NoError(t, c.Check())

	c = made()
	q.OnConflict, q.Shift = reservation.ShiftWithin, time.Hour
	report, err = c.BookSeries(seriesStart, q, ny)
	require.NoError(t, err)
	require.Equal(t, []string{"0 03-03T14:30Z", "1 03-10T14:00Z", "2 03-17T15:00Z", "3 03-24T14:00Z"}, held(c, "s"), "the nearest free start, either way")
	require.Equal(t, []time.Duration{-30 * time.Minute, 0, time.Hour, 0}, []time.Duration{report.Firm[0].Shift, report.Firm[1].Shift, report.Firm[2].Shift, report.Firm[3].Shift})
	drifts, err := c.Drift(seriesStart, "s", ny)
	require.NoError(t, err)
	require.Empty(t, drifts, "what was moved on purpose has not drifted")

	c = made()
	q.Shift = 29 * time.Minute
	report, err = c.BookSeries(seriesStart, q, ny)
	require.NoError(t, err)
	require.Len(t, report.Conflicts, 2)
}

// A series where nothing fits and nothing will follow is refused, whatever its policy.
func TestSeriesOfNothing(t *testing.T) {
	c := seriesCalendar(t, 1)
	q := weekly(t, "s", "FREQ=DAILY;COUNT=3", "2025-03-03T10:00:00", "UTC")
	q.OnConflict = reservation.SkipConflicts
	_, err := c.BookSeries(seriesStart, q, time.UTC)
	var refusal *reservation.SeriesError
	require.ErrorAs(t, err, &refusal)
	require.Len(t, refusal.Report.Conflicts, 3)
	q.Rule.Count = 0
	report, err := c.BookSeries(seriesStart, q, time.UTC)
	require.NoError(t, err, "its tail may fit")
	require.Len(t, report.Conflicts, 88)
	require.NoError(t, c.Check())
}

func TestSeriesRequestKey(t *testing.T) {
	c := seriesCalendar(t, 2)
	q := weekly(t, "s", "FREQ=DAILY;COUNT=3", "2025-03-03T10:00:00", "UTC")
	first, err := c.BookSeries(seriesStart, q, time.UTC)
	require.NoError(t, err)
	n := len(c.Events())
	again, err := c.BookSeries(seriesStart.Add(time.Hour), q, time.UTC)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Len(t, c.Events(), n)
	other := q
	other.Note = "x"
	_, err = c.BookSeries(seriesStart, other, time.UTC)
	require.ErrorIs(t, err, reservation.ErrExists)
	gone, err := c.CancelSeries(seriesStart, "s")
	require.NoError(t, err)
	require.Len(t, gone, 3)
	for b := range c.Occurrences("s") {
		require.False(t, b.Detached)
	}
	gone, err = c.CancelSeries(seriesStart, "s")
	require.NoError(t, err)
	require.Empty(t, gone)
	_, err = c.BookSeries(seriesStart, q, time.UTC)
	require.ErrorIs(t, err, reservation.ErrState)
	_, err = c.ContinueSeries(seriesStart, "s", time.UTC)
	require.ErrorIs(t, err, reservation.ErrState)

	// It is known as long as its bookings are, and then its id is free.
	_, ok := c.FindSeries("s")
	require.True(t, ok)
	later := seriesStart.AddDate(0, 0, 1)
	c.Advance(later)
	forgotten, err := c.Forget(later, later)
	require.NoError(t, err)
	require.Equal(t, 3, forgotten)
	_, ok = c.FindSeries("s")
	require.False(t, ok)
	require.NoError(t, c.Check())
	_, err = c.BookSeries(later, q, time.UTC)
	require.NoError(t, err)
}

// The ids of occurrences belong to their series alone.
func TestOccurrenceIDs(t *testing.T) {
	c := seriesCalendar(t, 4)
	q := weekly(t, "s", "FREQ=DAILY", "2025-03-03T10:00:00", "UTC")
	block(t, c, "s/7", seriesStart, time.Hour, 1)
	_, err := c.BookSeries(seriesStart, q, time.UTC)
	require.ErrorIs(t, err, reservation.ErrExists)
	q.ID = "s/7"
	_, err = c.BookSeries(seriesStart, q, time.UTC)
	require.NoError(t, err)
	block(t, c, "s/7/x", seriesStart, time.Hour, 1)
	block(t, c, "s/7/007", seriesStart, time.Hour, 1)
	_, err = c.Book(seriesStart, reservation.Request{ID: reservation.OccurrenceID("s/7", 1000), Owner: "o", Window: reviewed(0, 1), Lines: q.Lines})
	require.ErrorIs(t, err, reservation.ErrExists)
	_, err = c.Wait(seriesStart, reservation.Waiting{ID: "s/7/1000", Owner: "o", Lines: q.Lines, Length: time.Hour})
	require.ErrorIs(t, err, reservation.ErrExists)
	_, err = c.Wait(seriesStart, reservation.Waiting{ID: "t/1", Owner: "o", Lines: q.Lines, Length: time.Hour})
	require.NoError(t, err)
	q.ID = "t"
	_, err = c.BookSeries(seriesStart, q, time.UTC)
	require.ErrorIs(t, err, reservation.ErrExists)
}

// The tail is booked as it comes into BookAhead, or into the Horizon of the pool.
func TestSeriesTail(t *testing.T) {
	c := newCalendar(t, seriesStart, poolOf("p", 2, 0, reservation.Policy{Horizon: 49 * time.Hour, Prep: time.Hour}))
	q := weekly(t, "s", "FREQ=DAILY", "2025-02-01T10:00:00", "UTC")
	zones := map[string]*time.Location{"UTC": time.UTC}
	report, err := c.BookSeries(seriesStart.Add(9*time.Hour+time.Second), q, time.UTC)
	require.NoError(t, err)
	require.Equal(t, []string{"29 03-02T10:00Z"}, held(c, "s"), "28 is too near to be prepared, and the indexes count from the anchor")
	require.Equal(t, int64(30), report.Next)
	next, ok := c.NextDue(c.Present())
	require.True(t, ok)
	require.Equal(t, seriesStart.Add(10*time.Hour), next, "49 hours before the end of index 30")
	proposals, err := c.Due(next.Add(-time.Second), reservation.DueQuery{Zones: zones})
	require.NoError(t, err)
	require.Empty(t, proposals)
	_, err = c.Due(next, reservation.DueQuery{})
	require.ErrorIs(t, err, reservation.ErrUnknown, "the zone is missing")
	proposals, err = c.Due(next, reservation.DueQuery{Zones: zones})
	require.NoError(t, err)
	require.Len(t, proposals, 1)
	require.Equal(t, "s/30", proposals[0].Requests[0].ID)

	// The host sleeps for two days: what it missed is said, and the rest goes on.
	late := next.Add(72 * time.Hour)
	report, err = c.ContinueSeries(late, "s", time.UTC)
	require.NoError(t, err)
	require.Equal(t, []int64{30, 31}, report.Missed)
	require.Equal(t, []string{"32 03-05T10:00Z", "33 03-06T10:00Z"}, held(c, "s"))
	again, err := c.ContinueSeries(late, "s", time.UTC)
	require.NoError(t, err)
	require.Empty(t, again.Firm)
	require.NoError(t, c.Check())
}

// S25: new zone data move nothing; the drift is said.
func TestSeriesDrift(t *testing.T) {
	c := seriesCalendar(t, 2)
	was := time.FixedZone("Atlantis/Capital", 3600)
	_, err := c.BookSeries(seriesStart, weekly(t, "s", "FREQ=DAILY;COUNT=4", "2025-03-01T10:00:00", "Atlantis/Capital"), was)
	require.NoError(t, err)
	_, err = c.Extend(seriesStart, "s/2", time.Date(2025, 3, 3, 12, 0, 0, 0, time.UTC), 0)
	require.NoError(t, err)
	before, _ := c.MarshalBinary()
	now := time.FixedZone("Atlantis/Capital", 7200)
	drifts, err := c.Drift(time.Date(2025, 3, 1, 9, 30, 0, 0, time.UTC), "s", now)
	require.NoError(t, err)
	require.Len(t, drifts, 2, "0 has begun, 2 is detached")
	require.Equal(t, 1, drifts[0].Index)
	require.Equal(t, time.Date(2025, 3, 2, 9, 0, 0, 0, time.UTC), drifts[0].Booked.Start)
	require.Equal(t, time.Date(2025, 3, 2, 8, 0, 0, 0, time.UTC), drifts[0].Now.Start)
	after, _ := c.MarshalBinary()
	require.Equal(t, before, after)
	_, err = c.Drift(seriesStart, "s", time.UTC)
	require.ErrorIs(t, err, reservation.ErrInvalid, "another zone")
}

// All mistakes at once.
func TestSeriesMistakes(t *testing.T) {
	c := seriesCalendar(t, 2)
	good := weekly(t, "s", "FREQ=DAILY", "2025-03-03T10:00:00", "UTC")
	_, err := c.BookSeries(seriesStart, reservation.Series{OnConflict: 9, Shift: -1}, time.UTC)
	for _, field := range []string{"Series.ID", "Request.Owner", "Request.Lines", "Series.Zone", "Series.Rule", "OnConflict is 9", "Series.Shift"} {
		require.ErrorContains(t, err, field)
	}
	for what, change := range map[string]func(q *reservation.Series){
		"shift alone":  func(q *reservation.Series) { q.Shift = time.Hour },
		"no shift":     func(q *reservation.Series) { q.OnConflict = reservation.ShiftWithin },
		"book ahead":   func(q *reservation.Series) { q.BookAhead = time.Millisecond },
		"zone":         func(q *reservation.Series) { q.Zone = "Europe/Berlin" },
		"excluded day": func(q *reservation.Series) { q.Rule.ExDates = []recur.Local{{Year: 2025, Month: 3, Day: 4}} },
	} {
		q := good
		change(&q)
		_, err := c.BookSeries(seriesStart, q, time.UTC)
		require.ErrorIs(t, err, reservation.ErrInvalid, what)
	}
	q := good
	q.Lines = []reservation.Line{{Pool: "none", Count: 1}}
	_, err = c.BookSeries(seriesStart, q, time.UTC)
	require.ErrorIs(t, err, reservation.ErrUnknown)
	q = good
	q.Rule.Count = 1
	_, err = c.BookSeries(seriesStart.AddDate(1, 0, 0), q, time.UTC)
	require.ErrorIs(t, err, reservation.ErrHorizon)
	_, err = c.ContinueSeries(seriesStart, "none", time.UTC)
	require.ErrorIs(t, err, reservation.ErrUnknown)
	_, err = c.CancelSeries(seriesStart, "none")
	require.ErrorIs(t, err, reservation.ErrUnknown)
	require.Empty(t, slices.Collect(c.AllSeries()))
}
