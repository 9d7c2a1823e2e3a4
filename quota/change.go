// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"fmt"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// Commit turns a hold into a committed charge. actual is what is really used:
// at most what is held of each key, and none of a key that is left out; nil
// means as held. The difference is free from at on. Repeated with the same
// result, it decides nothing.
//
// Possible errors: [ErrUnknown] charge, [ErrExpired], [ErrState], [ErrInvalid].
func (l *Ledger) Commit(at time.Time, id string, actual []Amount) (c Charge, err error) {
	if len(actual) > 0 {
		if err := invalid(badAmounts("actual", actual)); err != nil {
			return Charge{}, err
		}
	}
	err = l.command(at, func(t int64) error {
		s := &l.core.S
		r, err := s.known(id)
		if err != nil {
			return err
		}
		if r.state == Committed && (len(actual) == 0 || sameAmounts(r.current.amounts, actual)) {
			c = s.charge(r)
			return nil
		}
		if r.state != Held {
			return r.wrong("Commit needs a held charge; Resize changes a committed one")
		}
		amounts := r.current.amounts
		if len(actual) > 0 {
			amounts = sorted(actual)
			if err := within(amounts, r.current.amounts); err != nil {
				return err
			}
		}
		l.decide(CommittedEvent{At: tick.Time(t), ID: id, Amounts: amounts})
		c = s.charge(s.record(id))
		return nil
	})
	return c, err
}

// Release gives a charge back: from at on it uses nothing, and before its start
// it never was. A charge that is not live any more is answered as it is.
// Possible errors: [ErrUnknown] charge.
func (l *Ledger) Release(at time.Time, id string) (c Charge, err error) {
	err = l.command(at, func(t int64) error {
		s := &l.core.S
		r, err := s.known(id)
		if err != nil {
			return err
		}
		if r.state.Live() {
			l.decide(ReleasedEvent{At: tick.Time(t), ID: id})
			r = s.record(id)
		}
		c = s.charge(r)
		return nil
	})
	return c, err
}

// Resize replaces what a live charge uses from at on by amounts over w, all or
// nothing: what grows is checked with the old charge removed, what shrinks is
// always allowed, and the past stays as it was. Nil amounts or a zero Window
// mean unchanged; a new class or tenant is a new charge. Asked for what is so
// already, it decides nothing.
//
// A charge keeps a span for each change of its past, so the cost grows with how
// often it was resized: O(s·k) for s spans, beside that of a Reserve.
//
// Possible errors: [ErrExceeded] (an [*ExceededError] whose Need is the growth
// alone), [ErrUnknown] charge, [ErrExpired], [ErrState], [ErrInvalid].
func (l *Ledger) Resize(at time.Time, id string, amounts []Amount, w Window) (c Charge, err error) {
	var errs []error
	if len(amounts) > 0 {
		errs = badAmounts("amounts", amounts)
	}
	var next plan
	if w != (Window{}) {
		var more []error
		next.start, next.end, more = w.ticks("window")
		errs = append(errs, more...)
	}
	if err := invalid(errs); err != nil {
		return Charge{}, err
	}
	err = l.command(at, func(t int64) error {
		s, next := &l.core.S, next
		r, err := s.known(id)
		if err != nil {
			return err
		}
		if !r.state.Live() {
			return r.wrong("Resize needs a live charge; ask for a new one")
		}
		if next.amounts = r.current.amounts; len(amounts) > 0 {
			next.amounts = sorted(amounts)
		}
		if w == (Window{}) {
			next.start, next.end = r.current.start, r.current.end
		}
		if next.end <= t {
			return fmt.Errorf("%w: window %s is over at %s; Release the charge instead", ErrInvalid, w, tick.Time(t).Format(time.RFC3339))
		}
		if !next.equal(&r.current) {
			if err := s.growable(t, r, &next); err != nil {
				return err
			}
			l.decide(ResizedEvent{At: tick.Time(t), ID: id, Amounts: next.amounts, Window: window(next.start, next.end)})
			r = s.record(id)
		}
		c = s.charge(r)
		return nil
	})
	return c, err
}

// growable checks a resize: each key by the difference it makes.
func (s *state) growable(t int64, r *record, next *plan) error {
	c := check{s: s, class: r.class}
	for _, ch := range contrast(r.spans, r.respan(t, next.from(t))) {
		if ch.gross > 0 {
			if err := s.overflow(r.node, ch.key, ch.gross); err != nil {
				return err
			}
		}
		c.walk(r.node, ch.key, ch.in)
	}
	return c.refusal(r.id, r.node)
}

// known returns the record of an id or ErrUnknown.
func (s *state) known(id string) (*record, error) {
	if r := s.record(id); r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("%w: charge %q: Reserve or Book it first", ErrUnknown, id)
}

// wrong is the error of a charge that is in the wrong state.
func (r *record) wrong(why string) error {
	if r.state == Expired {
		return fmt.Errorf("%w: charge %q expired at %s; reserve again under a new id", ErrExpired, r.id, tick.Time(r.expires).Format(time.RFC3339))
	}
	return fmt.Errorf("%w: charge %q is %s: %s", ErrState, r.id, r.state, why)
}

// within checks that some is at most all for each key.
func within(some, all []Amount) error {
	var errs []error
	for _, a := range some {
		if have := find(all, a.Key); a.N > have {
			errs = append(errs, fmt.Errorf("amount %d of key %q: at most the %d held", a.N, a.Key, have))
		}
	}
	return invalid(errs)
}
