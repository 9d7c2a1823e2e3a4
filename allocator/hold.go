// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"errors"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/topology"
)

// A Cordon is one owner's reason to keep new work off a node or off one GPU. What runs there stays.
// A Cordon is immutable and safe for concurrent use.
type Cordon struct {
	Node   topology.NodeID `json:"node"`
	GPU    int             `json:"gpu"` // index on the node; -1: the whole node
	Owner  string          `json:"owner"`
	Reason string          `json:"reason,omitempty"`
}

// Cordon keeps new work off a node until the same owner says [Fleet.Uncordon]. Several owners may hold one node; a second
// cordon of one owner replaces the reason, and changes nothing if that is the same. A node that left can be cordoned.
//
// Possible errors: [ErrInvalid], [ErrUnknownNode].
func (f *Fleet) Cordon(at time.Time, node topology.NodeID, owner, reason string) error {
	if h := f.core.S.held(node, wholeNode, owner); h != nil && h.reason == reason {
		return nil
	}
	return f.decide(Cordoned{At: tick.Time(f.present(at)), Node: node, Owner: owner, Reason: reason})
}

// Uncordon ends the cordon of one owner; the node takes work again when no owner holds it. No cordon of that owner is no
// error and changes nothing.
//
// Possible errors: [ErrInvalid], [ErrUnknownNode].
func (f *Fleet) Uncordon(at time.Time, node topology.NodeID, owner string) error {
	if free, err := f.unheld(node, wholeNode, owner); free || err != nil {
		return err
	}
	return f.decide(Uncordoned{At: tick.Time(f.present(at)), Node: node, Owner: owner})
}

// FailGPU keeps new work off one GPU of a node until the same owner says [Fleet.RestoreGPU]. The other GPUs stay in use.
// Repeated, it changes nothing.
//
// Possible errors: [ErrInvalid], [ErrUnknownNode].
func (f *Fleet) FailGPU(at time.Time, node topology.NodeID, gpu int, owner string) error {
	if h := f.core.S.held(node, gpu, owner); gpu >= 0 && h != nil {
		return nil
	}
	return f.decide(GPUFailed{At: tick.Time(f.present(at)), Node: node, GPU: gpu, Owner: owner})
}

// RestoreGPU ends the hold of one owner on a GPU; the GPU takes work again when no owner holds it. No hold of that owner is
// no error and changes nothing.
//
// Possible errors: [ErrInvalid], [ErrUnknownNode].
func (f *Fleet) RestoreGPU(at time.Time, node topology.NodeID, gpu int, owner string) error {
	free, err := f.unheld(node, gpu, owner)
	if err := errors.Join(err, badGPU(gpu)); free || err != nil {
		return err
	}
	return f.decide(GPURestored{At: tick.Time(f.present(at)), Node: node, GPU: gpu, Owner: owner})
}

// unheld says that an owner has no hold there, so that there is nothing to end.
func (f *Fleet) unheld(node topology.NodeID, gpu int, owner string) (bool, error) {
	_, _, err := f.core.S.byID(node)
	if err := errors.Join(err, badText("owner", owner, false)); err != nil {
		return false, err
	}
	return f.core.S.held(node, gpu, owner) == nil, nil
}

// held finds the hold of an owner on a node (wholeNode) or a GPU, nil when there is none.
func (s *state) held(id topology.NodeID, gpu int, owner string) *hold {
	_, n, err := s.byID(id)
	if err != nil {
		return nil
	}
	at, ok := n.holdAt(gpu, owner)
	if !ok {
		return nil
	}
	return &n.holds[at]
}
