// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"iter"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/topology"
)

// Placement gives what stands under an id. It costs O(log placements).
func (f *Fleet) Placement(id string) (Placement, bool) {
	pl, ok := f.core.S.placed.Find(placed{id: id})
	if !ok {
		return Placement{}, false
	}
	return *pl.p, true
}

// Placements gives all placements, by id. As with every sequence here, the fleet must not be changed meanwhile.
func (f *Fleet) Placements() iter.Seq[Placement] {
	return func(yield func(Placement) bool) {
		for pl := range f.core.S.placed.All() {
			if !yield(*pl.p) {
				return
			}
		}
	}
}

// OnNode gives the placements that have pods on a node, by id; none for an ordinal out of range.
// It costs O(log placements) for each.
func (f *Fleet) OnNode(i topology.NodeIndex) iter.Seq[Placement] {
	return func(yield func(Placement) bool) {
		for p := range f.core.S.on(i) {
			if !yield(*p) {
				return
			}
		}
	}
}

// A NodeFree says what is free on one node and what stands against its use.
// A NodeFree may be read by many goroutines while nobody changes it.
type NodeFree struct {
	Present   bool      `json:"present"` // false: the node left or never was, and nothing is free
	CPUMilli  int64     `json:"cpuMilli"`
	MemoryMiB int64     `json:"memoryMiB"`
	GPUMilli  []int64   `json:"gpuMilli"`           // per GPU; 0 where it is failed
	Pods      int       `json:"pods"`               // pods on the node
	Tenant    string    `json:"tenant,omitempty"`   // whose node it is: reserved for, or under DedicatedNodes used by; "" nobody's
	Reserved  bool      `json:"reserved"`           // by Reserve
	Cordoned  bool      `json:"cordoned"`           // at least one owner holds the node
	FreeUntil time.Time `json:"freeUntil,omitzero"` // zero: for ever
}

// Free gives what is free on a node. The caller owns the result. It costs O(GPUs of the node).
func (f *Fleet) Free(i topology.NodeIndex) NodeFree {
	n := f.core.S.at(i)
	if n == nil {
		return NodeFree{}
	}
	out := NodeFree{Pods: n.pods, Tenant: n.owner(), Reserved: n.reserved != "", Cordoned: n.cordoned, FreeUntil: tick.Time(n.freeUntil)}
	if n.shape == nil {
		return out
	}
	out.Present, out.CPUMilli, out.MemoryMiB = true, n.cpu, n.memory
	out.GPUMilli = make([]int64, n.GPUs())
	for g := range out.GPUMilli {
		out.GPUMilli[g] = n.Free(g)
	}
	return out
}

// owner gives the one tenant that may use the node, "" when any may.
func (n *node) owner() string {
	if n.reserved != "" {
		return n.reserved
	}
	return n.tenant
}

// Cordons gives every cordon and every failed GPU with its owner, by ordinal of the node, then whole node before GPUs, then
// owner. It costs O(nodes).
func (f *Fleet) Cordons() iter.Seq[Cordon] {
	return func(yield func(Cordon) bool) {
		for i, n := range f.core.S.nodesRef() {
			for _, h := range n.holds {
				if !yield(Cordon{Node: f.core.S.cluster.ID(i), GPU: h.gpu, Owner: h.owner, Reason: h.reason}) {
					return
				}
			}
		}
	}
}

// Totals gives the sums over the fleet, which are kept, not counted.
func (f *Fleet) Totals() Totals { return f.core.S.totals }
