// SPDX-License-Identifier: Apache-2.0

package health

import (
	"iter"

	"github.com/berth-gpu/berth/topology"
)

// Find returns the hold of an owner on a component. It costs O(log n).
func (r *Record) Find(c Component, o Owner) (Hold, bool) {
	h, ok := r.find(key{c, o})
	if !ok {
		return Hold{}, false
	}
	return h.public(), true
}

// Holds yields the holds on a node and its GPUs, or all holds if node is "", by component and owner.
// The first one costs O(log n).
func (r *Record) Holds(node topology.NodeID) iter.Seq[Hold] {
	return func(yield func(Hold) bool) {
		holds := r.on(node)
		if node == "" {
			holds = r.core.S.holds.All()
		}
		for h := range holds {
			if !yield(h.public()) {
				return
			}
		}
	}
}

// Held yields the nodes that have a hold on themselves or on a GPU, in order. It costs O(n).
func (r *Record) Held() iter.Seq[topology.NodeID] {
	return func(yield func(topology.NodeID) bool) {
		var last topology.NodeID // no node has the name ""
		for h := range r.core.S.holds.All() {
			if h.Node != last && !yield(h.Node) {
				return
			}
			last = h.Node
		}
	}
}

// Schedulable reports whether nobody holds the node or one of its GPUs (I6), so that the whole node may be given away.
// A node the record has never heard of is schedulable. It costs O(log n).
func (r *Record) Schedulable(node topology.NodeID) bool {
	for range r.on(node) {
		return false
	}
	return true
}

// SchedulableGPU reports whether nobody holds the GPU or its whole node; other GPUs of the node may be held. For a Component
// without a GPU it is [Record.Schedulable]. It costs O(log n).
func (r *Record) SchedulableGPU(c Component) bool {
	if c.WholeNode() {
		return r.Schedulable(c.Node)
	}
	return !r.holdOn(Component{Node: c.Node}) && !r.holdOn(c)
}

func (r *Record) find(k key) (*hold, bool) { return r.core.S.holds.Find(&hold{key: k}) }

// from yields the holds from a component on, in order.
func (r *Record) from(c Component) iter.Seq[*hold] {
	return r.core.S.holds.From(&hold{key: key{Component: c}})
}

// on yields the holds on a node and its GPUs.
func (r *Record) on(node topology.NodeID) iter.Seq[*hold] {
	return func(yield func(*hold) bool) {
		for h := range r.from(Component{Node: node}) {
			if h.Node != node || !yield(h) {
				return
			}
		}
	}
}

func (r *Record) holdOn(c Component) bool {
	for h := range r.from(c) {
		return h.Component == c
	}
	return false
}

// owners returns who holds a component, in order.
func (r *Record) owners(c Component) []Owner {
	var out []Owner
	for h := range r.from(c) {
		if h.Component != c {
			break
		}
		out = append(out, h.owner)
	}
	return out
}
