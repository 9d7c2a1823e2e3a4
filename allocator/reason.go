// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"slices"

	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/topology"
)

// A Reason is a stable code for why a node takes a pod or does not. A Reason is immutable and safe for concurrent use.
type Reason string

// The reasons in the order in which they are tried: what the node is, what is left on it, what stands against its use. So a
// node counted under one of the last four has room, and would take the pod but for that and what follows it.
const (
	ReasonNotListed Reason = "not-listed" // Request.Nodes does not name it
	ReasonModel     Reason = "model"      // its GPUs are not of an accepted model
	ReasonGPU       Reason = "gpu"        // not enough whole GPUs are free
	ReasonGPUMilli  Reason = "gpu-milli"  // no GPU has that much free
	ReasonCPU       Reason = "cpu"        // not enough CPU is free
	ReasonMemory    Reason = "memory"     // not enough memory is free
	ReasonGPUFailed Reason = "gpu-failed" // enough GPUs are free, but some of them are failed
	ReasonUntil     Reason = "until"      // it is not free for that long
	ReasonTenant    Reason = "tenant"     // it serves or is reserved for another tenant
	ReasonCordoned  Reason = "cordoned"   // an owner keeps new work off it
	ReasonFits      Reason = "fits"       // it takes at least one pod
)

var reasons = []Reason{ReasonNotListed, ReasonModel, ReasonGPU, ReasonGPUMilli, ReasonCPU, ReasonMemory, ReasonGPUFailed,
	ReasonUntil, ReasonTenant, ReasonCordoned, ReasonFits}

// relax names what a search may overlook, for the question what would help.
type relax struct {
	idle    bool // everything is released
	healthy bool // no GPU is failed
	cordons bool // no node is cordoned
	tenants bool // tenants share nodes, and nothing is reserved
	forever bool // every node is free for ever
}

// emptyFleet overlooks everything but the hardware.
var emptyFleet = relax{idle: true, healthy: true, cordons: true, tenants: true, forever: true}

// constraints answers for one request whether a node takes a pod.
type constraints struct {
	s      *state
	req    *Request
	at     int64
	relax  relax
	models []modelAnswer
	listed []topology.NodeIndex // ordinals of req.Nodes, ascending
}

type modelAnswer struct {
	shape *topology.Shape
	ok    bool
}

// why gives the first reason against a pod on a present node, or ReasonFits.
func (c *constraints) why(n *node, pod Pod) Reason {
	if c.req.Nodes != nil && !c.lists(n.ordinal) {
		return ReasonNotListed
	}
	onGPU := pod.GPUs > 0 || pod.GPUMilli > 0
	if onGPU && c.req.Models != nil && !c.accepts(n.shape) {
		return ReasonModel
	}
	failed := false
	if onGPU && (int64(n.whole) < pod.GPUs || n.widest < pod.GPUMilli) {
		whole, widest := n.whole, n.widest
		if n.failed != nil {
			healed := *n
			healed.failed = nil
			healed.sum()
			whole, widest = healed.whole, healed.widest
		}
		switch {
		case int64(whole) < pod.GPUs:
			return ReasonGPU
		case widest < pod.GPUMilli:
			return ReasonGPUMilli
		}
		failed = true
	}
	switch {
	case n.cpu < pod.CPUMilli:
		return ReasonCPU
	case n.memory < pod.MemoryMiB:
		return ReasonMemory
	case failed:
		return ReasonGPUFailed
	case !c.freeLongEnough(n):
		return ReasonUntil
	case !c.serves(n):
		return ReasonTenant
	case n.cordoned && !c.relax.cordons:
		return ReasonCordoned
	}
	return ReasonFits
}

// freeLongEnough: FreeUntil binds work outside bookings. With a declared end it must end by then; open-ended work leaves
// with notice when a booking needs the node, so the node need only be free now.
func (c *constraints) freeLongEnough(n *node) bool {
	if n.freeUntil == tick.Forever || c.req.Nodes != nil || c.relax.forever {
		return true
	}
	if c.req.Until.IsZero() {
		return c.at < n.freeUntil
	}
	return c.req.until() <= n.freeUntil
}

// serves: the node is nobody's or the tenant's.
func (c *constraints) serves(n *node) bool {
	return c.relax.tenants || (n.tenant == "" || n.tenant == c.req.Tenant) && (n.reserved == "" || n.reserved == c.req.Tenant)
}

func (c *constraints) lists(i topology.NodeIndex) bool {
	if c.listed == nil {
		for _, id := range c.req.Nodes {
			if k, ok := c.s.cluster.Index(id); ok {
				c.listed = append(c.listed, k)
			}
		}
		slices.Sort(c.listed)
	}
	_, ok := slices.BinarySearch(c.listed, i)
	return ok
}

func (c *constraints) accepts(shape *topology.Shape) bool {
	for _, m := range c.models {
		if m.shape == shape {
			return m.ok
		}
	}
	ok := slices.Contains(c.req.Models, shape.Model().Name)
	c.models = append(c.models, modelAnswer{shape, ok})
	return ok
}
