// SPDX-License-Identifier: Apache-2.0

// Package topologytest gives tests and simulations clusters to work on, and a second opinion on them.
//
// # Model
//
// [Configs] and [Changes] draw random clusters and edits for property tests with rapid: uniform and not, nodes that lack
// levels, several models, CPU-only nodes, overlay families, GPUs with ids and without. [Small] and [Mixed] are fixed
// clusters, small enough to reason about by hand. [Check] recounts every index of a cluster from the paths of its nodes.
//
// # Usage
//
//	func TestMyPlanner(t *testing.T) {
//		rapid.Check(t, func(t *rapid.T) {
//			c, err := topology.New(topologytest.Configs().Draw(t, "config"))
//			require.NoError(t, err)
//			next, err := c.Apply(topologytest.Changes(c).Draw(t, "change"))
//			require.NoError(t, err)
//			topologytest.Check(t, next)
//		})
//	}
//
// # Invariants
//
// What the generators draw is always valid, and a seed draws the same again. Check tests T3, T5 and T9 of package topology
// with code that shares nothing with it.
//
// # Concurrency
//
// Every function may be called from several goroutines at once.
//
// # Errors and reasons
//
// Check fails the test that it is given; the fixtures panic only if package topology refuses them, which its tests exclude.
//
// # Complexity
//
// Check costs O(nodes × levels + domains), and O(nodes²) for the pairs of at most 64 nodes.
//
// # Limits and non-goals
//
// Generated clusters have at most 24 nodes: property tests find their counterexamples in small worlds. For large clusters use
// topology.FatTree and topology.NVL72.
package topologytest
