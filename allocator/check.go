// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"errors"
	"fmt"
	"slices"

	"github.com/berth-gpu/berth/topology"
)

// Check recounts everything from the placements and the cluster, and reports every difference under the number of the
// invariant that it breaks: what is given twice (A1), nodes, totals and indexes that differ from the placements (A2), gangs
// that are not whole (A5), and tenants that meet or nodes that were not asked for (A6). It costs O(nodes + pods·log nodes).
func (f *Fleet) Check() error {
	s := &f.core.S
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("allocator: check: "+format, args...))
	}
	if s.nodes.Len() != s.cluster.Len() {
		wrong("A2: %d node records for %d ordinals", s.nodes.Len(), s.cluster.Len())
		return errors.Join(errs...)
	}
	if s.content != ContentOf(s.cluster) {
		wrong("A2: the content kept is not that of the cluster")
	}
	want := make([]node, s.nodes.Len())
	for i, n := range s.nodesRef() {
		w := newNode(i, s.cluster.Shape(i))
		w.holds, w.reserved, w.freeUntil = n.holds, n.reserved, n.freeUntil
		w.setFailed()
		want[i] = w
	}
	spots := 0
	for pl := range s.placed.All() {
		r := &pl.p.Request
		if pl.id != r.ID {
			wrong("A2: placement %q lies under id %q", r.ID, pl.id)
		}
		if err := r.complete(pl.p.Assignments); err != nil {
			wrong("A5: placement %q: %w", r.ID, err)
			continue
		}
		for _, a := range pl.p.Assignments {
			if s.at(a.Node) == nil {
				wrong("A6: placement %q lies on node ordinal %d of %d", r.ID, a.Node, len(want))
				continue
			}
			w := &want[a.Node]
			if !w.bearsPod(r.Groups[a.Group].Pod, a.GPUs) {
				wrong("A1: node %q has less than placement %q takes", s.cluster.ID(a.Node), r.ID)
				continue
			}
			w.put(r.Groups[a.Group].Pod, a.GPUs, 1)
			if s.tenancy == DedicatedNodes {
				if w.tenant != "" && w.tenant != r.Tenant {
					wrong("A6: node %q serves tenants %q and %q", s.cluster.ID(a.Node), w.tenant, r.Tenant)
				}
				w.tenant = r.Tenant
			}
			if w.reserved != "" && w.reserved != r.Tenant {
				wrong("A6: node %q is reserved for %q and serves %q", s.cluster.ID(a.Node), w.reserved, r.Tenant)
			}
			if _, listed := slices.BinarySearch(r.Nodes, s.cluster.ID(a.Node)); !listed && r.Nodes != nil {
				wrong("A6: placement %q lies on node %q, which it does not list", r.ID, s.cluster.ID(a.Node))
			}
		}
		for _, i := range nodesOf(pl.p.Assignments) {
			spots++
			if _, ok := s.onNode.Find(spot{i, r.ID}); !ok {
				wrong("A2: placement %q is missing from the index of node %q", r.ID, s.cluster.ID(i))
			}
		}
	}
	if spots != s.onNode.Len() {
		wrong("A2: the index by node has %d entries, the placements %d", s.onNode.Len(), spots)
	}
	var totals Totals
	for i := range want {
		totals.count(&want[i], 1)
		if err := want[i].same(s.at(topology.NodeIndex(i))); err != nil {
			wrong("A2: node %q: %w", s.cluster.ID(topology.NodeIndex(i)), err)
		}
	}
	totals.Placements = int64(s.placed.Len())
	if totals != s.totals {
		wrong("A2: totals are %+v, counted %+v", s.totals, totals)
	}
	if t := s.totals; t.CapacityMilli != t.AllocatedMilli+t.FreeMilli+t.UnavailableMilli {
		wrong("A2: capacity is not allocated + free + unavailable: %+v", t)
	}
	return errors.Join(errs...)
}

// same compares a recounted node with the one that was kept.
func (n *node) same(kept *node) error {
	if n.ordinal != kept.ordinal || n.shape != kept.shape || n.shape != nil && !slices.Equal(n.failed, kept.failed) || n.cpu != kept.cpu || n.memory != kept.memory || n.milli != kept.milli || n.whole != kept.whole ||
		n.widest != kept.widest || n.pods != kept.pods || n.tenant != kept.tenant || n.cordoned != kept.cordoned {
		return fmt.Errorf("kept %+v, counted %+v", *kept, *n)
	}
	for g := range max(len(n.used), len(kept.used)) {
		if n.usedOf(g) != kept.usedOf(g) {
			return fmt.Errorf("GPU %d: kept %d milli in use, counted %d", g, kept.usedOf(g), n.usedOf(g))
		}
	}
	return nil
}

func (n *node) usedOf(g int) int16 {
	if g < len(n.used) {
		return n.used[g]
	}
	return 0
}
