// SPDX-License-Identifier: Apache-2.0

package step

import (
	"iter"
	"math"
	"sort"
)

// A Step is a range [From, To) on which the level is constant.
type Step struct{ From, To, Level int64 }

// At returns the level at t.
func (tr *Tree) At(t int64) int64 {
	var level int64
	nd := tr.root
	for nd != nil {
		if nd.leaf() {
			for i := 0; i < len(nd.t) && nd.t[i] <= t; i++ {
				level += nd.d[i]
			}
			break
		}
		k := sort.Search(len(nd.t), func(i int) bool { return nd.t[i] > t }) - 1
		if k < 0 {
			break
		}
		for _, a := range nd.agg[:k] {
			level += a.sum
		}
		nd = nd.kids[k]
	}
	return level
}

// Max returns the greatest level on [from, to), which must not be empty.
func (tr *Tree) Max(from, to int64) int64 {
	level := tr.At(from)
	return level + max(0, between(tr.root, from, to).max)
}

// Min returns the least level on [from, to), which must not be empty.
func (tr *Tree) Min(from, to int64) int64 {
	level := tr.At(from)
	return level + min(0, between(tr.root, from, to).min)
}

// between summarises the changes at instants t with from < t < to.
func between(nd *node, from, to int64) agg {
	if nd == nil {
		return nothing
	}
	s, some := nothing, false
	add := func(a agg) {
		if some {
			s = s.then(a)
		} else {
			s, some = a, true
		}
	}
	if nd.leaf() {
		i := sort.Search(len(nd.t), func(i int) bool { return nd.t[i] > from })
		for ; i < len(nd.t) && nd.t[i] < to; i++ {
			add(agg{nd.d[i], nd.d[i], nd.d[i]})
		}
		return s
	}
	k := max(sort.Search(len(nd.t), func(i int) bool { return nd.t[i] > from })-1, 0)
	for ; k < len(nd.kids) && nd.t[k] < to; k++ {
		if nd.t[k] > from && k+1 < len(nd.t) && nd.t[k+1] <= to {
			add(nd.agg[k])
		} else if a := between(nd.kids[k], from, to); a != nothing {
			add(a)
		}
	}
	return s
}

// FirstFit returns the earliest start s with from ≤ s ≤ latest such that the
// level does not pass limit on [s, s+length). It passes over whole subtrees
// that lie inside a run or outside any, so it costs O((1+g) log n), where g is
// the number of runs that are too short.
func (tr *Tree) FirstFit(from, latest, length, limit int64) (int64, bool) {
	if length <= 0 || latest < from {
		return 0, false
	}
	f := fit{after: from, latest: latest, length: length, limit: limit, start: from}
	f.level = tr.At(from)
	f.in = f.level <= limit
	// The walk counts levels from the left end, so it starts at 0.
	f.level = 0
	if tr.root != nil && f.walk(tr.root) {
		return f.start, f.ok
	}
	if f.in && f.start <= latest {
		return f.start, true
	}
	return 0, false
}

// fit is the state of one FirstFit walk from left to right.
type fit struct {
	after, latest, length, limit int64

	level int64 // level before the next change
	in    bool  // start begins a run of fitting levels that still goes on
	start int64
	ok    bool
}

// reached decides the search if the run or the range is over at t.
func (f *fit) reached(t int64) bool {
	if f.in && t-f.start >= f.length { // both are ticks of the same range: no overflow
		f.ok = f.start <= f.latest
		return true
	}
	if !f.in && t > f.latest || f.in && f.start > f.latest {
		f.start, f.ok = 0, false
		return true
	}
	return false
}

// walk reports whether the search is decided.
func (f *fit) walk(nd *node) bool {
	if nd.leaf() {
		for i, t := range nd.t {
			if t > f.after && f.reached(t) {
				return true
			}
			f.level += nd.d[i]
			if t <= f.after {
				continue
			}
			if f.level > f.limit {
				f.in = false
			} else if !f.in {
				f.in, f.start = true, t
			}
		}
		return false
	}
	for k, kid := range nd.kids {
		a := nd.agg[k]
		if k+1 < len(nd.t) && nd.t[k+1]-1 <= f.after {
			f.level += a.sum // wholly before the range
			continue
		}
		if nd.t[k] > f.after {
			if f.reached(nd.t[k]) {
				return true
			}
			if f.in && f.level+a.max <= f.limit || !f.in && f.level+a.min > f.limit {
				f.level += a.sum
				continue
			}
		}
		if f.walk(kid) {
			return true
		}
	}
	return false
}

// Steps yields the constant ranges that make up [from, to), in order, without
// gaps; neighbours differ in level. It costs O(log n + k) for k steps.
func (tr *Tree) Steps(from, to int64) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		if from >= to {
			return
		}
		cur := Step{From: from, Level: tr.At(from)}
		going := true
		if tr.root != nil {
			going = tr.root.each(from, func(t, d int64) bool {
				if t >= to {
					return false
				}
				cur.To = t
				if !yield(cur) {
					going = false
					return false
				}
				cur = Step{From: t, Level: cur.Level + d}
				return true
			}) || going
		}
		if going {
			cur.To = to
			yield(cur)
		}
	}
}

// each calls f for the changes after from, in order, until f returns false.
func (nd *node) each(from int64, f func(t, d int64) bool) bool {
	if nd.leaf() {
		i := sort.Search(len(nd.t), func(i int) bool { return nd.t[i] > from })
		for ; i < len(nd.t); i++ {
			if !f(nd.t[i], nd.d[i]) {
				return false
			}
		}
		return true
	}
	k := max(sort.Search(len(nd.t), func(i int) bool { return nd.t[i] > from })-1, 0)
	for ; k < len(nd.kids); k++ {
		if !nd.kids[k].each(from, f) {
			return false
		}
	}
	return true
}

// Changes yields every change, in order: what a snapshot or a test needs to see.
func (tr *Tree) Changes() iter.Seq2[int64, int64] {
	return func(yield func(int64, int64) bool) {
		if tr.root != nil {
			tr.root.each(math.MinInt64, yield)
		}
	}
}
