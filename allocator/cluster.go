// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/topology"
)

// SetCluster puts the fleet on the next cluster: nodes join, leave, come back or are made anew. The cluster must continue
// the present one, as [topology.Cluster.Apply] gives it: every ordinal keeps its node, and the version is greater.
//
// A node that leaves takes nothing from the books: its placements stay, are listed by [Fleet.Stranded] and can be released;
// its cordons, reservation and FreeUntil wait for its return. A node that comes back, or is made anew, must hold what is
// placed on it and have the GPUs that are held as failed; otherwise the command is refused, and the host releases or
// restores first. The same cluster again, by version and [ContentOf], changes nothing. It costs O(nodes) plus the placements on changed nodes.
//
// Possible errors: [ErrInvalid], [ErrCluster], [ErrInUse].
func (f *Fleet) SetCluster(at time.Time, c *topology.Cluster) error {
	if err := checkCluster(c); err != nil {
		return err
	}
	s := &f.core.S
	content := ContentOf(c)
	if c.Version() == s.cluster.Version() && content == s.content {
		return nil
	}
	return f.decide(ClusterChanged{At: tick.Time(f.present(at)), Version: c.Version(), Content: content, cluster: c})
}

func (e ClusterChanged) apply(s *state, tok *cow.Token) error {
	c := e.cluster
	if c == nil {
		return refuse(ErrInvalid, "cluster", "missing", fmt.Sprintf("give the event its cluster of version %d by On before it is applied", e.Version))
	}
	if err := matches(c, e.Version, e.Content); err != nil {
		return err
	}
	if err := errors.Join(checkCluster(c), s.continues(c)); err != nil {
		return err
	}
	var changed []topology.NodeIndex
	for i, n := range s.nodesRef() {
		if shape := c.Shape(i); shape != n.shape {
			if err := s.bears(n, shape, c); err != nil {
				return err
			}
			changed = append(changed, i)
		}
	}
	for _, i := range changed {
		s.edit(tok, i, func(n *node) { n.setShape(c.Shape(i)) })
	}
	s.cluster, s.content = c, e.Content
	s.grow(tok)
	s.advance(e.instant())
	return nil
}

// nodesRef gives every ordinal with its record, for reading.
func (s *state) nodesRef() iter.Seq2[topology.NodeIndex, *node] {
	return func(yield func(topology.NodeIndex, *node) bool) {
		for i := range s.nodes.Len() {
			if !yield(topology.NodeIndex(i), s.nodes.Ref(i)) {
				return
			}
		}
	}
}

// continues checks that c is later than the cluster of the fleet and that every ordinal is the same node in it.
func (s *state) continues(c *topology.Cluster) error {
	if have := s.cluster.Version(); c.Version() <= have {
		return refuse(ErrCluster, "version", c.Version(), fmt.Sprintf("the fleet stands on version %d; give a later cluster, made by Edit or Apply from the fleet's", have))
	}
	for i := range s.nodes.Len() {
		i := topology.NodeIndex(i)
		if have, got := s.cluster.ID(i), c.ID(i); have != got {
			return refuse(ErrCluster, fmt.Sprintf("node %d", i), string(got), fmt.Sprintf("the fleet knows it as %.80q; give a cluster made by Edit or Apply from the fleet's", have))
		}
	}
	return nil
}

// bears checks that what is placed and held on a node fits other hardware. Nothing is asked of a node that leaves.
func (s *state) bears(n *node, shape *topology.Shape, c *topology.Cluster) error {
	if shape == nil {
		return nil
	}
	var cpu, memory int64
	top := -1
	for p := range s.on(n.ordinal) {
		for _, a := range p.Assignments {
			if a.Node != n.ordinal {
				continue
			}
			pod := p.Request.Groups[a.Group].Pod
			cpu += pod.CPUMilli
			memory += pod.MemoryMiB
			if len(a.GPUs) > 0 {
				top = max(top, a.GPUs[len(a.GPUs)-1])
			}
		}
	}
	node := fmt.Sprintf("node %.80q", c.ID(n.ordinal))
	var errs []error
	if cpu > shape.CPUMilli() {
		errs = append(errs, refuse(ErrInUse, "CPUMilli of "+node, shape.CPUMilli(), fmt.Sprintf("pods use %d there; release them first", cpu)))
	}
	if memory > shape.MemoryMiB() {
		errs = append(errs, refuse(ErrInUse, "MemoryMiB of "+node, shape.MemoryMiB(), fmt.Sprintf("pods use %d there; release them first", memory)))
	}
	if top >= shape.GPUs() {
		errs = append(errs, refuse(ErrInUse, "GPUs of "+node, shape.GPUs(), fmt.Sprintf("a pod uses GPU %d there; release it first", top)))
	}
	for _, h := range n.holds {
		if h.gpu >= shape.GPUs() {
			errs = append(errs, refuse(ErrInUse, "GPUs of "+node, shape.GPUs(), fmt.Sprintf("%.80q holds GPU %d there as failed; restore it first", h.owner, h.gpu)))
		}
	}
	return errors.Join(errs...)
}

// Stranded gives the placements with pods on nodes that left the cluster, by id.
func (f *Fleet) Stranded() iter.Seq[Placement] {
	return func(yield func(Placement) bool) {
		for p := range f.Placements() {
			for _, a := range p.Assignments {
				if f.core.S.at(a.Node).shape == nil {
					if !yield(p) {
						return
					}
					break
				}
			}
		}
	}
}
