// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/btree"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// levels is what the calendar is measured against: a B-tree of the instants at
// which the level changes, each with the level from there on. It is the usual
// way to keep a profile in an ordered map. An update and a question cost
// O(log n + k) for k instants in the window, an earliest fit O(n).
//
// Items are pointers, so that an update changes them where they are. That makes
// it several times faster than value items, and not safe to clone.
type levels struct {
	tree *btree.BTreeG[*point]
}

type point struct{ at, level int64 }

func before(a, b *point) bool { return a.at < b.at }

// loadLevels builds a tree from the sum of all changes at each instant.
func loadLevels(changes map[int64]int64) *levels {
	l := &levels{btree.NewG(32, before)}
	level := int64(0)
	for _, at := range slices.Sorted(maps.Keys(changes)) {
		if changes[at] != 0 {
			level += changes[at]
			l.tree.ReplaceOrInsert(&point{at, level})
		}
	}
	return l
}

// at returns the level at an instant.
func (l *levels) at(t int64) (level int64) {
	l.tree.DescendLessOrEqual(&point{at: t}, func(p *point) bool {
		level = p.level
		return false
	})
	return level
}

// add raises the level by n over [from, to).
func (l *levels) add(from, to, n int64) {
	for _, t := range []int64{from, to} {
		if !l.tree.Has(&point{at: t}) {
			l.tree.ReplaceOrInsert(&point{t, l.at(t)})
		}
	}
	l.tree.AscendRange(&point{at: from}, &point{at: to}, func(p *point) bool {
		p.level += n
		return true
	})
	for _, t := range []int64{from, to} { // one that changes nothing any more goes
		if p, _ := l.tree.Get(&point{at: t}); l.at(t-1) == p.level {
			l.tree.Delete(p)
		}
	}
}

// max returns the greatest level in [from, to).
func (l *levels) max(from, to int64) int64 {
	most := l.at(from)
	l.tree.AscendRange(&point{at: from}, &point{at: to}, func(p *point) bool {
		most = max(most, p.level)
		return true
	})
	return most
}

// firstFit returns the least start from an instant on such that the level does
// not pass limit for length.
func (l *levels) firstFit(from, length, limit int64) int64 {
	start, in := from, l.at(from) <= limit
	l.tree.AscendGreaterOrEqual(&point{at: from + 1}, func(p *point) bool {
		switch {
		case in && p.at-start >= length:
			return false
		case p.level > limit:
			in = false
		case !in:
			start, in = p.at, true
		}
		return true
	})
	return start
}

// TestBaseline checks the baseline against an array: a comparison with a wrong
// answer says nothing.
func TestBaseline(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, want := loadLevels(map[int64]int64{3: 2, 7: -2}), [64]int64{3: 2, 4: 2, 5: 2, 6: 2}
		for range rapid.IntRange(0, 30).Draw(t, "updates") {
			from := rapid.Int64Range(0, 40).Draw(t, "from")
			to := from + rapid.Int64Range(1, 20).Draw(t, "length")
			n := rapid.Int64Range(-3, 3).Draw(t, "n")
			l.add(from, to, n)
			for i := from; i < to; i++ {
				want[i] += n
			}
			most := slices.Max(want[from:to])
			require.Equal(t, most, l.max(from, to))
			length, limit := rapid.Int64Range(1, 20).Draw(t, "long"), rapid.Int64Range(0, 4).Draw(t, "limit")
			start := from
			for start < 64 && slices.Max(want[start:min(64, start+length)]) > limit {
				start++
			}
			require.Equal(t, start, l.firstFit(from, length, limit))
			prev := int64(0)
			l.tree.Ascend(func(p *point) bool {
				require.NotEqual(t, prev, p.level, "an instant without a change")
				prev = p.level
				return true
			})
		}
	})
}

// A stopwatch notes how long each of the first million calls took.
type stopwatch struct {
	took   []time.Duration
	sorted bool
}

func (s *stopwatch) note(began time.Time) {
	if d := time.Since(began); len(s.took) < 1<<20 {
		s.took, s.sorted = append(s.took, d), false
	}
}

var percentiles = []struct {
	name string
	part int
}{{"p50", 50}, {"p99", 99}}

// at returns a percentile in nanoseconds.
func (s *stopwatch) at(part int) float64 {
	if !s.sorted {
		slices.Sort(s.took)
		s.sorted = true
	}
	if len(s.took) == 0 {
		return 0
	}
	return float64(s.took[len(s.took)*part/100])
}

// report adds the percentiles to the results.
func (s *stopwatch) report(b *testing.B, name string) {
	for _, p := range percentiles {
		b.ReportMetric(s.at(p.part), name+p.name+"-ns")
	}
}

// against runs f on the baseline for a third of a second and reports how many
// times as long as mine it takes, in the median and at the 99th percentile. The
// means would say more about the neighbours of this program.
func against(b *testing.B, mine *stopwatch, f func(s *stopwatch)) {
	b.StopTimer()
	var base stopwatch
	for began := time.Now(); len(base.took) < 20 || len(base.took) < 20_000 && time.Since(began) < time.Second/3; {
		f(&base)
	}
	for _, p := range percentiles {
		theirs := base.at(p.part)
		b.ReportMetric(theirs, "btree-"+p.name+"-ns")
		b.ReportMetric(theirs/mine.at(p.part), "x-btree-"+p.name)
	}
}
