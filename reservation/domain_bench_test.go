// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/berth-gpu/berth/reservation"
	"github.com/stretchr/testify/require"
)

// BenchmarkWithin books 16 nodes in one rack of 32, and asks when that fits, in
// a pool of u nodes with u/32 such bookings over a month.
func BenchmarkWithin(b *testing.B) {
	for _, u := range []int{1000, 12_500} {
		b.Run(fmt.Sprint("nodes=", u), func(b *testing.B) {
			c := newCalendar(b, modelStart, inRacks(poolOf("p", u, 0, reservation.Policy{}), 32))
			r := rand.New(rand.NewPCG(1, uint64(u)))
			ask := func(id string) reservation.Request {
				start := modelStart.Add(time.Duration(1+r.IntN(30*24)) * time.Hour)
				return reservation.Request{ID: id, Owner: "o", Window: reservation.Window{Start: start, End: start.Add(time.Duration(1+r.IntN(72)) * time.Hour)},
					Lines: []reservation.Line{{Pool: "p", Count: 16, Within: "rack"}}}
			}
			for i := range u / 32 {
				_, err := c.Book(modelStart, ask(fmt.Sprint(i)))
				require.NoError(b, err)
			}
			b.Run("book", func(b *testing.B) {
				for b.Loop() {
					_, err := c.Fork().Book(modelStart, ask("x"))
					require.NoError(b, err)
				}
			})
			b.Run("fit", func(b *testing.B) {
				for b.Loop() {
					q := ask("x")
					_, err := c.EarliestFit(c.Present(), reservation.Query{Lines: q.Lines, Length: q.Window.Length(), Earliest: q.Window.Start})
					require.NoError(b, err)
				}
			})
		})
	}
}
