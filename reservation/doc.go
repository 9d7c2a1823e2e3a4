// SPDX-License-Identifier: Apache-2.0

// Package reservation is a calendar: who may use how many, and which, nodes of
// a cluster, and when.
//
// # Model
//
//   - A [Calendar] is a value that you fork, change and publish.
//   - A [Pool] is a set of interchangeable nodes; its unit is the node. Spares
//     are closed to bookings. Its [Policy] holds the rules; a [Preset] is those
//     of a known provider.
//   - A [Window] is half-open: [Start, End). Bookings that touch do not meet.
//   - A [Booking] is a [Request] that was accepted. Firm ones keep their nodes
//     from others in the envelope [Start − Prep, End + Grace + Cleanup); Standby
//     ones sit on nodes that nobody needs, and leave with notice.
//   - A seat is a node that a booking has. Floating lines get theirs when the
//     envelope begins, or earlier from the host; pinned ones when they are booked.
//   - An [Outage] takes nodes away for a while. What is short then is never cut
//     to fit: it is listed as a [Degradation].
//
// # Usage
//
//	cal, err := reservation.New(reservation.Config{Start: nine, Pools: []reservation.Pool{pool}})
//	if err != nil {
//		return err
//	}
//	request := reservation.Request{
//		ID: "train-7", Owner: "vision",
//		Window: reservation.Window{Start: ten, End: noon},
//		Lines:  []reservation.Line{{Pool: "h100", Count: 3}},
//	}
//	hold, err := cal.Hold(nine, request, 10*time.Minute) // a person looks at the offer
//	if refusal, ok := errors.AsType[*reservation.ConflictError](err); ok {
//		return fmt.Errorf("choose one of %v: %w", refusal.Offers, err)
//	}
//	booking, err := cal.Confirm(nine.Add(time.Minute), hold.ID, hold.Version)
//	if err != nil {
//		return err
//	}
//	cal.Advance(ten) // seats and starts what is due
//	booking, _ = cal.Find(booking.ID)
//	fmt.Println(booking.Phase, booking.Seats)
//	store(cal.TakeEvents()) // durable before anybody sees it
//
// # Invariants
//
//   - I1. The free nodes by the tree are the free nodes by a recount, at every instant.
//   - I2. The Firm bookings fit the capacity, or the shortfall is recorded.
//   - I3. No node is in two envelopes at once. Every Firm booking has its seats, or
//     can provably have them, or is listed by [Calendar.Degraded].
//   - I4. An offer fits, and where the count decides no earlier aligned start fits.
//   - I5. Booking and cancelling leaves the profile as it was.
//   - I6. A command that fails leaves the encoded state unchanged.
//   - I8. Replaying the events gives the state, and every prefix is a valid state.
//   - I9. A fork never changes its base.
//   - I10. Advance(a) then Advance(b) is Advance(b) for a ≤ b.
//   - I11. Shifting all times shifts all answers, where no [Grid] fixes a clock time.
//   - I12. The order of independent bookings does not change the profile.
//   - I13. More capacity never turns a yes into a no, where the count decides.
//   - I14. A refusal by count is exact: with the shortfall added the request is
//     accepted, with one node less it is not.
//
// The numbers are those of the design; I7 is about splitting and merging,
// which this release does not have.
//
// # Which nodes
//
// Where no seat and no outage of a pool begins in the future, the count decides
// and nothing else is kept. Otherwise every floating line that begins before the
// last such instant has a plan, which the calendar may change until it seats the
// line. A request that would leave a line without a plan is refused
// ([ReasonUnplaced]); that is not a proof, because the exact question is
// NP-hard. At the begin of an envelope the plan becomes the seats; among equal
// nodes those without a Standby claim come first, then the pool's order. Begun
// and pinned seats never move by themselves.
//
// # Concurrency
//
// A Calendar may be read by many goroutines while nobody changes it; Fork is
// safe whenever reading is. To share one, publish forks through an atomic
// pointer. Everything else in this package is a plain value.
//
// # Errors and reasons
//
// A [*ConflictError] says what is short, when, by how much, who is there and
// what could be had instead; its For gives the view of one owner. Other errors
// wrap a sentinel and name the field and the value. The id of a booking is its
// request key: the same call again is answered from the record.
//
// # Complexity
//
// With n bookings, m ≤ 2n changes of level and u nodes of the pool: Book, Hold,
// Confirm, Cancel and MinFree take O(log n); EarliestFit takes O((1+g) log n)
// for g gaps that are too short; Profile takes O(log n + k) for k steps; Fork
// takes O(1). Seating k nodes takes O(u log n) to look and O(k log n) to keep.
// A command that gives or changes plans looks at all u nodes and at each
// floating line before the last future seat or outage: O(u log u) per line. A
// refusal also costs its offers: a few fits, and O(m) for the earlier one.
//
// # Limits and non-goals
//
// The rules of a [Policy] bind whoever asks: the calendar knows no roles, so an
// operator who may break a rule sets another policy first. It has no price
// function, and notices before an end are for the host to act on.
//
// Instants and durations are whole seconds of the years 1 to 9999. Ids have at
// most 256 bytes, a request has at most one line per pool and 64 in all. A
// Standby claim has no envelope and no grace; its notice is the ReclaimLead. There
// are no series, waiting lists, topology constraints, shares of nodes or
// no-shows yet. The calendar counts nodes; which GPUs of a node a job gets is
// for the allocator, and who may pay for them is for the quota ledger.
package reservation
