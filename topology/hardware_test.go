// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"slices"
	"testing"

	"github.com/berth-gpu/berth/topology"
	"github.com/berth-gpu/berth/topology/topologytest"
	"github.com/stretchr/testify/require"
)

// TestCatalogue: names are unique, every row has its source, and NVLink sizes are those of the data sheets.
func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for m := range topology.Models() {
		require.False(t, seen[m.Name], m.Name)
		seen[m.Name] = true
		require.NotEmpty(t, m.Source, m.Name)
		got, ok := topology.ModelByName(m.Name)
		require.True(t, ok)
		require.Equal(t, m, got)
		anonymous := m.Name == "G2" || m.Name == "G3"
		require.Equal(t, anonymous, m.MemoryMiB == 0, "%s: only the anonymised models have unknown memory", m.Name)
	}
	for name, want := range map[string]int{"H100-SXM5-80GB": 8, "B200-SXM-180GB": 8, "GB200": 72, "GB300": 72, "T4": 1, "L40S": 1} {
		m, _ := topology.ModelByName(name)
		require.Equal(t, want, m.NVLinkDomain, name)
	}
	_, ok := topology.ModelByName("h100")
	require.False(t, ok)
}

// TestMachines builds a node of each machine; the figures are from the data sheets.
func TestMachines(t *testing.T) {
	tests := []struct {
		spec   topology.ShapeSpec
		gpus   int
		model  string
		cores  int64 // logical
		memory int64 // GiB
	}{
		{topology.DGXA100(), 8, "A100-SXM4-80GB", 256, 2048},
		{topology.DGXH100(), 8, "H100-SXM5-80GB", 224, 2048},
		{topology.DGXH200(), 8, "H200-SXM-141GB", 224, 2048},
		{topology.DGXB200(), 8, "B200-SXM-180GB", 224, 2048},
		{topology.HGXH100(192_000, 1<<20), 8, "H100-SXM5-80GB", 192, 1024},
		{topology.HGXH200(192_000, 1<<20), 8, "H200-SXM-141GB", 192, 1024},
		{topology.HGXB200(192_000, 1<<20), 8, "B200-SXM-180GB", 192, 1024},
		{topology.GB200Tray(), 4, "GB200", 144, 960},
		{topology.GB300Tray(), 4, "GB300", 144, 960},
	}
	for _, tt := range tests {
		t.Run(tt.spec.Name, func(t *testing.T) {
			c, err := topology.New(topology.Config{Shapes: []topology.ShapeSpec{tt.spec}, Nodes: []topology.NodeSpec{{ID: "n", Shape: tt.spec.Name}}})
			require.NoError(t, err)
			s := c.Shape(0)
			require.Equal(t, tt.gpus, s.GPUs())
			require.Equal(t, tt.model, s.Model().Name)
			require.Equal(t, tt.cores*1000, s.CPUMilli())
			require.Equal(t, tt.memory*1024, s.MemoryMiB())
			require.Len(t, s.NVLinkGroups(), 1)
			require.Len(t, s.NVLinkGroups()[0], tt.gpus)
			require.Equal(t, tt.gpus, s.Rails())
			require.Equal(t, tt.gpus, s.NICs())
			require.Equal(t, topology.LinkNVLink, s.Link(0, tt.gpus-1))
			require.Equal(t, tt.spec, s.Spec())
		})
	}
}

// TestShapeLinks: groups and links, declared and measured. DGX-1 style pairs: 0–1 and 2–3 by NVLink.
func TestShapeLinks(t *testing.T) {
	nv, sys, self := topology.LinkNVLink, topology.LinkSys, topology.LinkSelf
	c, err := topology.New(topology.Config{Shapes: []topology.ShapeSpec{
		{Name: "declared", Model: "A30", GPUs: 5, NVSwitch: []int{7, -1, 7, 3, 3}, NUMA: []int{0, 0, 0, 1, 1}},
		{Name: "measured", Model: "A30", GPUs: 5, Links: [][]topology.Link{
			{self, nv, sys, sys, sys}, {nv, self, sys, sys, nv}, {sys, sys, self, nv, sys}, {sys, sys, nv, self, sys}, {sys, nv, sys, sys, self}}},
	}})
	require.NoError(t, err)
	shapes := slices.Collect(c.Shapes())
	declared, measured := shapes[0], shapes[1]
	require.Equal(t, [][]int{{0, 2}, {3, 4}}, declared.NVLinkGroups())
	require.Equal(t, topology.LinkNVLink, declared.Link(0, 2))
	require.Equal(t, topology.LinkNode, declared.Link(0, 1))
	require.Equal(t, topology.LinkSys, declared.Link(1, 4))
	require.Equal(t, 2, declared.NUMANodes())
	require.Equal(t, [][]int{{0, 1, 4}, {2, 3}}, measured.NVLinkGroups(), "joined through GPU 1")
	require.Equal(t, topology.LinkSys, measured.Link(0, 4))
	groups := measured.NVLinkGroups()
	groups[0][0] = 99
	require.Equal(t, 0, measured.NVLinkGroups()[0][0], "the caller owns the answer")
}

// TestFatTree: every GPU has a rail, and a leaf group has the nodes it should.
func TestFatTree(t *testing.T) {
	shape := topology.DGXH100()
	shape.Rail = nil
	cfg, err := topology.FatTree{Pods: 2, LeavesPerPod: 3, NodesPerLeaf: 4, Rails: 4, Fabric: "ib", Shape: shape}.Config()
	require.NoError(t, err)
	c, err := topology.New(cfg)
	require.NoError(t, err)
	require.Equal(t, 24, c.Count())
	leaf, _ := c.LevelIndex(topology.LevelLeaf)
	for d := range c.Domains(leaf) {
		require.Equal(t, 4, c.Domain(d).Nodes)
	}
	for gpu := range 8 {
		require.Equal(t, gpu%4, c.Shape(0).RailOf(gpu))
	}
	topologytest.Check(t, c)
	_, err = topology.FatTree{LeavesPerPod: -1, NodesPerLeaf: 1 << 40, Rails: 9}.Config()
	for _, want := range []string{`pods="0"`, `leavesPerPod="-1"`, `nodesPerLeaf="1099511627776"`, `rails="9"`} {
		require.ErrorContains(t, err, want)
	}
}

// TestDistance orders the ways from one GPU to another: T5 and the scale of the documentation.
func TestDistance(t *testing.T) {
	c := topologytest.Mixed()
	at := func(id topology.NodeID, gpu int) topology.GPURef {
		i, ok := c.Index(id)
		require.True(t, ok, id)
		return topology.GPURef{Node: i, GPU: gpu}
	}
	tray := at("rack-0000-tray-00", 0)
	order := []int{
		c.Distance(tray, tray),
		c.Distance(tray, at("rack-0000-tray-00", 1)),           // NVLink in the tray
		c.Distance(tray, at("rack-0000-tray-17", 3)),           // NVLink across trays
		c.Distance(at("t4-0", 0), at("t4-0", 1)),               // PCIe in a node
		c.Distance(at("t4-0", 0), at("t4-1", 0)),               // one rack, no NVLink
		c.Distance(at("h200-0", 0), tray),                      // one fabric
		c.Distance(at("lone-0", 0), tray),                      // nothing in common
		c.Distance(tray, topology.GPURef{Node: -1, GPU: 0}),    // no such node
		c.Distance(tray, topology.GPURef{Node: 0, GPU: 4}) + 1, // no such GPU
	}
	require.IsIncreasing(t, order)
	require.Equal(t, []int{0, 10, 15}, order[:3])
	require.Equal(t, 110, c.Distance(at("h200-0", 0), at("h200-1", 0)), "HGX: NVLink ends at the node")
	require.Equal(t, c.Distance(tray, at("h200-0", 0)), c.Distance(at("h200-0", 0), tray), "symmetric")
	_, err := topology.NVL72{}.Config()
	require.ErrorContains(t, err, `racks="0"`)
}

// TestBlockWithoutNVLink: a block of nodes whose NVLink ends at the board is a place like any other.
func TestBlockWithoutNVLink(t *testing.T) {
	in := map[topology.Level]string{topology.LevelBlock: "b"}
	c, err := topology.New(topology.Config{Shapes: []topology.ShapeSpec{topology.DGXH100(), topology.GB200Tray()}, Nodes: []topology.NodeSpec{
		{ID: "h1", Shape: "DGX-H100", Path: in}, {ID: "h2", Shape: "DGX-H100", Path: in}, {ID: "g1", Shape: "GB200-tray", Path: in}, {ID: "g2", Shape: "GB200-tray", Path: in}}})
	require.NoError(t, err)
	at := func(n topology.NodeIndex) topology.GPURef { return topology.GPURef{Node: n} }
	require.Equal(t, 120, c.Distance(at(0), at(1)), "eight GPUs fill the domain of a DGX H100")
	require.Equal(t, 120, c.Distance(at(1), at(2)), "two models share no NVLink")
	require.Equal(t, 15, c.Distance(at(2), at(3)))
}

func TestLinkText(t *testing.T) {
	for l := topology.LinkSelf; l <= topology.LinkSys; l++ {
		text, err := l.MarshalText()
		require.NoError(t, err)
		var back topology.Link
		require.NoError(t, back.UnmarshalText(text))
		require.Equal(t, l, back)
	}
	_, err := topology.Link(200).MarshalText()
	require.ErrorIs(t, err, topology.ErrInvalid)
	require.ErrorIs(t, new(topology.Link).UnmarshalText([]byte("nv")), topology.ErrInvalid)
}

// A plan takes its default shape only for one that is all zero: a shape that says something but has no name is refused, not dropped.
func TestPlansNeedNamedShapes(t *testing.T) {
	_, err := topology.FatTree{Pods: 1, LeavesPerPod: 1, NodesPerLeaf: 1, Shape: topology.ShapeSpec{Model: "T4", GPUs: 2}}.Config()
	require.ErrorIs(t, err, topology.ErrInvalid)
	require.ErrorContains(t, err, `shape.name="": name the shape, or leave all of it zero for DGX-H100`)
	_, err = topology.NVL72{Racks: 1, Tray: topology.GB300Tray()}.Config()
	require.NoError(t, err)
	tray := topology.GB300Tray()
	tray.Name = ""
	_, err = topology.NVL72{Racks: 1, Tray: tray}.Config()
	require.ErrorContains(t, err, `tray.name="": name the shape, or leave all of it zero for GB200-tray`)
}
