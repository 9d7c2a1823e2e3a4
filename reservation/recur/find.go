// SPDX-License-Identifier: Apache-2.0

package recur

import (
	"iter"
	"time"
)

// Index returns the number of the first occurrence that starts at or after the
// instant, or false if there is none. It takes O(log e) for e ExDates, and as
// much again for each of the next indexes that the zone leaves out.
func (s *Series) Index(at time.Time) (int, bool) {
	seconds := at.Unix()
	if at.Nanosecond() > 0 {
		seconds++
	}
	i, ok := s.search(seconds)
	return int(i), ok
}

// search is Index by Unix seconds.
func (s *Series) search(at int64) (int64, bool) {
	if at > maxInstant || s.limit == 0 {
		return 0, false
	}
	for i := s.out.next(s.candidate(max(at, minInstant))); i < s.limit; i = s.out.next(i + 1) {
		w, absence := s.at(i)
		if absence == Present && w.Start.Unix() >= at {
			return i, true
		}
	}
	return 0, false
}

// candidate returns an index before which nothing starts at or after the instant,
// and at most three days too low: a clock changes by at most 2·maxOffset.
func (s *Series) candidate(at int64) int64 {
	if s.days == nil {
		return max(at-s.anchor+s.step-1, 0) / s.step
	}
	offset, _ := span(s.loc, at)
	return s.days.rank(floorDiv(at+offset-2*maxOffset, daySeconds))
}

// All yields the occurrences from index from on, with their numbers. It ends with
// the series, which for a rule without Count or Until is in the year 9999: break
// at your horizon.
func (s *Series) All(from int) iter.Seq2[int, Window] {
	return func(yield func(int, Window) bool) {
		for i := s.out.next(int64(max(from, 0))); i < s.limit; i = s.out.next(i + 1) {
			if w, absence := s.at(i); absence == Present && !yield(int(i), w) {
				return
			}
		}
	}
}
