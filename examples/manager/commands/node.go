// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"fmt"
	"time"

	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/health"
	"github.com/berth-gpu/berth/topology"
)

// Cordon takes a node out of service: a hold with an owner, an outage in the
// calendar and a cordon in the fleet, in one command. Running work stays.
type Cordon struct {
	Node     string
	Owner    string // who holds it: "human/<name>", "maintenance", …
	Step     health.Step
	Reason   string
	Expected time.Time // zero: from the step; a step without a length is open-ended
}

// Do records the hold and mirrors it.
func (c Cordon) Do(s *state.State, at time.Time) (health.Hold, error) {
	if err := known(s, c.Node); err != nil {
		return health.Hold{}, err
	}
	h, err := s.Health.Hold(at, health.HoldRequest{Component: health.Component{Node: topology.NodeID(c.Node)},
		Owner: health.Owner(c.Owner), Step: c.Step, Reason: c.Reason, Expected: c.Expected})
	if err != nil {
		return h, err
	}
	return h, s.MirrorHolds(at, topology.NodeID(c.Node))
}

// Uncordon gives up the owner's hold; other owners' holds stay.
type Uncordon struct {
	Node  string
	Owner string
}

// Do releases the hold and mirrors what is left. Who holds nothing is told so: the
// node may well be out of service still.
func (c Uncordon) Do(s *state.State, at time.Time) error {
	if err := known(s, c.Node); err != nil {
		return err
	}
	part := health.Component{Node: topology.NodeID(c.Node)}
	if _, ok := s.Health.Find(part, health.Owner(c.Owner)); !ok {
		holders := "nobody does"
		if o, held := s.Health.Outage(part.Node); held {
			holders = fmt.Sprintf("%q do", o.Owners)
		}
		return fmt.Errorf("%w: %q does not hold node %q, %s", ErrNotFound, c.Owner, c.Node, holders)
	}
	if err := s.Health.Release(at, part, health.Owner(c.Owner)); err != nil {
		return err
	}
	return s.MirrorHolds(at, topology.NodeID(c.Node))
}

func known(s *state.State, node string) error {
	if n, ok := s.Cluster.Index(topology.NodeID(node)); !ok || !s.Cluster.Present(n) {
		return fmt.Errorf("%w: node %q", ErrNotFound, node)
	}
	return nil
}
