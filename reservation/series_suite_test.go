// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/reservation/recur"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// zone loads a zone from the embedded data.
func zone(t require.TestingT, name string) *time.Location {
	loc, err := time.LoadLocation(name)
	require.NoError(t, err)
	return loc
}

// dueQuery has the zones of the random series.
func dueQuery() reservation.DueQuery {
	return reservation.DueQuery{Zones: map[string]*time.Location{"UTC": time.UTC}}
}

// ruleOf reads an RRULE and gives it a start by the clock and a length.
func ruleOf(t require.TestingT, rrule, start string, length time.Duration) recur.Rule {
	r, err := recur.Parse(rrule)
	require.NoError(t, err)
	r.Start, err = recur.ParseLocal(start)
	require.NoError(t, err)
	r.Ends = recur.Elapsed(length)
	return r
}

// randomIntent runs one command of series and of the waiting list. It draws the
// same numbers whatever the calendar answers.
func randomIntent(r *rand.Rand, c *reservation.Calendar, at time.Time) (string, error) {
	k, n, pool, slot := r.IntN(14), r.IntN(8), []string{"a", "b"}[r.IntN(2)], r.IntN(36)
	from := at.Truncate(10 * time.Minute).Add(time.Duration(slot) * 10 * time.Minute).UTC()
	length := time.Duration(1+r.IntN(12)) * 10 * time.Minute
	lines := []reservation.Line{{Pool: pool, Count: int64(1 + n%4)}}
	if r.IntN(4) == 0 {
		lines = []reservation.Line{{Pool: pool, Nodes: []string{fmt.Sprintf("%s-%d", pool, 1+n%4)}}}
	}
	rule := recur.Rule{Freq: recur.Hourly, Interval: 3 + n, Count: slot % 9, Ends: recur.Elapsed(length)}
	rule.Start = recur.Local{Year: from.Year(), Month: from.Month(), Day: from.Day(), Hour: from.Hour(), Minute: from.Minute()}
	show := func(v any, err error) (string, error) { return fmt.Sprintf("%+v", v), err }
	series, id := fmt.Sprint("s", n%3), fmt.Sprint("w", n)
	switch k {
	case 0, 1, 2:
		q := reservation.Series{ID: series, Owner: "team" + series, Lines: lines, Rule: rule, Zone: "UTC",
			OnConflict: reservation.OnConflict(slot % 3), BookAhead: 12 * time.Hour}
		if q.OnConflict == reservation.ShiftWithin {
			q.Shift = 2 * time.Hour
		}
		return show(c.BookSeries(at, q, time.UTC))
	case 3, 4:
		return show(c.ContinueSeries(at, series, time.UTC))
	case 5:
		return show(c.CancelSeries(at, series))
	case 6, 7, 8, 9:
		q := reservation.Waiting{ID: id, Owner: "team" + id, Lines: lines, Length: length, Latest: from.Add(time.Hour), Priority: int64(slot % 2)}
		if n == 0 {
			q.Earliest, q.Latest, q.Deadline, q.Align, q.TTL = from, time.Time{}, from.Add(3*length), 10*time.Minute, 5*time.Minute
		}
		return show(c.Wait(at, q))
	case 10:
		return "withdrawn", c.Withdraw(at, id)
	default:
		proposals, err := c.Due(at, dueQuery())
		if err != nil || len(proposals) == 0 {
			return "nothing is due", err
		}
		for i, p := range proposals[:1+slot%len(proposals)] {
			if err := do(c, at, p); err != nil {
				return "", fmt.Errorf("proposal %d of %d: %w", i, len(proposals), err)
			}
		}
		return show(proposals, nil)
	}
}

// do does what a proposal says.
func do(c *reservation.Calendar, at time.Time, p reservation.Proposal) error {
	var err error
	switch {
	case p.Kind == reservation.Continue:
		_, err = c.ContinueSeries(at, p.ID, time.UTC)
	case p.TTL > 0:
		_, err = c.Hold(at, p.Requests[0], p.TTL)
	default:
		_, err = c.Book(at, p.Requests[0])
	}
	return err
}

// askIntents asks c everything about series and the waiting list.
func askIntents(b *strings.Builder, c *reservation.Calendar) {
	proposals, err := c.Due(c.Present(), dueQuery())
	fmt.Fprintf(b, "%+v %v\n", proposals, err)
	next, ok := c.NextDue(c.Present())
	fmt.Fprintln(b, next, ok, slices.Collect(c.Waitlist()), slices.Collect(c.AllSeries()))
	for w := range c.Waitlist() {
		e, err := c.Expected(c.Present(), w.ID)
		fmt.Fprintln(b, w.ID, e, err)
	}
	for s := range c.AllSeries() {
		drifts, err := c.Drift(c.Present(), s.ID, time.UTC)
		fmt.Fprintln(b, slices.Collect(c.Occurrences(s.ID)), drifts, err)
	}
}

// TestDueTogether: all proposals can be done in their order, and then there is
// nothing more of the first sort to do.
func TestDueTogether(t *testing.T) {
	served := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 5))
		c, now := newCalendar(t, modelStart, suitePools...), modelStart
		for range 60 {
			now = now.Add(time.Duration(r.IntN(1800)) * time.Second)
			if r.IntN(2) == 0 {
				_, _ = randomCommand(r, c, now)
			} else {
				_, _ = randomIntent(r, c, now)
			}
			before, err := c.MarshalBinary()
			require.NoError(t, err)
			proposals, err := c.Due(now, dueQuery())
			if err != nil { // a node of a series is gone
				require.ErrorIs(t, err, reservation.ErrUnknown)
			}
			after, err := c.MarshalBinary()
			require.NoError(t, err)
			require.Equal(t, before, after, "Due changes nothing")
			f := c.Fork()
			for _, p := range proposals {
				require.NoError(t, do(f, now, p), "seed %d: %+v", seed, p)
				for _, q := range p.Requests {
					b, ok := f.Find(q.ID)
					require.True(t, ok)
					require.Equal(t, q.Window, b.Window)
				}
				served++
			}
			require.NoError(t, f.Check())
			again, _ := f.Due(now, dueQuery())
			for _, p := range again {
				require.Equal(t, reservation.Serve, p.Kind, "a series is continued once")
			}
		}
	}
	require.Greater(t, served, 300)
}

// TestSeriesIsItsBookings: a series is what booking its occurrences one by one
// gives, and AllOrNothing accepts it exactly if none of them is refused.
func TestSeriesIsItsBookings(t *testing.T) {
	ny := zone(t, "America/New_York")
	rapid.Check(t, func(t *rapid.T) {
		c := newCalendar(t, seriesStart, poolOf("p", 3, 0, reservation.Policy{Cleanup: 10 * time.Minute}))
		for i := range rapid.IntRange(0, 10).Draw(t, "others") {
			q := drawRequest(t, fmt.Sprint("other", i))
			from := seriesStart.Add(time.Duration(rapid.IntRange(0, 14*24).Draw(t, "hour")) * time.Hour)
			q.Window = reservation.Window{Start: from, End: from.Add(time.Duration(rapid.IntRange(1, 30).Draw(t, "hours")) * time.Hour)}
			if rapid.Bool().Draw(t, "pinned") {
				q.Lines = []reservation.Line{{Pool: "p", Nodes: []string{"p-1"}}}
			}
			_, _ = c.Book(seriesStart, q)
		}
		rrule := rapid.SampledFrom([]string{"FREQ=HOURLY;INTERVAL=7;COUNT=30", "FREQ=DAILY;COUNT=10", "FREQ=WEEKLY;BYDAY=MO,WE,SU"}).Draw(t, "rule")
		q := weekly(t, "s", rrule, "2025-02-27T02:30:00", "America/New_York")
		q.Lines = []reservation.Line{{Pool: "p", Count: int64(rapid.IntRange(1, 3).Draw(t, "count"))}}
		q.OnConflict, q.BookAhead = reservation.SkipConflicts, time.Duration(rapid.IntRange(1, 14).Draw(t, "ahead"))*24*time.Hour

		rule, err := recur.New(recur.Config{Rule: q.Rule, Location: ny})
		require.NoError(t, err)
		single := c.Fork()
		var firm, refused []int64
		for i, w := range rule.All(0) {
			if w.Start.Before(seriesStart) {
				continue
			}
			if w.Start.After(seriesStart.Add(q.BookAhead)) {
				break
			}
			_, err := single.Book(seriesStart, reservation.Request{ID: reservation.OccurrenceID("s", int64(i)), Owner: "o", Window: reservation.Window(w), Lines: q.Lines})
			if err == nil {
				firm = append(firm, int64(i))
			} else {
				refused = append(refused, int64(i))
			}
		}
		whole := c.Fork()
		report, err := whole.BookSeries(seriesStart, q, ny)
		if err == nil {
			require.Equal(t, profile(single), profile(whole))
			var got []int64
			for _, b := range report.Firm {
				got = append(got, b.Index)
			}
			require.Equal(t, firm, got)
			require.NoError(t, whole.Check())
		} else {
			require.Empty(t, firm)
		}
		var conflicts []int64
		for _, x := range report.Conflicts {
			conflicts = append(conflicts, x.Index)
		}
		if err == nil {
			require.Equal(t, refused, conflicts)
		}
		q.OnConflict = reservation.AllOrNothing
		_, err = c.Fork().BookSeries(seriesStart, q, ny)
		require.Equal(t, len(refused) == 0, err == nil, "%v", err)
	})
}
