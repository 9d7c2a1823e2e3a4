// SPDX-License-Identifier: Apache-2.0

package step

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/internal/cow"
)

// sound recounts all that a node says about what is below it, and returns its
// changes, the sum, and the extremes.
func (nd *node) sound(t require.TestingT) (n int, sum, hi, lo int64, height int) {
	require.Positive(t, nd.n)
	require.Less(t, nd.n, nodeCap)
	for i := 1; i < nd.n; i++ {
		require.Less(t, nd.t[i-1], nd.t[i])
	}
	hi, lo = -1<<62, 1<<62
	if nd.leaf() {
		for i := range nd.n {
			require.NotEqual(t, sum, nd.level[i], "a change of 0")
			sum = nd.level[i]
			hi, lo = max(hi, sum), min(lo, sum)
		}
		require.Equal(t, sum, nd.sum)
		return nd.n, sum, hi, lo, 0
	}
	for i := range nd.n {
		kid := nd.in.kids[i]
		require.Equal(t, nd.t[i], kid.t[0])
		require.Equal(t, sum, nd.level[i])
		require.Equal(t, nd.in.low, kid.leaf())
		m, d, a, b, h := kid.sound(t)
		if i > 0 {
			require.Equal(t, height, h+1, "leaves at one depth")
		}
		require.Equal(t, [2]int64{a, b}, [2]int64{nd.in.max[i], nd.in.min[i]})
		hi, lo = max(hi, sum+a), min(lo, sum+b)
		n, sum, height = n+m, sum+d, h+1
	}
	for _, kid := range nd.in.kids[nd.n:] {
		require.Nil(t, kid, "what is gone is not kept alive")
	}
	require.Equal(t, sum, nd.sum)
	return n, sum, hi, lo, height
}

// Whatever is added, built and taken away, every node says the truth.
func TestNodesAreSound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var edit cow.Edit
		var tr Tree
		var b Builder
		var in [][3]int64
		add := func() {
			from := r.Int64N(1 << 16)
			x := [3]int64{from, from + 1 + r.Int64N(900), 1 + r.Int64N(4)}
			in = append(in, x)
			b.Add(x[0], x[1], x[2])
		}
		for range rapid.IntRange(0, 3000).Draw(t, "built") {
			add()
		}
		tr = b.Tree(edit.Token())
		for range rapid.IntRange(0, 3000).Draw(t, "steps") {
			if len(in) == 0 || r.IntN(3) == 0 {
				add()
				x := in[len(in)-1]
				tr.Add(edit.Token(), x[0], x[1], x[2])
				continue
			}
			i := r.IntN(len(in))
			tr.Add(edit.Token(), in[i][0], in[i][1], -in[i][2])
			in[i] = in[len(in)-1]
			in = in[:len(in)-1]
		}
		want := map[int64]int64{}
		for _, x := range in {
			want[x[0]] += x[2]
			want[x[1]] -= x[2]
		}
		n := 0
		for _, d := range want {
			if d != 0 {
				n++
			}
		}
		require.Equal(t, n, tr.Len())
		if tr.root == nil {
			require.Zero(t, n)
			return
		}
		got, sum, _, _, _ := tr.root.sound(t)
		require.Equal(t, n, got)
		require.Zero(t, sum)
	})
}
