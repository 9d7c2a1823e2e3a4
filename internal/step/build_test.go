// SPDX-License-Identifier: Apache-2.0

package step_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/step"
)

func drawRange(t *rapid.T) (from, to, amount int64) {
	from = rapid.Int64Range(0, span-2).Draw(t, "from")
	to = rapid.OneOf(rapid.Int64Range(from, span-1), rapid.Just(int64(step.Forever))).Draw(t, "to")
	return from, to, rapid.Int64Range(-4, 8).Draw(t, "amount")
}

// A tree built at once answers like the array and has the changes of a tree
// that grew, forks like it and may be changed on.
func TestBuilderAgainstArray(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b step.Builder
		var grown step.Tree
		w := &world{}
		for range rapid.IntRange(0, 3).Draw(t, "rounds") {
			for range rapid.IntRange(0, 150).Draw(t, "many") {
				from, to, amount := drawRange(t)
				b.Add(from, to, amount)
				grown.Add(w.edit.Token(), from, to, amount)
				w.want.add(from, to, amount)
			}
			w.tree = b.Tree(w.edit.Token())
			require.Equal(t, grown.Len(), w.tree.Len())
			require.Equal(t, maps.Collect(grown.Changes()), maps.Collect(w.tree.Changes()))
			check(t, w)
		}
		f := w.fork()
		for range rapid.IntRange(0, 150).Draw(t, "more") {
			from, to, amount := drawRange(t)
			f.tree.Add(f.edit.Token(), from, to, amount)
			f.want.add(from, to, amount)
		}
		check(t, f)
		check(t, w)
	})
}

// Three levels of nodes, full ones, all taken away again.
func TestBuilderGrowsAndShrinks(t *testing.T) {
	var edit cow.Edit
	var b step.Builder
	const n = 20_000
	for i := range int64(n) {
		b.Add(i*7%n, i*7%n+100, 1)
	}
	tr := b.Tree(edit.Token())
	require.Equal(t, int64(100), tr.Max(0, 2*n))
	require.Equal(t, int64(50), tr.At(49))
	require.Equal(t, int64(n+39), mustFit(t, &tr, 51, 10, 60))
	for i := range int64(n) {
		tr.Add(edit.Token(), i*7%n, i*7%n+100, -1)
	}
	require.Zero(t, tr.Len())
	require.Zero(t, tr.Max(0, n))
}

func TestBuilderOfNothing(t *testing.T) {
	var edit cow.Edit
	var b step.Builder
	b.Add(5, 5, 1)
	b.Add(5, 9, 0)
	b.Add(3, 7, 2)
	b.Add(3, 7, -2)
	require.Equal(t, step.Tree{}, b.Tree(edit.Token()))
}
