// SPDX-License-Identifier: Apache-2.0

package step_test

import "github.com/google/btree"

// levels is the baseline of the benchmarks: what one writes with a ready-made
// B-tree. It keeps the level behind every change and so must touch every point
// inside a range to change it or to look at it.
//
//	point  (1,2) (4,5) (6,3) (9,0)     Add(1,9,+1): three of the four
type levels struct{ t *btree.BTreeG[*point] }

type point struct{ at, level int64 }

// newLevels loads the changes of a step function, in order.
func newLevels(changes func(func(t, d int64) bool)) levels {
	l := levels{btree.NewG(32, func(a, b *point) bool { return a.at < b.at })}
	var level int64
	for t, d := range changes {
		level += d
		l.t.ReplaceOrInsert(&point{t, level})
	}
	return l
}

func (l levels) at(t int64) (level int64) {
	l.t.DescendLessOrEqual(&point{at: t}, func(p *point) bool {
		level = p.level
		return false
	})
	return level
}

func (l levels) add(from, to, amount int64) {
	for _, t := range []int64{from, to} {
		if !l.t.Has(&point{at: t}) {
			l.t.ReplaceOrInsert(&point{t, l.at(t)})
		}
	}
	l.t.AscendRange(&point{at: from}, &point{at: to}, func(p *point) bool {
		p.level += amount
		return true
	})
	for _, t := range []int64{from, to} {
		if l.at(t-1) == l.at(t) {
			l.t.Delete(&point{at: t})
		}
	}
}

func (l levels) max(from, to int64) int64 {
	most := l.at(from)
	l.t.AscendRange(&point{at: from}, &point{at: to}, func(p *point) bool {
		most = max(most, p.level)
		return true
	})
	return most
}

func (l levels) firstFit(from, latest, length, limit int64) (int64, bool) {
	start, in := from, l.at(from) <= limit
	l.t.AscendGreaterOrEqual(&point{at: from + 1}, func(p *point) bool {
		if in && p.at-start >= length || !in && p.at > latest {
			return false
		}
		if p.level > limit {
			in = false
		} else if !in {
			start, in = p.at, true
		}
		return true
	})
	if !in || start > latest {
		return 0, false
	}
	return start, true
}
