// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"cmp"
	"slices"

	"github.com/berth-gpu/berth/internal/tick"
)

// run is a closed range of instants at which an envelope may begin.
type run struct{ first, last int64 }

// busyFrom returns the ranges from an instant on in which a node has a seat or
// an outage, in order and disjoint.
func (s *state) busyFrom(name string, from int64) []slot {
	var busy []slot
	for x := range s.seats.Before(slot{node: name, from: from, id: lastID}) {
		if x.node == name && x.to > from {
			busy = append(busy, x)
		}
		break
	}
	for x := range s.seats.From(slot{node: name, from: from + 1}) {
		if x.node != name {
			break
		}
		busy = append(busy, x)
	}
	for _, x := range s.closedRanges(name) {
		if x.to > from {
			busy = append(busy, x)
		}
	}
	return union(busy)
}

// starts returns when an envelope of a length may begin from an instant on such
// that some domain of a level has count nodes free for all of it, whatever is
// planned. It counts, per domain, in how many nodes' gaps a begin lies. It costs
// O(u log n + f log f) for f seats and outages from then on.
func (s *state) starts(p *pool, level string, count, from, whole int64) []run {
	type edge struct{ at, d int64 }
	var runs []run
	for _, d := range p.domains(level) {
		if int64(len(d.nodes)) < count {
			continue
		}
		var edges []edge
		for _, name := range d.nodes {
			free := from
			for _, x := range s.busyFrom(name, from) {
				if x.from-whole >= free {
					edges = append(edges, edge{free, 1}, edge{x.from - whole + 1, -1})
				}
				free = max(free, x.to)
			}
			if free < tick.Forever {
				edges = append(edges, edge{free, 1})
			}
		}
		slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
		n := int64(0)
		for i := 0; i < len(edges); {
			at, was := edges[i].at, n
			for ; i < len(edges) && edges[i].at == at; i++ {
				n += edges[i].d
			}
			if was < count && n >= count {
				runs = append(runs, run{at, tick.Forever - 1})
			} else if was >= count && n < count {
				runs[len(runs)-1].last = at - 1
			}
		}
	}
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.first, b.first) })
	out := runs[:0]
	for _, x := range runs {
		if k := len(out) - 1; k >= 0 && x.first-1 <= out[k].last {
			out[k].last = max(out[k].last, x.last)
		} else {
			out = append(out, x)
		}
	}
	return out
}

// byDomain returns the least begin of an envelope from an instant on at which a
// domain has the nodes of line i. The starts are computed once in a search.
func (x *search) byDomain(i int, from, whole int64) (int64, bool) {
	l := x.lines[i]
	if l.Within == "" {
		return from, true
	}
	if x.runs == nil {
		x.runs = make(map[int][]run)
	}
	runs, known := x.runs[i]
	if !known {
		runs = x.s.starts(x.pools[i], l.Within, l.Count, from, whole)
		x.runs[i] = runs
	}
	k, _ := slices.BinarySearchFunc(runs, from, func(r run, at int64) int { return cmp.Compare(r.last, at) })
	if k == len(runs) {
		return 0, false
	}
	return max(from, runs[k].first), true
}

// sameEnd returns the greatest start up to hi such that cell and domain suffice
// from the window at first, where they do, through the one at it.
func (s *state) sameEnd(owner string, l Line, first, hi, length, grace int64) int64 {
	p := s.pool(l.Pool)
	after := length + grace + p.cleanup
	last := hi
	if p.Regime == Cells {
		use := s.cellUse(l.Pool, owner)
		for x := range use.Steps(first-p.prep, hi+after) {
			if x.Level > p.cell(owner)-l.Count {
				last = min(last, x.From-after)
				break
			}
		}
	}
	if l.Within != "" {
		runs := s.starts(p, l.Within, l.Count, first-p.prep, p.prep+after)
		if len(runs) == 0 || runs[0].first > first-p.prep {
			return first
		}
		if runs[0].last < last-p.prep {
			last = runs[0].last + p.prep
		}
	}
	return last
}

// sameShort returns the end of the longest window from start on, up to end, for
// which cell and domain suffice.
func (s *state) sameShort(owner string, l Line, start, end, grace int64) int64 {
	p := s.pool(l.Pool)
	after := grace + p.cleanup
	if p.Regime == Cells {
		use := s.cellUse(l.Pool, owner)
		for x := range use.Steps(start-p.prep, end+after) {
			if x.Level > p.cell(owner)-l.Count {
				end = min(end, x.From-after)
				break
			}
		}
	}
	if l.Within == "" {
		return end
	}
	best := int64(none)
	for _, d := range p.domains(l.Within) {
		var until []int64 // by node that is free at the begin
		for _, name := range d.nodes {
			at := int64(tick.Forever)
			if busy := s.busyFrom(name, start-p.prep); len(busy) > 0 {
				at = busy[0].from
			}
			if at > start-p.prep {
				until = append(until, at)
			}
		}
		if int64(len(until)) >= l.Count {
			slices.Sort(until)
			best = max(best, until[int64(len(until))-l.Count])
		}
	}
	if best == none {
		return start
	}
	return min(end, best-after)
}

// sameMost returns how many nodes, up to those of the line, cell and domain
// leave for an envelope.
func (s *state) sameMost(owner string, l Line, from, to int64) int64 {
	p := s.pool(l.Pool)
	n := l.Count
	if p.Regime == Cells {
		use := s.cellUse(l.Pool, owner)
		n = min(n, p.cell(owner)-use.Max(from, to))
	}
	if l.Within != "" {
		most, busy := int64(0), s.busyIn(l.Pool, from, to)
		for _, d := range p.domains(l.Within) {
			most = max(most, d.freeCount(busy))
		}
		n = min(n, most)
	}
	return n
}
