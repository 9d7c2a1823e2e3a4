// SPDX-License-Identifier: Apache-2.0

package cow

import "iter"

const (
	fanBits = 5
	fan     = 1 << fanBits // children per inner node, values per leaf
)

// An Array is a dense sequence of values indexed from 0. The zero Array is
// empty. A copied Array head is a fork; see [Edit].
//
// At costs O(log n) with base 32; Set and Append as much, plus the copy of the
// path at the first change after a fork (n = 10⁶: four nodes of 32 entries).
//
// An Array may be read by many goroutines while nobody changes it; copying its
// head is safe whenever reading is.
type Array[T any] struct {
	n      int
	height int // levels of inner nodes above the leaves
	root   *arrayNode[T]
}

type arrayNode[T any] struct {
	tok  *Token
	kids []*arrayNode[T] // inner node
	vals []T             // leaf
}

// Len returns the number of values.
func (a *Array[T]) Len() int { return a.n }

// At returns value i. It panics if i is out of range, like a slice.
func (a *Array[T]) At(i int) T { return *a.ref(i) }

// Ref returns value i for reading without a copy; the caller must not change it.
func (a *Array[T]) Ref(i int) *T { return a.ref(i) }

func (a *Array[T]) ref(i int) *T {
	if uint(i) >= uint(a.n) {
		panic("cow: array index out of range")
	}
	nd := a.root
	for h := a.height; h > 0; h-- {
		nd = nd.kids[(i>>(h*fanBits))&(fan-1)]
	}
	return &nd.vals[i&(fan-1)]
}

// Edit returns value i for change in place under tok.
func (a *Array[T]) Edit(tok *Token, i int) *T {
	if uint(i) >= uint(a.n) {
		panic("cow: array index out of range")
	}
	a.root = a.root.own(tok)
	nd := a.root
	for h := a.height; h > 0; h-- {
		k := (i >> (h * fanBits)) & (fan - 1)
		kid := nd.kids[k].own(tok)
		nd.kids[k] = kid
		nd = kid
	}
	return &nd.vals[i&(fan-1)]
}

// Set replaces value i.
func (a *Array[T]) Set(tok *Token, i int, v T) { *a.Edit(tok, i) = v }

// Append adds v at the end and returns its index.
func (a *Array[T]) Append(tok *Token, v T) int {
	i := a.n
	if a.root == nil {
		a.root = newLeaf[T](tok)
	} else if i == 1<<((a.height+1)*fanBits) {
		root := newInner[T](tok)
		root.kids = append(root.kids, a.root)
		a.root = root
		a.height++
	}
	a.root = a.root.own(tok)
	nd := a.root
	for h := a.height; h > 0; h-- {
		k := (i >> (h * fanBits)) & (fan - 1)
		if k == len(nd.kids) {
			if h == 1 {
				nd.kids = append(nd.kids, newLeaf[T](tok))
			} else {
				nd.kids = append(nd.kids, newInner[T](tok))
			}
		} else {
			nd.kids[k] = nd.kids[k].own(tok)
		}
		nd = nd.kids[k]
	}
	nd.vals = append(nd.vals, v)
	a.n++
	return i
}

// All yields every index and value in order.
func (a *Array[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i := 0; i < a.n; i++ {
			if !yield(i, *a.ref(i)) {
				return
			}
		}
	}
}

func newLeaf[T any](tok *Token) *arrayNode[T] {
	return &arrayNode[T]{tok: tok, vals: make([]T, 0, fan)}
}

func newInner[T any](tok *Token) *arrayNode[T] {
	return &arrayNode[T]{tok: tok, kids: make([]*arrayNode[T], 0, fan)}
}

// own returns nd itself if tok made it, else a copy that tok owns.
func (nd *arrayNode[T]) own(tok *Token) *arrayNode[T] {
	if nd.tok == tok {
		return nd
	}
	c := &arrayNode[T]{tok: tok}
	if nd.kids != nil {
		c.kids = make([]*arrayNode[T], len(nd.kids), fan)
		copy(c.kids, nd.kids)
	} else {
		c.vals = make([]T, len(nd.vals), fan)
		copy(c.vals, nd.vals)
	}
	return c
}
