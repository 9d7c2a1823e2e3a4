// SPDX-License-Identifier: Apache-2.0

package allocator_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/allocator/allocatortest"
	"github.com/berth-gpu/berth/topology"
)

func unplaceable(t require.TestingT, err error) *allocator.UnplaceableError {
	require.ErrorIs(t, err, allocator.ErrUnplaceable)
	e, ok := errors.AsType[*allocator.UnplaceableError](err)
	require.True(t, ok)
	return e
}

func TestExplainNamesEachReason(t *testing.T) {
	f := fleet(t, "cpu", "t4x2", "t4x2", "t4x2", "t4x4", "a10x8", "a10x8", "a10x8")
	other := ask("other", 1, allocator.Pod{CPUMilli: 1000})
	other.Tenant, other.Nodes = "bees", []topology.NodeID{"n4"}
	place(t, f, other)
	require.NoError(t, f.Cordon(start, "n5", "human/oncall", "fan"))
	require.NoError(t, f.FailGPU(start, "n1", 0, "health"))
	require.NoError(t, f.SetFreeUntil(start, "n2", start.Add(time.Hour)))
	full := ask("full", 1, allocator.Pod{GPUMilli: 900, CPUMilli: 30_000})
	full.Nodes = []topology.NodeID{"n3"}
	place(t, f, full)
	r := ask("r", 1, allocator.Pod{GPUs: 2, CPUMilli: 4000})
	r.Until = start.Add(2 * time.Hour)
	r.Models = []string{"T4", "A10"}
	x, err := f.Explain(start, r)
	require.NoError(t, err)
	require.True(t, x.Fits)
	require.Equal(t, 8, x.Nodes)
	require.Equal(t, []allocator.Count{
		{Reason: allocator.ReasonModel, Nodes: 1}, {Reason: allocator.ReasonGPU, Nodes: 1}, {Reason: allocator.ReasonGPUFailed, Nodes: 1},
		{Reason: allocator.ReasonUntil, Nodes: 1}, {Reason: allocator.ReasonTenant, Nodes: 1}, {Reason: allocator.ReasonCordoned, Nodes: 1},
		{Reason: allocator.ReasonFits, Nodes: 2},
	}, x.Counts, "A15")
	r.Groups[0].Pod = allocator.Pod{GPUMilli: 200, CPUMilli: 3000}
	r.Nodes = []topology.NodeID{"n3"}
	x, err = f.Explain(start, r)
	require.NoError(t, err)
	require.Equal(t, []allocator.Count{{Reason: allocator.ReasonNotListed, Nodes: 7}, {Reason: allocator.ReasonCPU, Nodes: 1}}, x.Counts)
	require.Equal(t, &allocator.Near{Node: "n3", Tenant: "ants", CPUMilli: 1000}, x.Near)
	r.Groups[0].Pod = allocator.Pod{GPUMilli: 200, MemoryMiB: 65_537}
	x, err = f.Explain(start, r)
	require.NoError(t, err)
	require.True(t, x.Never)
	require.Equal(t, allocator.Count{Reason: allocator.ReasonMemory, Nodes: 1}, x.Counts[1])
}

func TestExplainSaysHowLongAPlaceIsFree(t *testing.T) {
	f := fleet(t, "t4x2", "t4x2", "t4x2")
	for i, node := range []topology.NodeID{"n0", "n1", "n2"} {
		require.NoError(t, f.SetFreeUntil(start, node, start.Add(time.Duration(i+1)*time.Hour)))
	}
	r := ask("r", 2, allocator.Pod{GPUs: 2})
	r.Until = start.Add(9 * time.Hour)
	_, err := f.Plan(start, r)
	e := unplaceable(t, err)
	require.Equal(t, []allocator.Help{{Kind: allocator.HelpUntil, Nodes: 3, Until: start.Add(2 * time.Hour)}}, e.Explanation.Help)
	r.Until = e.Explanation.Help[0].Until
	place(t, f, r)
}

func TestRefusalForATenantHidesOthers(t *testing.T) {
	f := fleet(t, "t4x4")
	mine := ask("mine", 1, allocator.Pod{GPUs: 3})
	place(t, f, mine)
	r := ask("r", 1, allocator.Pod{GPUs: 2})
	r.Tenant = "bees"
	_, err := f.Plan(start, r)
	e := unplaceable(t, err)
	require.Equal(t, &allocator.Near{Node: "n0", Tenant: "ants", GPUs: 1}, e.Explanation.Near)
	require.Contains(t, e.Error(), `nearest is node "n0", 1 GPU short`)
	seen := e.For("bees")
	require.ErrorIs(t, seen, allocator.ErrUnplaceable)
	require.Equal(t, "r", seen.ID)
	require.Nil(t, seen.Explanation.Near)
	require.NotContains(t, seen.Error(), "n0")
	require.Empty(t, e.For("crows").ID)
	require.NotNil(t, e.Explanation.Near, "the error itself is untouched")
}

func TestA15ExplainIsSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := allocatortest.Fleets().Draw(t, "fleet")
		r := allocatortest.Requests(f.Cluster(), "asked").Draw(t, "asked")
		x, err := f.Explain(start, r)
		require.NoError(t, err)
		sum := 0
		for _, c := range x.Counts {
			require.Positive(t, c.Nodes)
			sum += c.Nodes
		}
		require.Equal(t, f.Cluster().Count(), sum, "A15: the counts add up")
		_, err = f.Plan(start, r)
		require.Equal(t, x.Fits, err == nil)
		if x.Fits {
			return
		}
		require.Less(t, x.Room, x.Pods)
		fresh, errNew := allocator.New(allocator.Config{Cluster: f.Cluster()})
		require.NoError(t, errNew)
		_, errEmpty := fresh.Plan(start, r)
		require.Equal(t, x.Never, errEmpty != nil, "A15: never is: not even on the empty fleet")
		require.False(t, x.Never && len(x.Help) > 0)
		for _, h := range x.Help {
			g := f.Fork()
			asked := follow(t, g, h, r)
			if h.Kind != allocator.HelpTenants {
				_, err := g.Plan(start, asked)
				require.NoError(t, err, "A15: %v helps", h)
			}
		}
	})
}

// follow does what a help says.
func follow(t require.TestingT, f *allocator.Fleet, h allocator.Help, r allocator.Request) allocator.Request {
	var cordons []allocator.Cordon
	for c := range f.Cordons() {
		cordons = append(cordons, c)
	}
	switch h.Kind {
	case allocator.HelpUncordon:
		for _, c := range cordons {
			require.NoError(t, f.Uncordon(start, c.Node, c.Owner))
		}
	case allocator.HelpHeal:
		for _, c := range cordons {
			if c.GPU >= 0 {
				require.NoError(t, f.RestoreGPU(start, c.Node, c.GPU, c.Owner))
			}
		}
	case allocator.HelpRelease:
		for _, p := range slices.Collect(f.Placements()) {
			require.NoError(t, f.Release(start, p.ID()))
		}
	case allocator.HelpUntil:
		r.Until = h.Until
	}
	return r
}

func TestNearestMissIsWhatIsMissing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := allocatortest.Fleets().Draw(t, "fleet")
		r := allocator.Request{ID: "asked", Tenant: "ants", Groups: []allocator.Group{{Count: 1, Pod: allocatortest.Pods().Draw(t, "pod")}}}
		x, err := f.Explain(start, r)
		require.NoError(t, err)
		if x.Near == nil {
			require.True(t, x.Fits || x.Never, "hardware that would hold the pod is near")
			return
		}
		i, ok := f.Cluster().Index(x.Near.Node)
		require.True(t, ok)
		free, pod := f.Free(i), r.Groups[0].Pod
		whole, widest := int64(0), int64(0)
		for _, m := range free.GPUMilli {
			whole += m / 1000
			widest = max(widest, m)
		}
		require.Equal(t, max(pod.GPUs-whole, 0), x.Near.GPUs)
		require.Equal(t, max(pod.GPUMilli-widest, 0), x.Near.GPUMilli)
		require.Equal(t, max(pod.CPUMilli-free.CPUMilli, 0), x.Near.CPUMilli)
		require.Equal(t, max(pod.MemoryMiB-free.MemoryMiB, 0), x.Near.MemoryMiB)
	})
}
