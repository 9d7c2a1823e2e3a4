// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"
)

// A Risk is a booking that lacks nodes now or later.
//
// A Risk is immutable and safe for concurrent use.
type Risk struct {
	ID      string        `json:"id"`
	Owner   string        `json:"owner"`
	Phase   Phase         `json:"phase"`
	Version uint64        `json:"version"`
	By      time.Time     `json:"by"`    // until when a repair saves it: the least By of what it lacks
	Lacks   []Degradation `json:"lacks"` // by begin and pool
}

// AtRisk yields the bookings that lack nodes, in the order in which they must be
// repaired: by By, then by begin, by when they were made, and by id. At is the
// present of the question. It costs what [Calendar.Degraded] costs.
func (c *Calendar) AtRisk(at time.Time) iter.Seq[Risk] {
	return func(yield func(Risk) bool) {
		c := c.asOf(at)
		s := &c.core.S
		index := map[string]int{}
		var all []Risk
		for d := range c.Degraded() {
			k, ok := index[d.ID]
			if !ok {
				r := s.rec(d.ID)
				k = len(all)
				index[d.ID] = k
				all = append(all, Risk{ID: r.id, Owner: r.owner, Phase: r.phase, Version: r.version, By: d.By})
			}
			x := &all[k]
			x.Lacks = append(x.Lacks, d)
			if d.By.Before(x.By) {
				x.By = d.By
			}
		}
		slices.SortFunc(all, func(a, b Risk) int { return cmp.Or(a.By.Compare(b.By), s.rec(a.ID).inOrder(s.rec(b.ID))) })
		for _, x := range all {
			if !yield(x) {
				return
			}
		}
	}
}

// inOrder compares bookings by begin, by when they were made, and by id.
func (r *record) inOrder(o *record) int {
	return cmp.Or(cmp.Compare(r.start, o.start), cmp.Compare(r.created, o.created), strings.Compare(r.id, o.id))
}
