// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/berth-gpu/berth/topology"
	"github.com/berth-gpu/berth/topology/topologytest"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// fleet is the naive model of a cluster under edits: what is present, and every ordinal ever given.
type fleet struct {
	specs   map[topology.NodeID]topology.NodeSpec
	nodes   map[topology.NodeID]topology.NodeIndex
	domains map[string]topology.DomainIndex
	version uint64
}

func (f *fleet) apply(ch topology.Change) (changed bool) {
	for _, n := range append(append([]topology.NodeSpec{}, ch.Add...), ch.Replace...) {
		old, had := f.specs[n.ID]
		changed = changed || !had || fmt.Sprint(old) != fmt.Sprint(n)
		f.specs[n.ID] = n
		if _, known := f.nodes[n.ID]; !known {
			f.nodes[n.ID] = topology.NodeIndex(len(f.nodes))
		}
	}
	for _, id := range ch.Remove {
		_, had := f.specs[id]
		changed = changed || had
		delete(f.specs, id)
	}
	return changed
}

func (f *fleet) compare(t require.TestingT, c *topology.Cluster) {
	require.Equal(t, f.version, c.Version(), "T8")
	require.Equal(t, len(f.nodes), c.Len(), "T2: no ordinal is given twice")
	require.Equal(t, len(f.specs), c.Count())
	for id, want := range f.nodes {
		at, ok := c.Index(id)
		require.True(t, ok)
		require.Equal(t, want, at, "T1, T2: ordinal of %s", id)
		got, present := c.Spec(at)
		spec, here := f.specs[id]
		require.Equal(t, here, present)
		require.Equal(t, fmt.Sprint(spec), fmt.Sprint(got))
	}
	for d := topology.DomainIndex(0); int(d) < c.DomainLen(); d++ {
		key := string(c.Domain(d).Level) + "\n" + string(c.Domain(d).ID)
		if _, known := f.domains[key]; !known {
			require.Equal(t, len(f.domains), int(d), "T2: a new domain gets the next ordinal")
			f.domains[key] = d
		}
		require.Equal(t, f.domains[key], d, "T1: ordinal of domain %q", key)
	}
	require.Len(t, f.domains, c.DomainLen())
	topologytest.Check(t, c)
}

// TestEditsKeepOrdinals runs random edits against the model: T1, T2, T3, T5, T8, T9.
func TestEditsKeepOrdinals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := topologytest.Configs().Draw(t, "config")
		c, err := topology.New(cfg)
		require.NoError(t, err)
		f := fleet{specs: map[topology.NodeID]topology.NodeSpec{}, nodes: map[topology.NodeID]topology.NodeIndex{},
			domains: map[string]topology.DomainIndex{}, version: 1}
		f.apply(topology.Change{Add: cfg.Nodes})
		f.compare(t, c)
		late := false
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			ch := topologytest.Changes(c).Draw(t, "change")
			before := encode(t, c)
			next, err := c.Apply(ch)
			require.NoError(t, err)
			require.Equal(t, before, encode(t, c), "T6: the base never changes")
			newShape := len(ch.Shapes) > 0 && !late
			late = late || newShape
			if f.apply(ch) || newShape {
				f.version++
			} else {
				require.Same(t, c, next, "T8")
			}
			f.compare(t, next)
			again, err := next.Apply(topology.Change{Remove: ch.Remove, Shapes: ch.Shapes, Replace: ch.Replace})
			require.NoError(t, err)
			require.Same(t, next, again, "T8: the same edit again changes nothing")
			c = next
		}
	})
}

// TestChangeRoundTrip sends edits through JSON, as a host's log does: the same cluster comes out.
func TestChangeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, err := topology.New(topologytest.Configs().Draw(t, "config"))
		require.NoError(t, err)
		ch := topologytest.Changes(c).Draw(t, "change")
		data, err := json.Marshal(ch)
		require.NoError(t, err)
		back, err := topology.DecodeChange(data)
		require.NoError(t, err)
		live, err := c.Apply(ch)
		require.NoError(t, err)
		replayed, err := c.Apply(back)
		require.NoError(t, err)
		require.Equal(t, encode(t, live), encode(t, replayed))
	})
}

// TestEditMistakes: T6, every mistake of an edit at once, and no cluster.
func TestEditMistakes(t *testing.T) {
	c := topologytest.Small()
	before := encode(t, c)
	moved, _ := c.Spec(0)
	moved.Labels = map[string]string{"a": "b"}
	next, err := c.Edit().
		Add(moved, topology.NodeSpec{ID: "x", Shape: "none"}).
		Remove("ghost", "pod-000-leaf-000-node-001", "pod-000-leaf-000-node-001").
		Replace(topology.NodeSpec{ID: "stranger", Shape: "DGX-H100"}).
		Build()
	require.Nil(t, next)
	require.ErrorIs(t, err, topology.ErrConflict)
	require.ErrorIs(t, err, topology.ErrUnknown)
	require.ErrorIs(t, err, topology.ErrDuplicate)
	for _, want := range []string{`add[0].id="pod-000-leaf-000-node-000"`, `add[1].shape="none"`, `remove[0]="ghost"`, `remove[2]="pod-000-leaf-000-node-001"`, `replace[0].id="stranger"`} {
		require.ErrorContains(t, err, want)
	}
	require.Equal(t, before, encode(t, c))
}

// TestGPUMovesBetweenNodes: a GPU may change its node within one edit, and no two nodes may have it (T9).
func TestGPUMovesBetweenNodes(t *testing.T) {
	shape := topology.ShapeSpec{Name: "one", Model: "T4", GPUs: 1}
	c, err := topology.New(topology.Config{Shapes: []topology.ShapeSpec{shape}, Nodes: []topology.NodeSpec{
		{ID: "a", Shape: "one", GPUIDs: []topology.GPUID{"GPU-1"}}, {ID: "b", Shape: "one", GPUIDs: []topology.GPUID{"GPU-2"}}}})
	require.NoError(t, err)
	_, err = c.Edit().Replace(topology.NodeSpec{ID: "b", Shape: "one", GPUIDs: []topology.GPUID{"GPU-1"}}).Build()
	require.ErrorIs(t, err, topology.ErrDuplicate)
	require.ErrorContains(t, err, `replace[0].gpuIDs[0]="GPU-1"`)
	c, err = c.Edit().Replace(topology.NodeSpec{ID: "b", Shape: "one", GPUIDs: []topology.GPUID{"GPU-1"}},
		topology.NodeSpec{ID: "a", Shape: "one"}).Build()
	require.NoError(t, err)
	ref, ok := c.FindGPU("GPU-1")
	require.True(t, ok)
	require.Equal(t, topology.GPURef{Node: 1, GPU: 0}, ref)
	_, ok = c.FindGPU("GPU-2")
	require.False(t, ok)
	require.Equal(t, topology.GPUID("a/0"), c.GPUID(0, 0))
}

// TestEmptyDomainMoves: the same path may be reached through another level once no node holds it (T1: it keeps its ordinal).
func TestEmptyDomainMoves(t *testing.T) {
	at := func(l topology.Level) topology.NodeSpec {
		return topology.NodeSpec{ID: "n", Shape: "s", Path: map[topology.Level]string{l: "a", topology.LevelRack: "r"}}
	}
	cfg := topology.Config{Shapes: []topology.ShapeSpec{{Name: "s"}}, Nodes: []topology.NodeSpec{at(topology.LevelZone)}}
	c, err := topology.New(cfg)
	require.NoError(t, err)
	rack, _ := c.DomainByID(topology.LevelRack, "a/r")

	other := at(topology.LevelRegion)
	other.ID = "m"
	_, err = c.Edit().Add(other).Build()
	require.ErrorIs(t, err, topology.ErrConflict)
	require.ErrorContains(t, err, `add[0].path.rack="a/r"`)

	c, err = c.Edit().Replace(at(topology.LevelRegion)).Build()
	require.NoError(t, err)
	moved, _ := c.DomainByID(topology.LevelRack, "a/r")
	require.Equal(t, rack, moved)
	require.Equal(t, topology.LevelRegion, c.Domain(c.Domain(moved).Parent).Level)
	topologytest.Check(t, c)
	back, err := topology.Decode(encode(t, c))
	require.NoError(t, err)
	require.Equal(t, encode(t, c), encode(t, back))
}

// TestSiblingEdits: edits of one cluster share its memory and must not meet in it. Every sibling adds domains of other levels,
// so that an array written by two of them would show in [topologytest.Check].
func TestSiblingEdits(t *testing.T) {
	rack := func(id topology.NodeID, pod, leaf, rack string) topology.NodeSpec {
		return topology.NodeSpec{ID: id, Shape: "DGX-H100", Path: map[topology.Level]string{"pod": pod, "leaf": leaf, "rack": rack}}
	}
	edit := topologytest.Small().Edit().Add(rack("a", "p", "l", "r0"))
	for i := range 4 { // five racks leave room for more in the arrays that grew
		edit.Add(rack(topology.NodeID(fmt.Sprint("b", i)), "p", "l", fmt.Sprint("q", i)))
	}
	c, err := edit.Build()
	require.NoError(t, err)
	siblings := make([]*topology.Cluster, 4)
	var all sync.WaitGroup
	for i := range siblings {
		all.Go(func() {
			path := []string{"p", "l", "r3"}
			for level := range i {
				path[level%3] += "'"
			}
			siblings[i], _ = c.Edit().Add(rack("d", path[0], path[1], path[2]), rack("e", "p", "l", fmt.Sprint("s", i))).Remove("a").Build()
		})
	}
	all.Wait()
	topologytest.Check(t, c)
	for _, s := range siblings {
		require.NotNil(t, s)
		topologytest.Check(t, s)
	}
}
