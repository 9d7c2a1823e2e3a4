// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/berth-gpu/berth/topology"
)

// Disjoint checks that the plans may stand beside one another, on one node or on many (H3). It reports each plan that may not stand beside
// an earlier one, by node, lease and epoch. Two plans of one lease on one node are refused too: one of them is stale. Cost: O(d log d) for d devices in all plans.
//
// Possible errors, all joined and in a fixed order: [ErrOverlap] as [*OverlapError]; [ErrInvalidLease] and [ErrShareNotAllowed] for a plan
// whose lease is not valid.
func Disjoint(plans []Plan) error {
	var errs []error
	sorted := slices.Clone(plans)
	slices.SortStableFunc(sorted, func(a, b Plan) int {
		return cmp.Or(cmp.Compare(a.Lease.Node, b.Lease.Node), cmp.Compare(a.Lease.ID, b.Lease.ID), cmp.Compare(a.Lease.Epoch, b.Lease.Epoch))
	})
	for i := range sorted {
		if err := sorted[i].Lease.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("plan of lease %q: %w", sorted[i].Lease.ID, err))
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
		owner := slices.IndexFunc(node, func(p Plan) bool { return p.Lease.DedicatedNode })
		for i := range node {
			if i > 0 && node[i].Lease.ID == node[i-1].Lease.ID {
				errs = append(errs, overlap(OverlapLease, &node[i-1], &node[i]))
			}
			if owner >= 0 && node[i].Lease.Tenant != node[owner].Lease.Tenant {
				errs = append(errs, overlap(OverlapNode, &node[owner], &node[i]))
			}
		}
	}
	return errs
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
		if i == 0 || next.gpu != before.first.gpu {
			before = sharing{first: next, left: WholeMilli - next.milli}
			before.remember(next)
			continue
		}
		if reason, with := before.refuses(next); reason != "" {
			err := overlap(reason, with.plan, next.plan)
			err.GPU = next.gpu
			errs = append(errs, err)
		}
		before.remember(next)
		before.left -= min(next.milli, before.left)
	}
	return errs
}

// sharing is what the uses of one GPU so far mean for the next.
type sharing struct {
	first use
	// other is the first use by another tenant than first's, untrusted the first that is not Trusted; their plan is nil if there is none.
	other, untrusted use
	left             int64
}

func (s *sharing) remember(next use) {
	if s.other.plan == nil && next.plan.Lease.Tenant != s.first.plan.Lease.Tenant {
		s.other = next
	}
	if s.untrusted.plan == nil && !next.plan.Lease.Trusted {
		s.untrusted = next
	}
}

// refuses gives the reason against the next use and the earlier one it collides with. Shares stand together if all are of one tenant or
// all are Trusted.
func (s *sharing) refuses(next use) (OverlapReason, use) {
	if s.first.milli >= WholeMilli || next.milli >= WholeMilli {
		return OverlapGPU, s.first
	}
	tenant := next.plan.Lease.Tenant
	for _, earlier := range []use{s.first, s.other, s.untrusted} {
		if earlier.plan != nil && earlier.plan.Lease.Tenant != tenant && !(earlier.plan.Lease.Trusted && next.plan.Lease.Trusted) {
			return OverlapTenant, earlier
		}
	}
	if next.milli > s.left {
		return OverlapMilli, s.first
	}
	return "", use{}
}

// deviceOverlaps finds device files that two plans give to two GPUs: the inventories of the two plans cannot both be true.
func deviceOverlaps(sorted []Plan) (errs []error) {
	type file struct {
		node         topology.NodeID
		major, minor int64
	}
	type holder struct {
		gpu  topology.GPUID
		plan *Plan
	}
	seen := map[file]holder{}
	for i := range sorted {
		for _, device := range sorted[i].Devices {
			if device.GPU == "" {
				continue
			}
			key := file{sorted[i].Lease.Node, device.Major, device.Minor}
			first, dup := seen[key]
			if !dup {
				seen[key] = holder{device.GPU, &sorted[i]}
				continue
			}
			if first.gpu != device.GPU {
				err := overlap(OverlapDevice, first.plan, &sorted[i])
				err.GPU, err.Path = device.GPU, device.Path
				errs = append(errs, err)
			}
		}
	}
	return errs
}
