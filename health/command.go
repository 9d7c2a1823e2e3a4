// SPDX-License-Identifier: Apache-2.0

package health

import (
	"errors"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// Hold takes a component out of service for an owner, or changes the step, reason or date of the hold the owner has on it.
// There is one hold per component and owner: the same request again is answered with the hold as it is and decides nothing,
// also after its date has slipped or been moved. In a changed request, what is as in the last one stays as it is now: a new
// reason alone keeps the date. A new step or Expected sets the date anew, to Expected if it is given, else to one length of the
// step from now on.
//
// It costs O(log n). Possible errors: [ErrInvalid], [ErrPast].
func (r *Record) Hold(at time.Time, q HoldRequest) (Hold, error) {
	k, asked, err := q.body()
	if err != nil {
		return Hold{}, err
	}
	var out Hold
	err = r.command(at, func(now int64) error {
		f := fact{kind: kindHeld, at: now, key: k, step: q.Step, reason: q.Reason, asked: asked}
		old, ok := r.find(k)
		switch {
		case ok && old.step == q.Step && old.asked == asked && old.reason == q.Reason:
			out = old.public()
			return nil
		case ok && old.step == q.Step && old.asked == asked:
			f.kind, f.expected = kindChanged, old.expected
		default:
			end, err := r.end(now, k, q.Step, asked)
			if err != nil {
				return err
			}
			f.expected = end
			if ok {
				f.kind = kindChanged
			}
		}
		r.decide(f)
		held, _ := r.find(k)
		out = held.public()
		return nil
	})
	return out, err
}

// Date says when a hold is expected to end: it dates an open-ended one or moves a date. The zero time makes it open-ended.
// The date a hold has already decides nothing.
//
// It costs O(log n). Possible errors: [ErrInvalid], [ErrUnknown], [ErrPast].
func (r *Record) Date(at time.Time, c Component, o Owner, expected time.Time) error {
	k := key{c, o}
	errs := k.problems(nil)
	end, err := date("expected", expected)
	if err != nil {
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return r.command(at, func(now int64) error {
		old, ok := r.find(k)
		if !ok {
			return &RefusedError{Reason: ReasonUnknown, Component: c, Owner: o, Owners: r.owners(c)}
		}
		if old.expected == end {
			return nil
		}
		if end <= now {
			return past(now, k, end)
		}
		r.decide(fact{kind: kindDated, at: now, key: k, expected: end})
		return nil
	})
}

// Release ends the owner's hold on a component and nobody else's (I5). Where the owner holds nothing there is nothing to do,
// so a repeated release is no error.
//
// It costs O(log n). Possible errors: [ErrInvalid].
func (r *Record) Release(at time.Time, c Component, o Owner) error {
	k := key{c, o}
	if err := errors.Join(k.problems(nil)...); err != nil {
		return err
	}
	return r.command(at, func(now int64) error {
		if _, ok := r.find(k); ok {
			r.decide(fact{kind: kindReleased, at: now, key: k})
		}
		return nil
	})
}

// command runs f at the present or at, whichever is later, after what is due until then. f validates before it changes.
func (r *Record) command(at time.Time, f func(now int64) error) error {
	now := max(tick.Floor(at), r.core.S.now)
	if first, ok := r.core.S.due.Min(); !ok || first.expected > now {
		return f(now)
	}
	return r.core.Try(func() error { // H6: a refusal leaves even the due slips undone
		r.slip(now)
		return f(now)
	})
}

// decide makes a valid fact happen and records it.
func (r *Record) decide(f fact) {
	r.apply(f)
	r.core.Record(f.public())
}

// end returns the date of a hold whose step begins now.
func (r *Record) end(now int64, k key, s Step, asked int64) (int64, error) {
	switch {
	case asked <= now:
		return 0, past(now, k, asked)
	case asked != tick.Forever:
		return asked, nil
	case s == StepNone:
		return tick.Forever, nil
	default:
		return r.core.S.lengths.from(now, s), nil
	}
}

func past(now int64, k key, expected int64) error {
	return &RefusedError{Reason: ReasonPast, Component: k.Component, Owner: k.owner, Expected: tick.Time(expected), Present: tick.Time(now)}
}
