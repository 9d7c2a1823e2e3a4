// SPDX-License-Identifier: Apache-2.0

package allocator_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/allocator/allocatortest"
	"github.com/berth-gpu/berth/topology"
)

func edited(t require.TestingT, c *topology.Cluster, ch topology.Change) *topology.Cluster {
	next, err := c.Apply(ch)
	require.NoError(t, err)
	return next
}

func TestPlacementsOnANodeThatLeavesAreStranded(t *testing.T) {
	f := fleet(t, "t4x2", "t4x4")
	p := place(t, f, ask("A", 3, allocator.Pod{GPUs: 2, CPUMilli: 1000}))
	place(t, f, ask("B", 1, allocator.Pod{CPUMilli: 1000}))
	require.NoError(t, f.Cordon(start, "n1", "ann", ""))
	gone := edited(t, f.Cluster(), topology.Change{Remove: []topology.NodeID{"n1"}})
	require.NoError(t, f.SetCluster(start, gone))
	require.NoError(t, allocatortest.Check(f))
	require.NoError(t, f.Check())
	stranded := slices.Collect(f.Stranded())
	require.Len(t, stranded, 1)
	require.Equal(t, p, stranded[0])
	require.EqualValues(t, 4000, f.Totals().StrandedMilli)
	require.EqualValues(t, 2000, f.Totals().AllocatedMilli)
	require.False(t, f.Free(1).Present)

	restored, err := allocator.Restore(encoded(t, f), gone)
	require.NoError(t, err)
	require.Equal(t, encoded(t, f), encoded(t, restored))
	require.Equal(t, f.Totals(), restored.Totals())

	t.Run("it comes back as it was, cordon included", func(t *testing.T) {
		g := f.Fork()
		require.NoError(t, g.SetCluster(start, edited(t, gone, topology.Change{Add: []topology.NodeSpec{{ID: "n1", Shape: "t4x4"}}})))
		require.NoError(t, allocatortest.Check(g))
		require.Empty(t, slices.Collect(g.Stranded()))
		require.True(t, g.Free(1).Cordoned)
		require.Equal(t, []int64{0, 0, 0, 0}, g.Free(1).GPUMilli)
	})
	t.Run("it comes back too small", func(t *testing.T) {
		g := f.Fork()
		small := edited(t, gone, topology.Change{Add: []topology.NodeSpec{{ID: "n1", Shape: "t4x2"}}})
		before := encoded(t, g)
		require.ErrorIs(t, g.SetCluster(start, small), allocator.ErrInUse)
		require.Equal(t, before, encoded(t, g), "A4")
		require.NoError(t, g.Release(start, "A"))
		require.NoError(t, g.SetCluster(start, small))
		require.NoError(t, allocatortest.Check(g))
	})
	t.Run("the work there is released", func(t *testing.T) {
		g := f.Fork()
		require.NoError(t, g.Release(start, "A"))
		require.Empty(t, slices.Collect(g.Stranded()))
		require.Zero(t, g.Totals().StrandedMilli)
		require.NoError(t, allocatortest.Check(g))
	})
}

func TestSetClusterRefusesWhatDoesNotContinue(t *testing.T) {
	f := fleet(t, "t4x2", "t4x4")
	require.ErrorIs(t, f.SetCluster(start, nil), allocator.ErrInvalid)
	require.ErrorIs(t, f.SetCluster(start, fleet(t, "t4x2").Cluster()), allocator.ErrCluster)
	require.NoError(t, f.FailGPU(start, "n1", 3, "health"))
	require.ErrorIs(t, f.SetCluster(start, edited(t, f.Cluster(), topology.Change{Replace: []topology.NodeSpec{{ID: "n1", Shape: "t4x2"}}})), allocator.ErrInUse)
	events := len(f.Events())
	require.NoError(t, f.SetCluster(start, f.Cluster()), "the same cluster changes nothing")
	require.Len(t, f.Events(), events)
}

// A decoded event needs its cluster, and the right one.
func TestClusterChangedNeedsItsCluster(t *testing.T) {
	f := fleet(t, "t4x2", "t4x4")
	base := f.Fork()
	next := edited(t, f.Cluster(), topology.Change{Add: []topology.NodeSpec{{ID: "n2", Shape: "cpu"}}})
	require.NoError(t, f.SetCluster(start, next))
	raw, err := f.Events()[0].AppendBinary(nil)
	require.NoError(t, err)
	e, err := allocator.DecodeEvent(raw)
	require.NoError(t, err)
	require.ErrorIs(t, base.Apply(e), allocator.ErrContradiction)
	changed, ok := e.(allocator.ClusterChanged)
	require.True(t, ok)
	require.ErrorIs(t, base.Apply(changed.On(base.Cluster())), allocator.ErrCluster)
	require.NoError(t, base.Apply(changed.On(next)))
	require.Same(t, next, base.Cluster())
}
