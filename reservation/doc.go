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
//     A spare may only replace a node that a booking has lost.
//   - A [Line] may ask for nodes within one domain: one entry of [Unit].Path at a
//     level of the pool, such as a rack.
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
//   - I4. An offer fits, and where the count decides no earlier aligned start fits;
//     [Calendar.EarliestFit] says what that is for fewer nodes, less time and pieces.
//   - I5. Booking and cancelling leaves the profile as it was.
//   - I6. A command that fails leaves the encoded state unchanged.
//   - I7. A split and a merge keep what is booked at every instant.
//   - I8. Replaying the events gives the state, and every prefix is a valid state.
//   - I9. A fork never changes its base.
//   - I10. Advance(a) then Advance(b) is Advance(b) for a ≤ b.
//   - I11. Shifting all times shifts all answers, where no [Grid] fixes a clock time.
//   - I12. The order of independent bookings does not change the profile.
//   - I13. More capacity never turns a yes into a no, where the count decides.
//   - I14. Where the count decides, a refusal is exact: with the shortfall added
//     the request is accepted, with one node less it is not.
//
// # Which nodes
//
// Where no seat and no outage of a pool begins in the future, the count decides
// and nothing else is kept. Otherwise every floating line that begins before the
// last such instant has a plan, which the calendar may change until it seats the
// line. A request that would leave a line without a plan is refused
// ([ReasonUnplaced]); that is not a proof, because the exact question is
// NP-hard. A line that begins within the pool's ReclaimLead is planned as well,
// and the Standby claims on those nodes are told; where the count decides about
// it, such a plan is a wish that gives way to others. At the begin of an envelope
// the plan becomes the seats; among equal nodes those without a Standby claim come
// first, then those that were used last, then the pool's order. Begun and pinned
// seats never move by themselves.
//
// While a pool is short, no command that books, moves or seats one booking leaves
// another with less at any instant: it is refused. What gives nodes back may change
// who is listed as short, since plans end with the last fixed seat.
//
// # Changes
//
// [Calendar.Extend], [Calendar.Move], [Calendar.Resize] and [Calendar.Transfer] are
// one replacement: what the booking has is given back first, then the same checks
// are made as for a new one, all or nothing. [Calendar.Push] extends a booking and
// moves those behind it later. [Calendar.Split] and [Calendar.Merge] divide and join
// bookings by count or by time. Of two that follow each other without a turnaround
// the second continues the first ([Request.Continues]): it has the same nodes, if
// that costs nobody a plan, and at its end what the first dropped.
//
// An owner that does not need its nodes for a while yields them to Standby claims
// ([Calendar.Yield]) and gets them back with notice. Where the pool has a
// NoShowGrace, who does not check in loses the rest of the window.
//
// # Failures
//
// [Calendar.Impact] tells what an outage, its end or a change of a pool would do to
// bookings. An outage in mode [Break] takes its nodes from everybody, [Refuse] does
// so only if that costs no booking anything, and [Drain] lets nobody in and leaves
// alone who has a seat there.
//
// [Calendar.AtRisk] lists the bookings that lack nodes, with the time by which a
// repair saves them. [Calendar.PlanRepair] finds nodes for them and changes nothing:
// lost nodes are replaced, healthy ones never move, open nodes come before spares,
// those of the same failure domain before others, and no other booking loses its
// own. [Calendar.Repair] does what the plan says, all or nothing; a plan that is
// stale names the booking that has changed. A booking that has lost all its nodes
// stays Active with none: its work must not run elsewhere.
//
// # Series and the waiting list
//
// A [Series] is a rule of package recur in a zone. Its occurrences up to BookAhead
// are bookings like others, with an index that never changes; the tail is an
// intent, and keeps nothing. To change one occurrence, by any command, detaches
// that one: the rule, and so the others, stay as they are. Events and snapshots
// hold the rule, the name of its zone and the instants that were decided, never
// zone data: replay gives the same calendar on every machine, and new zone data
// move nothing ([Calendar.Drift] says what they would).
//
// A [Waiting] is an entry of the waiting list and keeps nothing either. Since the
// future can be booked, an entry waits only while nothing fits in its range of time:
// until somebody gives something back, a node returns, or the Horizon of its pool
// moves on. The calendar never makes a claim by itself, because somebody has to pay.
// [Calendar.Due] says what the host should book now: the next occurrences of
// series, then the entries in order of priority and coming. An entry that does not
// fit is passed over by smaller ones behind it, but at most Config.MaxBypass times.
// [Calendar.Expected] says when an entry may begin, and what that is worth.
//
// # Within one domain
//
// All nodes of a line with [Line.Within] lie in one domain of that level, so the
// count alone does not decide, and the line has seats from the first; they are in
// the event. Of the domains with enough nodes that are free in the whole envelope
// comes first the one that is left with the fewest of them, then the pool's
// order; inside it nodes are taken as for any other line, those that nobody plans
// first. A domain that would cost a floating line its plan is passed by, and after
// 16 such domains the request is refused ([ReasonUnplaced]). That no domain has
// as many free nodes is a proof ([ReasonDomain]), as long as the others sit where
// they sit: the calendar does not move one such line to make room for another.
// The host may, by [Calendar.Seat], until its envelope begins.
//
// A node that such a line loses before it begins is replaced when it begins: by
// one of the same domain, or else the whole line moves to a domain that has
// enough. Until then, and if neither can be, it is Degraded. The same holds for a
// node whose path changes. Once it has begun, new nodes come from the domain of
// those that stay. A level that the pool no longer has asks for nothing any more.
//
// # Cells
//
// In a pool whose [Regime] is [Cells] each owner has a [Cell], and at no instant
// more nodes than that in Firm envelopes ([ReasonCell]). While the cells together
// are no more than the open nodes in service, the count refuses nobody who keeps
// to its own, and no tenant's booking starves another's. What a cell leaves idle
// takes Standby, as any idle node does, and gives it back with notice.
//
// # Answers
//
// [Calendar.EarliestFit] gives one answer to a [Query], [Calendar.Search] a ranked
// list, [Calendar.Offers] the nearest to a [Request], and [Calendar.LatestEnd] how
// long a booking could last. Each answer has passed the check of the command that
// would follow. A refusal names the first instant that is short, and as few
// bookings as are in the way there. Every search has a budget in steps, never in
// time: what is not found within it is [ReasonUnplaced] and says what was tried. A
// refusal by count is always a proof.
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
// for g gaps that are too short; Profile takes O(log n + k) for k steps; Fork takes
// O(1). To plan or seat k nodes of a line costs O(f + k log n), where f is the
// number of nodes with a seat or an outage that begins later. If that leaves it
// short, lines are laid anew within a budget of 2¹⁸ looks; while a pool is short
// and something in it is fixed for later, each command does so for each line that
// lacks a plan. A line with Within costs O(u + b)
// for the b seats that meet its envelope, and up to 16 trials of the floating
// lines' plans; finding when it fits costs O(u log n + f log f). In a pool with
// cells every change of level is made twice, and to change a pool's regime costs
// O(n). BookSeries costs one Book per occurrence, at most 10,000 of them, and any occurrence is found in O(log e) for e excluded
// dates. Due costs an EarliestFit for each of at most 256 entries (DueQuery.Limit)
// and a glance at each series; serving an entry costs a glance at those in front.
// A refusal also costs its offers: a few fits, O(k log k) for the k bookings at the
// first short instant, and O(m) for the earlier one. A search looks into 2¹⁶ gaps
// and lays up to 127 plans, one for an earlier start 64, one for pieces 16.
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
// are no shares of nodes yet. A series has Firm lines that do not change. A line
// lies within one domain or anywhere: domains side by side, or as few as can be,
// are for the allocator. The calendar counts nodes; which GPUs of a node a job gets
// is for the allocator, and who may pay for them is for the quota ledger.
package reservation
