// SPDX-License-Identifier: Apache-2.0

// Package step keeps a step function of time as a tree of its changes.
//
// The level at an instant is the sum of all changes up to and including it. A
// booking of n units over [s, e) is two changes: +n at s and −n at e. A change
// that becomes 0 disappears, so the tree depends only on the function it holds.
//
//	level                      change  +2  +3  −2  −3
//	  5 │        ┌────┐                │   │   │   │
//	  3 │        │    └────┐        time 1   4   6   9
//	  2 │   ┌────┘         │
//	  0 └───┘              └──►
//	        1    4    6    9
//
// The tree is a B+tree. Each child slot carries the sum of the changes below
// it and the greatest and least partial sum, counted from the subtree's first
// change. So a search knows, from the level at which it enters a subtree, the
// greatest and the least level inside, and can pass whole subtrees by:
//
//	┌──────────── inner ────────────┐
//	│ sum +5  max +5  min +2 │ sum −5  max −2  min −5 │
//	└─────┬──────────────────┴─────┬─────────────────┘
//	 leaf 1:+2 4:+3            leaf 6:−2 9:−3
//
// Levels are int64 and are not checked for overflow: the caller bounds what it
// adds (every engine limits its quantities so that no sum can pass 2⁶²).
package step
