// SPDX-License-Identifier: Apache-2.0

package topologytest

import (
	"iter"
	"slices"
	"strings"

	"github.com/berth-gpu/berth/topology"
	"github.com/stretchr/testify/require"
)

// Check recounts a cluster from the specs of its nodes, in the plainest way, and fails the test where an answer differs:
// counts, ordinals, domains with their nodes, parents and children (T3), lowest common levels (T5) and GPU ids (T9).
func Check(t require.TestingT, c *topology.Cluster) { check(t, c) }

// cluster is what check asks of a [topology.Cluster].
type cluster interface {
	Len() int
	Count() int
	GPUCount() int64
	Index(topology.NodeID) (topology.NodeIndex, bool)
	ID(topology.NodeIndex) topology.NodeID
	Spec(topology.NodeIndex) (topology.NodeSpec, bool)
	Present(topology.NodeIndex) bool
	Shape(topology.NodeIndex) *topology.Shape
	Nodes() iter.Seq[topology.NodeIndex]
	Families() []topology.Family
	Levels(topology.Family) []topology.Level
	LevelIndex(topology.Level) (topology.LevelIndex, bool)
	Ancestor(topology.NodeIndex, topology.LevelIndex) topology.DomainIndex
	LowestIn(f topology.Family, a, b topology.NodeIndex) (topology.LevelIndex, bool)
	Lowest(a, b topology.NodeIndex) (topology.LevelIndex, bool)
	DomainLen() int
	Domain(topology.DomainIndex) topology.Domain
	DomainByID(topology.Level, topology.DomainID) (topology.DomainIndex, bool)
	Domains(topology.LevelIndex) iter.Seq[topology.DomainIndex]
	Children(topology.DomainIndex) iter.Seq[topology.DomainIndex]
	NodesOf(topology.DomainIndex) iter.Seq[topology.NodeIndex]
	GPUID(topology.NodeIndex, int) topology.GPUID
	FindGPU(topology.GPUID) (topology.GPURef, bool)
}

func check(t require.TestingT, c cluster) {
	count, gpus := 0, int64(0)
	members := map[topology.Level]map[topology.DomainID][]topology.NodeIndex{}
	parents := map[topology.Level]map[topology.DomainID]topology.DomainIndex{}
	for i := topology.NodeIndex(0); int(i) < c.Len(); i++ {
		at, known := c.Index(c.ID(i))
		require.True(t, known)
		require.Equal(t, i, at, "Index of the ID of node %d", i)
		spec, present := c.Spec(i)
		require.Equal(t, present, c.Present(i))
		if present {
			require.Equal(t, c.ID(i), spec.ID)
			require.Equal(t, spec.Shape, c.Shape(i).Name())
			count++
			gpus += int64(c.Shape(i).GPUs())
			checkGPUs(t, c, i, spec)
		}
		checkPlaces(t, c, i, spec, members, parents)
	}
	require.Equal(t, count, c.Count())
	require.Equal(t, gpus, c.GPUCount())
	require.Len(t, slices.Collect(c.Nodes()), count)
	checkDomains(t, c, members, parents)
	checkPairs(t, c)
}

// checkPairs compares Lowest and LowestIn for every pair of the first 64 ordinals, in every family.
func checkPairs(t require.TestingT, c cluster) {
	n := topology.NodeIndex(min(c.Len(), 64))
	paths := make([]map[topology.Level]string, n)
	for i := range n {
		spec, _ := c.Spec(i)
		paths[i] = spec.Path
	}
	for _, f := range append([]topology.Family{""}, c.Families()...) {
		levels := c.Levels(f)
		if f == "" {
			levels = levels[:slices.Index(levels, topology.LevelNode)]
		}
		for a := range n {
			for b := range n {
				want, some := lowest(levels, paths[a], paths[b]), topology.NoLevel
				if a == b {
					want = topology.LevelNode
				}
				if want != "" && c.Present(a) && c.Present(b) {
					some, _ = c.LevelIndex(want)
				}
				got, ok := c.LowestIn(f, a, b)
				if some != got || ok != (got != topology.NoLevel) {
					require.Fail(t, "T5", "LowestIn(%q, %d, %d) is %d, %v, counted %d", f, a, b, got, ok, some)
				}
				if same, sure := c.Lowest(a, b); f == "" && (same != got || sure != ok) {
					require.Fail(t, "T5", "Lowest(%d, %d) is %d, %v, LowestIn %d", a, b, same, sure, got)
				}
			}
		}
	}
}

func checkGPUs(t require.TestingT, c cluster, i topology.NodeIndex, spec topology.NodeSpec) {
	for g := range c.Shape(i).GPUs() {
		id := c.GPUID(i, g)
		if spec.GPUIDs != nil {
			require.Equal(t, spec.GPUIDs[g], id)
		}
		ref, ok := c.FindGPU(id)
		require.True(t, ok, "FindGPU(%s)", id)
		require.Equal(t, topology.GPURef{Node: i, GPU: g}, ref)
	}
}

// checkPlaces compares the ancestors of a node with its path, and adds the node to what the path says.
func checkPlaces(t require.TestingT, c cluster, i topology.NodeIndex, spec topology.NodeSpec,
	members map[topology.Level]map[topology.DomainID][]topology.NodeIndex, parents map[topology.Level]map[topology.DomainID]topology.DomainIndex) {
	for _, f := range append([]topology.Family{""}, c.Families()...) {
		var path []string
		parent := topology.NoDomain
		for _, level := range c.Levels(f) {
			l, _ := c.LevelIndex(level)
			name, has := spec.Path[level]
			if !has {
				require.Equal(t, topology.NoDomain, c.Ancestor(i, l), "node %d lacks %s", i, level)
				continue
			}
			path = append(path, name)
			id := topology.DomainID(strings.Join(path, "/"))
			d, ok := c.DomainByID(level, id)
			require.True(t, ok, "domain %s of %s", id, level)
			require.Equal(t, d, c.Ancestor(i, l), "node %d at %s", i, level)
			if members[level] == nil {
				members[level], parents[level] = map[topology.DomainID][]topology.NodeIndex{}, map[topology.DomainID]topology.DomainIndex{}
			}
			members[level][id] = append(members[level][id], i)
			parents[level][id] = parent
			parent = d
		}
	}
}

func checkDomains(t require.TestingT, c cluster,
	members map[topology.Level]map[topology.DomainID][]topology.NodeIndex, parents map[topology.Level]map[topology.DomainID]topology.DomainIndex) {
	children := map[topology.DomainIndex][]topology.DomainIndex{}
	byLevel := map[topology.Level][]topology.DomainIndex{}
	for d := topology.DomainIndex(0); int(d) < c.DomainLen(); d++ {
		x := c.Domain(d)
		at, ok := c.DomainByID(x.Level, x.ID)
		require.True(t, ok)
		require.Equal(t, d, at)
		require.Equal(t, members[x.Level][x.ID], slices.Collect(c.NodesOf(d)), "nodes of %s %s", x.Level, x.ID)
		require.Equal(t, len(members[x.Level][x.ID]), x.Nodes)
		if x.Nodes > 0 {
			require.Equal(t, parents[x.Level][x.ID], x.Parent, "parent of %s %s", x.Level, x.ID)
			children[x.Parent] = append(children[x.Parent], d)
			byLevel[x.Level] = append(byLevel[x.Level], d)
			delete(members[x.Level], x.ID)
		}
	}
	for level, rest := range members {
		require.Empty(t, rest, "domains of %s without an ordinal", level)
		l, _ := c.LevelIndex(level)
		require.Equal(t, byLevel[level], slices.Collect(c.Domains(l)))
	}
	for d := topology.DomainIndex(0); int(d) < c.DomainLen(); d++ {
		require.Equal(t, children[d], slices.Collect(c.Children(d)), "children of %d", d)
	}
}

// lowest walks two paths from the top: they share a domain as long as they name, or lack, the same levels alike.
func lowest(levels []topology.Level, a, b map[topology.Level]string) topology.Level {
	best := topology.Level("")
	for _, level := range levels {
		na, hasA := a[level]
		nb, hasB := b[level]
		if hasA != hasB || na != nb {
			break
		}
		if hasA {
			best = level
		}
	}
	return best
}
