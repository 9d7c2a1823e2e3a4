// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// A Repair is a plan that gives bookings other nodes in place of those that they
// have lost, and what it cannot repair. It is plain data: keep it, show it, and
// hand it to [Calendar.Repair].
//
// A Repair is immutable and safe for concurrent use.
type Repair struct {
	Steps      []RepairStep  `json:"steps,omitempty"`      // in the order in which they are planned and applied
	Unrepaired []Unrepaired  `json:"unrepaired,omitempty"` // in the same order
	Floating   []Degradation `json:"floating,omitempty"`   // of bookings that have no nodes yet and lack a plan; none is seated
}

// A RepairStep moves a booking from one node to another. All steps of one line
// are in one plan, or none.
//
// A RepairStep is immutable and safe for concurrent use.
type RepairStep struct {
	ID      string `json:"id"`
	Version uint64 `json:"version"` // of the booking when it was planned
	Pool    string `json:"pool"`
	Out     string `json:"out,omitempty"` // the node in outage; empty if the node is gone from the pool
	In      string `json:"in"`
	Spare   bool   `json:"spare,omitempty"` // In is a spare
}

// An Unrepaired is a line that stays as it is.
//
// An Unrepaired is immutable and safe for concurrent use.
type Unrepaired struct {
	ID        string    `json:"id"`
	Pool      string    `json:"pool"`
	Shortfall int64     `json:"shortfall"` // nodes to replace
	Why       Obstacle  `json:"why"`
	Until     time.Time `json:"until,omitzero"`     // OnlyUntil: until when as many nodes are free
	InTheWay  []string  `json:"inTheWay,omitempty"` // OthersNeed: the bookings that would lack nodes then, by id
}

// An Obstacle is why a line cannot be repaired.
//
// An Obstacle is immutable and safe for concurrent use.
type Obstacle uint8

// Obstacles. New ones are added at the end.
const (
	NoNode     Obstacle = iota // too few nodes and spares are free at all
	OnlyUntil                  // enough are free, but not to the end of its envelope
	OthersNeed                 // enough are free, but with them gone other bookings would lack theirs
	InGrace                    // its window is over, work is only leaving
)

var obstacleNames = []string{"NoNode", "OnlyUntil", "OthersNeed", "InGrace"}

// String returns the name of o.
func (o Obstacle) String() string { return name("Obstacle", obstacleNames, int(o)) }

// MarshalText returns the name of o.
func (o Obstacle) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Repair does what a plan says, all or nothing, under the rules of
// [Calendar.Seat]: healthy nodes stay, and no other booking loses its own. A plan
// whose booking has changed since is stale. An empty plan changes nothing. It
// decides one [Seated] for each line.
//
// Possible errors: [ErrVersion], which names the booking that has changed;
// [ErrUnknown], [ErrState], [ErrInvalid], [*ConflictError].
func (c *Calendar) Repair(at time.Time, plan Repair) error {
	return c.command(at, func(now int64) error {
		s := &c.core.S
		for _, x := range plan.Steps {
			if _, err := s.known(x.ID, x.Version); err != nil {
				return err
			}
		}
		return c.core.Try(func() error {
			for steps := plan.Steps; len(steps) > 0; {
				id, k := steps[0].ID, 1
				for k < len(steps) && steps[k].ID == id && steps[k].Pool == steps[0].Pool {
					k++
				}
				seats, err := s.exchanged(s.rec(id), steps[:k], now)
				if err != nil {
					return err
				}
				if err := c.reseat(now, id, seats); err != nil {
					return err
				}
				steps = steps[k:]
			}
			return nil
		})
	})
}

// exchanged returns the seats of the lines of r after the steps.
func (s *state) exchanged(r *record, steps []RepairStep, now int64) ([][]string, error) {
	if r.class != Firm || r.phase > Active {
		return nil, fmt.Errorf("%w: %s booking %q is %s; only a live Firm one is repaired", ErrState, r.class, r.id, r.phase)
	}
	out := make([][]string, len(r.lines))
	for i := range r.lines {
		out[i] = slices.Clone(r.lines[i].seats)
	}
	for _, x := range steps {
		i := slices.IndexFunc(r.lines, func(l line) bool { return l.pool == x.Pool })
		if i < 0 {
			return nil, fmt.Errorf("%w: booking %q has no line in Steps.Pool %q", ErrInvalid, r.id, x.Pool)
		}
		l := &r.lines[i]
		n, ok := s.node(x.In)
		switch {
		case !ok || n.pool != x.Pool:
			return nil, fmt.Errorf("%w node %q of pool %q in Steps.In", ErrUnknown, x.In, x.Pool)
		case r.floating(l):
			return nil, fmt.Errorf("%w: booking %q has no nodes in pool %q yet; use Seat", ErrState, r.id, x.Pool)
		case n.spare != x.Spare:
			return nil, fmt.Errorf("%w: Steps.Spare of node %q is %t; plan again", ErrState, x.In, x.Spare)
		case slices.Contains(out[i], x.In):
			return nil, fmt.Errorf("%w: Steps.In: booking %q has node %q already", ErrInvalid, r.id, x.In)
		}
		if x.Out != "" {
			k := slices.Index(out[i], x.Out)
			if k < 0 || !inSorted(l.seats, x.Out) {
				return nil, fmt.Errorf("%w: Steps.Out: booking %q does not have node %q", ErrInvalid, r.id, x.Out)
			}
			if !s.outIn(x.Out, max(now, l.from), l.to) {
				return nil, fmt.Errorf("%w: Steps.Out: node %q of booking %q is healthy and stays; plan again", ErrState, x.Out, r.id)
			}
			out[i] = slices.Delete(out[i], k, k+1)
		}
		if out[i] = append(out[i], x.In); int64(len(out[i])) > l.count {
			return nil, fmt.Errorf("%w: Steps: booking %q would have %d of its %d nodes in pool %q", ErrInvalid, r.id, len(out[i]), l.count, x.Pool)
		}
	}
	for i := range out {
		slices.Sort(out[i])
	}
	return out, nil
}

// reseat gives the lines of a Firm booking these seats, under the rules of Seat.
func (c *Calendar) reseat(now int64, id string, seats [][]string) error {
	s := &c.core.S
	n := s.rec(id).next()
	e := Seated{tick.Time(now), id, nil}
	for i := range n.lines {
		l := &n.lines[i]
		if slices.Equal(seats[i], l.seats) {
			e.Nodes = append(e.Nodes, l.seats...)
			continue
		}
		if err := s.seatLine(now, n, l, seats[i]); err != nil {
			return err
		}
		l.seats, l.plan = seats[i], nil
		e.Nodes = append(e.Nodes, seats[i]...)
	}
	slices.Sort(e.Nodes)
	return c.core.Try(func() error {
		if err := c.clearFor(e, n); err != nil {
			return err
		}
		return c.seatably(e, n)
	})
}

// clearFor takes the new nodes of lines that have begun from Standby claims.
func (c *Calendar) clearFor(e Seated, n *record) error {
	for i := range n.lines {
		if n.lines[i].open && n.yield == none {
			if err := c.clear(e.At, e.ID, n.lines[i].seats); err != nil {
				return err
			}
		}
	}
	return nil
}
