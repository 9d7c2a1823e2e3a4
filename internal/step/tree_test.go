// SPDX-License-Identifier: Apache-2.0

package step_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/step"
)

const span = 300

// naive is the oracle: the level of every instant of [0, span), in an array.
type naive [span]int64

func (n *naive) add(from, to, amount int64) {
	for t := from; t < min(to, span); t++ {
		n[t] += amount
	}
}

func (n *naive) firstFit(from, latest, length, limit int64) (int64, bool) {
	for s := from; s <= latest; s++ {
		ok := true
		for t := s; t < s+length && ok; t++ {
			ok = n[min(t, span-1)] <= limit // the last level goes on for ever
		}
		if ok {
			return s, true
		}
	}
	return 0, false
}

type world struct {
	edit cow.Edit
	tree step.Tree
	want naive
}

func (w *world) fork() *world {
	return &world{edit: w.edit.Fork(), tree: w.tree, want: w.want}
}

func check(t *rapid.T, w *world) {
	from := rapid.Int64Range(0, span-2).Draw(t, "from")
	to := rapid.Int64Range(from+1, span-1).Draw(t, "to")
	require.Equal(t, w.want[from], w.tree.At(from))
	require.Equal(t, slices.Max(w.want[from:to]), w.tree.Max(from, to), "max [%d,%d)", from, to)
	require.Equal(t, slices.Min(w.want[from:to]), w.tree.Min(from, to), "min [%d,%d)", from, to)
	length := rapid.Int64Range(1, 80).Draw(t, "length")
	limit := rapid.Int64Range(-3, 40).Draw(t, "limit")
	latest := rapid.Int64Range(from, span-1).Draw(t, "latest")
	got, ok := w.tree.FirstFit(from, latest, length, limit)
	want, wantOK := w.want.firstFit(from, latest, length, limit)
	require.Equal(t, fmt.Sprint(want, wantOK), fmt.Sprint(got, ok), "fit from %d latest %d length %d limit %d", from, latest, length, limit)
	at := from
	var above []step.Step
	for s := range w.tree.Steps(from, to) {
		if s.Level > limit {
			above = append(above, s)
		}
	}
	require.Equal(t, above, slices.Collect(w.tree.Above(from, to, limit)), "above %d in [%d,%d)", limit, from, to)
	for s := range w.tree.Steps(from, to) {
		require.Equal(t, at, s.From)
		require.Less(t, s.From, s.To)
		for ; at < s.To; at++ {
			require.Equal(t, w.want[at], s.Level)
		}
	}
	require.Equal(t, to, at)
}

// The tree answers like the array, and a fork never changes its base.
func TestTreeAgainstArray(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		worlds := []*world{{}}
		pick := func() *world { return worlds[rapid.IntRange(0, len(worlds)-1).Draw(t, "world")] }
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				w := pick()
				for range rapid.IntRange(1, 40).Draw(t, "many") {
					from := rapid.Int64Range(0, span-2).Draw(t, "from")
					to := rapid.OneOf(rapid.Int64Range(from, span-1), rapid.Just(int64(step.Forever))).Draw(t, "to")
					amount := rapid.Int64Range(-4, 8).Draw(t, "amount")
					w.tree.Add(w.edit.Token(), from, to, amount)
					w.want.add(from, to, amount)
				}
			},
			"undo": func(t *rapid.T) { // add and take away again leaves nothing behind
				w := pick()
				before := w.tree.Len()
				w.tree.Add(w.edit.Token(), 7, 19, 5)
				w.tree.Add(w.edit.Token(), 7, 19, -5)
				require.Equal(t, before, w.tree.Len())
			},
			"fork": func(t *rapid.T) {
				if len(worlds) < 4 {
					worlds = append(worlds, pick().fork())
				}
			},
			"": func(t *rapid.T) {
				for _, w := range worlds {
					check(t, w)
				}
			},
		})
	})
}

// Many changes: several levels of inner nodes, then all taken away again.
func TestTreeGrowsAndShrinks(t *testing.T) {
	var edit cow.Edit
	var tr step.Tree
	const n = 20_000
	for i := range int64(n) {
		tr.Add(edit.Token(), i*7%n, i*7%n+100, 1)
	}
	require.Equal(t, int64(100), tr.Max(0, 2*n))
	require.Equal(t, int64(50), tr.At(49))
	s, ok := tr.FirstFit(0, math.MaxInt32, 10, 60)
	require.True(t, ok)
	require.Equal(t, int64(0), mustFit(t, &tr, 0, 10, 60))
	require.Equal(t, int64(n+39), mustFit(t, &tr, 51, 10, 60))
	require.LessOrEqual(t, s, int64(n))
	for i := range int64(n) {
		tr.Add(edit.Token(), i*7%n, i*7%n+100, -1)
	}
	require.Zero(t, tr.Len())
	require.Zero(t, tr.At(500))
	require.Zero(t, tr.Max(0, n))
}

func mustFit(t *testing.T, tr *step.Tree, from, length, limit int64) int64 {
	s, ok := tr.FirstFit(from, math.MaxInt32, length, limit)
	require.True(t, ok)
	return s
}
