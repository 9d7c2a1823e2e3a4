// SPDX-License-Identifier: Apache-2.0

package topology

import "slices"

// A Shape is what a node is made of, shared by all nodes that are made alike. Its methods answer for GPUs 0 to GPUs()-1 and
// take any other number, and a nil Shape, as nothing: they never panic.
// A Shape is immutable and safe for concurrent use.
type Shape struct {
	spec      ShapeSpec // normal, never handed out without a copy
	model     GPUModel
	numaNodes int
	links     []Link // GPUs × GPUs, nil when derived
	groups    [][]int
	rails     int
}

func newShape(spec ShapeSpec, model GPUModel) *Shape {
	s := &Shape{spec: spec.normal(), model: model, numaNodes: max(spec.NUMANodes, 1)}
	for _, n := range s.spec.NUMA {
		s.numaNodes = max(s.numaNodes, n+1)
	}
	for _, r := range s.spec.Rail {
		s.rails = max(s.rails, r+1)
	}
	for _, row := range s.spec.Links {
		s.links = append(s.links, row...)
	}
	s.groups = s.nvlinkGroups()
	return s
}

// Name gives the name that nodes refer to.
func (s *Shape) Name() string {
	if s == nil {
		return ""
	}
	return s.spec.Name
}

// Spec gives a copy of the description that the shape was made from.
func (s *Shape) Spec() ShapeSpec {
	if s == nil {
		return ShapeSpec{}
	}
	return s.spec.normal()
}

// GPUs gives the number of GPUs; 0 for a CPU-only node.
func (s *Shape) GPUs() int {
	if s == nil {
		return 0
	}
	return s.spec.GPUs
}

// Model gives the model of the GPUs; zero for a CPU-only node.
func (s *Shape) Model() GPUModel {
	if s == nil {
		return GPUModel{}
	}
	return s.model
}

// CPUMilli gives the CPU capacity in thousandths of a logical CPU.
func (s *Shape) CPUMilli() int64 {
	if s == nil {
		return 0
	}
	return s.spec.CPUMilli
}

// MemoryMiB gives the memory of the host in MiB.
func (s *Shape) MemoryMiB() int64 {
	if s == nil {
		return 0
	}
	return s.spec.MemoryMiB
}

// NICs gives the number of network ports for traffic between GPUs.
func (s *Shape) NICs() int {
	if s == nil {
		return 0
	}
	return s.spec.NICs
}

// NUMANodes gives the number of NUMA nodes, at least 1.
func (s *Shape) NUMANodes() int {
	if s == nil {
		return 0
	}
	return s.numaNodes
}

// Rails gives one more than the highest rail of the shape; 0 when rails are unknown.
func (s *Shape) Rails() int {
	if s == nil {
		return 0
	}
	return s.rails
}

// NUMAOf gives the NUMA node of a GPU, -1 when there is no such GPU.
func (s *Shape) NUMAOf(gpu int) int {
	if !s.has(gpu) {
		return -1
	}
	if s.spec.NUMA == nil {
		return 0
	}
	return s.spec.NUMA[gpu]
}

// PCIeSwitchOf gives the PCIe switch of a GPU, -1 when it is unknown.
func (s *Shape) PCIeSwitchOf(gpu int) int {
	return s.entry(s.pick(func(x *ShapeSpec) []int { return x.PCIeSwitch }), gpu)
}

// NVSwitchOf gives the NVLink group of a GPU, -1 when it has none.
func (s *Shape) NVSwitchOf(gpu int) int {
	return s.entry(s.pick(func(x *ShapeSpec) []int { return x.NVSwitch }), gpu)
}

// RailOf gives the network rail of a GPU, -1 when it is unknown.
func (s *Shape) RailOf(gpu int) int {
	return s.entry(s.pick(func(x *ShapeSpec) []int { return x.Rail }), gpu)
}

func (s *Shape) pick(f func(*ShapeSpec) []int) []int {
	if s == nil {
		return nil
	}
	return f(&s.spec)
}

func (s *Shape) entry(v []int, gpu int) int {
	if gpu < 0 || gpu >= len(v) {
		return -1
	}
	return v[gpu]
}

func (s *Shape) has(gpu int) bool { return s != nil && gpu >= 0 && gpu < s.spec.GPUs }

// Link says how GPUs i and j reach each other. Without a measured matrix it is derived: one NVLink group, then one PCIe
// switch, then one NUMA node ([LinkNode]), else [LinkSys]. [LinkPXB] and [LinkPHB] come from a matrix only. A GPU that does
// not exist is as far away as can be. It costs one array read, or four comparisons.
func (s *Shape) Link(i, j int) Link {
	switch {
	case !s.has(i) || !s.has(j):
		return LinkSys
	case s.links != nil:
		return s.links[i*s.spec.GPUs+j]
	case i == j:
		return LinkSelf
	case same(s.spec.NVSwitch, i, j):
		return LinkNVLink
	case same(s.spec.PCIeSwitch, i, j):
		return LinkPIX
	case s.spec.NUMA == nil || s.spec.NUMA[i] == s.spec.NUMA[j]:
		return LinkNode
	}
	return LinkSys
}

func same(v []int, i, j int) bool { return v != nil && v[i] >= 0 && v[i] == v[j] }

// NVLinkGroups gives the sets of GPUs that NVLink joins, each ascending, the set with the lowest GPU first: as declared in
// NVSwitch, else the connected parts of two or more GPUs of the measured matrix. The caller owns the result.
func (s *Shape) NVLinkGroups() [][]int {
	if s == nil {
		return nil
	}
	out := cloneOrNil(s.groups)
	for i := range out {
		out[i] = slices.Clone(out[i])
	}
	return out
}

func (s *Shape) nvlinkGroups() [][]int {
	var groups [][]int
	if s.spec.NVSwitch != nil {
		at := map[int]int{}
		for gpu, g := range s.spec.NVSwitch {
			if g < 0 {
				continue
			}
			if _, ok := at[g]; !ok {
				at[g] = len(groups)
				groups = append(groups, nil)
			}
			groups[at[g]] = append(groups[at[g]], gpu)
		}
		return groups
	}
	if s.links == nil {
		return nil
	}
	seen := make([]bool, s.spec.GPUs)
	for first := range seen {
		if seen[first] {
			continue
		}
		seen[first] = true
		group := []int{first}
		for at := 0; at < len(group); at++ {
			for gpu := range seen {
				if !seen[gpu] && s.links[group[at]*s.spec.GPUs+gpu] == LinkNVLink {
					seen[gpu] = true
					group = append(group, gpu)
				}
			}
		}
		if len(group) > 1 {
			slices.Sort(group)
			groups = append(groups, group)
		}
	}
	return groups
}
