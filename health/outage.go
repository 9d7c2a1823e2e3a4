// SPDX-License-Identifier: Apache-2.0

package health

import (
	"iter"
	"math"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/topology"
)

// An Outage is all holds of one node, summed: what a host mirrors as an outage of its booking calendar and as a cordon of its
// fleet, in the same command that changed the hold. In a pool that lends whole nodes, an outage of one GPU takes the node from
// firm bookings; where WholeNode is false, GPUs that are not listed may carry work that can be preempted.
//
// An Outage is immutable and safe for concurrent use; its slices belong to the caller.
type Outage struct {
	Node      topology.NodeID  `json:"node"`
	Start     time.Time        `json:"start"`         // when the first of its holds began
	End       time.Time        `json:"end,omitzero"`  // the last expected end; zero: open-ended
	WholeNode bool             `json:"wholeNode"`     // somebody holds the node itself
	GPUs      []topology.GPUID `json:"gpus,omitzero"` // GPUs that are held by themselves, sorted
	Owners    []Owner          `json:"owners"`        // who holds it, sorted, each once
}

// Outage returns the outage of one node; false if nobody holds it. It costs O(log n + k) for k holds on the node.
func (r *Record) Outage(node topology.NodeID) (Outage, bool) {
	for o := range outages(r.on(node)) {
		return o, true
	}
	return Outage{}, false
}

// Outages yields the outages of all held nodes, one per node, in order of the nodes (H4). It costs O(n).
func (r *Record) Outages() iter.Seq[Outage] { return outages(r.core.S.holds.All()) }

// Until returns when a node is expected back: the last expected end of its holds; the zero time if one is open-ended. The
// second result is false if nobody holds the node. It costs O(log n + k) for k holds on the node.
func (r *Record) Until(node topology.NodeID) (time.Time, bool) {
	end, held := int64(math.MinInt64), false
	for h := range r.on(node) {
		end, held = max(end, h.expected), true
	}
	return tick.Time(end), held // out of range, and so the zero time, if there is no hold
}

// For yields the outages of the given nodes as a tenant may see them: owners are reduced to their kinds, such as "maintenance",
// and reasons are left out. Give it the nodes that serve the tenant: nothing in the answer depends on any other node (I26). It
// yields each held node once, in order; nodes that are in service, and names it does not know, are left out.
func (r *Record) For(nodes ...topology.NodeID) iter.Seq[Outage] {
	own := slices.Compact(slices.Sorted(slices.Values(nodes)))
	return func(yield func(Outage) bool) {
		for _, node := range own {
			o, ok := r.Outage(node)
			if !ok {
				continue
			}
			for i, owner := range o.Owners {
				o.Owners[i] = Owner(owner.Kind())
			}
			slices.Sort(o.Owners)
			o.Owners = slices.Compact(o.Owners)
			if !yield(o) {
				return
			}
		}
	}
}

// outages sums runs of holds of one node.
func outages(holds iter.Seq[*hold]) iter.Seq[Outage] {
	return func(yield func(Outage) bool) {
		var run []*hold
		for h := range holds {
			if len(run) > 0 && run[0].Node != h.Node {
				if !yield(sum(run)) {
					return
				}
				run = run[:0]
			}
			run = append(run, h)
		}
		if len(run) > 0 {
			yield(sum(run))
		}
	}
}

// sum makes the outage of the holds of one node, of which there is one at least.
func sum(run []*hold) Outage {
	o := Outage{Node: run[0].Node}
	start, end := run[0].since, run[0].expected
	for _, h := range run {
		start, end = min(start, h.since), max(end, h.expected)
		if h.WholeNode() {
			o.WholeNode = true
		} else {
			o.GPUs = append(o.GPUs, h.GPU)
		}
		o.Owners = append(o.Owners, h.owner)
	}
	o.Start, o.End = tick.Time(start), tick.Time(end)
	o.GPUs = slices.Compact(o.GPUs) // holds come in order of the GPUs
	slices.Sort(o.Owners)
	o.Owners = slices.Compact(o.Owners)
	return o
}
