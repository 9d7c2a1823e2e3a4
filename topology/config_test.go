// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-gpu/berth/topology"
	"github.com/berth-gpu/berth/topology/topologytest"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestAllMistakesAtOnce gives one configuration with a mistake in every field: T6, T9.
func TestAllMistakesAtOnce(t *testing.T) {
	long := strings.Repeat("x", topology.MaxNameBytes+1)
	c, err := topology.NewBuilder().
		SetLevels("rack", "rack", "", "node", "gpu", "numa").
		AddFamily("power", "rack").AddFamily("power").AddFamily("a/b", "domain").
		AddModel(topology.GPUModel{Name: "T4", MemoryMiB: 1}, topology.GPUModel{Name: "m", MemoryMiB: -1, NVLinkDomain: -2, Vendor: "\x01"}, topology.GPUModel{}).
		AddShape(
			topology.ShapeSpec{Name: "s", Model: "T4", GPUs: 2, CPUMilli: -1, MemoryMiB: -2, NUMA: []int{0}, PCIeSwitch: []int{-2, 0}, NICs: -1},
			topology.ShapeSpec{Name: "s", Model: "T4", GPUs: 1},
			topology.ShapeSpec{Name: "", GPUs: 2000},
			topology.ShapeSpec{Name: "cpu", Model: "T4"},
			topology.ShapeSpec{Name: "none", GPUs: 1},
			topology.ShapeSpec{Name: "asym", Model: "T4", GPUs: 2, Links: [][]topology.Link{{0, 1}, {2, 9}}, NUMANodes: 1, NUMA: []int{0, 1}},
			topology.ShapeSpec{Name: "good", Model: "T4", GPUs: 2},
		).
		AddNode(
			topology.NodeSpec{ID: "n", Shape: "good", GPUIDs: []topology.GPUID{"g", "g"}},
			topology.NodeSpec{ID: "n", Shape: "good", Labels: map[string]string{"": "x"}},
			topology.NodeSpec{ID: topology.NodeID(long), Shape: "good", GPUIDs: []topology.GPUID{"g"}},
			topology.NodeSpec{ID: "p", Shape: "bad", Path: map[topology.Level]string{"gpu": "0", "rak": "1", "rack": "\t"}, Driver: "\n", CUDA: "\n"},
			topology.NodeSpec{ID: "q", Shape: "good", GPUIDs: []topology.GPUID{"a/b", "g"}},
		).Build()
	require.Nil(t, c)
	wants := []string{
		`duplicate: levels[1]="rack"`, `levels[2]=""`, `levels[5]="numa"`, `families[0].levels[0]="rack"`, `families[1].name="power"`,
		`families[1].levels=""`, `families[2].name="a/b"`,
		`conflict: models[0].name="T4"`, `models[1].memoryMiB="-1"`, `models[1].nvlinkDomain="-2"`, `models[1].vendor="\x01"`, `models[2].name=""`,
		`shapes[0].cpuMilli="-1"`, `shapes[0].memoryMiB="-2"`, `shapes[0].numa="1 entries"`, `shapes[0].pcieSwitch[0]="-2"`, `shapes[0].nics="-1"`,
		`conflict: shapes[1].name="s"`, `shapes[2].name=""`, `shapes[2].gpus="2000"`, `shapes[3].model="T4"`, `shapes[4].model=""`,
		`shapes[5].links[1][0]="PIX"`, `shapes[5].links[1][1]="Link(9)"`, `shapes[5].numa[1]="1"`,
		`duplicate: nodes[1].id="n"`, `nodes[1].labels.="x"`, `nodes[2].id="xxx`, `nodes[2].gpuIDs="1 ids"`, `unknown name: nodes[3].shape="bad"`,
		`nodes[3].path="gpu"`, `nodes[3].path="rak"`, `nodes[3].path.rack="\t"`, `nodes[3].driver="\n"`, `nodes[3].cuda="\n"`, `nodes[4].gpuIDs[0]="a/b"`,
		`duplicate: nodes[0].gpuIDs[1]="g"`,
	}
	for _, want := range wants {
		require.ErrorContains(t, err, want)
	}
	for _, line := range strings.Split(err.Error(), "\n") {
		require.Less(t, len(line), 400, "values are cut")
	}
	first, ok := errors.AsType[*topology.FieldError](err)
	require.True(t, ok)
	require.NotEmpty(t, first.Hint)
}

// TestDefaults: the zero Config is an empty cluster, and the zero Cluster is one too (T10).
func TestDefaults(t *testing.T) {
	c, err := topology.New(topology.Config{})
	require.NoError(t, err)
	for _, c := range []*topology.Cluster{c, {}} {
		require.Equal(t, []topology.Level{"region", "zone", "fabric", "pod", "leaf", "block", "rack", "node", "numa", "nvswitch", "gpu", "mig"}, c.Levels(""))
		require.Nil(t, c.Levels("power"))
		require.Zero(t, c.Len())
		askEverything(c)
		next, err := c.Edit().AddShape(topology.ShapeSpec{Name: "s"}).Add(topology.NodeSpec{ID: "n", Shape: "s"}).Build()
		require.NoError(t, err)
		require.Equal(t, 1, next.Count())
	}
}

// TestConfigBuildsTheSame: New(c.Config()) has the same present nodes in the same places.
func TestConfigBuildsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, err := topology.New(topologytest.Configs().Draw(t, "config"))
		require.NoError(t, err)
		c, err = c.Apply(topologytest.Changes(c).Draw(t, "change"))
		require.NoError(t, err)
		again, err := topology.New(c.Config())
		require.NoError(t, err)
		require.Equal(t, c.Config(), again.Config())
		require.Equal(t, c.Count(), again.Len())
	})
}

// TestOrderDoesNotMatter: T4, the order of the nodes decides ordinals and nothing else.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := topologytest.Configs().Draw(t, "config")
		a, err := topology.New(cfg)
		require.NoError(t, err)
		cfg.Nodes = rapid.Permutation(cfg.Nodes).Draw(t, "shuffled")
		b, err := topology.New(cfg)
		require.NoError(t, err)
		require.Equal(t, membership(a), membership(b))
	})
}

// membership gives the names of the nodes of every domain.
func membership(c *topology.Cluster) map[string]map[topology.NodeID]bool {
	out := map[string]map[topology.NodeID]bool{}
	for d := topology.DomainIndex(0); int(d) < c.DomainLen(); d++ {
		x := c.Domain(d)
		key := fmt.Sprintf("%s %s in %s", x.Level, x.ID, c.Domain(x.Parent).ID)
		out[key] = map[topology.NodeID]bool{}
		for n := range c.NodesOf(d) {
			out[key][c.ID(n)] = true
		}
	}
	return out
}

// askEverything calls every query with ordinals in and out of range: T10.
func askEverything(c *topology.Cluster) {
	edges := []int32{-1 << 31, -2, -1, 0, 1, int32(c.Len()) - 1, int32(c.Len()), int32(c.DomainLen()), 1<<31 - 1}
	for _, x := range edges {
		n, d, l := topology.NodeIndex(x), topology.DomainIndex(x), topology.LevelIndex(x)
		s := c.Shape(n)
		for _, gpu := range []int{-1 << 40, -1, 0, s.GPUs(), 1 << 40} {
			s.Link(gpu, 0)
			s.Link(0, gpu)
			s.NUMAOf(gpu)
			s.PCIeSwitchOf(gpu)
			s.NVSwitchOf(gpu)
			s.RailOf(gpu)
			c.FindGPU(c.GPUID(n, gpu))
			c.Distance(topology.GPURef{Node: n, GPU: gpu}, topology.GPURef{})
		}
		s.Name()
		s.Spec()
		s.Model()
		s.CPUMilli()
		s.MemoryMiB()
		s.NICs()
		s.NUMANodes()
		s.Rails()
		s.NVLinkGroups()
		c.Present(n)
		c.ID(n)
		c.Driver(n)
		c.CUDA(n)
		c.Label(n, "")
		c.Spec(n)
		c.Domain(d)
		for _, y := range edges {
			c.Ancestor(n, topology.LevelIndex(y))
			c.Lowest(n, topology.NodeIndex(y))
			c.LowestIn("power", n, topology.NodeIndex(y))
			c.LowestIn("no such family", n, topology.NodeIndex(y))
		}
		for range c.Labels(n) {
		}
		for range c.Domains(l) {
		}
		for range c.Children(d) {
		}
		for range c.NodesOf(d) {
		}
	}
	c.FindGPU("/")
	c.FindGPU("x/-1")
	c.Index("")
	c.DomainByID("", "")
	c.LevelIndex("")
	c.Families()
	c.Config()
}

// TestQueriesOutOfRange: T10.
func TestQueriesOutOfRange(t *testing.T) {
	c, err := topologytest.Mixed().Edit().Remove("lone-0", "cpu-0").Build()
	require.NoError(t, err)
	askEverything(c)
	gone, ok := c.Index("lone-0")
	require.True(t, ok)
	require.False(t, c.Present(gone))
	require.Equal(t, topology.NodeID("lone-0"), c.ID(gone))
	require.Nil(t, c.Shape(gone))
	require.Zero(t, c.Shape(gone).GPUs())
	rack, _ := c.LevelIndex(topology.LevelRack)
	require.Equal(t, topology.NoDomain, c.Ancestor(gone, rack))
	require.Equal(t, topology.NoDomain, c.Ancestor(-1, rack))
	node, _ := c.LevelIndex(topology.LevelNode)
	require.Equal(t, topology.NoDomain, c.Ancestor(0, node), "the node level has no domains")
	require.Equal(t, topology.DistanceUnknown, c.Distance(topology.GPURef{Node: gone}, topology.GPURef{}))
	_, ok = c.FindGPU("lone-0/0")
	require.False(t, ok)
}

// TestLookups: labels, versions, GPU ids made of the node's name, and families.
func TestLookups(t *testing.T) {
	c, err := topology.New(topology.Config{
		Families: []topology.FamilySpec{{Name: "power", Levels: []topology.Level{"feed", "busbar"}}},
		Shapes:   []topology.ShapeSpec{{Name: "s", Model: "T4", GPUs: 2}},
		Nodes: []topology.NodeSpec{{ID: "n", Shape: "s", Driver: "580.95.05", CUDA: "13.0",
			Labels: map[string]string{"b": "2", "a": "1"}, Path: map[topology.Level]string{"busbar": "x"}}}})
	require.NoError(t, err)
	require.Equal(t, "580.95.05", c.Driver(0))
	require.Equal(t, "13.0", c.CUDA(0))
	v, ok := c.Label(0, "b")
	require.True(t, ok)
	require.Equal(t, "2", v)
	_, ok = c.Label(0, "c")
	require.False(t, ok)
	var keys []string
	for k := range c.Labels(0) {
		keys = append(keys, k)
	}
	require.Equal(t, []string{"a", "b"}, keys)
	require.Equal(t, topology.GPUID("n/1"), c.GPUID(0, 1))
	_, ok = c.FindGPU("n/01")
	require.False(t, ok, "T9: one id, one spelling")
	require.Equal(t, []topology.Family{"power"}, c.Families())
	d, ok := c.DomainByID("busbar", "x")
	require.True(t, ok)
	require.Equal(t, topology.Domain{Level: "busbar", Family: "power", ID: "x", Name: "x", Parent: topology.NoDomain, Nodes: 1}, c.Domain(d))
	_, ok = c.Lowest(0, 1)
	require.False(t, ok)
}

// T5: two nodes may meet in an overlay though they share nothing else, and the other way round.
func TestLowestInOverlay(t *testing.T) {
	path := func(rack, feed, bar string) map[topology.Level]string {
		return map[topology.Level]string{topology.LevelRack: rack, "feed": feed, "busbar": bar}
	}
	c := mustNew(t, topology.Config{Families: []topology.FamilySpec{{Name: "power", Levels: []topology.Level{"feed", "busbar"}}},
		Shapes: []topology.ShapeSpec{{Name: "s"}}, Nodes: []topology.NodeSpec{
			{ID: "a", Shape: "s", Path: path("r0", "f0", "b0")}, {ID: "b", Shape: "s", Path: path("r1", "f0", "b0")},
			{ID: "c", Shape: "s", Path: path("r0", "f0", "b1")}, {ID: "d", Shape: "s", Path: path("r0", "f1", "b0")}}})
	level := func(f topology.Family, a, b topology.NodeIndex) topology.Level {
		l, ok := c.LowestIn(f, a, b)
		if !ok {
			return ""
		}
		for _, name := range append(c.Levels(""), c.Levels("power")...) {
			if at, _ := c.LevelIndex(name); at == l {
				return name
			}
		}
		return "no such level"
	}
	require.Equal(t, topology.Level("busbar"), level("power", 0, 1))
	require.Equal(t, topology.Level(""), level("", 0, 1), "two racks")
	require.Equal(t, topology.Level("feed"), level("power", 0, 2))
	require.Equal(t, topology.LevelRack, level("", 0, 2))
	require.Equal(t, topology.Level(""), level("power", 0, 3), "busbar b0 of another feed")
	require.Equal(t, topology.LevelNode, level("power", 3, 3))
	require.Equal(t, topology.Level(""), level("cooling", 0, 0), "no such family")
	require.Equal(t, topology.Level(""), level("power", 0, 9), "no such node")
	topologytest.Check(t, c)
}
