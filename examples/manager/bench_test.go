// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/manager/clock"
	"github.com/berth-gpu/berth/examples/manager/demo"
	"github.com/berth-gpu/berth/examples/manager/views"
	"github.com/berth-gpu/berth/reservation"
)

// Durable bookings through the whole path (ledger, calendar, fleet, record,
// bbolt with its two syncs), from so many callers at once, and reads beside them.
func BenchmarkManager(b *testing.B) {
	for _, callers := range []int{1, 256} {
		b.Run(fmt.Sprintf("book/callers=%d", callers), func(b *testing.B) {
			d, err := openDaemon(filepath.Join(b.TempDir(), "berth.db"), func(time.Time) clock.Clock { return clock.NewFast(demo.Start, 1) }, newDemo)
			require.NoError(b, err)
			ctx, stop := context.WithCancel(context.Background())
			var run sync.WaitGroup
			run.Go(func() { _ = d.cell.Run(ctx) })
			start := demo.Start.Add(24 * time.Hour)
			var n, booked atomic.Int64
			b.ResetTimer()
			var callersDone sync.WaitGroup
			for range callers {
				callersDone.Go(func() {
					for {
						i := n.Add(1)
						if i > int64(b.N) {
							return
						}
						at := start.Add(time.Duration(i%600) * time.Hour)
						_, err := d.service.Book(ctx, "", views.BookRequest{ID: fmt.Sprintf("b%d", i), Owner: "vision", Pool: "G2-x8", Nodes: 1, Start: at, End: at.Add(time.Hour)}, false)
						if err == nil {
							booked.Add(1)
						}
					}
				})
			}
			callersDone.Wait()
			b.StopTimer()
			b.ReportMetric(float64(booked.Load())/b.Elapsed().Seconds(), "bookings/s")
			stop()
			run.Wait()
			require.NoError(b, d.journal.Close())
		})
	}
	b.Run("availability", func(b *testing.B) {
		d, err := openDaemon(filepath.Join(b.TempDir(), "berth.db"), func(time.Time) clock.Clock { return clock.NewFast(demo.Start, 1) }, newDemo)
		require.NoError(b, err)
		for b.Loop() {
			_, err := d.cell.Load().Calendar.Bins("G2-x8", reservation.Window{Start: demo.Start, End: demo.Start.Add(14 * 24 * time.Hour)}, 336)
			require.NoError(b, err)
		}
		require.NoError(b, d.journal.Close())
	})
}
