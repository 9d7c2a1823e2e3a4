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
	if err := s.checkCellUse(); err != nil {
		return fmt.Errorf("reservation: check: %w", err)
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
	load, lost, extra := map[int64]int64{}, map[int64]int64{}, map[int64]int64{}
	add := func(m map[int64]int64, from, to, n int64) {
		m[from] += n
		if to != tick.Forever {
			m[to] -= n
		}
	}
	for r := range s.recs.All() {
		for _, l := range r.lines {
			if l.pool != p.Name || !r.occupies(&l) {
				continue
			}
			n := l.count
			if r.phase.cleans() {
				n = int64(len(l.seats))
			}
			add(load, l.from, l.to, n)
		}
	}
	outs, drains := map[string][]slot{}, map[string][]slot{}
	for o := range s.outages.All() {
		for _, name := range o.nodes {
			if o.drain {
				drains[name] = append(drains[name], slot{from: o.from, to: o.to})
			} else {
				outs[name] = append(outs[name], slot{from: o.from, to: o.to})
			}
		}
	}
	used := map[string][]slot{}
	for r := range s.recs.All() {
		for i := range r.lines {
			for _, x := range r.place(i).seats {
				used[x.node] = append(used[x.node], x)
			}
		}
	}
	open := int64(0)
	for _, u := range p.Units {
		ranges := union(outs[u.Name])
		if !u.Spare {
			open++
			for _, x := range union(append(unseated(drains[u.Name], used[u.Name]), ranges...)) {
				add(load, x.from, x.to, 1)
				add(lost, x.from, x.to, 1)
			}
			continue
		}
		for _, x := range used[u.Name] { // what of the seat no outage takes
			add(load, x.from, x.to, -1)
			add(extra, x.from, x.to, 1)
			for _, o := range ranges {
				if from, to := max(o.from, x.from), min(o.to, x.to); from < to {
					add(load, from, to, 1)
					add(extra, from, to, -1)
				}
			}
		}
	}
	if open != p.open {
		return fmt.Errorf("I1: pool %q has %d open units, not %d", p.Name, open, p.open)
	}
	return cmp.Or(sameLevels(p.Name, "load", &p.load, load), sameLevels(p.Name, "lost", &p.lost, lost), sameLevels(p.Name, "extra", &p.extra, extra))
}

// unseated returns the parts of the ranges in which nobody has a seat, cut at
// every begin and end.
func unseated(ranges, seats []slot) (out []slot) {
	var cuts []int64
	for _, x := range slices.Concat(ranges, seats) {
		cuts = append(cuts, x.from, x.to)
	}
	slices.Sort(cuts)
	for i, from := range cuts {
		at := func(x slot) bool { return x.from <= from && from < x.to }
		if slices.ContainsFunc(ranges, at) && !slices.ContainsFunc(seats, at) && cuts[i+1] > from {
			out = append(out, slot{from: from, to: cuts[i+1]})
		}
	}
	return out
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
			if !r.occupies(l) {
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
		same("full", slices.Collect(s.full.All()), slices.Collect(o.full.All())),
		same("planned", slices.Collect(s.planned.All()), slices.Collect(o.planned.All())),
		same("needy", slices.Collect(s.needy.All()), slices.Collect(o.needy.All())),
		same("ready", slices.Collect(s.ready.All()), slices.Collect(o.ready.All())),
		same("told", slices.Collect(s.told.All()), slices.Collect(o.told.All())),
		same("dead", slices.Collect(s.dead.All()), slices.Collect(o.dead.All())),
		same("short", slices.Collect(s.short.All()), slices.Collect(o.short.All())),
		same("seats", slices.Collect(s.seats.All()), slices.Collect(o.seats.All())),
		same("plans", slices.Collect(s.plans.All()), slices.Collect(o.plans.All())),
		same("outs", slices.Collect(s.outs.All()), slices.Collect(o.outs.All())),
		same("fixed", slices.Collect(s.fixed.All()), slices.Collect(o.fixed.All())),
		same("nodes", slices.Collect(s.nodes.All()), slices.Collect(o.nodes.All())),
		same("drains", slices.Collect(s.drains.All()), slices.Collect(o.drains.All())),
		same("occs", slices.Collect(s.occs.All()), slices.Collect(o.occs.All())),
		sameWaits(&s.waits, &s.waitIDs),
	)
}

func same[T comparable](what string, got, want []T) error {
	if !slices.Equal(got, want) {
		return fmt.Errorf("%s is %v, built anew it is %v", what, got, want)
	}
	return nil
}
