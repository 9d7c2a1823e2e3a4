// SPDX-License-Identifier: Apache-2.0

package recur

import (
	"errors"
	"slices"
	"sort"
)

// exclusions are the indexes that ExDates leave out, ascending, each once.
type exclusions []int64

// exclude finds the indexes of the ExDates.
func (s *Series) exclude() error {
	var errs []error
	var out exclusions
	for i, x := range s.rule.ExDates {
		at, ok := s.find(x)
		if !ok {
			errs = append(errs, invalid("ExDates[%d] is %s, which is no start of the rule; give the date and the time of day of one", i, x))
			continue
		}
		out = append(out, at)
	}
	slices.Sort(out)
	s.out = slices.Compact(out)
	return errors.Join(errs...)
}

// find returns the index whose start is x by the clock.
func (s *Series) find(x Local) (int64, bool) {
	if s.days == nil {
		r := resolve(s.loc, x.seconds(), s.rule.Gap, s.rule.Ambiguous)
		i := (r.at - s.anchor) / s.step
		return i, r.ok && r.at >= s.anchor && (r.at-s.anchor)%s.step == 0 && i < s.limit
	}
	if x.clock().seconds() != s.clock {
		return 0, false
	}
	i := s.days.rank(x.day())
	return i, i < s.limit && s.days.nth(i) == x.day()
}

func (e exclusions) has(i int64) bool {
	_, ok := slices.BinarySearch(e, i)
	return ok
}

// next returns the first index at or after i that is not left out. In a run of
// neighbours e[k] − k is constant, so the end of a run is found by halving.
func (e exclusions) next(i int64) int64 {
	p, ok := slices.BinarySearch(e, i)
	if !ok {
		return i
	}
	run := sort.Search(len(e)-p, func(k int) bool { return e[p+k]-int64(k) != i })
	return i + int64(run)
}
