// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"reflect"
	"slices"
)

// A ShapeSpec describes what one kind of node is made of. Nodes refer to it by name. Slices have one entry per GPU, in the
// order in which the driver numbers the GPUs; a nil slice means the default in its comment.
// A ShapeSpec may be read by many goroutines while nobody changes it.
type ShapeSpec struct {
	Name       string   `json:"name"`
	Model      string   `json:"model,omitempty"`      // of the catalogue or of Config.Models; "" for a CPU-only node
	GPUs       int      `json:"gpus,omitempty"`       // 0 to MaxGPUsPerNode
	CPUMilli   int64    `json:"cpuMilli,omitempty"`   // thousandths of a logical CPU (hardware thread)
	MemoryMiB  int64    `json:"memoryMiB,omitempty"`  // memory of the host, MiB
	NUMANodes  int      `json:"numaNodes,omitempty"`  // nil or 0: as many as NUMA names, at least one
	NUMA       []int    `json:"numa,omitempty"`       // NUMA node; default 0
	PCIeSwitch []int    `json:"pcieSwitch,omitempty"` // PCIe switch; -1 or nil: none or unknown
	NVSwitch   []int    `json:"nvSwitch,omitempty"`   // NVLink group; -1 or nil: no NVLink
	Rail       []int    `json:"rail,omitempty"`       // network rail of the GPU's NIC; -1 or nil: unknown
	NICs       int      `json:"nics,omitempty"`       // network ports for traffic between GPUs
	Links      [][]Link `json:"links,omitempty"`      // GPUs × GPUs as measured; nil: derived, see Shape.Link
	Source     string   `json:"source,omitempty"`     // where the facts come from
}

// perGPU bounds the small numbers of a shape (NUMA node, switch, group, rail).
const perGPU = 1 << 14

// normal gives a deep copy with empty slices made nil, so that equal shapes compare equal.
func (s ShapeSpec) normal() ShapeSpec {
	s.NUMA, s.PCIeSwitch, s.NVSwitch, s.Rail = cloneOrNil(s.NUMA), cloneOrNil(s.PCIeSwitch), cloneOrNil(s.NVSwitch), cloneOrNil(s.Rail)
	links := cloneOrNil(s.Links)
	for i := range links {
		links[i] = cloneOrNil(links[i])
	}
	s.Links = links
	return s
}

func cloneOrNil[S ~[]E, E any](s S) S {
	if len(s) == 0 {
		return nil
	}
	return slices.Clone(s)
}

func (s ShapeSpec) equal(t ShapeSpec) bool { return reflect.DeepEqual(s.normal(), t.normal()) }

func (s ShapeSpec) check(field string, models func(string) (GPUModel, bool), m *mistakes) {
	if !validName(s.Name) {
		m.add(ErrInvalid, field+".name", s.Name, nameHint)
	}
	if s.GPUs < 0 || s.GPUs > MaxGPUsPerNode {
		m.add(ErrInvalid, field+".gpus", fmt.Sprint(s.GPUs), fmt.Sprintf("use 0 to %d", MaxGPUsPerNode))
		return // the slices cannot be judged
	}
	switch _, ok := models(s.Model); {
	case s.GPUs == 0 && s.Model != "":
		m.add(ErrInvalid, field+".model", s.Model, "a node without GPUs has no model; leave it empty or set gpus")
	case s.GPUs > 0 && s.Model == "":
		m.add(ErrInvalid, field+".model", "", "name the model of the GPUs")
	case s.GPUs > 0 && !ok:
		m.add(ErrUnknown, field+".model", s.Model, "use a name of Models() or declare it in Config.Models")
	}
	if s.CPUMilli < 0 {
		m.add(ErrInvalid, field+".cpuMilli", fmt.Sprint(s.CPUMilli), "use 0 or more")
	}
	if s.MemoryMiB < 0 {
		m.add(ErrInvalid, field+".memoryMiB", fmt.Sprint(s.MemoryMiB), "use 0 or more")
	}
	if s.NICs < 0 || s.NICs > perGPU {
		m.add(ErrInvalid, field+".nics", fmt.Sprint(s.NICs), fmt.Sprintf("use 0 to %d", perGPU))
	}
	if s.NUMANodes < 0 || s.NUMANodes > perGPU {
		m.add(ErrInvalid, field+".numaNodes", fmt.Sprint(s.NUMANodes), fmt.Sprintf("use 0 to %d", perGPU))
	}
	if !validText(s.Source) {
		m.add(ErrInvalid, field+".source", s.Source, "use UTF-8 text without control characters")
	}
	numaMax := perGPU
	if s.NUMANodes > 0 {
		numaMax = s.NUMANodes - 1
	}
	s.checkPerGPU(field+".numa", s.NUMA, 0, numaMax, m)
	s.checkPerGPU(field+".pcieSwitch", s.PCIeSwitch, -1, perGPU, m)
	s.checkPerGPU(field+".nvSwitch", s.NVSwitch, -1, perGPU, m)
	s.checkPerGPU(field+".rail", s.Rail, -1, perGPU, m)
	s.checkLinks(field+".links", m)
}

func (s ShapeSpec) checkPerGPU(field string, v []int, low, high int, m *mistakes) {
	if len(v) != 0 && len(v) != s.GPUs {
		m.add(ErrInvalid, field, fmt.Sprintf("%d entries", len(v)), fmt.Sprintf("give one entry for each of the %d GPUs, or none", s.GPUs))
		return
	}
	for i, x := range v {
		if x < low || x > high {
			m.add(ErrInvalid, fmt.Sprintf("%s[%d]", field, i), fmt.Sprint(x), fmt.Sprintf("use %d to %d", low, high))
		}
	}
}

func (s ShapeSpec) checkLinks(field string, m *mistakes) {
	if len(s.Links) == 0 {
		return
	}
	if len(s.Links) != s.GPUs {
		m.add(ErrInvalid, field, fmt.Sprintf("%d rows", len(s.Links)), fmt.Sprintf("give %d rows of %d links, or none", s.GPUs, s.GPUs))
		return
	}
	for i, row := range s.Links {
		if len(row) != s.GPUs {
			m.add(ErrInvalid, fmt.Sprintf("%s[%d]", field, i), fmt.Sprintf("%d entries", len(row)), fmt.Sprintf("give %d links", s.GPUs))
			continue
		}
		for j, l := range row {
			at := fmt.Sprintf("%s[%d][%d]", field, i, j)
			switch {
			case l > LinkSys:
				m.add(ErrInvalid, at, l.String(), "use one of the Link constants")
			case (l == LinkSelf) != (i == j):
				m.add(ErrInvalid, at, l.String(), "X stands on the diagonal and nowhere else")
			case j < i && len(s.Links[j]) == s.GPUs && s.Links[j][i] != l:
				m.add(ErrConflict, at, l.String(), "the matrix must be symmetric; the mirrored entry is "+s.Links[j][i].String())
			}
		}
	}
}
