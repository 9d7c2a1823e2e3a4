// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"fmt"
	"time"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/topology"
)

// An Event is a decided fact: [Placed], [Released], [Cordoned], [Uncordoned], [GPUFailed], [GPURestored], [FreeUntilSet],
// [Reserved], [Unreserved] or [ClusterChanged]. Events name nodes by id, so a log does not depend on ordinals.
// An Event may be read by many goroutines while nobody changes it.
type Event interface {
	// Kind gives the stable word for the kind of the event.
	Kind() string
	// AppendBinary appends the encoding that [DecodeEvent] reads.
	AppendBinary([]byte) ([]byte, error)
	// apply checks the event against the state and takes it over, or changes nothing.
	apply(*state, *cow.Token) error
	// instant gives the tick of the event.
	instant() int64
	event()
}

// sound says whether e is an event of this package and can be read. A pointer to one has the methods of the interface too,
// and would fail in them when it is nil.
func sound(e Event) error {
	switch e.(type) {
	case Placed, Released, Cordoned, Uncordoned, GPUFailed, GPURestored, FreeUntilSet, Reserved, Unreserved, ClusterChanged:
		return nil
	}
	return fmt.Errorf("%w: event is a %T: give an event of this package by value", ErrInvalid, e)
}

// A Seat is the place of one pod in an event. A Seat may be read by many goroutines while nobody changes it.
type Seat struct {
	Group int             `json:"group"`
	Pod   int             `json:"pod"`
	Node  topology.NodeID `json:"node"`
	GPUs  []int           `json:"gpus,omitempty"`
}

// Placed says that a gang got its places. A Placed may be read by many goroutines while nobody changes it.
type Placed struct {
	At      time.Time `json:"at"`
	Request Request   `json:"request"`
	Seats   []Seat    `json:"seats"` // by group and pod
}

// Released says that a placement ended. A Released is immutable and safe for concurrent use.
type Released struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// Cordoned says that an owner keeps new work off a node. A Cordoned is immutable and safe for concurrent use.
type Cordoned struct {
	At     time.Time       `json:"at"`
	Node   topology.NodeID `json:"node"`
	Owner  string          `json:"owner"`
	Reason string          `json:"reason,omitempty"`
}

// Uncordoned says that an owner's cordon ended. An Uncordoned is immutable and safe for concurrent use.
type Uncordoned struct {
	At    time.Time       `json:"at"`
	Node  topology.NodeID `json:"node"`
	Owner string          `json:"owner"`
}

// GPUFailed says that an owner keeps new work off one GPU. A GPUFailed is immutable and safe for concurrent use.
type GPUFailed struct {
	At    time.Time       `json:"at"`
	Node  topology.NodeID `json:"node"`
	GPU   int             `json:"gpu"`
	Owner string          `json:"owner"`
}

// GPURestored says that an owner's hold on a GPU ended. A GPURestored is immutable and safe for concurrent use.
type GPURestored struct {
	At    time.Time       `json:"at"`
	Node  topology.NodeID `json:"node"`
	GPU   int             `json:"gpu"`
	Owner string          `json:"owner"`
}

// FreeUntilSet says until when a node is free for work outside bookings; a zero Until is for ever.
// A FreeUntilSet is immutable and safe for concurrent use.
type FreeUntilSet struct {
	At    time.Time       `json:"at"`
	Node  topology.NodeID `json:"node"`
	Until time.Time       `json:"until,omitzero"`
}

// Reserved says that a node belongs to one tenant alone. A Reserved is immutable and safe for concurrent use.
type Reserved struct {
	At     time.Time       `json:"at"`
	Node   topology.NodeID `json:"node"`
	Tenant string          `json:"tenant"`
}

// Unreserved says that a node belongs to nobody. An Unreserved is immutable and safe for concurrent use.
type Unreserved struct {
	At   time.Time       `json:"at"`
	Node topology.NodeID `json:"node"`
}

// ClusterChanged says that the fleet stands on another cluster from now on. Its encoding holds the version and the content,
// not the cluster: that is the host's, which gives a decoded event its cluster by On before it applies it. Another cluster
// than the one that was decided on is refused, whatever its version.
// A ClusterChanged is immutable and safe for concurrent use.
type ClusterChanged struct {
	At      time.Time `json:"at"`
	Version uint64    `json:"version"` // topology.Cluster.Version
	Content Content   `json:"content"` // ContentOf the cluster
	cluster *topology.Cluster
}

// On gives the event with the cluster it speaks of, which has the event's version and content.
func (e ClusterChanged) On(c *topology.Cluster) ClusterChanged {
	e.cluster = c
	return e
}

// Kind gives "placed".
func (Placed) Kind() string { return "placed" }

// Kind gives "released".
func (Released) Kind() string { return "released" }

// Kind gives "cordoned".
func (Cordoned) Kind() string { return "cordoned" }

// Kind gives "uncordoned".
func (Uncordoned) Kind() string { return "uncordoned" }

// Kind gives "gpu-failed".
func (GPUFailed) Kind() string { return "gpu-failed" }

// Kind gives "gpu-restored".
func (GPURestored) Kind() string { return "gpu-restored" }

// Kind gives "free-until-set".
func (FreeUntilSet) Kind() string { return "free-until-set" }

// Kind gives "reserved".
func (Reserved) Kind() string { return "reserved" }

// Kind gives "unreserved".
func (Unreserved) Kind() string { return "unreserved" }

// Kind gives "cluster-changed".
func (ClusterChanged) Kind() string { return "cluster-changed" }

func (Placed) event()         {}
func (Released) event()       {}
func (Cordoned) event()       {}
func (Uncordoned) event()     {}
func (GPUFailed) event()      {}
func (GPURestored) event()    {}
func (FreeUntilSet) event()   {}
func (Reserved) event()       {}
func (Unreserved) event()     {}
func (ClusterChanged) event() {}

func (e Placed) instant() int64         { return tick.Floor(e.At) }
func (e Released) instant() int64       { return tick.Floor(e.At) }
func (e Cordoned) instant() int64       { return tick.Floor(e.At) }
func (e Uncordoned) instant() int64     { return tick.Floor(e.At) }
func (e GPUFailed) instant() int64      { return tick.Floor(e.At) }
func (e GPURestored) instant() int64    { return tick.Floor(e.At) }
func (e FreeUntilSet) instant() int64   { return tick.Floor(e.At) }
func (e Reserved) instant() int64       { return tick.Floor(e.At) }
func (e Unreserved) instant() int64     { return tick.Floor(e.At) }
func (e ClusterChanged) instant() int64 { return tick.Floor(e.At) }
