// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/berth-gpu/berth/topology"
)

// Disjoint checks that the plans may stand beside one another, on one node or on many (H3). It trusts no plan: one that grants anything
// else than its lease is refused. It reports each plan that may not stand beside an earlier one, by node, lease and epoch, with one such
// plan for each reason and GPU. Two plans of one lease on one node are refused too: one of them is stale. Windows do not count: plans that
// are set up at one time must be disjoint. Cost: O(d log d) for d devices in all plans.
//
// Possible errors, all joined and in a fixed order: [ErrInvalidPlan], [ErrInvalidLease] and [ErrShareNotAllowed] as [*FieldError], for a
// plan that is not valid; [ErrOverlap] as [*OverlapError].
func Disjoint(plans []Plan) error {
	var errs []error
	sorted := slices.Clone(plans)
	slices.SortStableFunc(sorted, func(a, b Plan) int {
		return cmp.Or(cmp.Compare(a.Lease.Node, b.Lease.Node), cmp.Compare(a.Lease.ID, b.Lease.ID), cmp.Compare(a.Lease.Epoch, b.Lease.Epoch))
	})
	for i := range sorted {
		if err := sorted[i].Validate(); err != nil {
			errs = append(errs, fmt.Errorf("plan of lease %q: %w", cut(sorted[i].Lease.ID), err))
		}
	}
	errs = append(errs, nodeOverlaps(sorted)...)
	errs = append(errs, gpuOverlaps(sorted)...)
	errs = append(errs, deviceOverlaps(sorted)...)
	return errors.Join(errs...)
}

func overlap(reason OverlapReason, a, b *Plan) *OverlapError {
	leases := [2]string{a.Lease.ID, b.Lease.ID}
	slices.Sort(leases[:])
	return &OverlapError{Reason: reason, Node: a.Lease.Node, Leases: leases}
}

// nodeOverlaps looks at the plans of each node: a lease twice, and other tenants beside a lease that has the node for itself.
func nodeOverlaps(sorted []Plan) (errs []error) {
	for first := 0; first < len(sorted); {
		last := first
		for last < len(sorted) && sorted[last].Lease.Node == sorted[first].Lease.Node {
			last++
		}
		node := sorted[first:last]
		first = last
		var before neighbours
		for i := range node {
			next := &node[i]
			if i > 0 && next.Lease.ID == node[i-1].Lease.ID {
				errs = append(errs, overlap(OverlapLease, &node[i-1], next))
			}
			if with := before.against(next, next.Lease.DedicatedNode); with != nil {
				errs = append(errs, overlap(OverlapNode, with, next))
			}
			before.add(next, next.Lease.DedicatedNode)
		}
	}
	return errs
}

// neighbours are the plans so far of which any two of different tenants collide if one of the two wants a wall. Of all of them, and of
// those that want a wall, it keeps the first, and the first of another tenant than that: one of the two is of another tenant than
// whoever comes next.
type neighbours struct{ all, walled [2]*Plan }

func (n *neighbours) add(plan *Plan, walled bool) {
	remember(&n.all, plan)
	if walled {
		remember(&n.walled, plan)
	}
}

func remember(two *[2]*Plan, plan *Plan) {
	switch {
	case two[0] == nil:
		two[0] = plan
	case two[1] == nil && plan.Lease.Tenant != two[0].Lease.Tenant:
		two[1] = plan
	}
}

// against gives the first plan that next collides with, or nil.
func (n *neighbours) against(next *Plan, walled bool) *Plan {
	two := n.walled
	if walled {
		two = n.all
	}
	for _, plan := range two {
		if plan != nil && plan.Lease.Tenant != next.Lease.Tenant {
			return plan
		}
	}
	return nil
}

// use is one plan's part of a GPU.
type use struct {
	gpu   topology.GPUID
	milli int64
	plan  *Plan
}

// gpuOverlaps compares each use of a GPU with those before it; a GPU id is unique over all nodes.
func gpuOverlaps(sorted []Plan) (errs []error) {
	var uses []use
	for i := range sorted {
		plan := &sorted[i]
		for _, id := range plan.Lease.GPUs {
			uses = append(uses, use{id, WholeMilli, plan})
		}
		for _, share := range plan.Lease.Shares {
			uses = append(uses, use{share.GPU, share.Milli, plan})
		}
	}
	slices.SortStableFunc(uses, func(a, b use) int { return cmp.Compare(a.gpu, b.gpu) })
	var before sharing
	for i, next := range uses {
		if i == 0 || next.gpu != uses[i-1].gpu {
			before = sharing{left: WholeMilli}
		}
		if reason, with := before.refuses(next); reason != "" {
			err := overlap(reason, with, next.plan)
			err.GPU = next.gpu
			errs = append(errs, err)
		}
		before.add(next)
	}
	return errs
}

// sharing is what the uses of one GPU so far mean for the next.
type sharing struct {
	first, whole *Plan // nil if there is none
	neighbours
	left int64
}

func (s *sharing) add(next use) {
	if s.first == nil {
		s.first = next.plan
	}
	if s.whole == nil && next.milli >= WholeMilli {
		s.whole = next.plan
	}
	s.neighbours.add(next.plan, !next.plan.Lease.Trusted)
	s.left -= min(max(next.milli, 0), s.left)
}

// refuses gives the reason against the next use and the earlier plan it collides with. Shares stand together if all are of one tenant or
// all are Trusted.
func (s *sharing) refuses(next use) (OverlapReason, *Plan) {
	switch {
	case s.first == nil:
		return "", nil
	case s.whole != nil:
		return OverlapGPU, s.whole
	case next.milli >= WholeMilli:
		return OverlapGPU, s.first
	}
	if with := s.against(next.plan, !next.plan.Lease.Trusted); with != nil {
		return OverlapTenant, with
	}
	if next.milli > s.left {
		return OverlapMilli, s.first
	}
	return "", nil
}

// deviceOverlaps finds device files that two plans give to two GPUs, and GPUs to which two plans give two files: the inventories of the
// two plans cannot both be true.
func deviceOverlaps(sorted []Plan) (errs []error) {
	type file struct {
		node  topology.NodeID
		minor int64
	}
	type holder struct {
		gpu  topology.GPUID
		file file
		plan *Plan
	}
	byFile, byGPU := map[file][]holder{}, map[topology.GPUID][]holder{}
	for i := range sorted {
		for _, device := range sorted[i].Devices {
			if device.GPU == "" {
				continue
			}
			next := holder{device.GPU, file{sorted[i].Lease.Node, device.Minor}, &sorted[i]}
			differs := func(earlier holder) bool { return earlier.gpu != next.gpu || earlier.file != next.file }
			at := slices.IndexFunc(byFile[next.file], differs)
			var with *Plan
			if at >= 0 {
				with = byFile[next.file][at].plan
			} else if at = slices.IndexFunc(byGPU[next.gpu], differs); at >= 0 {
				with = byGPU[next.gpu][at].plan
			}
			if with != nil {
				err := overlap(OverlapDevice, with, next.plan)
				err.GPU, err.Path = device.GPU, device.Path
				errs = append(errs, err)
			}
			// of two that differ from one another, one differs from whatever comes
			if held := byFile[next.file]; len(held) == 0 || len(held) == 1 && differs(held[0]) {
				byFile[next.file] = append(held, next)
			}
			if held := byGPU[next.gpu]; len(held) == 0 || len(held) == 1 && differs(held[0]) {
				byGPU[next.gpu] = append(held, next)
			}
		}
	}
	return errs
}
