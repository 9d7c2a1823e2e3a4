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

// A laid is a floating line in a trial.
type laid struct {
	id        string
	from, to  int64
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

// replan returns the plans of a pool that have to change because some line has
// less than it needs, or nil.
func (s *state) replan(pool string) []Plan {
	last := s.lastFixed(pool)
	if last <= s.now {
		return nil
	}
	needy := false
	for _, l := range s.waiting(pool, last) {
		needy = needy || l.missing() > 0
	}
	if !needy {
		return nil
	}
	var out []Plan
	for _, l := range s.lay(pool, last) {
		if !slices.Equal(l.old, l.plan) {
			out = append(out, Plan{l.id, l.plan})
		}
	}
	slices.SortFunc(out, func(a, b Plan) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// waiting returns the floating lines of a pool that begin before last, in order.
func (s *state) waiting(pool string, last int64) []laid {
	var out []laid
	for f := range s.floats.From(float{pool: pool, from: none}) {
		if f.pool != pool || f.from >= last {
			break
		}
		l := s.rec(f.id).line(pool)
		out = append(out, laid{f.id, l.from, l.to, l.count, l.plan, l.plan})
	}
	return out
}

// lay finds plans for the floating lines that begin before last. It first keeps
// the plans there are and fills up the others; if that leaves a line short, it
// lays everything anew and takes what leaves less missing. It costs
// O(u log u) per line for u nodes, and u look-ups to begin with.
func (s *state) lay(pool string, last int64) []laid {
	keep := s.waiting(pool, last)
	if fillAll(s.tracks(pool), keep) == 0 {
		return keep
	}
	anew := s.waiting(pool, last)
	for i := range anew {
		anew[i].plan = nil
	}
	if fillAll(s.tracks(pool), anew) < totalMissing(keep) {
		return anew
	}
	return keep
}

func totalMissing(lines []laid) (n int64) {
	for i := range lines {
		n += lines[i].missing()
	}
	return n
}

// tracks returns the open nodes of a pool with their seats and outages from now on.
func (s *state) tracks(pool string) []track {
	p := s.pool(pool)
	out := make([]track, 0, len(p.Units))
	for _, u := range p.Units {
		if u.Spare {
			continue
		}
		n, _ := s.node(u.Name)
		t := track{name: u.Name, standby: n.standby != ""}
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
		for _, x := range s.outUnion(u.Name) {
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

// fillAll puts the plans of the lines on the tracks, fills up what is missing
// in order of begin, and returns how many nodes are still missing.
func fillAll(tracks []track, lines []laid) int64 {
	index := make(map[string]int, len(tracks))
	for i := range tracks {
		index[tracks[i].name] = i
	}
	for i := range lines {
		for _, name := range lines[i].plan {
			t := &tracks[index[name]]
			k, _, _ := t.gap(lines[i].from, lines[i].to)
			t.busy = slices.Insert(t.busy, k, slot{from: lines[i].from, to: lines[i].to})
		}
	}
	for i := range lines {
		if lines[i].missing() > 0 {
			fill(tracks, &lines[i])
		}
	}
	return totalMissing(lines)
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
func fill(tracks []track, l *laid) {
	type candidate struct {
		next    int64
		standby bool
		i, at   int
	}
	var list []candidate
	for i := range tracks {
		if at, free, next := tracks[i].gap(l.from, l.to); free {
			list = append(list, candidate{next, tracks[i].standby, i, at})
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		if c := cmp.Compare(a.next, b.next); c != 0 {
			return c
		}
		if a.standby != b.standby {
			if b.standby {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.i, b.i)
	})
	plan := slices.Clone(l.plan)
	for _, x := range list[:min(int64(len(list)), l.missing())] {
		t := &tracks[x.i]
		t.busy = slices.Insert(t.busy, x.at, slot{from: l.from, to: l.to})
		plan = append(plan, t.name)
	}
	slices.Sort(plan)
	l.plan = plan
}
