// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"errors"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/topology"
)

// Reserve gives a node to one tenant alone, for example because the calendar has seated a claim there: whatever the
// tenancy of the fleet, other tenants get no place on it, also while it is empty. Repeated, it changes nothing.
//
// Possible errors: [ErrInvalid], [ErrUnknownNode], [ErrInUse] if another tenant has the node or pods on it.
func (f *Fleet) Reserve(at time.Time, node topology.NodeID, tenant string) error {
	if _, n, err := f.core.S.byID(node); err == nil && tenant != "" && n.reserved == tenant {
		return nil
	}
	return f.decide(Reserved{At: tick.Time(f.present(at)), Node: node, Tenant: tenant})
}

// Unreserve takes the node back from a tenant; what runs there stays. A node reserved for nobody, or for somebody else, is
// no error and stays as it is.
//
// Possible errors: [ErrInvalid], [ErrUnknownNode].
func (f *Fleet) Unreserve(at time.Time, node topology.NodeID, tenant string) error {
	_, n, err := f.core.S.byID(node)
	if err := errors.Join(err, badText("tenant", tenant, false)); err != nil {
		return err
	}
	if n.reserved != tenant {
		return nil
	}
	return f.decide(Unreserved{At: tick.Time(f.present(at)), Node: node})
}

// SetFreeUntil says until when a node is free for work outside bookings; zero is for ever, which is how a node begins. The
// host keeps it from the calendar's events. It binds requests that name no nodes: with a declared end they are placed where
// that end is not later; open-ended work, a rolling lease that leaves with notice when a booking needs the node, is placed
// where the node is free now. What runs there stays. Repeated, it changes nothing.
//
// Possible errors: [ErrInvalid] if until is not in whole seconds, [ErrUnknownNode].
func (f *Fleet) SetFreeUntil(at time.Time, node topology.NodeID, until time.Time) error {
	_, n, err := f.core.S.byID(node)
	want, err2 := readUntil(node, until)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if n.freeUntil == want {
		return nil
	}
	return f.decide(FreeUntilSet{At: tick.Time(f.present(at)), Node: node, Until: tick.Time(want)})
}
