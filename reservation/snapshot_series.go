// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"

	"github.com/berth-gpu/berth/internal/cow"
)

// restoreSeries takes over decoded series. The bookings are there already.
func (s *state) restoreSeries(tok *cow.Token, list []SeriesStatus) error {
	for i := range list {
		v := &list[i]
		if i > 0 && list[i-1].ID >= v.ID {
			return fmt.Errorf("series %q is out of order", v.ID)
		}
		q, err := v.Series.normal()
		if err != nil {
			return err
		}
		if !q.equal(v.Series) {
			return fmt.Errorf("series %q is not in its normal form", v.ID)
		}
		if err := v.checkProgress(none); err != nil {
			return err
		}
		if at := exactly(v.Created); at < s.start || at > s.now {
			return fmt.Errorf("series %q was made at %s", v.ID, v.Created)
		}
		some := false
		for r := range s.occurrences(v.ID) {
			if some = true; r.index >= v.Next {
				return fmt.Errorf("series %q has decided index %d, but not %d", v.ID, r.index, v.Next)
			}
		}
		if v.over() && !some {
			return fmt.Errorf("series %q is over and has no bookings", v.ID)
		}
		s.series.Put(tok, v.ID, v)
	}
	for x := range s.occs.All() {
		if s.seriesOf(x.series) == nil {
			return unknown("series", x.series)
		}
	}
	return nil
}

// restoreWaits takes over the decoded waiting list.
func (s *state) restoreWaits(tok *cow.Token, v *snapshot) error {
	if s.bypass, s.waitSeq = v.bypass, v.waitSeq; s.bypass < 0 {
		return fmt.Errorf("MaxBypass is %d", s.bypass)
	}
	seen := map[uint64]bool{}
	for i := range v.waits {
		w := &v.waits[i]
		if i > 0 && !v.waits[i-1].less(w) {
			return fmt.Errorf("waiting entry %q is out of order", w.ID)
		}
		q, err := w.Waiting.normal()
		if err != nil {
			return err
		}
		if !q.equal(w.Waiting) {
			return fmt.Errorf("waiting entry %q is not in its normal form", w.ID)
		}
		if s.waiting(w.ID) != nil || s.rec(w.ID) != nil {
			return fmt.Errorf("waiting entry %q is there twice, or has a booking", w.ID)
		}
		at := exactly(w.Since)
		if w.Seq == 0 || w.Seq > s.waitSeq || seen[w.Seq] || w.Passed < 0 || at < s.start || at > s.now {
			return fmt.Errorf("waiting entry %q with Seq %d, Passed %d, since %s", w.ID, w.Seq, w.Passed, w.Since)
		}
		if at, ok := w.lapses(); ok && at < s.now {
			return fmt.Errorf("waiting entry %q should have lapsed", w.ID)
		}
		if err := s.claimable(w.ID, w.Owner); err != nil {
			return err
		}
		seen[w.Seq] = true
		s.swapWaiter(tok, nil, w)
	}
	return nil
}

// sameWaits compares the waiting list in order with the one by id.
func sameWaits(order *cow.Sorted[*Waiter], byID *directory[*Waiter]) error {
	if order.Len() != byID.Len() {
		return fmt.Errorf("waits has %d entries, waitIDs has %d", order.Len(), byID.Len())
	}
	for w := range order.All() {
		if byID.Find(w.ID) != w {
			return fmt.Errorf("waitIDs has not the entry %q of waits", w.ID)
		}
	}
	return nil
}
