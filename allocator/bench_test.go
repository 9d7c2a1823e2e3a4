// SPDX-License-Identifier: Apache-2.0

package allocator_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/topology"
)

// sizes are numbers of nodes of 8 GPUs: 1k, 10k and 100k GPUs, and the 1,213 nodes of openb.
var sizes = []int{125, 1_213, 1_250, 12_500}

// busy gives a fleet of so many nodes, 88 % of its GPUs in use.
func busy(b *testing.B, nodes int) *allocator.Fleet {
	cfg := topology.Config{Shapes: []topology.ShapeSpec{{Name: "s", Model: "A10", GPUs: 8, CPUMilli: 96_000, MemoryMiB: 1 << 19}}}
	for i := range nodes {
		cfg.Nodes = append(cfg.Nodes, topology.NodeSpec{ID: topology.NodeID(fmt.Sprintf("node-%05d", i)), Shape: "s"})
	}
	c, err := topology.New(cfg)
	require.NoError(b, err)
	f, err := allocator.New(allocator.Config{Cluster: c})
	require.NoError(b, err)
	for i := range nodes * 8 * 88 / 100 / 4 { // two to a node, so that some nodes stay empty
		_, err := f.Place(start, ask(fmt.Sprintf("p%06d", i), 1, allocator.Pod{GPUs: 4, CPUMilli: 40_000}))
		require.NoError(b, err)
	}
	f.TakeEvents()
	return f
}

func bench(b *testing.B, run func(b *testing.B, f *allocator.Fleet)) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			f := busy(b, n)
			b.ReportAllocs()
			run(b, f)
		})
	}
}

func placeAndRelease(r allocator.Request) func(*testing.B, *allocator.Fleet) {
	return func(b *testing.B, f *allocator.Fleet) {
		for b.Loop() {
			if _, err := f.Place(start, r); err != nil {
				b.Fatal(err)
			}
			if err := f.Release(start, r.ID); err != nil {
				b.Fatal(err)
			}
			f.TakeEvents()
		}
	}
}

func BenchmarkPlaceRelease1GPU(b *testing.B) {
	bench(b, placeAndRelease(ask("x", 1, allocator.Pod{GPUs: 1, CPUMilli: 4000})))
}
func BenchmarkPlaceReleaseMilli(b *testing.B) {
	bench(b, placeAndRelease(ask("x", 1, allocator.Pod{GPUMilli: 300, CPUMilli: 4000})))
}
func BenchmarkPlaceRelease8GPU(b *testing.B) {
	bench(b, placeAndRelease(ask("x", 1, allocator.Pod{GPUs: 8, CPUMilli: 4000})))
}
func BenchmarkPlaceReleaseGang(b *testing.B) {
	bench(b, placeAndRelease(ask("x", 8, allocator.Pod{GPUs: 8, CPUMilli: 4000})))
}

// BenchmarkUnplaceable measures the refusal with its explanation: of one pod, and of a gang as large as the fleet.
func BenchmarkUnplaceable(b *testing.B) {
	refused := func(r func(nodes int) allocator.Request) func(*testing.B, *allocator.Fleet) {
		return func(b *testing.B, f *allocator.Fleet) {
			r := r(f.Cluster().Len())
			for b.Loop() {
				if _, err := f.Plan(start, r); err == nil {
					b.Fatal("it fits")
				}
			}
		}
	}
	b.Run("pod", func(b *testing.B) {
		bench(b, refused(func(int) allocator.Request { return ask("x", 1, allocator.Pod{GPUs: 16}) }))
	})
	b.Run("gang", func(b *testing.B) {
		bench(b, refused(func(nodes int) allocator.Request { return ask("x", nodes, allocator.Pod{GPUs: 8}) }))
	})
}

func BenchmarkFork(b *testing.B) {
	bench(b, func(b *testing.B, f *allocator.Fleet) {
		for b.Loop() {
			f.Fork()
		}
	})
}

func BenchmarkFirstChangeAfterFork(b *testing.B) {
	bench(b, func(b *testing.B, f *allocator.Fleet) {
		for b.Loop() {
			if err := f.Fork().Release(start, "p000007"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSnapshot(b *testing.B) {
	bench(b, func(b *testing.B, f *allocator.Fleet) {
		var buf []byte
		for b.Loop() {
			buf, _ = f.AppendBinary(buf[:0])
		}
		b.ReportMetric(float64(len(buf)), "bytes")
	})
}

func BenchmarkSetCluster(b *testing.B) {
	bench(b, func(b *testing.B, f *allocator.Fleet) {
		ch := topology.Change{}
		for i := range 18 {
			ch.Add = append(ch.Add, topology.NodeSpec{ID: topology.NodeID(fmt.Sprintf("new-%02d", i)), Shape: "s"})
		}
		next, err := f.Cluster().Apply(ch)
		require.NoError(b, err)
		for b.Loop() {
			if err := f.Fork().SetCluster(start, next); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkContentOf(b *testing.B) {
	bench(b, func(b *testing.B, f *allocator.Fleet) {
		for b.Loop() {
			allocator.ContentOf(f.Cluster())
		}
	})
}

// BenchmarkPlanGroups has as many groups as a request can be expected to have; the cost is that of the pods.
func BenchmarkPlanGroups(b *testing.B) {
	f := fleet(b, "cpu", "cpu", "cpu", "cpu")
	for _, groups := range []int{500, 2000} {
		b.Run(fmt.Sprintf("groups=%d", groups), func(b *testing.B) {
			r := allocator.Request{ID: "a", Tenant: "ants"}
			for range groups {
				r.Groups = append(r.Groups, allocator.Group{Count: 100, Pod: allocator.Pod{MemoryMiB: 1}})
			}
			for b.Loop() {
				if _, err := f.Plan(start, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
