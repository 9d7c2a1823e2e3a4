// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"slices"
	"time"

	"github.com/berth-gpu/berth/topology"
)

// An Assignment is the place of one pod. How much of each GPU it has is what its group says.
// An Assignment may be read by many goroutines while nobody changes it.
type Assignment struct {
	Group int                `json:"group"`          // index in Request.Groups
	Pod   int                `json:"pod"`            // 0 to Count-1
	Node  topology.NodeIndex `json:"node"`           // ordinal in the cluster
	GPUs  []int              `json:"gpus,omitempty"` // indexes on the node, ascending; one for a fraction, none for a pod without GPU
}

// A Plan is a place for every pod of a request, ordered by group and pod. It holds nothing: [Fleet.Commit] checks whether
// what it needs is still there.
// A Plan may be read by many goroutines while nobody changes it.
type Plan struct {
	Request     Request      `json:"request"`
	Assignments []Assignment `json:"assignments"`
}

// A Placement is a committed plan. Its slices are shared with the fleet and must not be changed.
// A Placement may be read by many goroutines while nobody changes it.
type Placement struct {
	Request     Request      `json:"request"`
	Assignments []Assignment `json:"assignments"` // by group and pod
	At          time.Time    `json:"at"`          // when it was committed
}

// ID gives the name of the placement, which is the id of its request.
func (p Placement) ID() string { return p.Request.ID }

// nodes gives the nodes of the assignments, ascending and unique.
func nodesOf(as []Assignment) []topology.NodeIndex {
	v := make([]topology.NodeIndex, 0, len(as))
	for _, a := range as {
		v = append(v, a.Node)
	}
	slices.Sort(v)
	return slices.Compact(v)
}

// copyAssignments gives a deep copy, ordered by group and pod.
func copyAssignments(as []Assignment) []Assignment {
	out := slices.Clone(as)
	for i := range out {
		out[i].GPUs = slices.Clone(out[i].GPUs)
	}
	return inOrder(out)
}
