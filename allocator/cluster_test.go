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
	require.NoError(t, f.Cordon(start, "n1", "human/oncall", ""))
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

// Two edits of one cluster have the same version. Only the one that was decided on is taken.
func TestAnotherClusterOfTheSameVersionIsRefused(t *testing.T) {
	f := fleet(t, "t4x2", "t4x4")
	base, first := f.Fork(), f.Cluster()
	left := edited(t, first, topology.Change{Remove: []topology.NodeID{"n0"}})
	right := edited(t, first, topology.Change{Remove: []topology.NodeID{"n1"}})
	require.Equal(t, left.Version(), right.Version())
	require.NotEqual(t, allocator.ContentOf(left), allocator.ContentOf(right))
	require.NoError(t, f.SetCluster(start, left))

	raw, err := f.Events()[0].AppendBinary(nil)
	require.NoError(t, err)
	e, err := allocator.DecodeEvent(raw)
	require.NoError(t, err)
	before := encoded(t, base)
	require.ErrorIs(t, base.Apply(e.(allocator.ClusterChanged).On(right)), allocator.ErrCluster)
	require.Equal(t, before, encoded(t, base), "A4")
	require.NoError(t, base.Apply(e.(allocator.ClusterChanged).On(left)))

	snapshot := encoded(t, f)
	for name, c := range map[string]*topology.Cluster{"the version before": first, "another edit": right,
		"a later one": edited(t, left, topology.Change{Add: []topology.NodeSpec{{ID: "n9", Shape: "cpu"}}})} {
		_, err = allocator.Restore(snapshot, c)
		require.ErrorIs(t, err, allocator.ErrCluster, name)
		require.NotErrorIs(t, err, allocator.ErrCorrupt, name)
	}
	require.ErrorIs(t, f.SetCluster(start, right), allocator.ErrCluster, "the same version")
	require.ErrorIs(t, f.SetCluster(start, first), allocator.ErrCluster, "a version back")
	require.Same(t, left, f.Cluster())

	// A copy of the cluster is as good as the cluster.
	text, err := left.MarshalJSON()
	require.NoError(t, err)
	copied, err := topology.Decode(text)
	require.NoError(t, err)
	events := len(f.Events())
	require.NoError(t, f.SetCluster(start, copied))
	require.Len(t, f.Events(), events)
	restored, err := allocator.Restore(snapshot, copied)
	require.NoError(t, err)
	require.Equal(t, snapshot, encoded(t, restored))
}

// Every part of what a fleet depends on changes the content.
func TestContent(t *testing.T) {
	build := func(id topology.NodeID, s topology.ShapeSpec) allocator.Content {
		s.Name = "s"
		c, err := topology.New(topology.Config{Shapes: []topology.ShapeSpec{s}, Nodes: []topology.NodeSpec{{ID: id, Shape: "s"}}})
		require.NoError(t, err)
		return allocator.ContentOf(c)
	}
	spec := topology.ShapeSpec{Model: "T4", GPUs: 2, CPUMilli: 1000, MemoryMiB: 1024}
	want := build("n", spec)
	require.Equal(t, want, build("n", spec))
	require.Len(t, want.String(), 64)
	require.NotEqual(t, want, build("m", spec), "id")
	for name, spoil := range map[string]func(*topology.ShapeSpec){
		"model":  func(s *topology.ShapeSpec) { s.Model = "A10" },
		"GPUs":   func(s *topology.ShapeSpec) { s.GPUs = 3 },
		"CPU":    func(s *topology.ShapeSpec) { s.CPUMilli++ },
		"memory": func(s *topology.ShapeSpec) { s.MemoryMiB++ },
	} {
		s := spec
		spoil(&s)
		require.NotEqual(t, want, build("n", s), name)
	}
}
