// SPDX-License-Identifier: Apache-2.0

// Package jobs is the manager's queue of work: what was submitted, what runs
// where, what ended. It is a forkable value like the engines of berth, written
// with public means only, so it shows how a host adds an engine of its own.
//
// A [Job] moves Queued → Running → Ended, back to Queued when it is preempted,
// and to Cancelled from either. Jobs asks nobody for permission: the commands
// decide, this package remembers.
package jobs
