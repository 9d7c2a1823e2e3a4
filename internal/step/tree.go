// SPDX-License-Identifier: Apache-2.0

package step

import (
	"math"

	"github.com/berth-gpu/berth/internal/cow"
)

// Forever as the end of a range means: no end.
const Forever = math.MaxInt64

// A Tree is a step function of time. The zero Tree is 0 everywhere.
//
// With n changes, Add, At, Max and Min cost O(log n). The first Add after a
// fork copies the nodes on its path. Many ranges at once: [Builder].
//
// A Tree may be read by many goroutines while nobody changes it; copying its
// head is safe whenever reading is.
type Tree struct {
	root *node
	n    int
}

// Len returns the number of changes.
func (tr *Tree) Len() int { return tr.n }

// Add raises the level by amount over [from, to). It does nothing if the range
// is empty or the amount 0. A range up to [Forever] has no end.
func (tr *Tree) Add(tok *cow.Token, from, to, amount int64) {
	if amount == 0 || from >= to {
		return
	}
	tr.change(tok, from, amount)
	if to != Forever {
		tr.change(tok, to, -amount)
	}
}

func (tr *Tree) change(tok *cow.Token, t, d int64) {
	if tr.root == nil {
		tr.root = &node{tok: tok}
	}
	root := tr.root.own(tok)
	right := tr.insert(tok, root, t, d)
	switch {
	case right != nil:
		top := &node{tok: tok, in: new(inner)}
		top.add(root)
		top.add(right)
		root = top
	case root.n == 0:
		root = nil
	case !root.leaf() && root.n == 1:
		root = root.in.kids[0]
	}
	tr.root = root
}

// insert applies one change below nd, which tok owns, and returns the right
// neighbour that nd has after a split.
func (tr *Tree) insert(tok *cow.Token, nd *node, t, d int64) *node {
	if nd.leaf() {
		tr.n += nd.put(t, d)
		return nd.split(tok)
	}
	k := max(nd.upto(t)-1, 0)
	kid := nd.in.kids[k].own(tok)
	right := tr.insert(tok, kid, t, d)
	nd.sum += d
	nd.raise(k+1, d)
	switch {
	case kid.n == 0:
		nd.shut(k)
		return nil
	case right != nil:
		nd.open(k + 1)
		nd.level[k+1] = nd.level[k] + kid.sum
		nd.set(k+1, right)
	}
	nd.set(k, kid)
	if kid.n < nodeMin {
		nd.merge(tok, k)
	}
	return nd.split(tok)
}

// put applies a change to a leaf and returns by how many entries it grows.
func (nd *node) put(t, d int64) int {
	i := nd.upto(t)
	nd.sum += d
	if i > 0 && nd.t[i-1] == t {
		i--
		nd.raise(i, d)
		if i == 0 && nd.level[0] == 0 || i > 0 && nd.level[i] == nd.level[i-1] {
			nd.shut(i)
			return -1
		}
		return 0
	}
	nd.open(i)
	nd.t[i], nd.level[i] = t, 0
	if i > 0 {
		nd.level[i] = nd.level[i-1]
	}
	nd.raise(i, d)
	return 1
}

// merge joins child k with a neighbour if both together leave room to grow.
func (nd *node) merge(tok *cow.Token, k int) {
	if k+1 == nd.n {
		k--
	}
	if k < 0 || nd.in.kids[k].n+nd.in.kids[k+1].n > nodeCap-nodeMin {
		return
	}
	a := nd.in.kids[k].own(tok)
	a.move(nd.in.kids[k+1], 0)
	nd.set(k, a)
	nd.shut(k + 1)
}

// split moves the upper half of a full node into a new right neighbour.
func (nd *node) split(tok *cow.Token) *node {
	if nd.n < nodeCap {
		return nil
	}
	r := &node{tok: tok}
	if !nd.leaf() {
		r.in = &inner{low: nd.in.low}
	}
	r.move(nd, nodeCap/2)
	nd.cut(nodeCap / 2)
	return r
}
