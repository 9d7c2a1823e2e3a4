// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/berth-gpu/berth/topology"
	"github.com/stretchr/testify/require"
)

// sizes are clusters of DGX H100 nodes in a fat tree of 16-node leaf groups.
var sizes = []struct {
	name string
	pods int
}{{"gpus=1k", 1}, {"gpus=10k", 10}, {"gpus=100k", 98}}

func plan(t require.TestingT, pods int, ids bool) topology.Config {
	cfg, err := topology.FatTree{Pods: pods, LeavesPerPod: 8, NodesPerLeaf: 16, Fabric: "ib-0"}.Config()
	require.NoError(t, err)
	if pods == 98 {
		cfg.Nodes = cfg.Nodes[:12_500]
	}
	for i := range cfg.Nodes {
		cfg.Nodes[i].Path[topology.LevelRegion] = "eu"
		cfg.Nodes[i].Path[topology.LevelZone] = "eu-1"
		cfg.Nodes[i].Path[topology.LevelRack] = fmt.Sprintf("rack-%05d", i/4)
		if ids {
			cfg.Nodes[i].GPUIDs = gpuIDs(i)
		}
	}
	return cfg
}

// gpuIDs gives eight ids as long as NVIDIA's.
func gpuIDs(node int) []topology.GPUID {
	var out []topology.GPUID
	for g := range 8 {
		out = append(out, topology.GPUID(fmt.Sprintf("GPU-%08x-0000-4000-8000-%012x", uint32(node*8+g)*2654435761, node*8+g)))
	}
	return out
}

func forSizes(b *testing.B, run func(b *testing.B, cfg topology.Config)) {
	for _, s := range sizes {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			run(b, plan(b, s.pods, false))
		})
	}
}

func mustNew(t require.TestingT, cfg topology.Config) *topology.Cluster {
	c, err := topology.New(cfg)
	require.NoError(t, err)
	return c
}

// BenchmarkNew builds; bytes/GPU is what the cluster keeps when its configuration is gone.
func BenchmarkNew(b *testing.B) {
	for _, ids := range []bool{false, true} {
		for _, s := range sizes {
			b.Run(fmt.Sprintf("ids=%v/%s", ids, s.name), func(b *testing.B) {
				b.ReportAllocs()
				cfg := plan(b, s.pods, ids)
				for b.Loop() {
					mustNew(b, cfg)
				}
				b.ReportMetric(retained(b, s.pods, ids), "bytes/GPU")
			})
		}
	}
}

// retained compares the heap with and without the cluster, its configuration collected.
func retained(t require.TestingT, pods int, ids bool) float64 {
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	c := mustNew(t, plan(t, pods, ids))
	after := heap()
	gpus := c.GPUCount()
	runtime.KeepAlive(c)
	return float64(after-before) / float64(gpus)
}

// TestMemory holds the promise of 150 bytes per GPU at 100,000 GPUs, with ids and without.
func TestMemory(t *testing.T) {
	require.Less(t, retained(t, 98, false), 150.0)
	require.Less(t, retained(t, 98, true), 150.0)
}

func BenchmarkAncestor(b *testing.B) {
	forSizes(b, func(b *testing.B, cfg topology.Config) {
		c := mustNew(b, cfg)
		rack, _ := c.LevelIndex(topology.LevelRack)
		i, sum := topology.NodeIndex(0), topology.DomainIndex(0)
		for b.Loop() {
			sum += c.Ancestor(i, rack)
			i = (i + 7919) % topology.NodeIndex(c.Len())
		}
		_ = sum
	})
}

func BenchmarkLowest(b *testing.B) {
	forSizes(b, func(b *testing.B, cfg topology.Config) {
		c := mustNew(b, cfg)
		i, sum := topology.NodeIndex(0), topology.LevelIndex(0)
		for b.Loop() {
			l, _ := c.Lowest(i, topology.NodeIndex(c.Len())-1-i)
			sum += l
			i = (i + 7919) % topology.NodeIndex(c.Len())
		}
		_ = sum
	})
}

func BenchmarkDistance(b *testing.B) {
	forSizes(b, func(b *testing.B, cfg topology.Config) {
		c := mustNew(b, cfg)
		i, sum := topology.NodeIndex(0), 0
		for b.Loop() {
			sum += c.Distance(topology.GPURef{Node: i, GPU: 1}, topology.GPURef{Node: topology.NodeIndex(c.Len()) - 1 - i, GPU: 2})
			i = (i + 7919) % topology.NodeIndex(c.Len())
		}
		_ = sum
	})
}

// TestQueriesDoNotAllocate: Ancestor, Lowest, Distance.
func TestQueriesDoNotAllocate(t *testing.T) {
	c := mustNew(t, plan(t, 1, false))
	rack, _ := c.LevelIndex(topology.LevelRack)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		c.Ancestor(3, rack)
		c.Lowest(3, 90)
		c.LowestIn("power", 3, 90)
		c.Distance(topology.GPURef{Node: 3}, topology.GPURef{Node: 90})
	}))
}

// BenchmarkEdit lets one rack of 18 NVL72 trays join.
func BenchmarkEdit(b *testing.B) {
	rack, err := topology.NVL72{Racks: 1, Fabric: "ib-1"}.Config()
	require.NoError(b, err)
	for _, ids := range []bool{false, true} {
		for _, s := range sizes {
			b.Run(fmt.Sprintf("ids=%v/%s", ids, s.name), func(b *testing.B) {
				b.ReportAllocs()
				c := mustNew(b, plan(b, s.pods, ids))
				for i := range rack.Nodes {
					rack.Nodes[i].GPUIDs = nil
					if ids {
						rack.Nodes[i].GPUIDs = gpuIDs(1_000_000 + i)[:4]
					}
				}
				change := topology.Change{Shapes: rack.Shapes, Add: rack.Nodes}
				for b.Loop() {
					_, err := c.Apply(change)
					require.NoError(b, err)
				}
			})
		}
	}
}

func BenchmarkFindGPU(b *testing.B) {
	for _, s := range sizes {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			c := mustNew(b, plan(b, s.pods, true))
			i := topology.NodeIndex(0)
			for b.Loop() {
				c.FindGPU(c.GPUID(i, 3))
				i = (i + 7919) % topology.NodeIndex(c.Len())
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	forSizes(b, func(b *testing.B, cfg topology.Config) {
		data := encode(b, mustNew(b, cfg))
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			_, err := topology.Decode(data)
			require.NoError(b, err)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	forSizes(b, func(b *testing.B, cfg topology.Config) {
		c := mustNew(b, cfg)
		for b.Loop() {
			encode(b, c)
		}
	})
}
