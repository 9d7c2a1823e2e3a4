// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/topology"
)

// Apply takes over an event that another fleet decided, and decides nothing. An event that contradicts the state changes
// nothing. A decoded [ClusterChanged] needs its cluster first, see [ClusterChanged.On]. It costs what the command cost
// without its search.
//
// Possible errors: [ErrInvalid], [ErrContradiction] with the reason inside.
func (f *Fleet) Apply(e Event) error {
	if err := sound(e); err != nil {
		return err
	}
	at := e.instant()
	if at < f.core.S.now {
		return fmt.Errorf("%w: %s at %s is before the present %s: apply events in their order",
			ErrContradiction, e.Kind(), tick.Time(at).Format(time.RFC3339), tick.Time(f.core.S.now).Format(time.RFC3339))
	}
	if err := e.apply(&f.core.S, f.core.Token()); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrContradiction, e.Kind(), err)
	}
	return nil
}

func (e Placed) apply(s *state, tok *cow.Token) error {
	if err := e.Request.check(); err != nil {
		return err
	}
	r := e.Request.canonical()
	if _, ok := s.placed.Find(placed{id: r.ID}); ok {
		return refuse(ErrExists, "ID", r.ID, "release it first, or use another id")
	}
	as := make([]Assignment, len(e.Seats))
	for k, seat := range e.Seats {
		i, _, err := s.byID(seat.Node)
		if err != nil {
			return err
		}
		as[k] = Assignment{Group: seat.Group, Pod: seat.Pod, Node: i, GPUs: slices.Clone(seat.GPUs)}
	}
	if err := s.verify(&r, as, e.instant()); err != nil {
		return err
	}
	s.add(tok, &Placement{Request: r, Assignments: as, At: tick.Time(e.instant())})
	s.advance(e.instant())
	return nil
}

func (e Released) apply(s *state, tok *cow.Token) error {
	pl, ok := s.placed.Find(placed{id: e.ID})
	if !ok {
		return refuse(ErrInvalid, "ID", e.ID, "nothing is placed under it")
	}
	s.remove(tok, pl.p)
	s.advance(e.instant())
	return nil
}

func (e Cordoned) apply(s *state, tok *cow.Token) error {
	return s.hold(tok, e.Node, hold{wholeNode, e.Owner, e.Reason}, e.instant())
}

func (e GPUFailed) apply(s *state, tok *cow.Token) error {
	if err := badGPU(e.GPU); err != nil {
		_, _, err2 := s.byID(e.Node)
		return errors.Join(err2, err, badText("owner", e.Owner, false))
	}
	return s.hold(tok, e.Node, hold{e.GPU, e.Owner, ""}, e.instant())
}

func (e Uncordoned) apply(s *state, tok *cow.Token) error {
	return s.unhold(tok, e.Node, wholeNode, e.Owner, e.instant())
}

func (e GPURestored) apply(s *state, tok *cow.Token) error {
	if err := badGPU(e.GPU); err != nil {
		return err
	}
	return s.unhold(tok, e.Node, e.GPU, e.Owner, e.instant())
}

// badGPU says that no node has a GPU of that index, or nothing.
func badGPU(gpu int) error {
	if gpu < 0 || gpu >= topology.MaxGPUsPerNode {
		return refuse(ErrInvalid, "gpu", gpu, fmt.Sprintf("give 0 to %d", topology.MaxGPUsPerNode-1))
	}
	return nil
}

func (s *state) hold(tok *cow.Token, id topology.NodeID, h hold, at int64) error {
	i, n, err := s.byID(id)
	if err := errors.Join(err, badText("owner", h.owner, false), badText("reason", h.reason, true)); err != nil {
		return err
	}
	if gpus := s.gpusOf(n); h.gpu >= gpus {
		return refuse(ErrInvalid, "gpu", h.gpu, fmt.Sprintf("node %q has %d GPUs, numbered from 0", id, gpus))
	}
	s.edit(tok, i, func(n *node) { n.setHold(h) })
	s.advance(at)
	return nil
}

// gpusOf gives how many GPUs of a node can be named: any that a node may have when it left.
func (s *state) gpusOf(n *node) int {
	if n.shape == nil {
		return topology.MaxGPUsPerNode
	}
	return n.shape.GPUs()
}

func (s *state) unhold(tok *cow.Token, id topology.NodeID, gpu int, owner string, at int64) error {
	i, n, err := s.byID(id)
	if err != nil {
		return err
	}
	if _, ok := n.holdAt(gpu, owner); !ok {
		return refuse(ErrInvalid, "owner", owner, fmt.Sprintf("it holds nothing there on node %q", id))
	}
	s.edit(tok, i, func(n *node) { n.dropHold(gpu, owner) })
	s.advance(at)
	return nil
}

func (e FreeUntilSet) apply(s *state, tok *cow.Token) error {
	i, _, err := s.byID(e.Node)
	until, err2 := readUntil(e.Node, e.Until)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	s.edit(tok, i, func(n *node) { n.freeUntil = until })
	s.advance(e.instant())
	return nil
}

// readUntil gives the tick until which a node is free, Forever for the zero time.
func readUntil(node topology.NodeID, until time.Time) (int64, error) {
	if until.IsZero() {
		return tick.Forever, nil
	}
	t, err := tick.Exact(until)
	if err != nil {
		return 0, fmt.Errorf("%w: until of node %.80q: %w: give whole seconds", ErrInvalid, node, err)
	}
	return t, nil
}

func (e Reserved) apply(s *state, tok *cow.Token) error {
	i, n, err := s.byID(e.Node)
	if err := errors.Join(err, badText("tenant", e.Tenant, false)); err != nil {
		return err
	}
	if n.reserved != "" && n.reserved != e.Tenant {
		return refuse(ErrInUse, "node", string(e.Node), fmt.Sprintf("it is reserved for tenant %.80q; unreserve it first", n.reserved))
	}
	for p := range s.on(i) {
		if p.Request.Tenant != e.Tenant {
			return refuse(ErrInUse, "node", string(e.Node), fmt.Sprintf("placement %.80q of another tenant is there; release it first", p.Request.ID))
		}
	}
	s.edit(tok, i, func(n *node) { n.reserved = e.Tenant })
	s.advance(e.instant())
	return nil
}

func (e Unreserved) apply(s *state, tok *cow.Token) error {
	i, n, err := s.byID(e.Node)
	if err != nil {
		return err
	}
	if n.reserved == "" {
		return refuse(ErrInvalid, "node", string(e.Node), "it is not reserved")
	}
	s.edit(tok, i, func(n *node) { n.reserved = "" })
	s.advance(e.instant())
	return nil
}
