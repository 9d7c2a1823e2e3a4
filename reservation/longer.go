// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"errors"
	"fmt"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// Extend moves the end of a booking, later or earlier, with its old range given
// back first. The rules of its pools judge the new length and end; a later end
// is an extension to them, an earlier one time that is given back. The start and
// its lead are not judged again. Seats stay the same. A
// zero end opens a Standby claim. It must end after the present; to end it now
// use [Calendar.Release]. The same end again changes nothing. A refusal offers
// the latest end that could be had, if it is later than today's.
//
// Possible errors: [ErrUnknown], [ErrVersion], [ErrState], [*ConflictError],
// [ErrEmptyWindow], [ErrHorizon], [ErrUnaligned], [ErrInvalid].
func (c *Calendar) Extend(at time.Time, id string, newEnd time.Time, ifVersion uint64) (Booking, error) {
	b, err := c.extendOn(at, id, newEnd, ifVersion)
	if refusal, ok := errors.AsType[*ConflictError](err); ok {
		now, _ := c.Find(id)
		if end, err := c.LatestEnd(at, id); err == nil && end.After(now.Window.End) && end.Before(newEnd) {
			refusal.Offers = []Offer{{Kind: Shorter, Window: Window{now.Window.Start, end}, Lines: now.Lines}}
		}
	}
	return b, err
}

// LatestEnd returns the latest end that [Calendar.Extend] would accept at an
// instant for a Firm booking, which keeps the nodes it has. It is today's end if
// there is no later one. Where the count and the seats decide no later end is
// accepted; where a plan is in the way, that is not a proof. It costs O(k log n)
// for k seats and at most 40 trials on a fork.
//
// Possible errors: [ErrUnknown], [ErrState] for a booking that is over or a
// Standby claim.
func (c *Calendar) LatestEnd(at time.Time, id string) (time.Time, error) {
	c = c.asOf(at)
	s := &c.core.S
	r, err := s.known(id, 0)
	if err != nil {
		return time.Time{}, err
	}
	if r.phase > Active || r.class != Firm {
		return time.Time{}, fmt.Errorf("%w: booking %q is %s and %s; only a Firm one that has not ended can be longer", ErrState, id, r.class, r.phase)
	}
	most := int64(lastTick)
	for i := range r.lines {
		l := &r.lines[i]
		p := s.pool(l.pool)
		after := l.to - r.end
		most = min(most, lastTick-after)
		most = min(most, addTicks(r.start, limit(p.maxLength)), addTicks(s.now, limit(p.horizon)), addTicks(r.end, limit(p.maxExtend)))
		for x := range p.load.Steps(l.to, lastTick) {
			if x.Level > p.open-l.count {
				most = min(most, x.From-after)
				break
			}
		}
		for _, n := range l.seats {
			if x, ok := s.firstBusy(n, l.to, lastTick, r.id); ok {
				most = min(most, x-after)
			}
		}
	}
	if most <= r.end {
		return tick.Time(r.end), nil
	}
	// Of all ends those count that the rules on length and end allow.
	pools := make([]*pool, len(r.lines))
	for i := range r.lines {
		pools[i] = s.pool(r.lines[i].pool)
	}
	allowed := func(end int64) int64 { return max(r.end, longest(pools, s.now, r.start, end)) }
	if allowed(most) <= r.end {
		return tick.Time(r.end), nil
	}
	end := bisect(r.end, most, func(end int64) bool {
		if end = allowed(end); end == r.end {
			return true
		}
		_, err := c.Fork().extendOn(at, id, tick.Time(end), 0)
		return err == nil
	})
	return tick.Time(allowed(end)), nil
}

// bisect returns a great number in [lo, hi] that is good; lo is known to be. If
// all numbers below a good one are good, it is the greatest.
func bisect(lo, hi int64, good func(int64) bool) int64 {
	if lo >= hi || good(hi) {
		return hi
	}
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; good(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// firstBusy returns the first instant of [from, to) at which a node is in outage
// or has a Firm seat of somebody else.
func (s *state) firstBusy(name string, from, to int64, self string) (int64, bool) {
	first := int64(tick.Forever)
	for x := range s.seatSlots(name, from, to) {
		if x.id != self {
			first = max(from, x.from)
			break
		}
	}
	for _, x := range s.closedRanges(name) {
		if x.from < to && x.to > from {
			first = min(first, max(from, x.from))
			break
		}
	}
	return first, first < tick.Forever
}

// extendOn is Extend without offers.
func (c *Calendar) extendOn(at time.Time, id string, newEnd time.Time, ifVersion uint64) (Booking, error) {
	return c.on(at, id, ifVersion, func(now int64, r *record) error { return c.extend(now, r, newEnd) })
}
