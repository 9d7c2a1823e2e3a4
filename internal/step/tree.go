// SPDX-License-Identifier: Apache-2.0

package step

import (
	"math"
	"sort"

	"github.com/berth-gpu/berth/internal/cow"
)

const (
	nodeCap = 64
	nodeMin = nodeCap / 4 // a smaller node is merged with a neighbour that has room
)

// Forever as the end of a range means: no end.
const Forever = math.MaxInt64

// A Tree is a step function of time. The zero Tree is 0 everywhere.
//
// With n changes, Add, At, Max and Min cost O(log n). The first Add after a
// fork copies the nodes on its path.
//
// A Tree may be read by many goroutines while nobody changes it; copying its
// head is safe whenever reading is.
type Tree struct {
	root *node
	n    int
}

type node struct {
	tok  *cow.Token
	t    []int64 // leaf: times of changes; inner: first time below each child
	d    []int64 // leaf: changes, never 0
	kids []*node // inner
	agg  []agg   // inner: one per child
}

// agg summarises a run of changes, counted from a level of 0 before it.
type agg struct{ sum, max, min int64 }

// then returns the summary of a followed by b.
func (a agg) then(b agg) agg {
	return agg{sum: a.sum + b.sum, max: max(a.max, a.sum+b.max), min: min(a.min, a.sum+b.min)}
}

// nothing is the summary of no change at all.
var nothing = agg{max: math.MinInt64 / 2, min: math.MaxInt64 / 2}

func (nd *node) leaf() bool { return nd.kids == nil }

func (nd *node) summary() agg {
	if !nd.leaf() {
		s := nd.agg[0]
		for _, a := range nd.agg[1:] {
			s = s.then(a)
		}
		return s
	}
	s := agg{nd.d[0], nd.d[0], nd.d[0]}
	for _, d := range nd.d[1:] {
		s.sum += d
		s.max = max(s.max, s.sum)
		s.min = min(s.min, s.sum)
	}
	return s
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
		tr.root = &node{tok: tok, t: append(make([]int64, 0, nodeCap), t), d: append(make([]int64, 0, nodeCap), d)}
		tr.n = 1
		return
	}
	root, right := tr.insert(tok, tr.root, t, d)
	switch {
	case right != nil:
		tr.root = &node{tok: tok,
			t: []int64{root.t[0], right.t[0]}, kids: []*node{root, right}, agg: []agg{root.summary(), right.summary()}}
	case len(root.t) == 0:
		tr.root = nil
	case !root.leaf() && len(root.kids) == 1:
		tr.root = root.kids[0]
	default:
		tr.root = root
	}
}

// insert applies one change below nd and returns the node that replaces it and,
// after a split, its new right neighbour.
func (tr *Tree) insert(tok *cow.Token, nd *node, t, d int64) (*node, *node) {
	nd = nd.own(tok)
	if nd.leaf() {
		i := sort.Search(len(nd.t), func(i int) bool { return nd.t[i] >= t })
		switch {
		case i == len(nd.t) || nd.t[i] != t:
			nd.t = insertAt(nd.t, i, t)
			nd.d = insertAt(nd.d, i, d)
			tr.n++
		case nd.d[i]+d == 0:
			nd.t = append(nd.t[:i], nd.t[i+1:]...)
			nd.d = append(nd.d[:i], nd.d[i+1:]...)
			tr.n--
		default:
			nd.d[i] += d
		}
		return nd, nd.split(tok)
	}
	k := max(sort.Search(len(nd.t), func(i int) bool { return nd.t[i] > t })-1, 0)
	kid, right := tr.insert(tok, nd.kids[k], t, d)
	if len(kid.t) == 0 {
		nd.drop(k)
		return nd, nil
	}
	nd.set(k, kid)
	if right != nil {
		nd.t = insertAt(nd.t, k+1, right.t[0])
		nd.kids = insertAt(nd.kids, k+1, right)
		nd.agg = insertAt(nd.agg, k+1, right.summary())
	} else if len(kid.t) < nodeMin {
		nd.merge(tok, k)
	}
	return nd, nd.split(tok)
}

func (nd *node) set(k int, kid *node) {
	nd.t[k], nd.kids[k], nd.agg[k] = kid.t[0], kid, kid.summary()
}

func (nd *node) drop(k int) {
	nd.t = append(nd.t[:k], nd.t[k+1:]...)
	nd.kids = append(nd.kids[:k], nd.kids[k+1:]...)
	nd.agg = append(nd.agg[:k], nd.agg[k+1:]...)
}

// merge joins child k with a neighbour if both together leave room to grow.
func (nd *node) merge(tok *cow.Token, k int) {
	if k+1 == len(nd.kids) {
		k--
	}
	if k < 0 || len(nd.kids[k].t)+len(nd.kids[k+1].t) > nodeCap-nodeMin {
		return
	}
	a, b := nd.kids[k].own(tok), nd.kids[k+1]
	a.t = append(a.t, b.t...)
	a.d = append(a.d, b.d...)
	a.kids = append(a.kids, b.kids...)
	a.agg = append(a.agg, b.agg...)
	nd.set(k, a)
	nd.drop(k + 1)
}

// split moves the upper half of a full node into a new right neighbour.
func (nd *node) split(tok *cow.Token) *node {
	if len(nd.t) < nodeCap {
		return nil
	}
	h := len(nd.t) / 2
	r := &node{tok: tok, t: cut(nd.t[h:])}
	if nd.leaf() {
		r.d = cut(nd.d[h:])
		nd.d = nd.d[:h]
	} else {
		r.kids, r.agg = cut(nd.kids[h:]), cut(nd.agg[h:])
		clear(nd.kids[h:])
		nd.kids, nd.agg = nd.kids[:h], nd.agg[:h]
	}
	nd.t = nd.t[:h]
	return r
}

// own returns nd itself if tok made it, else a copy that tok owns.
func (nd *node) own(tok *cow.Token) *node {
	if nd.tok == tok {
		return nd
	}
	c := &node{tok: tok, t: cut(nd.t)}
	if nd.leaf() {
		c.d = cut(nd.d)
	} else {
		c.kids, c.agg = cut(nd.kids), cut(nd.agg)
	}
	return c
}

func cut[T any](s []T) []T { return append(make([]T, 0, nodeCap), s...) }

func insertAt[T any](s []T, i int, v T) []T {
	var zero T
	s = append(s, zero)
	copy(s[i+1:], s[i:])
	s[i] = v
	return s
}
