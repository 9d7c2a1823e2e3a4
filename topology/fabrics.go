// SPDX-License-Identifier: Apache-2.0

package topology

import "fmt"

// NVL72 describes racks of NVIDIA NVL72: 18 trays of 4 GPUs, all 72 in one NVLink domain, which is the block.
// An NVL72 may be read by many goroutines while nobody changes it.
type NVL72 struct {
	Racks  int       // at least 1
	Fabric string    // name of the network fabric above the racks; "" for none
	Tray   ShapeSpec // all zero: GB200Tray; else it needs a name
}

// traysPerNVL72 is from the NVIDIA GB200 NVL72 data sheet (2024).
const traysPerNVL72 = 18

// Config gives nodes rack-0000-tray-00 and so on, each with block and rack. Possible errors: [ErrInvalid], [ErrTooLarge].
func (n NVL72) Config() (Config, error) {
	var m mistakes
	if n.Racks < 1 {
		m.add(ErrInvalid, "racks", fmt.Sprint(n.Racks), "use 1 or more")
	}
	if n.Racks > MaxNodes/traysPerNVL72 {
		m.add(ErrTooLarge, "racks", fmt.Sprint(n.Racks), fmt.Sprintf("use at most %d", MaxNodes/traysPerNVL72))
	}
	shape := shapeOr(n.Tray, GB200Tray, "tray", &m)
	if m.any() {
		return Config{}, m.err()
	}
	cfg := Config{Shapes: []ShapeSpec{shape}}
	for r := range n.Racks {
		for t := range traysPerNVL72 {
			path := map[Level]string{LevelBlock: fmt.Sprintf("nvl-%04d", r), LevelRack: fmt.Sprintf("rack-%04d", r)}
			if n.Fabric != "" {
				path[LevelFabric] = n.Fabric
			}
			cfg.Nodes = append(cfg.Nodes, NodeSpec{ID: NodeID(fmt.Sprintf("rack-%04d-tray-%02d", r, t)), Shape: shape.Name, Path: path})
		}
	}
	return cfg, nil
}

// shapeOr gives a copy of the spec, or the default in place of one that is all zero. A spec that says something but has no name is a
// mistake: to take the default then would drop what it says.
func shapeOr(spec ShapeSpec, or func() ShapeSpec, field string, m *mistakes) ShapeSpec {
	if spec.equal(ShapeSpec{}) {
		return or()
	}
	if spec.Name == "" {
		m.add(ErrInvalid, field+".name", "", "name the shape, or leave all of it zero for "+or().Name)
	}
	return spec.normal()
}

// FatTree describes a rail-optimised fat tree: rail r of every node of a leaf group reaches leaf switch r of that group, and
// the groups of a pod meet at its spines. The group is the [LevelLeaf] domain: inside it traffic that stays on its rail
// passes one switch. A FatTree may be read by many goroutines while nobody changes it.
type FatTree struct {
	Pods         int       // at least 1
	LeavesPerPod int       // leaf groups (scalable units) of a pod, at least 1
	NodesPerLeaf int       // at least 1
	Rails        int       // 0: one for each GPU
	Fabric       string    // name of the fabric; "" for none
	Shape        ShapeSpec // all zero: DGXH100, else it needs a name; without rails of its own, GPU i gets rail i mod Rails
}

// Config gives nodes pod-000-leaf-000-node-000 and so on. Possible errors: [ErrInvalid], [ErrTooLarge].
func (f FatTree) Config() (Config, error) {
	var m mistakes
	fields := []struct {
		name  string
		value int
	}{{"pods", f.Pods}, {"leavesPerPod", f.LeavesPerPod}, {"nodesPerLeaf", f.NodesPerLeaf}}
	total := 1
	for _, x := range fields {
		switch {
		case x.value < 1:
			m.add(ErrInvalid, x.name, fmt.Sprint(x.value), "use 1 or more")
		case x.value > MaxNodes/total:
			m.add(ErrTooLarge, x.name, fmt.Sprint(x.value), fmt.Sprintf("a cluster has at most %d nodes", MaxNodes))
		default:
			total *= x.value
		}
	}
	shape := shapeOr(f.Shape, DGXH100, "shape", &m)
	if shape.GPUs < 1 || shape.GPUs > MaxGPUsPerNode {
		m.add(ErrInvalid, "shape.gpus", fmt.Sprint(shape.GPUs), fmt.Sprintf("rails need 1 to %d GPUs", MaxGPUsPerNode))
	} else if f.Rails < 0 || f.Rails > shape.GPUs {
		m.add(ErrInvalid, "rails", fmt.Sprint(f.Rails), fmt.Sprintf("use 1 to %d, or 0 for one per GPU", shape.GPUs))
	}
	if m.any() {
		return Config{}, m.err()
	}
	rails := f.Rails
	if rails == 0 {
		rails = shape.GPUs
	}
	if shape.Rail == nil || f.Rails > 0 {
		shape.Rail = make([]int, shape.GPUs)
		for i := range shape.Rail {
			shape.Rail[i] = i % rails
		}
	}
	cfg := Config{Shapes: []ShapeSpec{shape}, Nodes: make([]NodeSpec, 0, total)}
	for p := range f.Pods {
		for l := range f.LeavesPerPod {
			for n := range f.NodesPerLeaf {
				path := map[Level]string{LevelPod: fmt.Sprintf("pod-%03d", p), LevelLeaf: fmt.Sprintf("leaf-%03d", l)}
				if f.Fabric != "" {
					path[LevelFabric] = f.Fabric
				}
				id := fmt.Sprintf("pod-%03d-leaf-%03d-node-%03d", p, l, n)
				cfg.Nodes = append(cfg.Nodes, NodeSpec{ID: NodeID(id), Shape: shape.Name, Path: path})
			}
		}
	}
	return cfg, nil
}
