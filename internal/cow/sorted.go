// SPDX-License-Identifier: Apache-2.0

package cow

import (
	"iter"
	"slices"
	"sync"

	"github.com/google/btree"
)

const degree = 32

// A Sorted is an ordered set of values. Items are stored by value, so a fork
// never sees a change made on the other side.
//
// A Sorted may be read by many goroutines while nobody changes it; copying its
// head is safe whenever reading is. google/btree's Clone writes to the tree it
// clones, so the clone is made late, by the first change after a fork, under a
// mutex that all sharers of that tree have in common.
type Sorted[T any] struct {
	t    *btree.BTreeG[T]
	less func(a, b T) bool
	mu   *sync.Mutex // serialises Clone among the sharers of t
	tok  *Token      // owner of t
}

// NewSorted returns an empty set ordered by less.
func NewSorted[T any](less func(a, b T) bool) Sorted[T] {
	return Sorted[T]{t: btree.NewG(degree, less), less: less, mu: new(sync.Mutex)}
}

func (s *Sorted[T]) own(tok *Token) {
	if s.tok == tok {
		return
	}
	s.mu.Lock()
	s.t = s.t.Clone()
	s.mu.Unlock()
	s.mu = new(sync.Mutex)
	s.tok = tok
}

// Len returns the number of items.
func (s *Sorted[T]) Len() int { return s.t.Len() }

// Find returns the item equal to key in the set's order.
func (s *Sorted[T]) Find(key T) (T, bool) { return s.t.Get(key) }

// Put adds v, replacing the item equal to it.
func (s *Sorted[T]) Put(tok *Token, v T) {
	s.own(tok)
	s.t.ReplaceOrInsert(v)
}

// Fill adds many items, which must differ from each other in the set's order,
// as Put does. It sorts items in place.
//
// A B-tree takes a sorted sequence several times faster than a random one, since
// it works in one corner. google/btree takes ascending and descending ones
// equally fast, but they differ in memory: a split leaves the lower half in the
// old array, which has room for a full node, and the upper half in a new one
// that fits. The half that sees no more items is the lower one in ascending
// order, the upper one in descending order, so that needs half the memory:
//
//	ascending   [1 2 _ _] [3 4 _ _] [5 6 7 _]     next: 8
//	descending  [2 3 4 _] [5 6] [7 8]             next: 1
func (s *Sorted[T]) Fill(tok *Token, items []T) {
	slices.SortFunc(items, func(a, b T) int {
		switch {
		case s.less(a, b):
			return -1
		case s.less(b, a):
			return 1
		}
		return 0
	})
	s.own(tok)
	for _, v := range slices.Backward(items) {
		s.t.ReplaceOrInsert(v)
	}
}

// Remove deletes the item equal to key and reports whether there was one.
func (s *Sorted[T]) Remove(tok *Token, key T) bool {
	if _, ok := s.t.Get(key); !ok {
		return false
	}
	s.own(tok)
	s.t.Delete(key)
	return true
}

// Min returns the least item.
func (s *Sorted[T]) Min() (T, bool) { return s.t.Min() }

// Max returns the greatest item.
func (s *Sorted[T]) Max() (T, bool) { return s.t.Max() }

// All yields the items in order.
func (s *Sorted[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) { s.t.Ascend(yield) }
}

// From yields the items that are not less than pivot, in order.
func (s *Sorted[T]) From(pivot T) iter.Seq[T] {
	return func(yield func(T) bool) { s.t.AscendGreaterOrEqual(pivot, yield) }
}

// Before yields the items that are not greater than pivot, in descending order.
func (s *Sorted[T]) Before(pivot T) iter.Seq[T] {
	return func(yield func(T) bool) { s.t.DescendLessOrEqual(pivot, yield) }
}
