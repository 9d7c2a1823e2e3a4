// SPDX-License-Identifier: Apache-2.0

// Package allocatortest helps to test what is built on package allocator: generators of small fleets and requests for
// pgregory.net/rapid, a checker that shares no code with the allocator, and the suite that every policy must pass.
//
// # Model
//
//   - [Clusters], [Requests] and [Fleets] draw small hardware, gangs that contend for it, and both in use.
//   - [Check] recounts a fleet from its placements alone; [CheckPlan] judges a plan against what the fleet says is free.
//   - [TestPolicy] checks the contract of allocator.Policy.
//
// # Usage
//
//	func TestMyPolicy(t *testing.T) { allocatortest.TestPolicy(t, MyPolicy{}) }
//
// # Invariants
//
// The checker knows those of package allocator: A1, A2, A5 and A6.
//
// # Concurrency
//
// Everything here is a function; none keeps state.
//
// # Errors and reasons
//
// The checkers return one error that joins every difference they find; it is meant for people.
//
// # Complexity
//
// [Check] costs O(nodes + pods) maps and is meant for tests and for simulations that can afford it.
//
// # Limits and non-goals
//
// The generators draw clusters of at most 6 nodes: large ones are for benchmarks. The suite cannot prove that a policy is
// pure; it asks the same questions twice, on forks, under other names, and from many goroutines.
package allocatortest
