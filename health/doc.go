// SPDX-License-Identifier: Apache-2.0

// Package health records which nodes and GPUs are held out of service, by whom, why, and until when they are expected back.
//
// # Model
//
//   - [Record]: all holds of a fleet, as a forkable value.
//   - [Component]: what is held: a whole node, or one GPU of it.
//   - [Owner]: who holds it. A component may have many owners; each ends only its own hold.
//   - [Step]: what the owner is doing about it; from the step comes the expected end.
//   - [Hold]: one owner's hold on one component, since when and until when.
//   - [Outage]: all holds of one node, summed: what a booking calendar and a fleet must know.
//
// A node with a hold is not schedulable. A hold ends only when its owner releases it. Its date is a promise about the future,
// not a timer: bookings after the date keep their capacity, so a reboot does not degrade bookings next month. When the date
// comes and the hold is still there, the date slips by the length of the step, and by twice as much each time after: what is
// late already is not promised back soon, and a jump of the clock over years makes few events.
//
//	Since       Expected     slipped                  slipped       released
//	  ├─ reboot ────┤─ +1 h ─────┤─ +2 h ─────────────────┤─ +4 h ─ ─ ─ ┐
//	  └─────────────────────────────── held ────────────────────────────┘└── schedulable
//
// # Usage
//
// As in the package example, where monday is an instant:
//
//	record, err := health.New(health.Config{})
//	if err != nil {
//		return err
//	}
//	next := record.Fork()
//	hold, err := next.Hold(monday, health.HoldRequest{
//		Component: health.Component{Node: "node-7"},
//		Owner:     "health/xid-79",
//		Step:      health.StepReboot,
//		Reason:    "GPU has fallen off the bus",
//	})
//	if err != nil {
//		return err // next is unchanged
//	}
//	fmt.Println(next.Schedulable("node-7"), hold.Expected) // false, one hour later
//	outage, _ := next.Outage("node-7")                      // mirror it: calendar outage and fleet cordon
//	store(next.TakeEvents())                                // durable first …
//	publish(next)                                           // … then visible
//
// # Invariants
//
// Numbers with I are those of the whole package's life cycle; the ones about holds are:
//
//   - I5: a release changes only the hold of the caller on that component.
//   - I6: a node is schedulable if and only if nobody holds it or one of its GPUs.
//   - I8: a restart never improves a state: Restore gives back every hold.
//   - I16: Restore(snapshot) + Apply(log) is the live value.
//   - I26: the view of a tenant's nodes depends on no other node, and shows no name of an owner and no reason.
//
// Numbers with H belong to holds alone:
//
//   - H1: there is at most one hold for one component and one owner.
//   - H2: time ends no hold; only its owner's release does.
//   - H3: after Advance(at) every date is after at; a hold that has no date is open-ended.
//   - H4: the outage of a node starts with its first hold and ends with its last expected end; one open-ended hold makes it open-ended.
//   - H5: a request repeated with the same body decides nothing and is answered with the hold as it is.
//   - H6: a refused command or event changes nothing, not even dates that were due.
//   - H7: a date slips by the length of the step, doubled for each earlier slip of the hold, and by at most [MaxSlip] or, if
//     that is longer, one length; one jump of the clock decides what its steps would have decided.
//
// # Concurrency
//
// A Record may be read by many goroutines while nobody changes it; Fork is safe whenever reading is. Everything else is a plain
// value. The package starts no goroutine and reads no clock.
//
// # Errors and reasons
//
// [ErrInvalid] is bad input; all mistakes of one call are reported together, each with its field and value. [ErrUnknown] and
// [ErrPast] come as a [*RefusedError] with a stable [Reason] and the facts that help to ask again. [ErrEvent] is an event that
// contradicts the record, [ErrCorrupt] a snapshot or event that cannot be read. Commands on holds are for operators and
// monitors, so refusals have no view for a tenant; what a tenant may see is [Record.For].
//
// # Complexity
//
// With n holds and k holds on the node in question: Fork O(1); Hold, Date and Release O(log n); Next O(log n);
// Advance O(log n) for each date that slips, which for one hold is at most 21 times and then once in [MaxSlip]; Schedulable O(log n);
// Until and Outage O(log n + k); Holds, Held and Outages as long as their answer; snapshots O(n).
//
// # Limits and non-goals
//
// The record does not know the fleet: a hold on a node that does not exist is kept until it is released, so check names against
// the topology first. Instants are whole seconds in UTC, years 1 to 9999. A date that would slip past that range becomes
// open-ended. Limits on lengths of text are the constants [MaxNodeBytes], [MaxGPUBytes], [MaxOwnerBytes] and [MaxReasonBytes].
// The record holds only what is held now; the history is the host's event log.
package health
