// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/berth-gpu/berth/reservation"
	"github.com/stretchr/testify/require"
)

// BenchmarkPlanRepair plans for a rack of 64 nodes that fails under running
// bookings of four nodes each.
func BenchmarkPlanRepair(b *testing.B) {
	for _, units := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("units=%dk", units/1000), func(b *testing.B) {
			p := poolOf("p", units, units/50, reservation.Policy{})
			for i := range p.Units {
				p.Units[i].Path = []string{"z", fmt.Sprint("rack", i/64)}
			}
			c := newCalendar(b, modelStart, p)
			for i := range (units - units/50) * 9 / 40 {
				q := reservation.Request{ID: fmt.Sprint(i), Owner: "o", Lines: []reservation.Line{{Pool: "p", Count: 4}}}
				q.Window = reservation.Window{Start: modelStart, End: modelStart.Add(time.Duration(1+i%168) * time.Hour)}
				_, err := c.Book(modelStart, q)
				require.NoError(b, err)
			}
			c.Advance(modelStart)
			o := reservation.Outage{ID: "rack", Owner: "ops"}
			for _, u := range p.Units[:64] {
				o.Nodes = append(o.Nodes, u.Name)
			}
			_, err := c.SetOutage(modelStart, o)
			require.NoError(b, err)
			steps := len(c.PlanRepair(modelStart).Steps)
			require.Equal(b, 64, steps)
			b.ReportAllocs()
			for b.Loop() {
				c.PlanRepair(modelStart)
			}
		})
	}
}
