// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/berth-gpu/berth/topology"
)

func Example() {
	err := func() error {
		cfg, err := topology.FatTree{Pods: 2, LeavesPerPod: 4, NodesPerLeaf: 8, Shape: topology.DGXH100()}.Config()
		if err != nil {
			return err
		}
		c, err := topology.New(cfg)
		if err != nil {
			return err // every mistake at once, each with its field and value
		}
		a, _ := c.Index("pod-000-leaf-000-node-000")
		b, _ := c.Index("pod-000-leaf-003-node-007")
		leaf, _ := c.LevelIndex(topology.LevelLeaf)
		common, _ := c.Lowest(a, b)
		fmt.Println(c.Count(), "nodes,", c.GPUCount(), "GPUs")
		fmt.Println(c.Domain(c.Ancestor(a, leaf)).ID, "and", c.Domain(c.Ancestor(b, leaf)).ID, "meet at", c.Levels("")[common])

		next, err := c.Edit().Remove("pod-000-leaf-000-node-000").Build()
		if err != nil {
			return err
		}
		fmt.Println(next.Count(), "nodes,", next.Len(), "ordinals, version", next.Version())
		return nil
	}()
	fmt.Println(err)
	// Output:
	// 64 nodes, 512 GPUs
	// pod-000/leaf-000 and pod-000/leaf-003 meet at pod
	// 63 nodes, 64 ordinals, version 2
	// <nil>
}

func ExampleBuilder() {
	c, err := topology.NewBuilder().
		SetLevels("hall", topology.LevelRack).
		AddFamily("power", "feed").
		AddShape(topology.DGXH200(), topology.ShapeSpec{Name: "login", CPUMilli: 64_000, MemoryMiB: 262_144}).
		AddNode(
			topology.NodeSpec{ID: "gpu-1", Shape: "DGX-H200", Path: map[topology.Level]string{"hall": "east", "rack": "r1", "feed": "A"}},
			topology.NodeSpec{ID: "gpu-2", Shape: "DGX-H200", Path: map[topology.Level]string{"hall": "west", "rack": "r1", "feed": "A"}},
			topology.NodeSpec{ID: "login-1", Shape: "login"}, // in no domain
		).Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, level := range []topology.Level{"rack", "feed"} {
		l, _ := c.LevelIndex(level)
		for d := range c.Domains(l) {
			fmt.Println(level, c.Domain(d).ID, "has", c.Domain(d).Nodes)
		}
	}
	// Output:
	// rack east/r1 has 1
	// rack west/r1 has 1
	// feed A has 2
}

func ExampleNew_mistakes() {
	_, err := topology.New(topology.Config{
		Shapes: []topology.ShapeSpec{{Name: "s", Model: "H100", GPUs: 8, CPUMilli: -1}},
		Nodes:  []topology.NodeSpec{{ID: "n1", Shape: "S", Path: map[topology.Level]string{"rack": "a/b"}}},
	})
	fmt.Println(err)
	// Output:
	// topology: unknown name: shapes[0].model="H100": use a name of Models() or declare it in Config.Models
	// topology: invalid value: shapes[0].cpuMilli="-1": use 0 or more
	// topology: unknown name: nodes[0].shape="S": declare a shape of this name
	// topology: invalid value: nodes[0].path.rack="a/b": use 1 to 512 bytes of UTF-8 without "/" and without control characters; leave the level out when the node has none
}

func ExampleCluster_Apply() {
	cfg, _ := topology.NVL72{Racks: 2}.Config()
	c, _ := topology.New(cfg)

	moved, _ := c.Spec(0)
	moved.Labels = map[string]string{"pool": "canary"}
	change := topology.Change{Remove: []topology.NodeID{"rack-0001-tray-17"}, Replace: []topology.NodeSpec{moved}}
	log, _ := json.Marshal(change) // what a host would store

	again, err := topology.DecodeChange(log)
	if err != nil {
		fmt.Println(err)
		return
	}
	next, err := c.Apply(again)
	pool, _ := next.Label(0, "pool")
	fmt.Println(next.Count(), pool, err)
	same, _ := next.Apply(again) // what is already so changes nothing
	fmt.Println(same == next)
	// Output:
	// 35 canary <nil>
	// true
}

func ExampleCluster_Distance() {
	cfg, _ := topology.NVL72{Racks: 2}.Config()
	c, _ := topology.New(cfg)
	gpu := func(node topology.NodeID, gpu int) topology.GPURef {
		i, _ := c.Index(node)
		return topology.GPURef{Node: i, GPU: gpu}
	}
	first := gpu("rack-0000-tray-00", 0)
	fmt.Println("same tray:", c.Distance(first, gpu("rack-0000-tray-00", 3)))
	fmt.Println("same NVLink domain:", c.Distance(first, gpu("rack-0000-tray-17", 0)))
	fmt.Println("other rack:", c.Distance(first, gpu("rack-0001-tray-00", 0)))
	// Output:
	// same tray: 10
	// same NVLink domain: 15
	// other rack: 180
}

func ExampleDecode() {
	c, err := topology.Decode([]byte(`{
  "version": 1,
  "shapes": [{"name": "a100", "model": "A100-SXM4-80GB", "gpus": 8}],
  "nodes": [
    {"id": "n1", "shape": "a100", "path": {"rack": "r1"}},
    {"id": "n2", "shape": "a100", "racks": "r1"}
  ]
}`))
	fmt.Println(c == nil)
	fmt.Println(err)
	// Output:
	// true
	// topology: bad syntax: line 6: nodes[1].racks="racks": no such field; check spelling and case
}

func ExampleReadOpenB() {
	list := "sn,cpu_milli,memory_mib,gpu,model\n" +
		"node-0,96000,393216,8,V100M32\n" +
		"node-1,many,393216,8,V100M32\n"
	_, err := topology.ReadOpenB(strings.NewReader(list))
	if e, ok := errors.AsType[*topology.FieldError](err); ok {
		fmt.Println(e.Line, e.Field, e.Value)
	}
	// Output:
	// 3 cpu_milli many
}

func ExampleFromLabels() {
	cfg, err := topology.FromLabels([]topology.LabelledNode{{
		Name: "g0001", CPUMilli: 144_000, MemoryMiB: 983_040,
		Labels: map[string]string{
			"topology.kubernetes.io/region":      "eu-north1",
			"topology.nebius.com/gpu-cluster-id": "c-1",
			"topology.nebius.com/tier-2":         "spine-4",
			"topology.nebius.com/tier-1":         "leaf-12",
			"nvidia.com/gpu.product":             "NVIDIA-GB200",
			"nvidia.com/gpu.count":               "4",
			"nvidia.com/gpu.clique":              "7b968a6d-c8aa-45e1-9e07-e1e51be99c31.1",
		},
	}}, topology.RulesNebius())
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := topology.New(cfg)
	leaf, _ := c.LevelIndex(topology.LevelLeaf)
	fmt.Println(c.Domain(c.Ancestor(0, leaf)).ID, c.Shape(0).Model().Name, err)
	// Output:
	// eu-north1/c-1/spine-4/leaf-12 GB200 <nil>
}

func ExampleShape_Link() {
	c, _ := topology.New(topology.Config{
		Shapes: []topology.ShapeSpec{{Name: "pcie", Model: "L40S", GPUs: 4, NUMA: []int{0, 0, 0, 1}, PCIeSwitch: []int{0, 0, 1, 2}}},
		Nodes:  []topology.NodeSpec{{ID: "n", Shape: "pcie"}},
	})
	s := c.Shape(0)
	fmt.Println(s.Link(0, 1), s.Link(0, 2), s.Link(0, 3))
	// Output: PIX NODE SYS
}

func ExampleModels() {
	for m := range topology.Models() {
		if m.NVLinkDomain > 32 {
			fmt.Println(m.Name, m.MemoryMiB, m.NVLinkDomain)
		}
	}
	// Output:
	// GB200 189471 72
	// GB300 284208 72
}
