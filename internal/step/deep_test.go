// SPDX-License-Identifier: Apache-2.0

package step_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/step"
)

// deep is a tree of three levels of nodes and its array of instants.
type deep struct {
	r    *rand.Rand
	edit cow.Edit
	tree step.Tree
	want []int64
}

func newDeep(seed uint64, span, n int, longest int64) *deep {
	d := &deep{r: rand.New(rand.NewPCG(seed, 1)), want: make([]int64, span)}
	var b step.Builder
	for i := range n {
		if i == n/2 { // half built, half added
			d.tree = b.Tree(d.edit.Token())
		}
		from := d.r.Int64N(int64(span))
		to, amount := from+1+d.r.Int64N(longest), 1+d.r.Int64N(9)
		if i < n/2 {
			b.Add(from, to, amount)
		} else {
			d.tree.Add(d.edit.Token(), from, to, amount)
		}
		for t := from; t < min(to, int64(span)); t++ {
			d.want[t] += amount
		}
	}
	return d
}

// firstFit is the oracle: one pass over the array.
func (d *deep) firstFit(from, latest, length, limit int64) (int64, bool) {
	start := from
	for t := from; t-start < length; t++ {
		if t == int64(len(d.want)) || start > latest { // checked ranges end inside the array
			return 0, false
		}
		if d.want[t] > limit {
			start = t + 1
		}
	}
	return start, start <= latest
}

// FirstFit leaps over short gaps by whole leaves, and finds what a pass over
// all instants finds.
func TestFirstFitLeaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const span = 12_000
		longest := rapid.Int64Range(1, 300).Draw(t, "longest")
		d := newDeep(rapid.Uint64().Draw(t, "seed"), span, rapid.IntRange(2, 4000).Draw(t, "n"), longest)
		for range 100 {
			from := d.r.Int64N(span - 1200)
			latest := from + d.r.Int64N(span-1200-from)
			length := 1 + d.r.Int64N(1+d.r.Int64N(1200)) // from + length ≤ span
			limit := d.want[d.r.IntN(span)] - d.r.Int64N(3)
			want, wantOK := d.firstFit(from, latest, length, limit)
			got, ok := d.tree.FirstFit(from, latest, length, limit)
			if !wantOK {
				want = 0
			}
			require.Equal(t, fmt.Sprint(want, wantOK), fmt.Sprint(got, ok), "from %d latest %d length %d limit %d", from, latest, length, limit)
			at := d.r.Int64N(span)
			require.Equal(t, d.want[at], d.tree.At(at))
		}
	})
}

// The ends of int64 are instants like all others.
func TestFirstFitAtTheEnds(t *testing.T) {
	var edit cow.Edit
	var tr step.Tree
	tr.Add(edit.Token(), -5, 5, 1)
	tr.Add(edit.Token(), step.Forever-10, step.Forever, 1)
	for _, c := range []struct {
		from, latest, length, limit int64
		want                        int64
		ok                          bool
	}{
		{-1 << 63, 0, 3, 0, -1 << 63, true},
		{-7, 0, 3, 0, 0, false},
		{-7, 5, 3, 0, 5, true},
		{6, step.Forever, step.Forever, 0, 0, false},
		{6, step.Forever, step.Forever, 1, 6, true},
		{step.Forever - 5, step.Forever, 100, 0, 0, false},
		{step.Forever - 5, step.Forever, 100, 1, step.Forever - 5, true},
		{0, 10, 0, 5, 0, false},
		{10, 0, 5, 5, 0, false},
	} {
		got, ok := tr.FirstFit(c.from, c.latest, c.length, c.limit)
		require.Equal(t, fmt.Sprint(c.want, c.ok), fmt.Sprint(got, ok), "%+v", c)
	}
}
