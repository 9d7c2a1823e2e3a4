// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"math"
	"time"

	"github.com/berth-gpu/berth/internal/cow"
)

func (e SeriesMade) prepare(s *state) (change, error) {
	q, err := e.Series.normal()
	if err != nil {
		return nil, err
	}
	if !q.equal(e.Series) {
		return nil, fmt.Errorf("%w: series %q is not in its normal form", ErrInvalid, q.ID)
	}
	if s.seriesOf(q.ID) != nil {
		return nil, fmt.Errorf("%w: series %q", ErrExists, q.ID)
	}
	if id, taken := s.takenBySeries(q.ID); taken {
		return nil, fmt.Errorf("%w: booking %q has an id of series %q", ErrExists, id, q.ID)
	}
	if _, err := s.seriesPools(q); err != nil {
		return nil, err
	}
	v := &SeriesStatus{Series: q, Created: e.At.UTC(), Next: e.Next, Head: e.Head}
	return func(tok *cow.Token) { s.series.Put(tok, v.ID, v) }, v.checkProgress(none)
}

// checkProgress checks the index and the window of the next occurrence.
func (v *SeriesStatus) checkProgress(least int64) error {
	if v.Next < max(least, 0) || v.Next > math.MaxInt32*int64(maxOccurrences) {
		return fmt.Errorf("series %q goes on with index %d", v.ID, v.Next)
	}
	if v.Head == (Window{}) {
		return nil
	}
	if v.Stopped {
		return fmt.Errorf("series %q was stopped and goes on", v.ID)
	}
	_, _, err := v.Head.ticks("Head", false)
	return err
}

func (e OccurrenceBooked) prepare(s *state) (change, error) {
	v := s.seriesOf(e.Series)
	if v == nil {
		return nil, unknown("series", e.Series)
	}
	if v.Stopped || e.Index < v.Next {
		return nil, fmt.Errorf("%w: series %q has decided index %d", ErrState, e.Series, e.Index)
	}
	r, err := recordOf(e.Booked)
	if err != nil {
		return nil, err
	}
	r.series, r.index, r.shift = e.Series, e.Index, e.Shift
	next := *v
	next.Next = e.Index + 1
	if err := next.checkProgress(v.Next); err != nil {
		return nil, err
	}
	if err := r.checkOccurrence(); err != nil {
		return nil, err
	}
	do, err := e.Booked.make(s)
	if err != nil {
		return nil, err
	}
	return func(tok *cow.Token) {
		do(tok)
		old := s.rec(r.id)
		n := old.change()
		n.series, n.index, n.shift = r.series, r.index, r.shift
		s.swap(tok, old, n)
		s.series.Put(tok, next.ID, &next)
	}, nil
}

// checkOccurrence checks what must hold of a record that belongs to a series.
func (r *record) checkOccurrence() error {
	from, to := r.start-r.shift, r.end-r.shift
	if r.class != Firm || r.held || r.index < 0 || r.id != OccurrenceID(r.series, r.index) ||
		r.shift > maxShift || r.shift < -maxShift || from < firstTick || to > lastTick {
		return fmt.Errorf("%w: booking %q is not occurrence %d of series %q, moved by %d s", ErrInvalid, r.id, r.index, r.series, r.shift)
	}
	return nil
}

// maxShift is the longest duration in seconds.
const maxShift = math.MaxInt64 / int64(time.Second)

// firstTick is the begin of time: 0001-01-01T00:00:00Z.
const firstTick = -62135596800

func (e SeriesContinued) prepare(s *state) (change, error) {
	v := s.seriesOf(e.ID)
	if v == nil {
		return nil, unknown("series", e.ID)
	}
	if v.Stopped {
		return nil, fmt.Errorf("%w: series %q was stopped", ErrState, e.ID)
	}
	n := *v
	n.Next, n.Head = e.Next, e.Head
	return func(tok *cow.Token) {
		s.series.Put(tok, n.ID, &n)
		s.tidySeries(tok, e.ID)
	}, n.checkProgress(v.Next)
}

func (e SeriesStopped) prepare(s *state) (change, error) {
	v := s.seriesOf(e.ID)
	if v == nil {
		return nil, unknown("series", e.ID)
	}
	if v.Stopped {
		return nil, fmt.Errorf("%w: series %q was stopped before", ErrState, e.ID)
	}
	return func(tok *cow.Token) {
		n := *v
		n.Stopped, n.Head = true, Window{}
		s.series.Put(tok, n.ID, &n)
		s.tidySeries(tok, e.ID)
	}, nil
}

func (e Waited) prepare(s *state) (change, error) {
	q, err := e.Waiting.normal()
	if err != nil {
		return nil, err
	}
	if !q.equal(e.Waiting) {
		return nil, fmt.Errorf("%w: waiting entry %q is not in its normal form", ErrInvalid, q.ID)
	}
	if s.waiting(q.ID) != nil || s.rec(q.ID) != nil {
		return nil, fmt.Errorf("%w: %q", ErrExists, q.ID)
	}
	if err := s.claimable(q.ID, q.Owner); err != nil {
		return nil, err
	}
	at, err := exact("At", e.At)
	if err != nil {
		return nil, err
	}
	if _, last := q.starts(); last < at {
		return nil, fmt.Errorf("%w: waiting entry %q can no longer start", ErrHorizon, q.ID)
	}
	w := &Waiter{Waiting: q, Since: e.At.UTC(), Seq: s.waitSeq + 1}
	return func(tok *cow.Token) {
		s.waitSeq++
		s.swapWaiter(tok, nil, w)
	}, nil
}

func (e Withdrawn) prepare(s *state) (change, error) {
	w := s.waiting(e.ID)
	if w == nil {
		return nil, unknown("waiting entry", e.ID)
	}
	return func(tok *cow.Token) { s.swapWaiter(tok, w, nil) }, nil
}

func (e WaitLapsed) prepare(s *state) (change, error) {
	w := s.waiting(e.ID)
	if w == nil {
		return nil, unknown("waiting entry", e.ID)
	}
	at, ok := w.lapses()
	if !ok {
		return nil, fmt.Errorf("waiting entry %q never lapses", e.ID)
	}
	return func(tok *cow.Token) { s.swapWaiter(tok, w, nil) }, reached(e.ID, e.At, at)
}
