// SPDX-License-Identifier: Apache-2.0

package allocator_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/allocator/allocatortest"
	"github.com/berth-gpu/berth/topology"
)

var start = allocatortest.Start

// ask is a request of one group.
func ask(id string, count int, pod allocator.Pod) allocator.Request {
	return allocator.Request{ID: id, Tenant: "ants", Groups: []allocator.Group{{Count: count, Pod: pod}}}
}

func place(t require.TestingT, f *allocator.Fleet, r allocator.Request) allocator.Placement {
	p, err := f.Place(start, r)
	require.NoError(t, err)
	require.NoError(t, f.Check())
	require.NoError(t, allocatortest.Check(f))
	return p
}

// gpuCluster builds nodes of so many GPUs each, with plenty of CPU.
func gpuCluster(t require.TestingT, gpus ...int) *allocator.Fleet {
	var cfg topology.Config
	declared := map[int]bool{}
	for i, n := range gpus {
		name := fmt.Sprintf("g%d", n)
		if !declared[n] {
			declared[n] = true
			cfg.Shapes = append(cfg.Shapes, topology.ShapeSpec{Name: name, Model: "T4", GPUs: n, CPUMilli: 1_000_000, MemoryMiB: 1 << 20})
		}
		cfg.Nodes = append(cfg.Nodes, topology.NodeSpec{ID: topology.NodeID(fmt.Sprintf("x%d", i+1)), Shape: name})
	}
	c, err := topology.New(cfg)
	require.NoError(t, err)
	f, err := allocator.New(allocator.Config{Cluster: c})
	require.NoError(t, err)
	return f
}

// on gives the names of the nodes of the pods, in order.
func on(f *allocator.Fleet, p allocator.Placement) []string {
	var out []string
	for _, a := range p.Assignments {
		out = append(out, string(f.Cluster().ID(a.Node)))
	}
	return out
}

// Stories that users of schedulers tell, each with its right answer. The numbers only name them.

func TestScenario01SmallPodsLeaveTheLargePlace(t *testing.T) {
	f := gpuCluster(t, 2, 1, 1)
	require.Equal(t, []string{"x2", "x3"}, on(f, place(t, f, ask("A", 2, allocator.Pod{GPUs: 1}))))
	require.Equal(t, []string{"x1"}, on(f, place(t, f, ask("B", 1, allocator.Pod{GPUs: 2}))))
}

func TestScenario02TheNodeWithExactlyEnough(t *testing.T) {
	f := gpuCluster(t, 4, 2)
	require.Equal(t, []string{"x2"}, on(f, place(t, f, ask("A", 1, allocator.Pod{GPUs: 2}))))
}

func TestScenario07OneNodeTwoRequests(t *testing.T) {
	f := gpuCluster(t, 8)
	first, err := f.Plan(start, ask("A", 1, allocator.Pod{GPUs: 8}))
	require.NoError(t, err)
	second, err := f.Plan(start, ask("B", 1, allocator.Pod{GPUs: 8}))
	require.NoError(t, err)
	_, err = f.Commit(start, first)
	require.NoError(t, err)
	_, err = f.Commit(start, second)
	require.ErrorIs(t, err, allocator.ErrStale)
	require.EqualValues(t, 1, f.Totals().Placements)
}

func TestScenario08NothingIsLostOverMixedNodes(t *testing.T) {
	var gpus []int
	for i := range 150 {
		gpus = append(gpus, 4+4*(i%3))
	}
	f := gpuCluster(t, gpus...)
	p := place(t, f, ask("A", 208, allocator.Pod{GPUs: 4}))
	require.Len(t, p.Assignments, 208)
	require.EqualValues(t, 208*4000, f.Totals().AllocatedMilli)
	require.EqualValues(t, (300-208)*4000, f.Totals().FreeMilli)
}

func TestScenario18OneGPUOffTheBus(t *testing.T) {
	f := gpuCluster(t, 8)
	require.NoError(t, f.FailGPU(start, "x1", 3, "health"))
	for k := int64(1); k <= 7; k++ {
		p, err := f.Fork().Place(start, ask("A", 1, allocator.Pod{GPUs: k}))
		require.NoError(t, err)
		require.NotContains(t, p.Assignments[0].GPUs, 3)
	}
	_, err := f.Plan(start, ask("A", 1, allocator.Pod{GPUs: 8}))
	require.ErrorContains(t, err, "1 unhealthy")
	e := unplaceable(t, err)
	require.False(t, e.Never)
	require.Equal(t, []allocator.Count{{Reason: allocator.ReasonGPUFailed, Nodes: 1}}, e.Explanation.Counts)
	require.Equal(t, []allocator.Help{{Kind: allocator.HelpHeal, Nodes: 1}}, e.Explanation.Help)
}

func TestScenario22TheRightPairWhateverTheOrder(t *testing.T) {
	cfg := topology.Config{
		Shapes: []topology.ShapeSpec{{Name: "c53", CPUMilli: 53_000}, {Name: "c31", CPUMilli: 31_000}},
		Nodes:  []topology.NodeSpec{{ID: "first", Shape: "c53"}, {ID: "second", Shape: "c31"}},
	}
	c, err := topology.New(cfg)
	require.NoError(t, err)
	x, y := allocator.Group{Name: "X", Count: 1, Pod: allocator.Pod{CPUMilli: 30_000}}, allocator.Group{Name: "Y", Count: 1, Pod: allocator.Pod{CPUMilli: 50_000}}
	for _, groups := range [][]allocator.Group{{x, y}, {y, x}} {
		f, err := allocator.New(allocator.Config{Cluster: c})
		require.NoError(t, err)
		p := place(t, f, allocator.Request{ID: "A", Tenant: "ants", Groups: groups})
		for i, node := range on(f, p) {
			require.Equal(t, map[string]string{"X": "second", "Y": "first"}[groups[i].Name], node)
		}
	}
	f, err := allocator.New(allocator.Config{Cluster: c}) // one after the other, the small one first
	require.NoError(t, err)
	require.Equal(t, []string{"second"}, on(f, place(t, f, ask("X", 1, x.Pod))))
	require.Equal(t, []string{"first"}, on(f, place(t, f, ask("Y", 1, y.Pod))))
}

func TestScenario23TheGangThatWaitsHoldsNothing(t *testing.T) {
	gpus := make([]int, 100)
	for i := range gpus {
		gpus[i] = 8
	}
	f := gpuCluster(t, gpus...)
	place(t, f, ask("A", 100, allocator.Pod{GPUs: 8}))
	before, err := f.MarshalBinary()
	require.NoError(t, err)
	_, err = f.Place(start, ask("B", 100, allocator.Pod{GPUs: 8}))
	require.ErrorIs(t, err, allocator.ErrUnplaceable)
	after, err := f.MarshalBinary()
	require.NoError(t, err)
	require.Equal(t, before, after, "A4")
	require.NoError(t, f.Release(start, "A"))
	place(t, f, ask("B", 100, allocator.Pod{GPUs: 8}))
}

func TestScenario25HalvesFillGPUs(t *testing.T) {
	f := gpuCluster(t, 8)
	p := place(t, f, ask("A", 16, allocator.Pod{GPUMilli: 500}))
	pods := map[int]int{}
	for _, a := range p.Assignments {
		pods[a.GPUs[0]]++
	}
	require.Equal(t, map[int]int{0: 2, 1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2, 7: 2}, pods)
}

// Two pods on one GPU use one GPU, and leave room for a pod without GPU.
func TestScenario27SharedGPUIsUsedOnce(t *testing.T) {
	f := gpuCluster(t, 1)
	place(t, f, ask("A", 2, allocator.Pod{GPUMilli: 500, CPUMilli: 1000}))
	require.EqualValues(t, 1000, f.Totals().AllocatedMilli)
	require.Equal(t, []int64{0}, f.Free(0).GPUMilli)
	_, err := f.Plan(start, ask("B", 1, allocator.Pod{GPUMilli: 1}))
	require.ErrorIs(t, err, allocator.ErrUnplaceable)
	place(t, f, ask("C", 1, allocator.Pod{CPUMilli: 1000}))
}
