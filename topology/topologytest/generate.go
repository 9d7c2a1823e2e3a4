// SPDX-License-Identifier: Apache-2.0

package topologytest

import (
	"fmt"
	"slices"

	"github.com/berth-gpu/berth/topology"
	"pgregory.net/rapid"
)

// ids is how many node names the generators know; few, so that nodes leave and join again.
const ids = 24

// Configs draws valid configurations of up to 24 nodes.
func Configs() *rapid.Generator[topology.Config] {
	return rapid.Custom(func(t *rapid.T) topology.Config {
		var cfg topology.Config
		if rapid.Bool().Draw(t, "ownLevels") {
			cfg.Levels = [][]topology.Level{{}, {"rack"}, {"hall", "row", "block", "rack"}}[rapid.IntRange(0, 2).Draw(t, "levels")]
		}
		if rapid.Bool().Draw(t, "overlay") {
			cfg.Families = []topology.FamilySpec{{Name: "power", Levels: []topology.Level{"feed", "busbar"}}, {Name: "failure", Levels: []topology.Level{"domain"}}}
		}
		cfg.Models = []topology.GPUModel{{Name: "own", MemoryMiB: 1000, NVLinkDomain: 16}}
		cfg.Shapes = []topology.ShapeSpec{
			topology.DGXH100(), topology.GB200Tray(),
			{Name: "cpu", CPUMilli: 4000, MemoryMiB: 8192},
			{Name: "odd", Model: "own", GPUs: 3, NUMA: []int{0, 1, 1}, PCIeSwitch: []int{-1, 0, 0}, Rail: []int{1, 0, -1},
				Links: [][]topology.Link{{0, 1, 6}, {1, 0, 4}, {6, 4, 0}}},
		}
		empty, err := topology.New(cfg)
		if err != nil {
			t.Fatalf("bug in topologytest: please report: %v", err)
		}
		uniform := rapid.Bool().Draw(t, "uniform")
		for _, i := range rapid.Permutation(numbers(ids)).Draw(t, "ids")[:rapid.IntRange(0, ids).Draw(t, "nodes")] {
			cfg.Nodes = append(cfg.Nodes, drawNode(t, empty, nodeID(i), uniform))
		}
		return cfg
	})
}

// Changes draws valid edits of a cluster that came from [Configs]: nodes join, join again, leave, move, are relabelled, or
// stay as they are; sometimes a new shape comes with them.
func Changes(c *topology.Cluster) *rapid.Generator[topology.Change] {
	return rapid.Custom(func(t *rapid.T) topology.Change {
		var ch topology.Change
		if rapid.Bool().Draw(t, "newShape") {
			ch.Shapes = []topology.ShapeSpec{{Name: "late", Model: "T4", GPUs: 2}}
		}
		for _, i := range rapid.Permutation(numbers(ids)).Draw(t, "ids")[:rapid.IntRange(0, 6).Draw(t, "edits")] {
			id := nodeID(i)
			at, known := c.Index(id)
			switch {
			case !known || !c.Present(at):
				if known && rapid.Bool().Draw(t, "removeAgain") {
					ch.Remove = append(ch.Remove, id)
					continue
				}
				ch.Add = append(ch.Add, drawNode(t, c, id, false))
			case rapid.Bool().Draw(t, "remove"):
				ch.Remove = append(ch.Remove, id)
			case rapid.Bool().Draw(t, "same"):
				same, _ := c.Spec(at)
				ch.Replace = append(ch.Replace, same)
			default:
				ch.Replace = append(ch.Replace, drawNode(t, c, id, false))
			}
		}
		return ch
	})
}

func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func nodeID(i int) topology.NodeID { return topology.NodeID(fmt.Sprintf("n%02d", i)) }

// drawNode draws a node. Names carry their level, so that paths with and without a level never meet in one id.
func drawNode(t *rapid.T, c *topology.Cluster, id topology.NodeID, uniform bool) topology.NodeSpec {
	n := topology.NodeSpec{ID: id, Path: map[topology.Level]string{}}
	shapes := slices.Collect(c.Shapes())
	shape := shapes[0]
	if !uniform {
		shape = rapid.SampledFrom(shapes).Draw(t, "shape")
		n.Labels = map[string]string{"pool": rapid.SampledFrom([]string{"", "a", "b/c"}).Draw(t, "pool")}
		n.Driver = rapid.SampledFrom([]string{"", "580.95.05"}).Draw(t, "driver")
	}
	n.Shape = shape.Name()
	for _, f := range append([]topology.Family{""}, c.Families()...) {
		for _, level := range c.Levels(f) {
			if level == topology.LevelNode {
				break
			}
			if uniform || rapid.IntRange(0, 3).Draw(t, "has") > 0 {
				n.Path[level] = fmt.Sprintf("%s-%d", level, rapid.IntRange(0, 1).Draw(t, string(level)))
			}
		}
	}
	if len(n.Path) == 0 {
		n.Path = nil
	}
	if rapid.Bool().Draw(t, "gpuIDs") {
		for g := range shape.GPUs() {
			n.GPUIDs = append(n.GPUIDs, topology.GPUID(fmt.Sprintf("GPU-%s-%d", id, g)))
		}
	}
	return n
}
