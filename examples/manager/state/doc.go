// SPDX-License-Identifier: Apache-2.0

// Package state is the whole of the manager as one forkable value: hardware,
// quota, calendar, fleet, health, jobs and request keys, changed together by one
// command and published together.
//
// # Model
//
//   - [State] holds an engine of each kind. Fork is constant time; a command
//     works on a fork and the fork is published or dropped.
//   - A record is what one command decided: a header, and the events of every
//     engine in the order of the engines. Apply(record) brings a state to where
//     the fork was; replay equals live.
//   - Advance steps all engines to the least Next, so after downtime no engine
//     sees another's future, and does the host's part at each step: it takes
//     standby work off nodes whose booking begins, frees nodes whose booking
//     ended, and mirrors health holds as outages and cordons.
//
// # Claims
//
// All occupation is a claim with one id, the same in ledger, calendar, fleet and
// job queue. A firm booking is one claim. Smaller and open-ended jobs of a
// tenant lie on the seats of its standby claim of that pool, "standby/<tenant>/<pool>",
// and are charged singly in the ledger under the job's id.
//
// [State.Check] verifies W1–W6 of the contract between the engines; tests call it
// after every command.
package state
