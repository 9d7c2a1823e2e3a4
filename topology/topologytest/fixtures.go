// SPDX-License-Identifier: Apache-2.0

package topologytest

import (
	"fmt"

	"github.com/berth-gpu/berth/topology"
)

// Small gives a uniform cluster of 8 DGX H100 nodes: 2 pods of 2 leaf groups of 2 nodes.
func Small() *topology.Cluster {
	cfg, err := topology.FatTree{Pods: 2, LeavesPerPod: 2, NodesPerLeaf: 2}.Config()
	return built(cfg, err)
}

// Mixed gives a cluster with everything that makes code stumble: two NVL72 racks, a pod of DGX H200, T4 nodes that know only
// their rack, a node in no domain, CPU-only nodes, and an overlay of two power feeds that cuts across all of it.
// It has 36 + 4 + 3 + 1 + 2 nodes.
func Mixed() *topology.Cluster {
	cfg, err := topology.NVL72{Racks: 2, Fabric: "ib-0"}.Config()
	cfg.Families = []topology.FamilySpec{{Name: "power", Levels: []topology.Level{"feed"}}}
	cfg.Shapes = append(cfg.Shapes, topology.DGXH200(),
		topology.ShapeSpec{Name: "t4", Model: "T4", GPUs: 2, CPUMilli: 104_000, MemoryMiB: 524_288},
		topology.ShapeSpec{Name: "cpu", CPUMilli: 128_000, MemoryMiB: 1 << 20})
	add := func(n int, prefix, shape string, path map[topology.Level]string) {
		for i := range n {
			own := map[topology.Level]string{}
			for k, v := range path {
				own[k] = v
			}
			cfg.Nodes = append(cfg.Nodes, topology.NodeSpec{ID: topology.NodeID(fmt.Sprintf("%s-%d", prefix, i)), Shape: shape, Path: own})
		}
	}
	add(4, "h200", "DGX-H200", map[topology.Level]string{topology.LevelFabric: "ib-0", topology.LevelPod: "p0", topology.LevelRack: "r0"})
	add(3, "t4", "t4", map[topology.Level]string{topology.LevelRack: "r0"})
	add(1, "lone", "t4", nil)
	add(2, "cpu", "cpu", map[topology.Level]string{topology.LevelRack: "r0"})
	for i := range cfg.Nodes {
		if cfg.Nodes[i].ID != "lone-0" {
			cfg.Nodes[i].Path["feed"] = fmt.Sprintf("feed-%d", i%2)
		}
	}
	return built(cfg, err)
}

func built(cfg topology.Config, err error) *topology.Cluster {
	if err == nil {
		var c *topology.Cluster
		if c, err = topology.New(cfg); err == nil {
			return c
		}
	}
	panic(fmt.Sprintf("bug in topologytest: please report: %v", err))
}
