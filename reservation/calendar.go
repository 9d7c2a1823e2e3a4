// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"errors"
	"fmt"
	"time"

	"github.com/berth-gpu/berth/internal/engine"
	"github.com/berth-gpu/berth/internal/tick"
)

// A Config describes a new calendar.
//
// A Config is immutable and safe for concurrent use.
type Config struct {
	Pools []Pool    // may be empty; [Calendar.SetPool] adds more
	Start time.Time // the first present; windows before it are refused. Zero: year 1
	// MaxBypass is how often an entry of the waiting list is passed over by later
	// ones; see [Calendar.Due]. 0 = 8; negative: never.
	MaxBypass int
}

const defaultBypass = 8

// A Calendar knows who may use which nodes, when. It is a value: fork it, change
// the fork, and keep or drop it.
//
// A Calendar may be read by many goroutines while nobody changes it; Fork is
// safe whenever reading is.
type Calendar struct {
	core engine.Core[state, Event]
	base *byte // the last event of the calendar from which this was forked
}

// New returns a calendar with the pools of cfg and no bookings.
//
// Possible errors, all at once: [ErrInvalid], [ErrExists] for a name that is
// there twice, [ErrUnaligned].
func New(cfg Config) (*Calendar, error) {
	c := &Calendar{core: engine.Core[state, Event]{S: newState()}}
	start, err := exact("Config.Start", cfg.Start)
	errs := []error{err}
	s := &c.core.S
	s.start, s.now = start, start
	if s.bypass = int64(max(cfg.MaxBypass, 0)); cfg.MaxBypass == 0 {
		s.bypass = defaultBypass
	}
	for i, p := range cfg.Pools {
		if s.pool(p.Name) != nil {
			errs = append(errs, fmt.Errorf("%w: Config.Pools[%d]: pool %q is there twice", ErrExists, i, p.Name))
			continue
		}
		do, err := (PoolSet{Pool: p.clone()}).prepare(s)
		if err != nil {
			errs = append(errs, fmt.Errorf("Config.Pools[%d]: %w", i, err))
			continue
		}
		do(c.core.Token())
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return c, nil
}

// Fork returns an independent copy with no pending events. It costs the same
// for every size.
func (c *Calendar) Fork() *Calendar { return &Calendar{core: c.core.Fork(), base: c.core.S.last} }

// Commit makes what was done on a fork of c the present of c, with its events,
// unless c has changed since the fork was made. The fork stays as it is. It costs
// the same for every size.
//
// Possible errors: [ErrStale]; then do the same again on a new fork.
func (c *Calendar) Commit(fork *Calendar) error {
	if fork.base != c.core.S.last {
		return fmt.Errorf("%w: it was forked from an earlier state, or from another calendar", ErrStale)
	}
	next := fork.core.Fork()
	for _, e := range c.core.Events() {
		next.Record(e)
	}
	for _, e := range fork.core.Events() {
		next.Record(e)
	}
	c.core = next
	return nil
}

// Events returns what was decided since New, Restore, Fork or TakeEvents. The
// caller must not change the slice.
func (c *Calendar) Events() []Event { return c.core.Events() }

// TakeEvents returns the pending events and forgets them.
func (c *Calendar) TakeEvents() []Event { return c.core.TakeEvents() }

// Present returns the instant of the last event. A command of an earlier
// instant counts as one of the present.
func (c *Calendar) Present() time.Time { return tick.Time(c.core.S.now) }

// Next returns when the calendar next changes by itself, if ever.
func (c *Calendar) Next() (time.Time, bool) {
	d, ok := c.core.S.due.Min()
	if !ok {
		return time.Time{}, false
	}
	return tick.Time(d.at), true
}

// Advance makes happen what is due up to at, in order, each thing once, after
// any jump: holds expire, windows begin and end, outages end, Standby claims
// are told to leave, and bookings that the host has not seated are seated. A
// clock that goes back changes nothing.
func (c *Calendar) Advance(at time.Time) {
	// The only failure would be an event that this package decided and then
	// refused; drain stops there, and Check tells.
	_ = c.drain(max(tick.Floor(at), c.core.S.now))
}

// command runs f at an instant, after what is due before it and followed by
// what it makes due. A command that fails leaves no trace.
func (c *Calendar) command(at time.Time, f func(now int64) error) error {
	now := max(tick.Floor(at), c.core.S.now)
	d, ok := c.core.S.due.Min()
	if !ok || d.at > now { // f changes nothing unless it succeeds
		if err := f(now); err != nil {
			return err
		}
		return c.drain(now)
	}
	return c.core.Try(func() error {
		if err := c.drain(now); err != nil {
			return err
		}
		if err := f(now); err != nil {
			return err
		}
		return c.drain(now)
	})
}

// decide applies an event, notes it, and gives the pools it touched new plans
// where they need some.
func (c *Calendar) decide(e Event, pools ...string) error {
	if err := c.apply(e); err != nil {
		return err
	}
	c.core.Record(e)
	for _, pool := range pools {
		plans := c.core.S.replan(pool)
		if len(plans) == 0 {
			continue
		}
		p := Planned{At: e.when(), Pool: pool, Plans: plans}
		if err := c.apply(p); err != nil {
			return err
		}
		c.core.Record(p)
	}
	return nil
}

// pools returns the pools of a booking.
func (r *record) pools() []string {
	out := make([]string, len(r.lines))
	for i := range r.lines {
		out[i] = r.lines[i].pool
	}
	return out
}
