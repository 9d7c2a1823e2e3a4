// SPDX-License-Identifier: Apache-2.0

// Package cow holds the copy-on-write containers that make every engine
// forkable in near constant time.
//
// # Model
//
//   - [Edit] is the right to change in place. An engine owns one Edit for all
//     its containers.
//   - [Token] is one epoch of that right. A container node remembers the token
//     under which it was created and may be changed in place only under the
//     same token; otherwise it is copied first.
//   - [Array] is a dense sequence indexed from 0, a radix tree of small chunks.
//   - [Sorted] is an ordered set over google/btree.
//
// Forking copies a struct of container heads and marks the Edit of both sides
// as shared; the first change on either side takes a new Token, so nodes that
// both sides can see are never written again.
//
//	base:  head ──► root(tok 1) ──► chunk(tok 1)
//	                  ▲                ▲
//	fork:  head ──────┘                │     Fork: two heads, one tree
//
//	fork:  head ──► root(tok 2) ──► chunk(tok 2)   after the first change:
//	                  └───────────► chunk(tok 1)   only the path was copied
//
// # Concurrency
//
// Any number of goroutines may read a container, or fork the engine that holds
// it, while nobody changes it. Forking writes one flag, atomically; a lazy
// btree clone takes a mutex that the sharers have in common.
package cow
