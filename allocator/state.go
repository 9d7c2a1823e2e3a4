// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"iter"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/topology"
)

// state is the forkable part of a fleet: container heads and scalars, so a copy is a fork.
type state struct {
	now     int64 // tick of the last event
	tenancy Tenancy
	cluster *topology.Cluster
	content Content         // of cluster
	nodes   cow.Array[node] // by ordinal, departed nodes included
	placed  cow.Sorted[placed]
	onNode  cow.Sorted[spot]
	totals  Totals
}

// placed is a placement under its id. The placement never changes.
type placed struct {
	id string
	p  *Placement
}

// spot says that a placement has pods on a node.
type spot struct {
	node topology.NodeIndex
	id   string
}

func newState(tenancy Tenancy, c *topology.Cluster, tok *cow.Token) state {
	s := state{
		now:     tick.Floor(tick.Time(tick.Forever)),
		tenancy: tenancy,
		cluster: c,
		content: ContentOf(c),
		placed:  cow.NewSorted(func(a, b placed) bool { return a.id < b.id }),
		onNode: cow.NewSorted(func(a, b spot) bool {
			return a.node < b.node || a.node == b.node && a.id < b.id
		}),
	}
	s.grow(tok)
	return s
}

// grow appends the ordinals that the cluster has and the fleet has not.
func (s *state) grow(tok *cow.Token) {
	for i := s.nodes.Len(); i < s.cluster.Len(); i++ {
		n := newNode(topology.NodeIndex(i), s.cluster.Shape(topology.NodeIndex(i)))
		s.nodes.Append(tok, n)
		s.totals.count(&n, 1)
	}
}

// edit changes one node and keeps the totals.
func (s *state) edit(tok *cow.Token, i topology.NodeIndex, f func(*node)) {
	n := s.nodes.Edit(tok, int(i))
	s.totals.count(n, -1)
	f(n)
	s.totals.count(n, 1)
}

// at gives the node for reading, nil when the ordinal is out of range.
func (s *state) at(i topology.NodeIndex) *node {
	if i < 0 || int(i) >= s.nodes.Len() {
		return nil
	}
	return s.nodes.Ref(int(i))
}

// add takes a placement into the books. The caller has verified it.
func (s *state) add(tok *cow.Token, p *Placement) {
	s.placed.Put(tok, placed{p.Request.ID, p})
	for _, a := range p.Assignments {
		s.edit(tok, a.Node, func(n *node) {
			n.put(p.Request.Groups[a.Group].Pod, a.GPUs, 1)
			if s.tenancy == DedicatedNodes {
				n.tenant = p.Request.Tenant
			}
		})
	}
	for _, i := range nodesOf(p.Assignments) {
		s.onNode.Put(tok, spot{i, p.Request.ID})
	}
	s.totals.Placements++
}

// remove is the inverse of add.
func (s *state) remove(tok *cow.Token, p *Placement) {
	s.placed.Remove(tok, placed{id: p.Request.ID})
	for _, a := range p.Assignments {
		s.edit(tok, a.Node, func(n *node) {
			n.put(p.Request.Groups[a.Group].Pod, a.GPUs, -1)
			if n.pods == 0 {
				n.tenant = ""
			}
		})
	}
	for _, i := range nodesOf(p.Assignments) {
		s.onNode.Remove(tok, spot{i, p.Request.ID})
	}
	s.totals.Placements--
}

// on gives the placements that have pods on a node, by id.
func (s *state) on(i topology.NodeIndex) iter.Seq[*Placement] {
	return func(yield func(*Placement) bool) {
		for sp := range s.onNode.From(spot{node: i}) {
			if sp.node != i {
				return
			}
			if p, ok := s.placed.Find(placed{id: sp.id}); ok && !yield(p.p) {
				return
			}
		}
	}
}
