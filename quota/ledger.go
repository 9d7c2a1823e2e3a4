// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"fmt"
	"time"

	"github.com/berth-gpu/berth/internal/engine"
	"github.com/berth-gpu/berth/internal/tick"
)

// A Ledger is a tree of tenants with their limits and charges, a forkable value
// as ARCHITECTURE.md describes it. Make one with [New] or [Restore].
//
// A Ledger may be read by many goroutines while nobody changes it; Fork is safe whenever reading is.
type Ledger struct {
	core engine.Core[state, Event]
}

// New returns a ledger with the tenants of c and no charges. It reports every
// mistake of c at once. Possible errors: [ErrInvalid].
func New(c Config) (*Ledger, error) {
	order, err := plant(c.Tenants)
	if err != nil {
		return nil, err
	}
	return grow(order, tick.Floor(time.Time{})), nil
}

// grow returns a ledger with these tenants, which come from plant.
func grow(order []Tenant, now int64) *Ledger {
	l := &Ledger{}
	l.core.S = newState(now)
	tok := l.core.Token()
	for _, t := range order {
		l.core.S.setTenant(tok, t)
	}
	return l
}

// Fork returns an independent copy without pending events, in constant time.
func (l *Ledger) Fork() *Ledger { return &Ledger{core: l.core.Fork()} }

// Events returns what was decided since New, Restore, Fork or TakeEvents. The
// caller must not change it.
func (l *Ledger) Events() []Event { return l.core.Events() }

// TakeEvents returns what Events returns, and forgets it.
func (l *Ledger) TakeEvents() []Event { return l.core.TakeEvents() }

// Next returns when the ledger next changes by itself: a hold expires or a
// charge ends.
func (l *Ledger) Next() (time.Time, bool) {
	d, ok := l.core.S.agenda.Min()
	return tick.Time(d.at), ok
}

// Advance makes happen all that is due up to and including at, in order:
// by instant, expiries before ends, then by id. An at in the past does nothing.
func (l *Ledger) Advance(at time.Time) {
	to := tick.Floor(at)
	for {
		d, ok := l.core.S.agenda.Min()
		if !ok || d.at > to {
			return
		}
		if d.what == dueExpiry {
			l.decide(ExpiredEvent{At: tick.Time(d.at), ID: d.id})
		} else {
			l.decide(EndedEvent{At: tick.Time(d.at), ID: d.id})
		}
	}
}

// command runs f at the instant that counts: at in whole seconds, but never
// before the present. What is due until then happens first, and is undone too
// if f fails. f must validate everything before it decides anything.
func (l *Ledger) command(at time.Time, f func(t int64) error) error {
	t := max(tick.Floor(at), l.core.S.now)
	if d, ok := l.core.S.agenda.Min(); !ok || d.at > t {
		return f(t)
	}
	return l.core.Try(func() error {
		l.Advance(tick.Time(t))
		return f(t)
	})
}

// decide applies a fact that has been validated and records it.
func (l *Ledger) decide(ev Event) {
	l.core.S.enact(l.core.Token(), ev)
	l.core.Record(ev)
}

// Apply takes over an event that another ledger with the same history decided.
// It decides nothing and records nothing. Possible errors: [ErrContradiction]
// if the event does not follow from the state, which is then unchanged.
func (l *Ledger) Apply(ev Event) error {
	if err := l.core.S.verify(ev); err != nil {
		return fmt.Errorf("%w: %T: %w", ErrContradiction, ev, err)
	}
	l.core.S.enact(l.core.Token(), owned(ev))
	return nil
}
