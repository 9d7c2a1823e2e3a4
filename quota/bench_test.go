// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/quota"
)

// grown returns a tree of depth 4 (org, team, project, user; 10 of each below
// the one above, up to n users) with 3 keys and c charges spread over 30 days,
// and a request for one user.
func grown(tb testing.TB, users, charges int, lend quota.Bound) (*quota.Ledger, quota.Request) {
	var tenants []quota.Tenant
	limits := func(n int64) (out []quota.Limit) {
		for _, k := range []quota.Key{gpu, cpu, "mem-mib/h100"} {
			out = append(out, quota.Limit{Key: k, Nominal: n, Lend: lend, Cap: quota.AtMost(1 << 50)})
		}
		return out
	}
	tenants = append(tenants, quota.Tenant{Name: "org", Limits: limits(1 << 39)})
	for i := range users {
		if i%100 == 0 {
			tenants = append(tenants, quota.Tenant{Name: fmt.Sprint("team", i/100), Parent: "org", Limits: limits(1000)})
		}
		if i%10 == 0 {
			tenants = append(tenants, quota.Tenant{Name: fmt.Sprint("project", i/10), Parent: fmt.Sprint("team", i/100), Limits: limits(100)})
		}
		tenants = append(tenants, quota.Tenant{Name: fmt.Sprint("user", i), Parent: fmt.Sprint("project", i/10), Limits: limits(10)})
	}
	l := must(tb, tenants...)
	for i := range charges {
		start := i * 7919 % (30 * 24 * 60)
		q := bookable(i, users, start)
		if _, err := l.Book(at(0), q); err != nil {
			tb.Fatal(err)
		}
	}
	l.TakeEvents()
	q := bookable(charges, users, 5000)
	q.ID = "asked"
	return l, q
}

func bookable(i, users, start int) quota.Request {
	return quota.Request{ID: fmt.Sprint("c", i), Tenant: fmt.Sprint("user", i*31%users), Class: quota.Preemptible,
		Amounts: some(gpu, 1+int64(i%8)), Window: over(60+start*60, 60+(start+60+i%600)*60)}
}

// The accept path of Fits does not allocate, with and without lend limits.
func TestFitsDoesNotAllocate(t *testing.T) {
	for _, lend := range []quota.Bound{{}, quota.AtMost(4)} {
		l, q := grown(t, 100, 200, lend)
		for _, class := range classes {
			q.Class = class
			q.Window = over(1_000_000, 1_000_060)
			q.Amounts = append(some(gpu, 1), some(cpu, 2)...)
			require.NoError(t, l.Fits(at(0), q))
			require.Zero(t, testing.AllocsPerRun(100, func() { _ = l.Fits(at(0), q) }), "%s lend %s", class, lend)
		}
	}
}

func BenchmarkLedger(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		l, q := grown(b, min(n, 10_000), n, unlimited)
		size := fmt.Sprintf("charges=%dk", n/1000)
		b.Run("fits/"+size, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if l.Fits(at(0), q) != nil {
					b.Fatal("refused")
				}
			}
		})
		b.Run("fits-3-keys/"+size, func(b *testing.B) {
			q := q
			q.Amounts = []quota.Amount{{Key: gpu, N: 1}, {Key: cpu, N: 1}, {Key: "mem-mib/h100", N: 1}}
			b.ReportAllocs()
			for b.Loop() {
				if l.Fits(at(0), q) != nil {
					b.Fatal("refused")
				}
			}
		})
		b.Run("reserve-release/"+size, func(b *testing.B) {
			b.ReportAllocs()
			fork, users := l.Fork(), min(n, 10_000)
			for i := 0; b.Loop(); i++ {
				q := bookable(n+i, users, i*104729%(30*24*60))
				if _, err := fork.Book(at(0), q); err != nil {
					b.Fatal(err)
				}
				if _, err := fork.Release(at(0), q.ID); err != nil {
					b.Fatal(err)
				}
				if i%4096 == 4095 {
					b.StopTimer()
					fork = l.Fork()
					b.StartTimer()
				}
			}
		})
		b.Run("fork-first-change/"+size, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Fork().Book(at(0), q); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("fork/"+size, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				l.Fork()
			}
		})
		b.Run("available/"+size, func(b *testing.B) {
			for b.Loop() {
				l.Available(at(0), q.Tenant, gpu, quota.Guaranteed, q.Window)
			}
		})
		b.Run("restore/"+size, func(b *testing.B) {
			raw := []byte(encoded(b, l))
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if _, err := quota.Restore(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Lend limits cut a long window into pieces: the worst case of the package doc.
func BenchmarkPieces(b *testing.B) {
	l := must(b, leaf("org", "", 1<<30), leaf("team", "org", 10, unlimited, zero))
	for i := range 2_000 { // up and down across the private part of 10
		_, err := l.Book(at(0), quota.Request{ID: fmt.Sprint(i), Tenant: "team", Amounts: some(gpu, 10), Window: over(i*20, i*20+10), Class: quota.Preemptible})
		require.NoError(b, err)
	}
	b.ReportAllocs()
	for b.Loop() {
		fork := l.Fork()
		if _, err := fork.Book(at(0), quota.Request{ID: "long", Tenant: "team", Amounts: some(gpu, 5), Window: over(0, 40_000), Class: quota.Preemptible}); err != nil {
			b.Fatal(err)
		}
	}
}

// Advancing through many ends, one event each.
func BenchmarkAdvance(b *testing.B) {
	l, _ := grown(b, 1_000, 10_000, unlimited)
	b.ReportAllocs()
	for b.Loop() {
		l.Fork().Advance(at(0).Add(60 * 24 * time.Hour))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000, "ns/end")
}
