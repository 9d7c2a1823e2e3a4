// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/reservation/recur"
)

// BookSeries accepts a series and books the occurrences from the present on that
// begin within its BookAhead, at most 10,000 at once, in order of their index. The
// report says which are firm and lists all conflicts, each with its offers. It is
// refused as a whole if an occurrence does not fit and OnConflict is AllOrNothing,
// or if no occurrence fits and none will follow. Zone is the location of the name
// Series.Zone; the host loads it.
//
// The id is the request key: the same call again changes nothing and reports the
// bookings as they are now, without the conflicts. It costs one Book per
// occurrence, and the offers of each conflict.
//
// Possible errors: [*SeriesError], [ErrExists], [ErrState] for a series that was
// stopped, [ErrUnknown] for a pool or a node, [ErrHorizon] for a rule that is over,
// [ErrInvalid].
func (c *Calendar) BookSeries(at time.Time, q Series, zone *time.Location) (SeriesReport, error) {
	q, err := q.normal()
	if err != nil {
		return SeriesReport{}, err
	}
	rule, err := q.compile(zone)
	if err != nil {
		return SeriesReport{}, err
	}
	var report SeriesReport
	err = c.command(at, func(now int64) error {
		s := &c.core.S
		if old := s.seriesOf(q.ID); old != nil {
			switch {
			case !old.Series.equal(q):
				return fmt.Errorf("%w: series %q exists with another body; choose a new id", ErrExists, q.ID)
			case old.Stopped:
				return fmt.Errorf("%w: series %q was cancelled; choose a new id", ErrState, q.ID)
			}
			report = s.reportOf(old)
			return nil
		}
		if id, taken := s.takenBySeries(q.ID); taken {
			return fmt.Errorf("%w: booking %q has the id of an occurrence of series %q; choose a new id", ErrExists, id, q.ID)
		}
		prep, err := s.seriesPools(q)
		if err != nil {
			return err
		}
		first, head, ok := nextOf(rule, addTicks(now, prep))
		if !ok {
			return fmt.Errorf("%w: the rule of series %q has no occurrence from %s on", ErrHorizon, q.ID, until(now+prep))
		}
		return c.core.Try(func() error {
			if err := c.decide(SeriesMade{tick.Time(now), q, first, head}); err != nil {
				return err
			}
			report, err = c.materialise(now, q.ID, rule)
			if err != nil {
				return err
			}
			if len(report.Conflicts) > 0 && (q.OnConflict == AllOrNothing || len(report.Firm) == 0 && report.Head == (Window{})) {
				return &SeriesError{report}
			}
			return nil
		})
	})
	if err != nil {
		return SeriesReport{}, err
	}
	return report, nil
}

// ContinueSeries books the occurrences that have come into BookAhead since the
// series was last continued; [Calendar.Due] says when there are any. What does not
// fit is left out or moved, see [OnConflict], and what is too late already is
// Missed. A host that has to give up one of them, for want of quota say, cancels
// its booking on the same fork. Where nothing is due it changes nothing.
//
// Possible errors: [ErrUnknown], [ErrState] for a series that was stopped,
// [ErrInvalid] for a wrong zone.
func (c *Calendar) ContinueSeries(at time.Time, id string, zone *time.Location) (SeriesReport, error) {
	var report SeriesReport
	err := c.command(at, func(now int64) error {
		v := c.core.S.seriesOf(id)
		if v == nil {
			return unknown("series", id)
		}
		if v.Stopped {
			return fmt.Errorf("%w: series %q was cancelled", ErrState, id)
		}
		rule, err := v.compile(zone)
		if err != nil {
			return err
		}
		return c.core.Try(func() error {
			report, err = c.materialise(now, id, rule)
			return err
		})
	})
	if err != nil {
		return SeriesReport{}, err
	}
	return report, nil
}

// CancelSeries stops a series and cancels its occurrences that have not begun. It
// leaves alone what has begun and what was detached by a change of its own or a Push, and what another booking continues;
// [Calendar.Occurrences] lists them. It returns the cancelled bookings; cancelling
// again changes nothing.
//
// Possible errors: [ErrUnknown].
func (c *Calendar) CancelSeries(at time.Time, id string) ([]Booking, error) {
	var out []Booking
	err := c.command(at, func(now int64) error {
		s := &c.core.S
		v := s.seriesOf(id)
		if v == nil {
			return unknown("series", id)
		}
		if v.Stopped {
			return nil
		}
		var ids []string
		for r := range s.occurrences(id) {
			if r.phase == Confirmed && !r.detached && r.before == "" {
				ids = append(ids, r.id)
			}
		}
		return c.core.Try(func() error {
			if err := c.decide(SeriesStopped{tick.Time(now), id}); err != nil {
				return err
			}
			for _, id := range ids {
				if err := c.decide(BookingCancelled{tick.Time(now), id}, s.rec(id).pools()...); err != nil {
					return err
				}
				out = append(out, s.rec(id).booking())
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// materialise books the occurrences of a series that have come into its BookAhead.
func (c *Calendar) materialise(now int64, id string, rule *recur.Series) (SeriesReport, error) {
	s := &c.core.S
	was := s.seriesOf(id)
	report := SeriesReport{ID: id, Next: max(was.Next, int64(rule.Len()))}
	prep, err := s.seriesPools(was.Series)
	if err != nil {
		return report, err
	}
	n := 0
	for i, w := range rule.All(int(was.Next)) {
		index, w := int64(i), Window(w)
		from, to, err := w.ticks("Window", false)
		if err != nil {
			return report, err
		}
		if n++; n > maxOccurrences || s.entersAt(was.Series, from, to) > now {
			report.Next, report.Head = index, w
			break
		}
		if from-prep < now {
			report.Missed = append(report.Missed, index)
			continue
		}
		err = c.bookOccurrence(now, was.Series, index, w, 0)
		refusal, refused := errors.AsType[*ConflictError](err)
		if refused && was.OnConflict == ShiftWithin {
			refused, err = c.shiftOccurrence(now, was.Series, index, from, to)
		}
		switch {
		case refused:
			report.Conflicts = append(report.Conflicts, SeriesConflict{index, w, refusal})
		case err != nil:
			return report, err
		default:
			report.Firm = append(report.Firm, s.rec(OccurrenceID(id, index)).booking())
		}
	}
	for _, x := range report.Conflicts { // now that all that fit are booked
		x.Refusal.Offers = c.offers(now, was.request(x.Index, x.Window))
	}
	if report.Next == was.Next && report.Head == was.Head {
		return report, nil
	}
	return report, c.decide(SeriesContinued{tick.Time(now), id, report.Next, report.Head})
}

// bookOccurrence decides one occurrence, moved by shift seconds to w.
func (c *Calendar) bookOccurrence(now int64, q Series, index int64, w Window, shift int64) error {
	s := &c.core.S
	request := q.request(index, w)
	spans, err := s.envelopes(now, request)
	if err != nil {
		return err
	}
	e := Booked{At: tick.Time(now), Request: request, Spans: spans, Show: s.showBy(request)}
	r, err := recordOf(e)
	if err != nil {
		return err
	}
	if err := s.admit(r); err != nil {
		return err
	}
	return c.choose(e, r, func(e Booked) Event { return OccurrenceBooked{e, q.ID, index, shift} })
}

// shiftOccurrence books an occurrence at the start nearest to from that fits, or
// reports that there is none within the Shift of its series.
func (c *Calendar) shiftOccurrence(now int64, q Series, index int64, from, to int64) (refused bool, err error) {
	most, length := int64(q.Shift/time.Second), to-from
	var starts []int64
	if at, err := c.earliest(now, q.Lines, length, from, min(from+most, lastTick), 1, q.Owner); err == nil {
		starts = append(starts, at)
	}
	if at, ok := c.latestBefore(q.Owner, q.Lines, now, from, length, 1, func(at int64) bool { return c.fits(now, q.request(index, windowOf(at, at+length))) }); ok && from-at <= most {
		starts = append(starts, at)
	}
	if len(starts) == 2 && from-starts[1] < starts[0]-from {
		slices.Reverse(starts)
	}
	for _, at := range starts {
		err := c.bookOccurrence(now, q, index, windowOf(at, at+length), at-from)
		if _, refused := errors.AsType[*ConflictError](err); !refused {
			return false, err
		}
	}
	return true, nil
}

// nextOf returns the first occurrence of a rule that starts at or after an instant.
func nextOf(rule *recur.Series, from int64) (int64, Window, bool) {
	i, ok := rule.Index(tick.Time(from))
	if !ok {
		return 0, Window{}, false
	}
	w, ok := rule.Occurrence(i)
	return int64(i), Window(w), ok
}
