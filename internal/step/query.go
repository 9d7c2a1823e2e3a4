// SPDX-License-Identifier: Apache-2.0

package step

import (
	"iter"
	"math"
)

// A Step is a range [From, To) on which the level is constant.
type Step struct{ From, To, Level int64 }

// A place is a slot of a leaf; slot −1 is the time before its first change.
type place struct {
	nd   *node
	i    int
	base int64 // the level before nd
}

// level returns the level that the change at p leads to.
func (p place) level() int64 {
	if p.i < 0 {
		return p.base
	}
	return p.base + p.nd.level[p.i]
}

// find returns the place of the last change up to t; tr is not empty.
func (tr *Tree) find(t int64) place {
	p := place{nd: tr.root}
	for !p.nd.leaf() {
		k := max(p.nd.upto(t)-1, 0)
		p.base += p.nd.level[k]
		p.nd = p.nd.in.kids[k]
	}
	p.i = p.nd.upto(t) - 1
	return p
}

// At returns the level at t.
func (tr *Tree) At(t int64) int64 {
	if tr.root == nil {
		return 0
	}
	return tr.find(t).level()
}

// Max returns the greatest level on [from, to), which must not be empty.
func (tr *Tree) Max(from, to int64) int64 {
	if tr.root == nil {
		return 0
	}
	return tr.root.highest(0, math.MinInt64, from, to)
}

// Min returns the least level on [from, to), which must not be empty.
func (tr *Tree) Min(from, to int64) int64 {
	if tr.root == nil {
		return 0
	}
	return tr.root.lowest(0, math.MaxInt64, from, to)
}

// highest returns the greater of most and the greatest level on [from, to), as
// far as nd knows, where base is the level before nd. The children that lie
// wholly inside come first: what they reach often spares a look into the two
// that hold an end.
//
//	from ├─────────────────────┤ to
//	 │ k  │ …  │ inside │ …  │ last │
func (nd *node) highest(base, most, from, to int64) int64 {
	k, last := nd.slots(from, to)
	if k < 0 {
		most = max(most, base)
	}
	if nd.leaf() {
		for i := max(k, 0); i <= last; i++ {
			most = max(most, base+nd.level[i])
		}
		return most
	}
	for i := k + 1; i < last; i++ {
		most = max(most, base+nd.level[i]+nd.in.max[i])
	}
	if k >= 0 && base+nd.level[k]+nd.in.max[k] > most {
		most = nd.in.kids[k].highest(base+nd.level[k], most, from, to)
	}
	if last > k && base+nd.level[last]+nd.in.max[last] > most {
		most = nd.in.kids[last].highest(base+nd.level[last], most, from, to)
	}
	return most
}

// lowest is the mirror image of highest.
func (nd *node) lowest(base, least, from, to int64) int64 {
	k, last := nd.slots(from, to)
	if k < 0 {
		least = min(least, base)
	}
	if nd.leaf() {
		for i := max(k, 0); i <= last; i++ {
			least = min(least, base+nd.level[i])
		}
		return least
	}
	for i := k + 1; i < last; i++ {
		least = min(least, base+nd.level[i]+nd.in.min[i])
	}
	if k >= 0 && base+nd.level[k]+nd.in.min[k] < least {
		least = nd.in.kids[k].lowest(base+nd.level[k], least, from, to)
	}
	if last > k && base+nd.level[last]+nd.in.min[last] < least {
		least = nd.in.kids[last].lowest(base+nd.level[last], least, from, to)
	}
	return least
}

// slots returns the slot of nd in force at from, −1 if none is, and the last
// slot that begins before to.
func (nd *node) slots(from, to int64) (k, last int) {
	k, last = nd.upto(from)-1, nd.n-1
	if nd.t[last] >= to {
		last = nd.upto(to-1) - 1
	}
	return k, last
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
			tr.root.each(0, from, func(t, level int64) bool {
				if t >= to {
					return false
				}
				cur.To = t
				going = yield(cur)
				cur = Step{From: t, Level: level}
				return going
			})
		}
		if going {
			cur.To = to
			yield(cur)
		}
	}
}

// each calls f for the changes after from and the levels after them, in order,
// until f returns false; base is the level before nd.
func (nd *node) each(base, from int64, f func(t, level int64) bool) bool {
	i := nd.upto(from)
	if nd.leaf() {
		for ; i < nd.n; i++ {
			if !f(nd.t[i], base+nd.level[i]) {
				return false
			}
		}
		return true
	}
	for i = max(i-1, 0); i < nd.n; i++ {
		if !nd.in.kids[i].each(base+nd.level[i], from, f) {
			return false
		}
	}
	return true
}

// Above yields the constant ranges of [from, to) whose level passes limit, in
// order. It passes over whole subtrees that stay below: O((1+k) log n) for k of
// them.
func (tr *Tree) Above(from, to, limit int64) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		if from >= to {
			return
		}
		cur := Step{From: from, Level: tr.At(from)}
		going := true
		change := func(t, level int64) bool {
			if t >= to {
				return false
			}
			if cur.Level > limit {
				cur.To = t
				going = yield(cur)
			}
			cur = Step{From: t, Level: level}
			return going
		}
		if tr.root != nil {
			tr.root.above(0, from, limit, change)
		}
		if going && cur.Level > limit {
			cur.To = to
			yield(cur)
		}
	}
}

// above is each, but of a child that stays within limit f sees only the first
// change, as if it led to limit.
func (nd *node) above(base, from, limit int64, f func(t, level int64) bool) bool {
	i := nd.upto(from)
	if nd.leaf() {
		for ; i < nd.n; i++ {
			if !f(nd.t[i], base+nd.level[i]) {
				return false
			}
		}
		return true
	}
	for i = max(i-1, 0); i < nd.n; i++ {
		if nd.t[i] > from && base+nd.level[i]+nd.in.max[i] <= limit {
			if !f(nd.t[i], limit) {
				return false
			}
			continue
		}
		if !nd.in.kids[i].above(base+nd.level[i], from, limit, f) {
			return false
		}
	}
	return true
}

// Changes yields every change, in order: what a snapshot or a test needs to see.
func (tr *Tree) Changes() iter.Seq2[int64, int64] {
	return func(yield func(int64, int64) bool) {
		if tr.root == nil {
			return
		}
		var was int64
		tr.root.each(0, math.MinInt64, func(t, level int64) bool {
			d := level - was
			was = level
			return yield(t, d)
		})
	}
}
