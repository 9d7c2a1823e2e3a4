// SPDX-License-Identifier: Apache-2.0

package step

import (
	"iter"
	"math"
)

// A Step is a range [From, To) on which the level is constant.
type Step struct{ From, To, Level int64 }

// At returns the level at t.
func (tr *Tree) At(t int64) int64 {
	var level int64
	for nd := tr.root; nd != nil; {
		k := nd.upto(t) - 1
		if k < 0 {
			break
		}
		level += nd.level[k]
		if nd.leaf() {
			break
		}
		nd = nd.in.kids[k]
	}
	return level
}

// Max returns the greatest level on [from, to), which must not be empty.
func (tr *Tree) Max(from, to int64) int64 {
	if tr.root == nil {
		return 0
	}
	hi, _ := tr.root.within(from, to)
	return hi
}

// Min returns the least level on [from, to), which must not be empty.
func (tr *Tree) Min(from, to int64) int64 {
	if tr.root == nil {
		return 0
	}
	_, lo := tr.root.within(from, to)
	return lo
}

// within returns the greatest and the least level on [from, to), as far as nd
// knows: before its first change the level is 0.
func (nd *node) within(from, to int64) (hi, lo int64) {
	k := nd.upto(from) - 1 // the slot in force at from
	last := nd.n - 1       // the last slot that begins before to
	if nd.t[last] >= to {
		last = nd.upto(to-1) - 1
	}
	if nd.leaf() {
		if k >= 0 {
			hi, lo = nd.level[k], nd.level[k]
		}
		for i := k + 1; i <= last; i++ {
			hi, lo = max(hi, nd.level[i]), min(lo, nd.level[i])
		}
		return hi, lo
	}
	if k >= 0 {
		hi, lo = nd.in.kids[k].within(from, to)
		hi, lo = hi+nd.level[k], lo+nd.level[k]
	}
	for i := k + 1; i < last; i++ {
		hi, lo = max(hi, nd.level[i]+nd.in.max[i]), min(lo, nd.level[i]+nd.in.min[i])
	}
	if last > k && (nd.level[last]+nd.in.max[last] > hi || nd.level[last]+nd.in.min[last] < lo) {
		a, b := nd.in.kids[last].within(from, to)
		hi, lo = max(hi, a+nd.level[last]), min(lo, b+nd.level[last])
	}
	return hi, lo
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
