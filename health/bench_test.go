// SPDX-License-Identifier: Apache-2.0

package health_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/health"
	"github.com/berth-gpu/berth/topology"
)

// many returns a record with n holds, four to a node, all dated far ahead.
func many(b *testing.B, n int) *health.Record {
	r, err := health.New(health.Config{})
	require.NoError(b, err)
	for i := range n {
		c := health.Component{Node: nodeName(i / 4), GPU: topology.GPUID(fmt.Sprintf("GPU-%d", i%4))}
		_, err := r.Hold(monday, health.HoldRequest{Component: c, Owner: "health/xid-79", Step: health.StepRMA, Reason: "fan"})
		require.NoError(b, err)
	}
	r.TakeEvents()
	return r
}

func nodeName(i int) topology.NodeID { return topology.NodeID(fmt.Sprintf("node-%06d", i)) }

func sizes(b *testing.B, f func(b *testing.B, r *health.Record, n int)) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("holds=%dk", n/1000), func(b *testing.B) {
			r := many(b, n)
			b.ReportAllocs()
			f(b, r, n)
		})
	}
}

// BenchmarkHoldRelease is two commands.
func BenchmarkHoldRelease(b *testing.B) {
	sizes(b, func(b *testing.B, r *health.Record, n int) {
		i := 0
		for b.Loop() {
			c := health.Component{Node: nodeName(i % (n / 4))}
			_, err := r.Hold(monday, health.HoldRequest{Component: c, Owner: "human/oncall", Step: health.StepRMA})
			if err != nil || r.Release(monday, c, "human/oncall") != nil || len(r.TakeEvents()) != 2 {
				b.Fatal(err)
			}
			i += 7919
		}
	})
}

// BenchmarkTransaction is a fork and one command on it, as a host does it.
func BenchmarkTransaction(b *testing.B) {
	sizes(b, func(b *testing.B, r *health.Record, n int) {
		i := 0
		for b.Loop() {
			next := r.Fork()
			c := health.Component{Node: nodeName(i % (n / 4))}
			if err := next.Date(monday, c, "health/xid-79", time.Time{}); err == nil {
				b.Fatal("nobody holds the node itself")
			}
			_, err := next.Hold(monday, health.HoldRequest{Component: c, Owner: "human/oncall"})
			if err != nil {
				b.Fatal(err)
			}
			i += 7919
		}
	})
}

func BenchmarkSchedulable(b *testing.B) {
	sizes(b, func(b *testing.B, r *health.Record, n int) {
		node := nodeName(n / 8)
		for b.Loop() {
			if r.Schedulable(node) {
				b.Fatal("it is held")
			}
		}
	})
}

func BenchmarkOutages(b *testing.B) {
	sizes(b, func(b *testing.B, r *health.Record, n int) {
		for b.Loop() {
			count := 0
			for range r.Outages() {
				count++
			}
			if count != n/4 {
				b.Fatal(count)
			}
		}
	})
}

// BenchmarkSlip makes every date slip once.
func BenchmarkSlip(b *testing.B) {
	sizes(b, func(b *testing.B, r *health.Record, n int) {
		for b.Loop() {
			next := r.Fork()
			next.Advance(monday.AddDate(0, 0, 14))
			if len(next.Events()) != n {
				b.Fatal(len(next.Events()))
			}
		}
	})
}

func BenchmarkRestore(b *testing.B) {
	sizes(b, func(b *testing.B, r *health.Record, n int) {
		raw, err := r.MarshalBinary()
		require.NoError(b, err)
		b.ReportMetric(float64(len(raw))/float64(n), "B/hold")
		for b.Loop() {
			if _, err := health.Restore(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
}
