// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/berth-gpu/berth/reservation"
	"github.com/stretchr/testify/require"
)

var benchSizes = []struct {
	name string
	n    int
}{{"bookings=1k", 1_000}, {"bookings=10k", 10_000}, {"bookings=100k", 100_000}}

// benchCalendar returns a calendar of 12,500 nodes with n count-only bookings
// over 90 days, which fill four fifths of it on average.
func benchCalendar(b *testing.B, n int) (*reservation.Calendar, *rand.Rand) {
	c := newCalendar(b, modelStart, poolOf("p", 12_500, 0, reservation.Policy{}))
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := 0; i < n; {
		if _, err := c.Book(modelStart, benchRequest(r, strconv.Itoa(i), n)); err == nil {
			i++
		}
	}
	c.TakeEvents()
	return c, r
}

func benchRequest(r *rand.Rand, id string, n int) reservation.Request {
	hours := 1 + r.IntN(23)
	start := modelStart.Add(time.Duration(r.IntN(90*24*60)) * time.Minute)
	count := max(1, 12_500*90*24*7/10/12/n)
	return reservation.Request{ID: id, Owner: "team" + strconv.Itoa(r.IntN(100)),
		Window: reservation.Window{Start: start, End: start.Add(time.Duration(hours) * time.Hour)},
		Lines:  []reservation.Line{{Pool: "p", Count: int64(1 + r.IntN(count))}}}
}

func eachSize(b *testing.B, f func(b *testing.B, c *reservation.Calendar, r *rand.Rand, n int)) {
	for _, size := range benchSizes {
		b.Run(size.name, func(b *testing.B) {
			c, r := benchCalendar(b, size.n)
			b.ReportAllocs()
			b.ResetTimer()
			f(b, c, r, size.n)
		})
	}
}

// BenchmarkBookCancel books on the public path, with all indexes and events,
// and cancels again.
func BenchmarkBookCancel(b *testing.B) {
	eachSize(b, func(b *testing.B, c *reservation.Calendar, r *rand.Rand, n int) {
		i, refused := 0, 0
		for b.Loop() {
			i++
			q := benchRequest(r, fmt.Sprint("x", i), n)
			if _, err := c.Book(modelStart, q); err != nil {
				refused++
				continue
			}
			_, err := c.Cancel(modelStart, q.ID, 0)
			require.NoError(b, err)
			if i%1024 == 0 {
				c.TakeEvents()
			}
		}
		b.ReportMetric(float64(refused)/float64(i), "refused")
	})
}

func BenchmarkMinFree(b *testing.B) {
	eachSize(b, func(b *testing.B, c *reservation.Calendar, r *rand.Rand, n int) {
		for b.Loop() {
			start := modelStart.Add(time.Duration(r.IntN(80*24)) * time.Hour)
			_, err := c.MinFree("p", reservation.Window{Start: start, End: start.Add(24 * time.Hour)})
			require.NoError(b, err)
		}
	})
}

func BenchmarkEarliestFit(b *testing.B) {
	eachSize(b, func(b *testing.B, c *reservation.Calendar, r *rand.Rand, n int) {
		for b.Loop() {
			_, err := c.EarliestFit(c.Present(), reservation.Query{Length: time.Duration(1+r.IntN(72)) * time.Hour,
				Earliest: modelStart.Add(time.Duration(r.IntN(60*24)) * time.Hour),
				Lines:    []reservation.Line{{Pool: "p", Count: int64(1 + r.IntN(6000))}}})
			require.NoError(b, err)
		}
	})
}

func BenchmarkForkAndBook(b *testing.B) {
	eachSize(b, func(b *testing.B, c *reservation.Calendar, r *rand.Rand, n int) {
		for b.Loop() {
			_, _ = c.Fork().Book(modelStart, benchRequest(r, "x", n))
		}
	})
}

func BenchmarkRefusalWithOffers(b *testing.B) {
	eachSize(b, func(b *testing.B, c *reservation.Calendar, r *rand.Rand, n int) {
		for b.Loop() {
			q := benchRequest(r, "x", n)
			q.Lines[0].Count = 12_400
			_, err := c.Book(modelStart, q)
			require.Error(b, err)
		}
	})
}

func BenchmarkBins(b *testing.B) {
	eachSize(b, func(b *testing.B, c *reservation.Calendar, r *rand.Rand, n int) {
		for b.Loop() {
			_, err := c.Bins("p", reservation.Window{Start: modelStart, End: modelStart.AddDate(0, 0, 90)}, 1000)
			require.NoError(b, err)
		}
	})
}

func BenchmarkRestore(b *testing.B) {
	eachSize(b, func(b *testing.B, c *reservation.Calendar, r *rand.Rand, n int) {
		raw, err := c.MarshalBinary()
		require.NoError(b, err)
		for b.Loop() {
			_, err := reservation.Restore(raw)
			require.NoError(b, err)
		}
		b.ReportMetric(float64(len(raw))/float64(n), "B/booking")
	})
}

// BenchmarkSearch asks for a ranked list, with pieces and smaller answers.
func BenchmarkSearch(b *testing.B) {
	eachSize(b, func(b *testing.B, c *reservation.Calendar, r *rand.Rand, n int) {
		for b.Loop() {
			_, err := c.Search(c.Present(), reservation.Query{Lines: []reservation.Line{{Pool: "p", Count: 12_000}}, MinCounts: map[string]int64{"p": 1000},
				Length: 48 * time.Hour, MinLength: time.Hour, Segments: 4, Start: modelStart.Add(time.Duration(r.IntN(60*24)) * time.Hour)})
			require.NoError(b, err)
		}
	})
}
