// SPDX-License-Identifier: Apache-2.0

package recur_test

import (
	"fmt"
	"log"
	"maps"
	"time"
	_ "time/tzdata"

	"github.com/berth-gpu/berth/reservation/recur"
)

func Example() {
	if err := weekly(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 0 [2025-03-03T15:00:00Z, 2025-03-03T23:00:00Z)
	// 1 [2025-03-10T14:00:00Z, 2025-03-10T22:00:00Z)
	// 3 [2025-03-24T14:00:00Z, 2025-03-24T22:00:00Z)
	// 3 true
}

func weekly() error {
	rule, err := recur.Parse("FREQ=WEEKLY;BYDAY=MO;COUNT=4")
	if err != nil {
		return err
	}
	rule.Start = recur.Local{Year: 2025, Month: time.March, Day: 3, Hour: 10}
	rule.Ends = recur.LocalEnd(recur.Clock{Hour: 18})
	rule.ExDates = []recur.Local{{Year: 2025, Month: time.March, Day: 17, Hour: 10}}
	newYork, err := time.LoadLocation("America/New_York") // reads files, so the host does it
	if err != nil {
		return err
	}
	series, err := recur.New(recur.Config{Rule: rule, Location: newYork})
	if err != nil {
		return err
	}
	for i, window := range series.All(0) {
		fmt.Println(i, window)
	}
	next, ok := series.Index(time.Date(2025, time.March, 11, 0, 0, 0, 0, time.UTC))
	fmt.Println(next, ok)
	return nil
}

// A night may have seven, eight or nine hours, so the caller says which end is meant.
func ExampleEnd() {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		log.Fatal(err)
	}
	for _, end := range []recur.End{recur.Elapsed(8 * time.Hour), recur.LocalEnd(recur.Clock{Hour: 6})} {
		series, err := recur.New(recur.Config{
			Rule: recur.Rule{
				Freq: recur.Daily, Count: 3, Ends: end,
				Start: recur.Local{Year: 2026, Month: time.March, Day: 27, Hour: 22},
			},
			Location: berlin,
		})
		if err != nil {
			log.Fatal(err)
		}
		for _, w := range series.All(0) {
			fmt.Println(w.Start.In(berlin).Format("Jan 2 15:04"), "to", w.End.In(berlin).Format("15:04"), w.End.Sub(w.Start))
		}
	}
	// Output:
	// Mar 27 22:00 to 06:00 8h0m0s
	// Mar 28 22:00 to 07:00 8h0m0s
	// Mar 29 22:00 to 06:00 8h0m0s
	// Mar 27 22:00 to 06:00 8h0m0s
	// Mar 28 22:00 to 06:00 7h0m0s
	// Mar 29 22:00 to 06:00 8h0m0s
}

// The last Friday of every third month.
func ExampleSeries_Occurrence() {
	rule, err := recur.Parse("FREQ=MONTHLY;INTERVAL=3;BYDAY=-1FR")
	if err != nil {
		log.Fatal(err)
	}
	rule.Start = recur.Local{Year: 2026, Month: time.January, Day: 1, Hour: 20}
	rule.Ends = recur.Elapsed(4 * time.Hour)
	series, err := recur.New(recur.Config{Rule: rule, Location: time.UTC})
	if err != nil {
		log.Fatal(err)
	}
	for _, i := range []int{0, 1, 30_000} {
		fmt.Println(series.Occurrence(i))
	}
	// Output:
	// [2026-01-30T20:00:00Z, 2026-01-31T00:00:00Z) true
	// [2026-04-24T20:00:00Z, 2026-04-25T00:00:00Z) true
	// [9526-01-29T20:00:00Z, 9526-01-30T00:00:00Z) true
}

// Samoa skipped 2011-12-30, so two days of a daily rule share one instant.
func ExampleAbsence() {
	apia, err := time.LoadLocation("Pacific/Apia")
	if err != nil {
		log.Fatal(err)
	}
	series, err := recur.New(recur.Config{
		Rule: recur.Rule{
			Freq: recur.Daily, Count: 3, Ends: recur.Elapsed(time.Hour),
			Start: recur.Local{Year: 2011, Month: time.December, Day: 29, Hour: 10},
		},
		Location: apia,
	})
	if err != nil {
		log.Fatal(err)
	}
	for i := range series.Len() {
		local, _ := series.Local(i)
		window, _ := series.Occurrence(i)
		fmt.Println(local, series.Absence(i), window.Start.Format(time.DateTime))
	}
	// Output:
	// 2011-12-29T10:00:00 Present 2011-12-29 20:00:00
	// 2011-12-30T10:00:00 Overtaken 0001-01-01 00:00:00
	// 2011-12-31T10:00:00 Present 2011-12-30 20:00:00
}

// A country gives up daylight saving time after the bookings were made.
func ExampleSeries_Drifts() {
	before, err := time.LoadLocation("America/New_York")
	if err != nil {
		log.Fatal(err)
	}
	after := time.FixedZone("America/New_York", -5*60*60) // what an update would bring
	rule := recur.Rule{
		Freq: recur.Weekly, Count: 3, Ends: recur.Elapsed(time.Hour),
		Start: recur.Local{Year: 2026, Month: time.March, Day: 2, Hour: 9},
	}
	old, err := recur.New(recur.Config{Rule: rule, Location: before})
	if err != nil {
		log.Fatal(err)
	}
	booked := maps.Collect(old.All(0))

	series, err := recur.New(recur.Config{Rule: rule, Location: after})
	if err != nil {
		log.Fatal(err)
	}
	drift, moved := series.Drift(0, booked[0])
	fmt.Println(drift.Index, moved)
	for d := range series.Drifts(old.All(0)) {
		fmt.Println(d.Index, d.Booked.Start.Format(time.DateTime), "is now", d.Now.Start.Format(time.DateTime))
	}
	// Output:
	// 0 false
	// 1 2026-03-09 13:00:00 is now 2026-03-09 14:00:00
	// 2 2026-03-16 13:00:00 is now 2026-03-16 14:00:00
}

func ExampleParse() {
	rule, err := recur.Parse("RRULE:freq=monthly;BYDAY=1MO,-1FR;INTERVAL=1;COUNT=10")
	fmt.Println(rule, err)
	_, err = recur.Parse("FREQ=YEARLY;BYSETPOS=1;COUNT=0")
	fmt.Println(err)
	// Output:
	// FREQ=MONTHLY;BYDAY=1MO,-1FR;COUNT=10 <nil>
	// recur: cannot parse: FREQ="YEARLY"; use HOURLY, DAILY, WEEKLY or MONTHLY
	// recur: cannot parse: part "BYSETPOS" is not supported; use FREQ, INTERVAL, BYDAY, BYMONTHDAY, COUNT, UNTIL
	// recur: cannot parse: COUNT="0"; write a whole number from 1 to 2147483647
}
