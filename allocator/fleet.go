// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"errors"
	"fmt"
	"time"

	"github.com/berth-gpu/berth/internal/engine"
	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/topology"
)

// Tenancy says what tenants may share. A Tenancy is immutable and safe for concurrent use.
type Tenancy uint8

const (
	// DedicatedNodes is the default: a node with pods of one tenant takes no other tenant's.
	DedicatedNodes Tenancy = iota
	// Shared lets tenants lie on one node and, by milli-shares, on one GPU. It is for pools whose tenants trust each other.
	Shared
)

// String gives the word used in JSON.
func (t Tenancy) String() string {
	switch t {
	case DedicatedNodes:
		return "dedicated-nodes"
	case Shared:
		return "shared"
	}
	return fmt.Sprintf("tenancy(%d)", uint8(t))
}

// A Config describes a fleet at its beginning. A Config may be read by many goroutines while nobody changes it.
type Config struct {
	Cluster *topology.Cluster // the hardware; required
	Tenancy Tenancy           // what tenants may share; zero: DedicatedNodes
	Policy  Policy            // how places are chosen; nil: BestFit
}

// A Fleet knows which pod has which GPUs of a cluster, and finds places for more. It is a forkable value: see the package
// documentation. [New] and [Restore] make one; the zero Fleet is of no use. A Fleet may be read by many goroutines while nobody changes it; Fork is safe whenever reading is.
type Fleet struct {
	core   engine.Core[state, Event]
	policy Policy
}

// New gives an empty fleet and reports every mistake of the configuration at once. It costs O(nodes + GPUs).
//
// Possible errors: [ErrInvalid].
func New(cfg Config) (*Fleet, error) {
	var errs []error
	if cfg.Tenancy > Shared {
		errs = append(errs, refuse(ErrInvalid, "Tenancy", cfg.Tenancy, "give DedicatedNodes or Shared"))
	}
	errs = append(errs, checkCluster(cfg.Cluster))
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	f := &Fleet{policy: orBestFit(cfg.Policy)}
	f.core.S = newState(cfg.Tenancy, cfg.Cluster, f.core.Token())
	return f, nil
}

// checkCluster bounds the amounts of the nodes, so that no sum over the fleet overflows.
func checkCluster(c *topology.Cluster) error {
	if c == nil {
		return refuse(ErrInvalid, "Cluster", "nil", "give the cluster that the fleet stands on")
	}
	var errs []error
	var last *topology.Shape
	for i := range c.Nodes() {
		s := c.Shape(i)
		if s == last {
			continue
		}
		last = s
		if s.CPUMilli() > MaxAmount {
			errs = append(errs, refuse(ErrInvalid, fmt.Sprintf("CPUMilli of node %q", c.ID(i)), s.CPUMilli(), fmt.Sprintf("give at most %d", int64(MaxAmount))))
		}
		if s.MemoryMiB() > MaxAmount {
			errs = append(errs, refuse(ErrInvalid, fmt.Sprintf("MemoryMiB of node %q", c.ID(i)), s.MemoryMiB(), fmt.Sprintf("give at most %d", int64(MaxAmount))))
		}
	}
	return errors.Join(errs...)
}

// Fork gives an independent copy in near constant time. Its pending events are empty.
func (f *Fleet) Fork() *Fleet { return &Fleet{core: f.core.Fork(), policy: f.policy} }

// ForkWith is Fork with another policy for the copy, nil for [BestFit]: the policy is configuration, not state, so a
// restored fleet and a what-if get theirs here.
func (f *Fleet) ForkWith(p Policy) *Fleet {
	return &Fleet{core: f.core.Fork(), policy: orBestFit(p)}
}

// orBestFit gives p, or the default where there is none. A nil *BestFit is none: it has no value to call.
func orBestFit(p Policy) Policy {
	if b, ok := p.(*BestFit); p == nil || ok && b == nil {
		return BestFit{}
	}
	return p
}

// Policy gives the policy that chooses among places.
func (f *Fleet) Policy() Policy { return f.policy }

// Cluster gives the hardware that the fleet stands on.
func (f *Fleet) Cluster() *topology.Cluster { return f.core.S.cluster }

// Tenancy gives what tenants may share.
func (f *Fleet) Tenancy() Tenancy { return f.core.S.tenancy }

// Next says when the fleet changes by itself, which is never: a placement stays until it is released, also past its
// declared end, and what [Fleet.SetFreeUntil] means for a request is judged when the request comes.
func (f *Fleet) Next() (time.Time, bool) { return time.Time{}, false }

// Advance makes due changes happen; there are none.
func (f *Fleet) Advance(time.Time) {}

// Events gives the events decided since New, Restore, Fork or TakeEvents. The slice must not be changed.
func (f *Fleet) Events() []Event { return f.core.Events() }

// TakeEvents gives the pending events and forgets them.
func (f *Fleet) TakeEvents() []Event { return f.core.TakeEvents() }

// present gives the tick at which a command happens: an instant before the fleet's present counts as it.
func (f *Fleet) present(at time.Time) int64 { return max(tick.Floor(at), f.core.S.now) }

// decide applies an event that a command has decided, and records it.
func (f *Fleet) decide(e Event) error {
	if err := e.apply(&f.core.S, f.core.Token()); err != nil {
		return err
	}
	f.core.Record(e)
	return nil
}

// byID finds the record of a named node.
func (s *state) byID(id topology.NodeID) (topology.NodeIndex, *node, error) {
	i, ok := s.cluster.Index(id)
	if !ok {
		return topology.NoNode, nil, refuse(ErrUnknownNode, "node", string(id), "name a node that the cluster has or had")
	}
	return i, s.at(i), nil
}

// advance moves the present to the instant of an event.
func (s *state) advance(at int64) { s.now = max(s.now, at) }
