// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"iter"
	"strings"

	"github.com/berth-gpu/berth/internal/cow"
)

// occurrence is an item of the index of the bookings of a series.
type occurrence struct {
	series string
	index  int64
}

func (a occurrence) less(b occurrence) bool {
	if c := strings.Compare(a.series, b.series); c != 0 {
		return c < 0
	}
	return a.index < b.index
}

func (s *state) seriesOf(id string) *SeriesStatus {
	return s.series.Find(id)
}

// occurrences yields the bookings of a series by index, also those that are over.
func (s *state) occurrences(series string) iter.Seq[*record] {
	return func(yield func(*record) bool) {
		for x := range s.occs.From(occurrence{series, 0}) {
			if x.series != series || !yield(s.rec(OccurrenceID(series, x.index))) {
				return
			}
		}
	}
}

// swapOccurrence keeps the index of occurrences, and the waiting list, in step
// with a record that comes, goes or changes.
func (s *state) swapOccurrence(tok *cow.Token, old, now *record) {
	if old == nil && now != nil {
		s.serve(tok, now)
	}
	had, has := old != nil && old.series != "", now != nil && now.series != ""
	if has && !had {
		s.occs.Put(tok, occurrence{now.series, now.index})
	}
	if had && !has {
		s.occs.Remove(tok, occurrence{old.series, old.index})
		s.tidySeries(tok, old.series)
	}
}

// tidySeries forgets a series that is over and has no booking any more.
func (s *state) tidySeries(tok *cow.Token, id string) {
	v := s.seriesOf(id)
	if v == nil || !v.over() {
		return
	}
	for range s.occurrences(id) {
		return
	}
	s.series.Remove(tok, v.ID)
}

// goesOn reports whether a series has not been stopped.
func (s *state) goesOn(id string) bool {
	v := s.seriesOf(id)
	return v != nil && !v.Stopped
}

// seriesPools checks that the pools and nodes of a series are there, and returns
// the longest time that one of the pools needs before a start.
func (s *state) seriesPools(q Series) (prep int64, err error) {
	if err := s.lineNodes("Series.Lines", q.Lines); err != nil {
		return 0, fmt.Errorf("series %q: %w", q.ID, err)
	}
	for _, l := range q.Lines {
		prep = max(prep, s.pool(l.Pool).prep)
	}
	return prep, nil
}

// lineNodes checks that pools and named nodes are there.
func (s *state) lineNodes(field string, lines []Line) error {
	for _, l := range lines {
		if s.pool(l.Pool) == nil {
			return fmt.Errorf("%w pool %q in %s", ErrUnknown, l.Pool, field)
		}
		for _, name := range l.Nodes {
			if n, ok := s.node(name); !ok || n.pool != l.Pool {
				return fmt.Errorf("%w node %q in %s[pool %q].Nodes", ErrUnknown, name, field, l.Pool)
			}
		}
	}
	return nil
}

// entersAt returns when an occurrence comes into the BookAhead of its series and
// the Horizon of its pools.
func (s *state) entersAt(q Series, from, to int64) int64 {
	return max(from-q.bookAhead(), s.horizonAt(q.Lines, to))
}

// horizonAt returns from when on the Horizons of the pools allow an end.
func (s *state) horizonAt(lines []Line, to int64) int64 {
	at := int64(none)
	for _, l := range lines {
		if p := s.pool(l.Pool); p != nil && p.horizon > 0 {
			at = max(at, to-p.horizon)
		}
	}
	return at
}

// headAt returns when the next occurrence of a series that goes on is to be booked.
func (s *state) headAt(v *SeriesStatus) (int64, bool) {
	if v.over() {
		return 0, false
	}
	from, to, err := v.Head.ticks("Head", false)
	return s.entersAt(v.Series, from, to), err == nil
}

// takenBySeries returns a booking or a waiting entry that has the id of an
// occurrence of a series.
func (s *state) takenBySeries(series string) (string, bool) {
	of := func(id string) bool {
		x, ok := splitOccurrenceID(id)
		return ok && x == series
	}
	for r := range s.recs.From(series + "/") {
		if of(r.id) {
			return r.id, true
		}
		if !strings.HasPrefix(r.id, series+"/") {
			break
		}
	}
	for w := range s.waitIDs.From(series + "/") {
		if of(w.ID) {
			return w.ID, true
		}
		if !strings.HasPrefix(w.ID, series+"/") {
			break
		}
	}
	return "", false
}

// claimable checks that an owner may use an id that no booking has.
func (s *state) claimable(id, owner string) error {
	if series, ok := splitOccurrenceID(id); ok && s.seriesOf(series) != nil {
		return fmt.Errorf("%w: id %q belongs to an occurrence of series %q; choose another", ErrExists, id, series)
	}
	if w := s.waiting(id); w != nil && w.Owner != owner {
		return fmt.Errorf("%w: id %q is waiting for another owner; choose another", ErrExists, id)
	}
	return nil
}

// reportOf returns what is known of a series that was accepted before.
func (s *state) reportOf(v *SeriesStatus) SeriesReport {
	report := SeriesReport{ID: v.ID, Next: v.Next, Head: v.Head}
	for r := range s.occurrences(v.ID) {
		report.Firm = append(report.Firm, r.booking())
	}
	return report
}
