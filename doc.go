// SPDX-License-Identifier: Apache-2.0

// Package berth is the door to a set of small packages for sharing one pool of
// GPUs between many teams, so that each feels it owns its cluster.
//
// A berth is a reserved place for a vessel. Here it is GPUs kept for a team for a
// window of time. The packages are plain values that a program embeds; each is
// useful alone:
//
//   - topology: what the hardware is, from regions down to GPUs and links.
//   - quota: who may use how much, in principle: a tree of tenants that lend and borrow.
//   - reservation: who may use how much, when: bookings, holds, live availability.
//   - allocator: which GPUs exactly: gangs whole, packed, on healthy nodes.
//   - isolation: how tenants are kept apart: what a node must set up for a lease.
//   - health: what is out of service, by whose hand, and until when.
//   - nvmlx: the GPU as Go values.
//
// # The story of a request
//
// quota says whether the tenant may; reservation says when there is room, and
// holds it; allocator says where exactly; isolation turns the placement into a
// plan for the node; health takes broken hardware out, and the calendar and the
// fleet follow. The arrows run one way; a host calls them in this order, in one
// command, on forks of all engines, and publishes all or nothing.
//
// # The one idiom
//
// Calendar, Ledger, Fleet and Record are forkable values: Fork is a constant-time
// copy, every command takes the time as an argument and does all it promises or
// nothing, what was decided is a list of events, and Restore(snapshot) + Apply(log)
// is the live value, byte for byte. From this come transactions, what-if questions,
// wait-free readers, crash safety, audit and deterministic simulation.
// ARCHITECTURE.md says how it works inside and why.
//
// # Programs
//
// The nested module examples holds programs to copy from: quickstart, manager (a
// cluster manager with a page, on an embedded store) and simulate (the openb trace
// under several placement policies).
package berth
