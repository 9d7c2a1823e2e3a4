// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// An Outage takes nodes away from Firm bookings for a window: maintenance, a
// failure with an expected end, or one without. Standby claims keep their seats
// on such nodes, since often only a part of a node is out.
//
// An Outage is immutable and safe for concurrent use.
type Outage struct {
	ID     string   `json:"id"`
	Owner  string   `json:"owner"` // who may end it, for people
	Reason string   `json:"reason,omitempty"`
	Nodes  []string `json:"nodes"`
	Window Window   `json:"window"` // may be open, and may have begun; zero Start: now
	// Mode is what happens to bookings. An outage that was set to Refuse is a Break
	// from then on.
	Mode OutageMode `json:"mode,omitempty"`
}

// outageOf checks o in its normal form.
func outageOf(o Outage) (*outage, error) {
	var errs []error
	fail := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	fail(checkID("Outage.ID", o.ID))
	fail(checkID("Outage.Owner", o.Owner))
	fail(checkText("Outage.Reason", o.Reason))
	if len(o.Nodes) == 0 {
		fail(fmt.Errorf("%w: Outage.Nodes is empty", ErrInvalid))
	}
	for i, n := range o.Nodes {
		fail(checkID("Outage.Nodes", n))
		if i > 0 && o.Nodes[i-1] >= n {
			fail(fmt.Errorf("%w: Outage.Nodes: %q is there twice or out of order", ErrInvalid, n))
		}
	}
	if o.Mode != Break && o.Mode != Drain {
		fail(fmt.Errorf("%w: Outage.Mode is %s; use Break, Refuse or Drain", ErrInvalid, o.Mode))
	}
	from, to, err := o.Window.ticks("Outage.Window", true)
	fail(err)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &outage{o.ID, o.Owner, o.Reason, o.Nodes, from, to, o.Mode == Drain}, nil
}

func (o *outage) public() Outage {
	return Outage{o.id, o.owner, o.reason, slices.Clone(o.nodes), windowOf(o.from, o.to), o.mode()}
}

// SetOutage creates the outage of this id or changes it: nodes, window, owner,
// reason, mode. What it makes short and what it heals is in the Impact, which
// [Calendar.Impact] tells beforehand. Only in mode Refuse is it refused because of
// bookings. The same outage again changes nothing. It costs O(log n) per node, and
// twice a look at what is short in its pools.
//
// Possible errors: [*ImpactError] in mode Refuse, [ErrUnknown] for a node,
// [ErrHorizon] for a window that is over, [ErrEmptyWindow], [ErrUnaligned],
// [ErrInvalid].
func (c *Calendar) SetOutage(at time.Time, o Outage) (Impact, error) {
	var impact Impact
	err := c.command(at, func(now int64) error {
		s := &c.core.S
		o, refuse := o, o.Mode == Refuse
		if refuse { // a wish; what is stored is a fact
			o.Mode = Break
		}
		o.Nodes = slices.Clone(o.Nodes)
		slices.Sort(o.Nodes)
		if o.Window.Start.IsZero() {
			o.Window.Start = tick.Time(now)
			if old := s.outage(o.ID); old != nil {
				o.Window.Start = tick.Time(old.from)
			}
		}
		o.Window = Window{o.Window.Start.UTC(), o.Window.End.UTC()}
		next, err := outageOf(o)
		if err != nil {
			return err
		}
		if next.to <= now {
			return fmt.Errorf("%w: Outage.Window %s is over; use EndOutage", ErrHorizon, o.Window)
		}
		for _, n := range o.Nodes {
			if _, ok := s.node(n); !ok {
				return fmt.Errorf("%w node %q in Outage.Nodes", ErrUnknown, n)
			}
		}
		pools := s.outagePools(next)
		if old := s.outage(o.ID); old != nil {
			if slices.Equal(old.nodes, next.nodes) && old.owner == next.owner && old.reason == next.reason &&
				old.from == next.from && old.to == next.to && old.drain == next.drain {
				return nil
			}
			pools = append(pools, s.outagePools(old)...)
			slices.Sort(pools)
			pools = slices.Compact(pools)
		}
		set := func() (err error) {
			impact, err = c.measure(now, pools, func() error { return c.decide(OutageSet{tick.Time(now), o}, pools...) })
			return err
		}
		if !refuse {
			return set()
		}
		return c.core.Try(func() error {
			if err := set(); err != nil || len(impact.Degraded) == 0 {
				return err
			}
			return &ImpactError{Outage: o.ID, Impact: impact}
		})
	})
	if err != nil {
		return Impact{}, err
	}
	return impact, nil
}

// EndOutage gives the nodes of an outage back. What that heals, [Calendar.Impact]
// tells beforehand.
//
// Possible errors: [ErrUnknown].
func (c *Calendar) EndOutage(at time.Time, id string) error {
	return c.command(at, func(now int64) error {
		o := c.core.S.outage(id)
		if o == nil {
			return fmt.Errorf("%w outage %q", ErrUnknown, id)
		}
		return c.decide(OutageEnded{tick.Time(now), id}, c.core.S.outagePools(o)...)
	})
}

// Outages yields the outages that are not over, by id.
func (c *Calendar) Outages() iter.Seq[Outage] {
	return func(yield func(Outage) bool) {
		for o := range c.core.S.outages.All() {
			if !yield(o.public()) {
				return
			}
		}
	}
}
