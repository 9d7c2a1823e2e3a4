// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// SetPool creates a pool or changes its units and its policy as of now. Units
// that are no longer named are gone: outages forget them, Standby claims and
// begun or pinned bookings lose those seats, and a floating booking that was
// seated there floats again; see [Calendar.Degraded]. A unit that comes back goes
// to the booking that named it, unless somebody else has it. A unit in cleanup
// cannot go before its cleanup ends. Bookings keep the envelope they have. A line
// within a domain that has not begun loses the seats that are no longer with the
// others; smaller cells take nothing. The same pool again changes nothing, in
// whatever order its cells are. It costs O(u log u) for u units, and O(n) if the
// regime changes.
//
// Possible errors, all at once: [ErrInvalid]; [ErrExists] for a node of another
// pool; [ErrState] for a unit in cleanup.
func (c *Calendar) SetPool(at time.Time, p Pool) error {
	return c.command(at, func(now int64) error {
		s := &c.core.S
		e := PoolSet{tick.Time(now), p.clone()}
		if old := s.pool(p.Name); old != nil && old.Pool.equal(e.Pool) {
			return nil
		}
		if _, err := e.prepare(s); err != nil {
			return err
		}
		return c.decide(e, p.Name)
	})
}

// RemovePool takes away a pool that no booking uses any more. Its outages lose
// the nodes, and records of bookings that are over are forgotten.
//
// Possible errors: [ErrUnknown], [ErrState].
func (c *Calendar) RemovePool(at time.Time, name string) error {
	return c.command(at, func(now int64) error {
		e := PoolRemoved{tick.Time(now), name}
		if _, err := e.prepare(&c.core.S); err != nil {
			return err
		}
		return c.decide(e)
	})
}

// Pools yields the pools by name.
func (c *Calendar) Pools() iter.Seq[Pool] {
	return func(yield func(Pool) bool) {
		for p := range c.core.S.pools.All() {
			if !yield(p.Pool.clone()) {
				return
			}
		}
	}
}

// Pool returns the pool of a name.
func (c *Calendar) Pool(name string) (Pool, bool) {
	p := c.core.S.pool(name)
	if p == nil {
		return Pool{}, false
	}
	return p.Pool.clone(), true
}

// equal compares two pools as they are.
func (p Pool) equal(o Pool) bool {
	return p.Name == o.Name && p.GPUsPerUnit == o.GPUsPerUnit && p.Policy.equal(o.Policy) && p.Label == o.Label &&
		p.Regime == o.Regime && slices.Equal(p.Levels, o.Levels) && slices.Equal(p.Cells, o.Cells) &&
		slices.EqualFunc(p.Units, o.Units, func(a, b Unit) bool {
			return a.Name == b.Name && a.Spare == b.Spare && slices.Equal(a.Path, b.Path)
		})
}

// poolOf returns a pool or says that there is none.
func (s *state) poolOf(name string) (*pool, error) {
	p := s.pool(name)
	if p == nil {
		return nil, fmt.Errorf("%w pool %q", ErrUnknown, name)
	}
	return p, nil
}
