// SPDX-License-Identifier: Apache-2.0

package step

import (
	"cmp"
	"slices"

	"github.com/berth-gpu/berth/internal/cow"
)

// A Builder collects ranges and makes one Tree of them. The Tree answers like
// one made by [Tree.Add], and may be changed on:
//
//	Add(1,6,+2) Add(4,9,+3)     in any order
//	+2@1 −2@6 +3@4 −3@9         one change per end
//	+2@1 +3@4 −2@6 −3@9         sorted, those of one instant summed up
//	[+2@1 +3@4] [−2@6 −3@9]     packed into leaves from the left
//	[     1          6    ]     and the leaves into inner nodes
//
// It costs O(n log n) for the sort and O(n) for the rest. Nodes are filled to
// seven eighths: a full one would split at the first change that follows.
//
// The zero Builder is ready for use. A Builder is for one goroutine.
type Builder struct{ list []change }

type change struct{ t, d int64 }

// Grow makes room for n more ranges.
func (b *Builder) Grow(n int) { b.list = slices.Grow(b.list, 2*n) }

// Add raises the level by amount over [from, to), as [Tree.Add] does.
func (b *Builder) Add(from, to, amount int64) {
	if amount == 0 || from >= to {
		return
	}
	b.list = append(b.list, change{from, amount})
	if to != Forever {
		b.list = append(b.list, change{to, -amount})
	}
}

// Tree returns the sum of the ranges added so far, owned by tok. The Builder
// may be used on: a later Tree contains the same ranges and the new ones.
func (b *Builder) Tree(tok *cow.Token) Tree {
	slices.SortFunc(b.list, func(x, y change) int { return cmp.Compare(x.t, y.t) })
	b.list = sum(b.list)
	if len(b.list) == 0 {
		return Tree{}
	}
	row := make([]*node, 0, parts(len(b.list)))
	for list := range even(b.list) {
		nd := &node{tok: tok, n: len(list)}
		for i, c := range list {
			nd.sum += c.d
			nd.t[i], nd.level[i] = c.t, nd.sum
		}
		row = append(row, nd)
	}
	for len(row) > 1 {
		above := make([]*node, 0, parts(len(row)))
		for kids := range even(row) {
			nd := &node{tok: tok, in: new(inner)}
			for _, kid := range kids {
				nd.add(kid)
			}
			above = append(above, nd)
		}
		row = above
	}
	return Tree{root: row[0], n: len(b.list)}
}

// sum makes one change of those at one instant and drops it if it is 0.
func sum(list []change) []change {
	out := list[:0]
	for i := 0; i < len(list); {
		c := list[i]
		for i++; i < len(list) && list[i].t == c.t; i++ {
			c.d += list[i].d
		}
		if c.d != 0 {
			out = append(out, c)
		}
	}
	return out
}

// full is how many slots of a new node are in use at most.
const full = nodeCap - nodeCap/8

// parts returns how many nodes hold n slots.
func parts(n int) int { return (n + full - 1) / full }

// even yields as few parts of list as fit into nodes, equal in length but for
// one, so that none is small.
func even[T any](list []T) func(yield func([]T) bool) {
	return func(yield func([]T) bool) {
		n := parts(len(list))
		for i := range n {
			if !yield(list[i*len(list)/n : (i+1)*len(list)/n]) {
				return
			}
		}
	}
}
