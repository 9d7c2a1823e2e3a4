// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/step"
	"github.com/berth-gpu/berth/internal/tick"
)

// Check recounts everything from the records: levels over time by plain sums
// (I1), seats and plans node by node (I3), and every index against one built
// anew from the snapshot. It costs O(n log n) for n bookings.
func (c *Calendar) Check() error {
	b, err := c.AppendBinary(nil)
	if err != nil {
		return err
	}
	fresh, err := Restore(b)
	if err != nil {
		return fmt.Errorf("reservation: check: %w", err)
	}
	s := &c.core.S
	for p := range s.pools.All() {
		if err := s.checkLevels(p); err != nil {
			return fmt.Errorf("reservation: check: %w", err)
		}
	}
	if err := s.checkNodes(); err != nil {
		return fmt.Errorf("reservation: check: %w", err)
	}
	if err := s.sameIndexes(&fresh.core.S); err != nil {
		return fmt.Errorf("reservation: check: index %w", err)
	}
	return nil
}

// checkLevels compares the trees of a pool with sums over all records.
func (s *state) checkLevels(p *pool) error {
	load, lost := map[int64]int64{}, map[int64]int64{}
	add := func(m map[int64]int64, from, to, n int64) {
		m[from] += n
		if to != tick.Forever {
			m[to] -= n
		}
	}
	for r := range s.recs.All() {
		for _, l := range r.lines {
			if l.pool == p.Name && r.class == Firm && r.phase <= Ended && l.from < l.to {
				add(load, l.from, l.to, l.count)
			}
		}
	}
	open := int64(0)
	for _, u := range p.Units {
		if u.Spare {
			continue
		}
		open++
		var ranges []slot
		for o := range s.outages.All() {
			if slices.Contains(o.nodes, u.Name) {
				ranges = append(ranges, slot{from: o.from, to: o.to})
			}
		}
		slices.SortFunc(ranges, func(a, b slot) int { return cmp.Compare(a.from, b.from) })
		end := int64(none)
		for _, x := range ranges {
			if from := max(x.from, end); from < x.to {
				add(load, from, x.to, 1)
				add(lost, from, x.to, 1)
				end = x.to
			}
		}
	}
	if open != p.open {
		return fmt.Errorf("I1: pool %q has %d open units, not %d", p.Name, open, p.open)
	}
	return cmp.Or(sameLevels(p.Name, "load", &p.load, load), sameLevels(p.Name, "lost", &p.lost, lost))
}

func sameLevels(pool, what string, tr *step.Tree, want map[int64]int64) error {
	maps.DeleteFunc(want, func(_, d int64) bool { return d == 0 })
	got := maps.Collect(tr.Changes())
	if !maps.Equal(got, want) {
		return fmt.Errorf("I1: pool %q: %s has changes %v, the records say %v", pool, what, got, want)
	}
	return nil
}

// checkNodes looks for a node that two bookings or plans have at once.
func (s *state) checkNodes() error {
	var seats, plans []slot
	for r := range s.recs.All() {
		for i := range r.lines {
			l := &r.lines[i]
			if r.class != Firm || r.phase > Ended {
				continue
			}
			for _, n := range l.seats {
				if from := l.seatFrom(n); from < l.to {
					seats = append(seats, slot{n, from, l.to, r.id})
				}
			}
			for _, n := range l.plan {
				plans = append(plans, slot{n, l.from, l.to, r.id})
			}
		}
	}
	if a, b, ok := firstOverlap(append(plans, seats...)); ok {
		return fmt.Errorf("I3: node %q has bookings %q and %q at once", a.node, a.id, b.id)
	}
	return nil
}

func (s *state) sameIndexes(o *state) error {
	ids := func(set *cow.Sorted[*record]) (out []string) {
		for r := range set.All() {
			out = append(out, r.id)
		}
		return out
	}
	return cmp.Or(
		same("live", ids(&s.live), ids(&o.live)),
		same("final", slices.Collect(s.final.All()), slices.Collect(o.final.All())),
		same("due", slices.Collect(s.due.All()), slices.Collect(o.due.All())),
		same("spans", slices.Collect(s.spans.All()), slices.Collect(o.spans.All())),
		same("floats", slices.Collect(s.floats.All()), slices.Collect(o.floats.All())),
		same("planned", slices.Collect(s.planned.All()), slices.Collect(o.planned.All())),
		same("short", slices.Collect(s.short.All()), slices.Collect(o.short.All())),
		same("seats", slices.Collect(s.seats.All()), slices.Collect(o.seats.All())),
		same("plans", slices.Collect(s.plans.All()), slices.Collect(o.plans.All())),
		same("outs", slices.Collect(s.outs.All()), slices.Collect(o.outs.All())),
		same("fixed", slices.Collect(s.fixed.All()), slices.Collect(o.fixed.All())),
		same("nodes", slices.Collect(s.nodes.All()), slices.Collect(o.nodes.All())),
	)
}

func same[T comparable](what string, got, want []T) error {
	if !slices.Equal(got, want) {
		return fmt.Errorf("%s is %v, built anew it is %v", what, got, want)
	}
	return nil
}
