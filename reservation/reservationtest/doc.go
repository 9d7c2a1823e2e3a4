// SPDX-License-Identifier: Apache-2.0

// Package reservationtest helps to test what is built on package reservation:
// random pools and loads, traces as plain data, and a naive calendar that judges
// every answer of a booking front end.
//
// # Model
//
//   - A [FrontEnd] is what is tested: a service, a page, a plug-in, a wrapper of a
//     calendar, anything that takes bookings and says yes or no.
//   - A [Command] is one call as plain data, a load is a sequence of them. [Pools],
//     [Requests] and [Loads] draw them for pgregory.net/rapid; a [Mix] says of what.
//   - A [Model] is the calendar that a reader can check by eye: a slice of bookings
//     that is counted anew for every answer. Its [Verdict] on a command is Accept,
//     Refuse, or Either where a count cannot tell.
//   - [Recount] checks a reservation.Calendar against what it lists itself.
//   - A [Trace] is a long stream of requests: [Uniform], [Bursty], [Diurnal],
//     [ShortJobs], [Fragmented], and those of the benchmarks, [D90], [S90], [D611].
//
// # Usage
//
// A test of a front end, here one that any goroutine may call:
//
//	func TestMyDesk(t *testing.T) {
//		reservationtest.Suite{
//			Open: func(pools []reservation.Pool, start time.Time) reservationtest.FrontEnd {
//				return newDesk(pools, start)
//			},
//			Mix:        reservationtest.Mix{Several: true, Outages: true},
//			Concurrent: true,
//		}.Run(t)
//	}
//
// And of a calendar in the middle of any other test:
//
//	reservationtest.Check(t, cal)
//
// The example of the package runs loads against a front end whose edits may lose
// a booking, and finds it out.
//
// # Invariants
//
//   - What the generators draw is valid, a seed draws the same again, and rapid
//     makes a failing load small. So do not change the random source: it is rapid,
//     and for traces a PCG of the seed.
//   - The model and Recount share no code with package reservation. They know its I1
//     (free nodes by recount), I2 (the bookings fit, or the shortfall is recorded) and
//     I3 (no node in two envelopes; every booking seated, floating or degraded).
//   - The model never says Accept or Refuse where seats could decide otherwise.
//
// # Concurrency
//
// Generators and traces may be used by many goroutines. A Model is for one; a
// FrontEnd is called by many only from [AtOnce] and a Suite that is Concurrent.
//
// # Errors and reasons
//
// [Run], [AtOnce], [Recount] and [Agree] return an error for people: which command,
// what was said, and why that is wrong. A refusal of the model wraps [ErrRefused].
//
// # Complexity
//
// An answer of the model costs O(c·n) for n bookings and c changes of level, so a load
// of n commands costs O(c²·n²) and Recount O(c·n). They are for tens of bookings, in
// which property tests find their counterexamples. A trace of n arrivals costs
// O(n log n).
//
// # Limits and non-goals
//
// The model counts nodes and does not know which: with pinned lines or planned
// outages in the future it can only say that a yes was wrong, not that a no was. Its
// commands are those that every front end has, the [Op] list; it knows no versions,
// no seats by the host, no change of pools, no moves, splits and merges, no chains
// and no check-in. [Recount] knows what comes of all of them. Generated worlds have
// at most three pools of six nodes, and instants on a grid of five minutes.
package reservationtest
