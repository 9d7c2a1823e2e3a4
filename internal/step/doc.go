// SPDX-License-Identifier: Apache-2.0

// Package step keeps a step function of time as a tree of its changes.
//
// The level at an instant is the sum of all changes up to and including it. A
// booking of n units over [s, e) is two changes: +n at s and −n at e. A change
// that becomes 0 disappears, so what a tree answers depends only on the
// function it holds, not on how it came about.
//
//	level                      change  +2  +3  −2  −3
//	  5 │        ┌────┐                │   │   │   │
//	  3 │        │    └────┐        time 1   4   6   9
//	  2 │   ┌────┘         │
//	  0 └───┘              └──►
//	        1    4    6    9
//
// The tree is a B+tree. A leaf holds instants and the levels after them; an
// inner node holds for each child the level before it and the greatest and the
// least level inside. All are relative: those of a node count from the level
// before it, the extremes from the level before their child. So a change moves
// numbers only on its path, and a search knows from the level at which it enters
// a subtree what lies inside, and can pass whole subtrees by:
//
//	┌────────────── inner ───────────────┐
//	│ from 1: level 0  │ from 6: level 5 │
//	│ max +5  min +2   │ max −2  min −5  │
//	└─────┬────────────┴──────┬──────────┘
//	 leaf 1:+2 4:+5      leaf 6:−2 9:−5
//
// [Tree] has the questions, [Builder] makes a tree of many ranges at once.
//
// # Limits and non-goals
//
// Levels are int64 and are not checked for overflow: the caller bounds what it
// adds (every engine limits its quantities so that no sum can pass 2⁶²).
//
// There is no index of the greatest level per hour or per five minutes beside
// the tree, though it makes hard searches (for so many units that only short
// gaps have them) quicker still. Measured with one million bookings against
// dense arrays that nobody copies, the best case for such an index, on a shared
// machine: a hard [Tree.FirstFit] went from 22–28 to 6–7 µs with short bookings
// (5 minutes to an hour, slots of 5 minutes) and from 4–10 to 1.5–5 µs with long
// ones (up to a week, slots of an hour), while every Add took 1–1.7 µs more on
// top of 2–3.5 µs, and at ten thousand bookings twice as long. The inner nodes
// already do most of what it would do; see FirstFit.
package step
