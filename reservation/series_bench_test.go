// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/berth-gpu/berth/reservation"
	"github.com/stretchr/testify/require"
)

// longSeries returns 5,000 occurrences: hours of one node, or of as many nodes.
func longSeries(t require.TestingT, line reservation.Line) reservation.Series {
	line.Pool = "p"
	return reservation.Series{ID: "long", Owner: "o", Lines: []reservation.Line{line}, Zone: "America/New_York",
		Rule:      ruleOf(t, "FREQ=HOURLY;INTERVAL=2;COUNT=5000", "2026-03-02T09:00:00", time.Hour),
		BookAhead: 2 * 365 * 24 * time.Hour}
}

var longLines = []struct {
	name string
	line reservation.Line
}{{"pinned", reservation.Line{Nodes: []string{"p-1"}}}, {"floating", reservation.Line{Count: 4}}}

// BenchmarkScenario35 takes a node out of a series of 5,000 occurrences and gives
// it back.
func BenchmarkScenario35(b *testing.B) {
	for _, x := range longLines {
		b.Run(x.name, func(b *testing.B) {
			c := newCalendar(b, modelStart, poolOf("p", 100, 0, reservation.Policy{}))
			report, err := c.BookSeries(modelStart, longSeries(b, x.line), zone(b, "America/New_York"))
			require.NoError(b, err)
			require.Len(b, report.Firm, 5000)
			b.ReportAllocs()
			for b.Loop() {
				_, err := c.SetOutage(modelStart, reservation.Outage{ID: "flap", Owner: "ops", Nodes: []string{"p-1"}, Window: minutes(20_000, 20_120)})
				require.NoError(b, err)
				require.NoError(b, c.EndOutage(modelStart, "flap"))
				c.TakeEvents()
			}
		})
	}
}

// BenchmarkBookSeries books 5,000 occurrences on a fork, with events.
func BenchmarkBookSeries(b *testing.B) {
	for _, x := range longLines {
		b.Run(x.name, func(b *testing.B) {
			c := newCalendar(b, modelStart, poolOf("p", 100, 0, reservation.Policy{}))
			q, ny := longSeries(b, x.line), zone(b, "America/New_York")
			b.ReportAllocs()
			for b.Loop() {
				_, err := c.Fork().BookSeries(modelStart, q, ny)
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkDue asks with 10,000 waiting entries, of which none fits.
func BenchmarkDue(b *testing.B) {
	c := newCalendar(b, modelStart, poolOf("p", 100, 0, reservation.Policy{}))
	for i := range 1000 {
		_, err := c.Book(modelStart, reservation.Request{ID: fmt.Sprint("b", i), Owner: "o", Window: minutes(i*100, i*100+100), Lines: []reservation.Line{{Pool: "p", Count: 99}}})
		require.NoError(b, err)
	}
	for i := range 10_000 {
		_, err := c.Wait(modelStart, reservation.Waiting{ID: fmt.Sprint("w", i), Owner: "o", Lines: []reservation.Line{{Pool: "p", Count: 2}}, Length: time.Hour, Latest: minute(90_000)})
		require.NoError(b, err)
	}
	b.ReportAllocs()
	for b.Loop() {
		proposals, err := c.Due(modelStart, reservation.DueQuery{})
		require.NoError(b, err)
		require.Empty(b, proposals)
	}
}
