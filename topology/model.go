// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"iter"
)

// A GPUModel is what berth knows of one kind of GPU. A GPUModel may be read by many goroutines while nobody changes it.
type GPUModel struct {
	Name         string `json:"name"`
	Vendor       string `json:"vendor,omitempty"`
	Generation   string `json:"generation,omitempty"`   // architecture, for example "Hopper"
	MemoryMiB    int64  `json:"memoryMiB,omitempty"`    // what the driver reports as total memory; 0 = unknown
	MIG          bool   `json:"mig,omitempty"`          // can be cut into MIG slices
	NVLinkDomain int    `json:"nvlinkDomain,omitempty"` // most GPUs that one NVLink domain joins; 1 or 0 = no NVLink
	NVLinkBridge bool   `json:"nvlinkBridge,omitempty"` // the domain needs bridge cards, so a node may well lack it
	Source       string `json:"source,omitempty"`       // where the facts come from
}

// Models gives the built-in catalogue in the order of its table. A [Config] may add models of its own.
func Models() iter.Seq[GPUModel] {
	return func(yield func(GPUModel) bool) {
		for _, m := range catalogue {
			if !yield(m) {
				return
			}
		}
	}
}

// ModelByName finds a model of the built-in catalogue by its exact name.
func ModelByName(name string) (GPUModel, bool) {
	for _, m := range catalogue {
		if m.Name == name {
			return m, true
		}
	}
	return GPUModel{}, false
}

func (g GPUModel) check(field string, m *mistakes) {
	if !validName(g.Name) {
		m.add(ErrInvalid, field+".name", g.Name, nameHint)
	}
	if g.MemoryMiB < 0 {
		m.add(ErrInvalid, field+".memoryMiB", fmt.Sprint(g.MemoryMiB), "use the memory in MiB, or 0 when it is unknown")
	}
	if g.NVLinkDomain < 0 {
		m.add(ErrInvalid, field+".nvlinkDomain", fmt.Sprint(g.NVLinkDomain), "use the number of GPUs that one NVLink domain joins, or 1 for none")
	}
	texts := []struct{ name, value string }{{"vendor", g.Vendor}, {"generation", g.Generation}, {"source", g.Source}}
	for _, t := range texts {
		if !validText(t.value) {
			m.add(ErrInvalid, field+"."+t.name, t.value, "use UTF-8 text without control characters")
		}
	}
}
