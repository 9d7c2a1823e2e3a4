// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// verify reports why an event cannot follow the state. It does not ask whether
// the event is wise: limits were the business of the ledger that decided it.
func (s *state) verify(ev Event) error {
	switch e := ev.(type) {
	case ReservedEvent:
		return s.verifyReserved(&e)
	case CommittedEvent:
		return s.verifyChange(e.At, e.ID, func(t int64, r *record) error {
			if r.state != Held {
				return fmt.Errorf("charge %q is %s", r.id, r.state)
			}
			return errors.Join(ordered(e.Amounts), within(e.Amounts, r.current.amounts))
		})
	case ResizedEvent:
		return s.verifyChange(e.At, e.ID, func(t int64, r *record) error { return s.verifyResized(t, r, &e) })
	case ReleasedEvent:
		return s.verifyChange(e.At, e.ID, func(int64, *record) error { return nil })
	case ExpiredEvent:
		return s.verifyDue(e.At, e.ID, dueExpiry)
	case EndedEvent:
		return s.verifyDue(e.At, e.ID, dueEnd)
	case TenantSetEvent:
		if _, err := s.verifyAt(e.At); err != nil {
			return err
		}
		if !slices.Equal(e.Tenant.Limits, e.Tenant.normal().Limits) {
			return fmt.Errorf("limits of tenant %q are not in normal form", e.Tenant.Name)
		}
		if s.hasTenant(&e.Tenant) {
			return fmt.Errorf("tenant %q is so already", e.Tenant.Name)
		}
		return s.settable(&e.Tenant)
	case TenantRemovedEvent:
		if _, err := s.verifyAt(e.At); err != nil {
			return err
		}
		return s.removable(e.Name)
	case ForgottenEvent:
		return s.verifyForgotten(&e)
	default:
		return fmt.Errorf("pass an event of this package by value")
	}
}

// verifyAt checks the instant of an event: not before the present, and nothing
// else is due first.
func (s *state) verifyAt(at time.Time) (int64, error) {
	t, err := tick.Exact(at)
	if err != nil {
		return 0, err
	}
	if t < s.now {
		return 0, fmt.Errorf("instant %s is before the present %s", show(t), show(s.now))
	}
	if d, ok := s.agenda.Min(); ok && d.at <= t {
		return 0, fmt.Errorf("charge %q is due at %s, before the event at %s", d.id, show(d.at), show(t))
	}
	return t, nil
}

func show(t int64) string { return tick.Time(t).Format(time.RFC3339) }

func (s *state) verifyDue(at time.Time, id string, what uint8) error {
	t, err := tick.Exact(at)
	if err != nil {
		return err
	}
	if d, ok := s.agenda.Min(); !ok || d != (due{t, what, id}) {
		return fmt.Errorf("charge %q is not what is due next at %s", id, show(t))
	}
	return nil
}

func (s *state) verifyChange(at time.Time, id string, f func(t int64, r *record) error) error {
	t, err := s.verifyAt(at)
	if err != nil {
		return err
	}
	r, err := s.known(id)
	if err != nil {
		return err
	}
	if !r.state.Live() {
		return fmt.Errorf("charge %q is %s", id, r.state)
	}
	return f(t, r)
}

func (s *state) verifyReserved(e *ReservedEvent) error {
	t, err := s.verifyAt(e.At)
	if err != nil {
		return err
	}
	tm, err := e.Request.read(e.Booked)
	if err != nil {
		return err
	}
	node := s.node(e.Tenant)
	switch {
	case s.record(e.ID) != nil:
		return fmt.Errorf("charge %q exists", e.ID)
	case node == none:
		return fmt.Errorf("tenant %q does not exist", e.Tenant)
	case tm.end <= t:
		return fmt.Errorf("window %s is over", e.Window)
	case tm.ttl > 0 && !tick.InRange(t+tm.ttl):
		return fmt.Errorf("TTL %s ends after the year 9999", e.TTL)
	}
	if err := ordered(e.Amounts); err != nil {
		return err
	}
	for _, a := range e.Amounts {
		if err := s.overflow(node, a.Key, a.N); err != nil {
			return err
		}
	}
	return nil
}

func (s *state) verifyResized(t int64, r *record, e *ResizedEvent) error {
	from, to, errs := e.Window.ticks("window")
	if err := errors.Join(invalid(errs), ordered(e.Amounts)); err != nil {
		return err
	}
	next := plan{from, to, e.Amounts}
	if to <= t {
		return fmt.Errorf("window %s is over", e.Window)
	}
	if next.equal(&r.current) {
		return fmt.Errorf("charge %q is so already", e.ID)
	}
	for _, c := range contrast(r.spans, r.respan(t, next.from(t))) {
		if c.gross > 0 {
			if err := s.overflow(r.node, c.key, c.gross); err != nil {
				return err
			}
		}
	}
	return nil
}

// ordered checks amounts as an event carries them.
func ordered(amounts []Amount) error {
	if err := invalid(badAmounts("amounts", amounts)); err != nil {
		return err
	}
	if !slices.IsSortedFunc(amounts, func(a, b Amount) int {
		if a.Key < b.Key {
			return -1
		}
		return 1
	}) {
		return fmt.Errorf("amounts are not sorted by key")
	}
	return nil
}

func (s *state) verifyForgotten(e *ForgottenEvent) error {
	t, err := s.verifyAt(e.At)
	if err != nil {
		return err
	}
	before, err := tick.Exact(e.Before)
	if err != nil {
		return err
	}
	if before > t {
		return fmt.Errorf("before %s is after the event at %s", show(before), show(t))
	}
	list := s.forgettable(before)
	if n := dropped(list); n != e.Charges || len(list) == 0 {
		return fmt.Errorf("%d charges stopped by %s, not %d", n, show(before), e.Charges)
	}
	return nil
}
