// SPDX-License-Identifier: Apache-2.0

package recur_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/berth-gpu/berth/reservation/recur"
)

// benchRules reach index 1,000,000, or for months the last one before the year 10000.
var benchRules = []struct{ text, start string }{
	{"FREQ=HOURLY", "2026-01-01T02:30:00"},
	{"FREQ=DAILY", "2026-01-01T02:30:00"},
	{"FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "2026-01-01T02:30:00"},
	{"FREQ=MONTHLY;BYDAY=1MO,2MO,3MO,4MO,-1FR", "2026-01-01T02:30:00"},
}

// BenchmarkOccurrence: the cost does not grow with the index.
func BenchmarkOccurrence(b *testing.B) {
	for _, c := range benchRules {
		s := series(b, rule(b, c.text, c.start), zone(b, "America/New_York"))
		for _, i := range []int{0, 1_000, 1_000_000} {
			i = min(i, s.Len()-1)
			b.Run(fmt.Sprintf("%s/i=%d", s.Rule().Freq, i), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s.Occurrence(i)
				}
			})
		}
	}
}

// BenchmarkIndex asks for an instant in the near and in the far future.
func BenchmarkIndex(b *testing.B) {
	for _, c := range benchRules {
		s := series(b, rule(b, c.text, c.start), zone(b, "America/New_York"))
		for _, year := range []int{2026, 2030, 4700, 9990} {
			at := time.Date(year, time.May, 17, 11, 0, 0, 0, time.UTC)
			b.Run(fmt.Sprintf("%s/year=%d", s.Rule().Freq, year), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s.Index(at)
				}
			})
		}
	}
}

// BenchmarkAll reports the cost of one of 5,000 occurrences.
func BenchmarkAll(b *testing.B) {
	s := series(b, rule(b, "FREQ=DAILY;COUNT=5000", "2026-01-01T02:30:00"), zone(b, "America/New_York"))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for range s.All(0) {
			n++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/occurrence")
}

// BenchmarkNew compiles a rule; a monthly one looks at 400 years.
func BenchmarkNew(b *testing.B) {
	for _, c := range benchRules {
		r, loc := rule(b, c.text, c.start), zone(b, "America/New_York")
		b.Run(r.Freq.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := recur.New(recur.Config{Rule: r, Location: loc}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
