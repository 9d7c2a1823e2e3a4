// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// Yield lets Standby claims use the nodes of an active Firm booking until an
// instant in its window; zero means its end. The owner keeps its entitlement and
// gets the nodes back then: the claims are told ReclaimLead before. Yielding
// counts as a check-in. A later instant yields for longer; for less, see
// [Calendar.Reclaim].
//
// Possible errors: [ErrUnknown], [ErrVersion], [ErrState], [ErrInvalid], [ErrUnaligned].
func (c *Calendar) Yield(at time.Time, id string, to time.Time, ifVersion uint64) (Booking, error) {
	return c.on(at, id, ifVersion, func(now int64, r *record) error {
		if r.phase != Active || r.class != Firm {
			return fmt.Errorf("%w: %s booking %q is %s; only an active Firm one is yielded", ErrState, r.class, id, r.phase)
		}
		end := r.end
		if !to.IsZero() {
			var err error
			if end, err = exact("to", to); err != nil {
				return err
			}
		}
		if end == r.yield {
			return nil
		}
		if least := max(r.yield, addTicks(now, c.core.S.notice(r))); end < least || end > r.end {
			return fmt.Errorf("%w: to %s is not between %s, which leaves Standby claims their notice, and the end %s",
				ErrInvalid, until(end), until(least), until(r.end))
		}
		return c.decide(Yielded{tick.Time(now), id, tick.Time(end)})
	})
}

// Reclaim takes the nodes of a yielded booking back as soon as the Standby
// claims on them have had their notice, or at once if there are none. The booking
// says when. Reclaiming again changes nothing.
//
// Possible errors: [ErrUnknown], [ErrVersion], [ErrState].
func (c *Calendar) Reclaim(at time.Time, id string, ifVersion uint64) (Booking, error) {
	return c.on(at, id, ifVersion, func(now int64, r *record) error {
		s := &c.core.S
		if r.phase != Active || r.class != Firm {
			return fmt.Errorf("%w: %s booking %q is %s; only an active Firm one is yielded", ErrState, r.class, id, r.phase)
		}
		if r.yield == none {
			return nil
		}
		end := now
		if s.vacant(r) != nil {
			end = min(r.yield, addTicks(now, s.notice(r)))
		}
		if end == r.yield {
			return nil
		}
		return c.decide(Yielded{tick.Time(now), id, tick.Time(end)})
	})
}

// notice returns the longest ReclaimLead of the pools of r.
func (s *state) notice(r *record) int64 {
	var lead int64
	for i := range r.lines {
		if p := s.pool(r.lines[i].pool); p != nil {
			lead = max(lead, p.reclaim)
		}
	}
	return lead
}

// CheckIn says that somebody uses a booking, so that it does not become a NoShow.
// Its envelope must have begun. Confirming a hold in its window is a check-in, too.
// Checking in again changes nothing.
//
// Possible errors: [ErrUnknown], [ErrVersion], [ErrState].
func (c *Calendar) CheckIn(at time.Time, id string, ifVersion uint64) (Booking, error) {
	return c.on(at, id, ifVersion, func(now int64, r *record) error {
		switch {
		case r.shown:
			return nil
		case r.class != Firm || r.phase != Confirmed && r.phase != Active || !r.opens():
			return fmt.Errorf("%w: %s booking %q is %s; its envelope must have begun and its window must not be over", ErrState, r.class, id, r.phase)
		}
		return c.decide(CheckedIn{tick.Time(now), id})
	})
}

// Revoke takes a booking back from its owner in any phase, for a reason that is
// for people. Its nodes are free after the cleanup; if its envelope has not begun,
// at once. Revoking again changes nothing.
//
// Possible errors: [ErrUnknown], [ErrVersion], [ErrState], [ErrInvalid].
func (c *Calendar) Revoke(at time.Time, id, reason string, ifVersion uint64) (Booking, error) {
	return c.on(at, id, ifVersion, func(now int64, r *record) error {
		switch {
		case r.phase == Revoked:
			return nil
		case !r.phase.Live():
			return fmt.Errorf("%w: booking %q is %s and has nothing to take back", ErrState, id, r.phase)
		}
		if err := checkText("reason", reason); err != nil {
			return err
		}
		return c.leave(now, r, BookingRevoked{tick.Time(now), id, reason})
	})
}

// leave decides e, which ends booking r; Standby claims on its nodes go first.
func (c *Calendar) leave(now int64, r *record, e Event) error {
	if c.core.S.vacant(r) == nil {
		return c.decide(e, r.pools()...)
	}
	return c.core.Try(func() error {
		if err := c.clear(tick.Time(now), r.id, r.nodes()); err != nil {
			return err
		}
		return c.decide(e, r.pools()...)
	})
}
