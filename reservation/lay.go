// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/berth-gpu/berth/internal/tick"
)

// Plans are the witness that every floating line has nodes to sit on.
//
// While no seat and no outage of a pool begins in the future, a busy node is
// busy once and then free for good, so any free node will do when a line
// begins, and the count alone decides. A pinned line, a host's early seat or a
// planned outage breaks that: at each instant enough nodes may be free, and yet
// none of them for the whole envelope. So every floating line that begins
// before the last such instant has a plan. Plans are kept, not recomputed:
// a heuristic that succeeds for a set of lines may fail for a part of it.
//
// A line that begins within the ReclaimLead is near. It is planned as well, so
// that the Standby claims on those nodes are told in time; there a plan is only
// a wish, and whoever begins first may take the node.

// maxLookups bounds the laying anew of one replan: so many looks at one node for
// one line. Lines that are further away keep their plans.
const maxLookups = 1 << 18

// A laid is a floating line in a trial.
type laid struct {
	id        string
	from, to  int64
	created   int64
	count     int64
	old, plan []string
}

func (l *laid) missing() int64 { return l.count - int64(len(l.plan)) }

// A track is the busy ranges of one node in a trial, sorted and disjoint.
type track struct {
	name    string
	standby bool
	busy    []slot
}

// lacking returns the floating lines of a pool that need a plan and have less
// than they need, who is served first before the others.
func (s *state) lacking(pool string) []float {
	last := s.lastFixed(pool)
	if last <= s.now {
		return nil
	}
	var out []float
	for f := range s.needy.From(float{pool: pool, from: none}) {
		if f.pool != pool || f.from >= last {
			break
		}
		out = append(out, f)
	}
	return out
}

// nearby returns the lines of a pool that are near and have less of a plan than
// they want, though the count alone decides that they will have their nodes.
func (s *state) nearby(pool string) []float {
	var out []float
	from := max(none, s.lastFixed(pool))
	for f := range s.needy.From(float{pool: pool, from: from, created: none}) {
		if f.pool != pool || f.from > addTicks(s.now, s.pool(pool).reclaim) {
			break
		}
		if s.rec(f.id).line(pool).near {
			out = append(out, f)
		}
	}
	return out
}

// replan returns the plans of a pool that have to change because some line has
// less than it needs, or nil. It first keeps the plans there are and gives free
// nodes to who lacks them. If that is not enough, and the count does not prove
// that nothing is, it lays a line and those around it anew, and takes the result
// if no line has less than before.
func (s *state) replan(pool string) []Plan {
	lacking := s.lacking(pool)
	needy := append(lacking, s.nearby(pool)...)
	if len(needy) == 0 {
		return nil
	}
	plans := map[string][]string{}
	units := len(s.pool(pool).Units)
	// Either way is right. Where few nodes are used again later, the index is
	// faster; for many lines on many such nodes, one look at all of them.
	var tracks []track
	if len(needy) > 4 && len(s.usedAfter(pool, s.now)) > units/8 {
		tracks = s.tracks(pool, nil, nil)
	}
	taken := overlay{}
	var still []laid
	for i, f := range needy {
		r := s.rec(f.id)
		l := r.line(pool)
		x := laid{f.id, l.from, l.to, r.created, l.count, l.plan, l.plan}
		if tracks != nil {
			fill(tracks, &x)
		} else if more := s.pick(pool, l.from, l.to, r.id, l.plan, x.missing(), taken); len(more) > 0 {
			taken.add(more, l.from, l.to)
			x.plan = append(slices.Clone(l.plan), more...)
			slices.Sort(x.plan)
		}
		if len(x.plan) > len(l.plan) {
			plans[f.id] = x.plan
		}
		if i < len(lacking) && x.missing() > 0 {
			still = append(still, x)
		}
	}
	budget := maxLookups / max(1, units)
	for i := range still {
		x := &still[i]
		if s.overWishes(pool, x, plans, taken) {
			continue
		}
		s.relay(pool, x, plans, &budget)
	}
	out := make([]Plan, 0, len(plans))
	for id, nodes := range plans {
		out = append(out, Plan{id, nodes, s.rec(id).line(pool).near})
	}
	slices.SortFunc(out, func(a, b Plan) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// overWishes gives line x nodes on which only wishes lie, and takes these from the
// plans that they are in. It reports whether x has all it needs then.
func (s *state) overWishes(pool string, x *laid, plans map[string][]string, taken overlay) bool {
	last := s.lastFixed(pool)
	wish := func(id string) bool {
		l := s.rec(id).line(pool)
		return l.near && l.from >= last
	}
	give := map[string][]string{} // by line, what it loses
	for _, u := range s.pool(pool).Units {
		if x.missing() == 0 {
			break
		}
		if u.Spare || inSorted(x.plan, u.Name) || !s.free(u.Name, x.from, x.to, x.id, false) || !taken.free(u.Name, x.from, x.to) {
			continue
		}
		var over []string
		for y := range s.plans.Before(slot{node: u.Name, from: x.to - 1, id: lastID}) {
			if y.node != u.Name || y.to <= x.from {
				break
			}
			over = append(over, y.id)
		}
		if slices.ContainsFunc(over, func(id string) bool { return !wish(id) }) {
			continue
		}
		for _, id := range over {
			give[id] = append(give[id], u.Name)
		}
		taken.add([]string{u.Name}, x.from, x.to)
		x.plan = append(slices.Clone(x.plan), u.Name)
		slices.Sort(x.plan)
		plans[x.id] = x.plan
	}
	for id, names := range give {
		plan, changed := plans[id]
		if !changed {
			plan = s.rec(id).line(pool).plan
		}
		slices.Sort(names)
		plans[id] = minus(plan, names)
	}
	return x.missing() == 0
}

// overlay is what a trial has given away so far, by node.
type overlay map[string][]slot

func (o overlay) add(names []string, from, to int64) {
	for _, n := range names {
		o[n] = append(o[n], slot{node: n, from: from, to: to})
	}
}

func (o overlay) free(name string, from, to int64) bool {
	for _, x := range o[name] {
		if x.from < to && x.to > from {
			return false
		}
	}
	return true
}

// relay lays line x and the floating lines around it anew, and puts what is
// better into plans. The budget is a number of lines.
func (s *state) relay(pool string, x *laid, plans map[string][]string, budget *int) {
	p := s.pool(pool)
	if p.load.Max(max(x.from, s.now), x.to) > p.open {
		return // the count: somebody has to lack something
	}
	group, ok := s.around(pool, x, plans, *budget)
	if !ok {
		return
	}
	*budget -= len(group)
	before := make([]int64, len(group))
	member := make(map[string]bool, len(group))
	for i := range group {
		before[i] = group[i].missing()
		group[i].plan = nil
		member[group[i].id] = true
	}
	fillAll(s.tracks(pool, member, plans), group)
	for i := range group {
		if group[i].missing() > before[i] {
			return
		}
	}
	for i := range group {
		if g := &group[i]; slices.Equal(g.old, g.plan) {
			delete(plans, g.id)
		} else {
			plans[g.id] = g.plan
		}
	}
}

// around returns x and the floating lines with a need of a plan around it, who
// is served first before the others: all there are, or else, if they are more
// than max, those that meet x in time. It returns false if there are too many.
func (s *state) around(pool string, x *laid, plans map[string][]string, limit int) ([]laid, bool) {
	last := s.lastFixed(pool)
	var out []laid
	add := func(f float) {
		r := s.rec(f.id)
		l := r.line(pool)
		g := laid{f.id, l.from, l.to, r.created, l.count, l.plan, l.plan}
		if plan, ok := plans[f.id]; ok {
			g.plan = plan
		}
		out = append(out, g)
	}
	many := false
	for f := range s.floats(pool) {
		if many = f.from < last && len(out) >= limit; many || f.from >= last {
			break
		}
		add(f)
	}
	if !many {
		return out, len(out) > 0
	}
	out = out[:0]
	for y := range s.touching(pool, x.from, x.to) {
		if r := s.rec(y.id); y.from < last && r.floating(r.line(pool)) {
			if len(out) >= limit {
				return nil, false
			}
			add(float{pool, y.from, r.created, y.id})
		}
	}
	slices.SortFunc(out, func(a, b laid) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.created, b.created), strings.Compare(a.id, b.id))
	})
	return out, true
}

// tracks returns the open nodes of a pool with all that is in the way of the
// members from now on: seats, outages, and the plans of all others.
func (s *state) tracks(pool string, member map[string]bool, plans map[string][]string) []track {
	p := s.pool(pool)
	changed := overlay{}
	for id, nodes := range plans {
		if !member[id] {
			l := s.rec(id).line(pool)
			changed.add(nodes, l.from, l.to)
		}
	}
	out := make([]track, 0, len(p.Units))
	for _, u := range p.Units {
		if u.Spare {
			continue
		}
		n, _ := s.node(u.Name)
		t := track{name: u.Name, standby: n.standby != "", busy: changed[u.Name]}
		for x := range s.seats.Before(slot{node: u.Name, from: s.now, id: lastID}) {
			if x.node == u.Name && x.to > s.now {
				t.busy = append(t.busy, x)
			}
			break
		}
		for x := range s.seats.From(slot{node: u.Name, from: s.now + 1}) {
			if x.node != u.Name {
				break
			}
			t.busy = append(t.busy, x)
		}
		for x := range s.plans.From(slot{node: u.Name, from: none}) {
			if x.node != u.Name {
				break
			}
			if _, changed := plans[x.id]; !member[x.id] && !changed {
				t.busy = append(t.busy, x)
			}
		}
		for _, x := range s.closedRanges(u.Name) {
			if x.to > s.now {
				t.busy = append(t.busy, x)
			}
		}
		t.busy = union(t.busy)
		out = append(out, t)
	}
	return out
}

// union sorts ranges and joins those that overlap.
func union(list []slot) []slot {
	slices.SortFunc(list, func(a, b slot) int { return cmp.Compare(a.from, b.from) })
	out := list[:0]
	for _, x := range list {
		if k := len(out) - 1; k >= 0 && x.from < out[k].to {
			out[k].to = max(out[k].to, x.to)
		} else {
			out = append(out, x)
		}
	}
	return out
}

// fillAll gives each line in turn what it needs, as far as the tracks have it.
func fillAll(tracks []track, lines []laid) {
	for i := range lines {
		fill(tracks, &lines[i])
	}
}

// gap returns where [from, to) would go in t, whether it is free there, and
// when the next use after it begins.
func (t *track) gap(from, to int64) (at int, free bool, next int64) {
	at = sort.Search(len(t.busy), func(i int) bool { return t.busy[i].from >= to })
	next = tick.Forever
	if at < len(t.busy) {
		next = t.busy[at].from
	}
	return at, at == 0 || t.busy[at-1].to <= from, next
}

// fill gives l the free nodes whose next use is soonest, so that long gaps stay
// whole; among equals those without a Standby claim, then the first of the pool.
// It costs one look at each track, and keeps only the best.
func fill(tracks []track, l *laid) {
	type candidate struct {
		next    int64
		standby int
		i, at   int
	}
	compare := func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.next, b.next), cmp.Compare(a.standby, b.standby), cmp.Compare(a.i, b.i))
	}
	need := int(min(l.missing(), int64(len(tracks))))
	if need <= 0 {
		return
	}
	var best []candidate // sorted once it is full
	for i := range tracks {
		at, free, next := tracks[i].gap(l.from, l.to)
		if !free {
			continue
		}
		x := candidate{next: next, i: i, at: at}
		if tracks[i].standby {
			x.standby = 1
		}
		if len(best) < need {
			if best = append(best, x); len(best) == need {
				slices.SortFunc(best, compare)
			}
		} else if compare(x, best[need-1]) < 0 {
			k, _ := slices.BinarySearchFunc(best, x, compare)
			copy(best[k+1:], best[k:need-1])
			best[k] = x
		}
	}
	if len(best) < need {
		slices.SortFunc(best, compare)
	}
	plan := slices.Clone(l.plan)
	for _, x := range best {
		t := &tracks[x.i]
		t.busy = slices.Insert(t.busy, x.at, slot{from: l.from, to: l.to})
		plan = append(plan, t.name)
	}
	slices.Sort(plan)
	l.plan = plan
}
