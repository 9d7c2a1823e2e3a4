// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/reservation/recur"
)

// Every Monday at 10:00 in New York, over a change of the clocks. One Monday is
// taken, so that one is left out.
func ExampleCalendar_BookSeries() {
	newYork, _ := time.LoadLocation("America/New_York") // reads files, so the host does it
	cal, _ := reservation.New(reservation.Config{Start: clock(9, 0), Pools: []reservation.Pool{h100(4)}})
	taken := time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)
	_, _ = cal.Book(clock(9, 0), request("a", "speech", reservation.Window{Start: taken, End: taken.Add(12 * time.Hour)}, 3))

	rule, _ := recur.Parse("FREQ=WEEKLY;BYDAY=MO")
	rule.Start = recur.Local{Year: 2026, Month: time.March, Day: 2, Hour: 10}
	rule.Ends = recur.LocalEnd(recur.Clock{Hour: 18})
	series := reservation.Series{
		ID: "eval", Owner: "vision", Lines: []reservation.Line{{Pool: "h100", Count: 2}},
		Rule: rule, Zone: "America/New_York", BookAhead: 21 * 24 * time.Hour,
	}
	_, err := cal.BookSeries(clock(9, 0), series, newYork)
	if refusal, ok := errors.AsType[*reservation.SeriesError](err); ok {
		for _, x := range refusal.Report.Conflicts {
			fmt.Println("conflict:", x.Index, x.Window, "or", x.Refusal.Offers[0])
		}
	}
	series.OnConflict = reservation.SkipConflicts
	report, _ := cal.BookSeries(clock(9, 0), series, newYork)
	for _, b := range report.Firm {
		fmt.Println(b.ID, b.Window)
	}
	fmt.Println("later:", report.Next, report.Head)
	// Output:
	// conflict: 2 [2026-03-16T14:00:00Z, 2026-03-16T22:00:00Z) or [2026-03-17T00:00:00Z, 2026-03-17T08:00:00Z)
	// eval/0 [2026-03-02T15:00:00Z, 2026-03-02T23:00:00Z)
	// eval/1 [2026-03-09T14:00:00Z, 2026-03-09T22:00:00Z)
	// later: 3 [2026-03-23T14:00:00Z, 2026-03-23T22:00:00Z)
}

// The host asks what is due, asks its quota ledger, and books: on one fork, so
// that it happens together or not at all.
func ExampleCalendar_Due() {
	cal, _ := reservation.New(reservation.Config{Start: clock(9, 0), Pools: []reservation.Pool{h100(4)}})
	_, _ = cal.Book(clock(9, 0), request("a", "vision", window(10, 18), 4))
	_, err := cal.Wait(clock(9, 0), reservation.Waiting{
		ID: "eval-1", Owner: "speech", Lines: []reservation.Line{{Pool: "h100", Count: 2}},
		Length: 2 * time.Hour, Deadline: clock(17, 0),
	})
	fmt.Println(err)
	_, err = cal.Expected(clock(9, 0), "eval-1")
	fmt.Println(errors.Is(err, reservation.ErrConflict))

	_, _ = cal.Release(clock(12, 30), "a", 0) // a is done early
	next := cal.Fork()
	proposals, _ := next.Due(clock(12, 30), reservation.DueQuery{})
	for _, p := range proposals {
		mayPay := true // by the quota ledger
		if p.Kind == reservation.Serve && mayPay {
			b, err := next.Book(clock(12, 30), p.Requests[0])
			fmt.Println(b.ID, b.Window, err)
		}
	}
	e, _ := next.Expected(clock(12, 30), "eval-1")
	fmt.Println(e.Certainty)
	// Output:
	// <nil>
	// true
	// eval-1 [2026-03-02T12:30:00Z, 2026-03-02T14:30:00Z) <nil>
	// Promise
}
