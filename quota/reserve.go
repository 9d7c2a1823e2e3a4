// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"fmt"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// Reserve admits r as a hold, which counts like a committed charge until it
// expires after r.TTL, ends with its window, or is released. The check covers
// the whole window. The same id with the same body is answered with the charge
// as it is now and decides nothing.
//
// Possible errors: [ErrExceeded] (an [*ExceededError]), [ErrExists],
// [ErrUnknown] tenant, [ErrInvalid].
//
// Cost: O(k·h·log n) with k keys, h tenants up to the root and n changes of
// level; see the package doc for what lend limits add.
func (l *Ledger) Reserve(at time.Time, r Request) (Charge, error) { return l.admit(at, r, false) }

// Book is Reserve and Commit in one step and one event. r.TTL must be 0.
// Possible errors: those of [Ledger.Reserve].
func (l *Ledger) Book(at time.Time, r Request) (Charge, error) { return l.admit(at, r, true) }

func (l *Ledger) admit(at time.Time, r Request, booked bool) (c Charge, err error) {
	tm, err := r.read(booked)
	if err != nil {
		return Charge{}, err
	}
	err = l.command(at, func(t int64) error {
		s := &l.core.S
		old, err := s.fits(t, &r, tm)
		if err != nil {
			return err
		}
		if old == nil {
			r.Amounts = sorted(r.Amounts)
			r.Window = window(tm.start, tm.end)
			l.decide(ReservedEvent{At: tick.Time(t), Request: r, Booked: booked})
			old = s.record(r.ID)
		}
		c = s.charge(old)
		return nil
	})
	return c, err
}

// Fits answers as [Ledger.Reserve] would at the same instant, and changes
// nothing: what is due by then counts as having happened (Q23). Where nothing
// is due it does not allocate when the answer is nil and no lend limit cuts the
// window into more than eight pieces; else it works on a fork, and pays for
// what is due again each time, so Advance before asking often.
//
// Possible errors: those of [Ledger.Reserve].
func (l *Ledger) Fits(at time.Time, r Request) error {
	tm, err := r.read(false)
	if err != nil {
		return err
	}
	s, t := l.stateAt(at)
	_, err = s.fits(t, &r, tm)
	return err
}

// stateAt returns the state that a command at that instant would find, and the
// instant that counts. It is the ledger's own unless something is due.
func (l *Ledger) stateAt(at time.Time) (*state, int64) {
	t := max(tick.Floor(at), l.core.S.now)
	if d, ok := l.core.S.agenda.Min(); ok && d.at <= t {
		l = l.Fork()
		l.Advance(tick.Time(t))
	}
	return &l.core.S, t
}

// fits decides whether r may be admitted at t. If r has been admitted already,
// it returns its record.
func (s *state) fits(t int64, r *Request, tm terms) (*record, error) {
	if old := s.record(r.ID); old != nil {
		if old.matches(s.tenants.Ref(int(old.node)).name, r, tm) {
			return old, nil
		}
		return nil, fmt.Errorf("%w: ID %q: choose a new id, or Resize the charge", ErrExists, r.ID)
	}
	node := s.node(r.Tenant)
	if node == none {
		return nil, fmt.Errorf("%w: Tenant %q: add it with SetTenant", ErrUnknown, r.Tenant)
	}
	if tm.end <= t {
		return nil, fmt.Errorf("%w: Window %s is over at %s", ErrInvalid, r.Window, tick.Time(t).Format(time.RFC3339))
	}
	if tm.ttl > 0 && !tick.InRange(t+tm.ttl) {
		return nil, fmt.Errorf("%w: TTL %s from %s ends after the year 9999", ErrInvalid, r.TTL, tick.Time(t).Format(time.RFC3339))
	}
	in := [1]segment{{from: max(t, tm.start), to: tm.end}}
	c := check{s: s, class: r.Class}
	for _, a := range r.Amounts {
		if err := s.overflow(node, a.Key, a.N); err != nil {
			return nil, err
		}
		in[0].d = a.N
		c.walk(node, a.Key, in[:])
	}
	return nil, c.refusal(r.ID, node)
}

// Available returns the greatest amount of key that [Ledger.Fits] at the same
// instant would admit for tenant over w, given the class, if nothing else is
// asked for. It is 0 if nothing fits, and for a tenant, key, class or window
// that Fits would call unknown or invalid. It costs about 40 checks (bisection
// up to [MaxAmount]), and what is due by then as Fits does.
func (l *Ledger) Available(at time.Time, tenant string, key Key, class Class, w Window) int64 {
	s, now := l.stateAt(at)
	node := s.node(tenant)
	from, to, errs := w.ticks("Window")
	if node == none || errs != nil || !class.valid() || to <= now || badName(string(key)) != "" {
		return 0
	}
	in := [1]segment{{from: max(from, now), to: to}}
	lo, hi := int64(0), int64(MaxAmount) // lo fits, hi+1 does not or is not allowed
	for lo < hi {
		mid := lo + (hi-lo+1)/2
		in[0].d = mid
		c := check{s: s, class: class, quick: true}
		if c.walk(node, key, in[:]); !c.hit && s.overflow(node, key, mid) == nil {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}
