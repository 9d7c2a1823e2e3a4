// SPDX-License-Identifier: Apache-2.0

package health_test

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berth-gpu/berth/health"
)

var monday = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

func clockTime(t time.Time) string { return t.Format("Mon 2 Jan 15:04") }

func Example() {
	record, err := health.New(health.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	next := record.Fork()
	hold, err := next.Hold(monday, health.HoldRequest{
		Component: health.Component{Node: "node-7"},
		Owner:     "health/xid-79",
		Step:      health.StepReboot,
		Reason:    "GPU has fallen off the bus",
	})
	if err != nil {
		fmt.Println(err)
		return // next is unchanged
	}
	fmt.Println(next.Schedulable("node-7"), clockTime(hold.Expected))
	outage, _ := next.Outage("node-7") // mirror it: calendar outage and fleet cordon
	fmt.Println(outage.Node, outage.WholeNode, outage.Owners)
	for _, e := range next.TakeEvents() { // durable first …
		fmt.Println("store:", e.Kind(), e.Where().Node)
	}
	record = next // … then visible
	fmt.Println(record.Schedulable("node-8"))
	// Output:
	// false Mon 2 Mar 10:00
	// node-7 true [health/xid-79]
	// store: held node-7
	// true
}

// A reboot does not degrade bookings next month: the hold has an expected end, and only what overlaps the outage is at risk.
// When the reboot takes longer than expected, the end slips, by twice as much each time, and the host asks again.
func ExampleRecord_Advance() {
	record, _ := health.New(health.Config{})
	node := health.Component{Node: "node-7"}
	_, _ = record.Hold(monday, health.HoldRequest{Component: node, Owner: "health/xid-79", Step: health.StepReboot})

	booking := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	atRisk := func() bool {
		end, held := record.Until("node-7")
		return held && (end.IsZero() || booking.Before(end))
	}
	fmt.Println("April at risk:", atRisk())

	record.Advance(monday.Add(150 * time.Minute))
	hold, _ := record.Find(node, "health/xid-79")
	fmt.Println("slipped", hold.Slips, "times, now until", clockTime(hold.Expected), "- April at risk:", atRisk())

	_, _ = record.Hold(monday.Add(3*time.Hour), health.HoldRequest{Component: node, Owner: "health/xid-79", Step: health.StepNone,
		Reason: "does not come back; waiting for a person"})
	fmt.Println("April at risk:", atRisk())

	_ = record.Date(monday.Add(4*time.Hour), node, "health/xid-79", monday.AddDate(0, 0, 2))
	fmt.Println("April at risk:", atRisk())
	// Output:
	// April at risk: false
	// slipped 2 times, now until Mon 2 Mar 13:00 - April at risk: false
	// April at risk: true
	// April at risk: false
}

// A release touches only the caller's own hold, so the node stays out while a person still holds it.
func ExampleRecord_Release() {
	record, _ := health.New(health.Config{})
	gpu := health.Component{Node: "node-7", GPU: "GPU-3"}
	_, _ = record.Hold(monday, health.HoldRequest{Component: gpu, Owner: "health/xid-48", Step: health.StepReset})
	_, _ = record.Hold(monday, health.HoldRequest{Component: gpu, Owner: "human/oncall", Reason: "looking at it"})

	_ = record.Release(monday.Add(10*time.Minute), gpu, "health/xid-48")
	fmt.Println(record.SchedulableGPU(gpu))
	_ = record.Release(monday.Add(20*time.Minute), gpu, "human/oncall")
	_ = record.Release(monday.Add(20*time.Minute), gpu, "human/oncall") // a retry
	fmt.Println(record.SchedulableGPU(gpu), len(record.Events()))
	// Output:
	// false
	// true 4
}

// While a GPU is held the node is not for firm bookings, but its other GPUs may carry work that can be preempted.
func ExampleRecord_Outages() {
	record, _ := health.New(health.Config{})
	for _, q := range []health.HoldRequest{
		{Component: health.Component{Node: "node-7", GPU: "GPU-3"}, Owner: "health/xid-48", Step: health.StepReset},
		{Component: health.Component{Node: "node-7", GPU: "GPU-5"}, Owner: "health/xid-48", Step: health.StepDiag},
		{Component: health.Component{Node: "node-9"}, Owner: "external"},
	} {
		_, _ = record.Hold(monday, q)
	}
	for o := range record.Outages() {
		end := "open-ended"
		if !o.End.IsZero() {
			end = "until " + clockTime(o.End)
		}
		fmt.Println(o.Node, o.WholeNode, o.GPUs, end, o.Owners)
	}
	fmt.Println(record.Schedulable("node-7"), record.SchedulableGPU(health.Component{Node: "node-7", GPU: "GPU-4"}))
	// Output:
	// node-7 false [GPU-3 GPU-5] until Mon 2 Mar 13:00 [health/xid-48]
	// node-9 true [] open-ended [external]
	// false true
}

// A tenant sees the nodes that serve it, and of the owners only their kind.
func ExampleRecord_For() {
	record, _ := health.New(health.Config{})
	for _, node := range []health.Component{{Node: "node-1"}, {Node: "node-2"}} {
		_, _ = record.Hold(monday, health.HoldRequest{Component: node, Owner: "human/oncall", Step: health.StepRMA, Reason: "fan"})
	}
	for o := range record.For("node-2", "node-3") {
		fmt.Println(o.Node, o.Owners, "until", clockTime(o.End))
	}
	// Output:
	// node-2 [human] until Mon 16 Mar 09:00
}

// A refusal is data: it says who holds the component instead.
func ExampleRefusedError() {
	record, _ := health.New(health.Config{})
	node := health.Component{Node: "node-7"}
	_, _ = record.Hold(monday, health.HoldRequest{Component: node, Owner: "maintenance"})
	err := record.Date(monday, node, "human/oncall", monday.Add(time.Hour))
	if refused, ok := errors.AsType[*health.RefusedError](err); ok {
		fmt.Println(refused.Reason, refused.Owners, errors.Is(err, health.ErrUnknown))
	}
	fmt.Println(err)
	// Output:
	// unknown-hold [maintenance] true
	// health: unknown hold: Owner "human/oncall" does not hold node "node-7": it is held by "maintenance"; an owner changes only its own hold
}

// The step lengths are data: measure your own fleet.
func ExampleConfig() {
	record, err := health.New(health.Config{StepLength: map[health.Step]time.Duration{health.StepReboot: 12 * time.Minute}})
	fmt.Println(record.StepLength(health.StepReboot), record.StepLength(health.StepDiag), err)
	_, err = health.New(health.Config{StepLength: map[health.Step]time.Duration{health.StepReset: -time.Second, 9: time.Hour}})
	fmt.Println(err)
	// Output:
	// 12m0s 4h0m0s <nil>
	// health: invalid argument: StepLength[reset] is -1s: use whole seconds from 1s to 87600h0m0s
	// StepLength: health: invalid argument: Step 9 is unknown: use 0 to 4 (none, reset, reboot, diag, rma)
}

// A snapshot and the events after it are the record.
func ExampleRestore() {
	record, _ := health.New(health.Config{})
	snapshot, _ := record.MarshalBinary()
	node := health.Component{Node: "node-7"}
	_, _ = record.Hold(monday, health.HoldRequest{Component: node, Owner: "handover", Step: health.StepReboot, Reason: "scrub is late"})

	again, err := health.Restore(snapshot)
	for _, e := range record.TakeEvents() {
		raw, _ := e.AppendBinary(nil)
		line, _ := health.EventJSON(e)
		fmt.Println(string(line))
		stored, _ := health.DecodeEvent(raw)
		err = errors.Join(err, again.Apply(stored))
	}
	fmt.Println(err, slices.Collect(again.Held()))
	// Output:
	// {"kind":"held","at":"2026-03-02T09:00:00Z","node":"node-7","owner":"handover","step":"reboot","reason":"scrub is late","expected":"2026-03-02T10:00:00Z"}
	// <nil> [node-7]
}
