// SPDX-License-Identifier: Apache-2.0

// Command quickstart books two of four nodes for a team, places a job on them,
// and is refused a third node by the quota and a sixth by the calendar.
package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/topology"
)

func main() {
	now := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	hardware, err := topology.FatTree{Pods: 1, LeavesPerPod: 1, NodesPerLeaf: 4, Shape: topology.DGXH100()}.Config()
	must(err)
	cluster, err := topology.New(hardware) // four machines with eight GPUs each
	must(err)
	pool := reservation.Pool{Name: "h100", GPUsPerUnit: 8}
	for n := range cluster.Nodes() {
		pool.Units = append(pool.Units, reservation.Unit{Name: string(cluster.ID(n))})
	}
	calendar, err := reservation.New(reservation.Config{Pools: []reservation.Pool{pool}})
	must(err)
	ledger, err := quota.New(quota.Config{Tenants: []quota.Tenant{{Name: "vision", Limits: []quota.Limit{{Key: "gpu/h100", Nominal: 16}}}}})
	must(err)
	fleet, err := allocator.New(allocator.Config{Cluster: cluster})
	must(err)

	// A booking: the ledger says whether, the calendar says when, the fleet says where.
	start, end := now.Add(time.Hour), now.Add(9*time.Hour)
	_, err = ledger.Book(now, quota.Request{ID: "train-7", Tenant: "vision", Class: quota.Guaranteed,
		Amounts: []quota.Amount{{Key: "gpu/h100", N: 16}}, Window: quota.Window{Start: start, End: end}})
	must(err)
	booking, err := calendar.Book(now, reservation.Request{ID: "train-7", Owner: "vision", Class: reservation.Firm,
		Window: reservation.Window{Start: start, End: end}, Lines: []reservation.Line{{Pool: "h100", Count: 2}}})
	must(err)
	fmt.Println("booked:", booking.ID, booking.Window)

	calendar.Advance(start) // time is an argument; the calendar has seated the booking
	booking, _ = calendar.Find("train-7")
	var seats []topology.NodeID
	for _, s := range booking.Seats {
		seats = append(seats, topology.NodeID(s.Node))
	}
	placed, err := fleet.Place(start, allocator.Request{ID: "job-1", Claim: "train-7", Tenant: "vision", Nodes: seats,
		Groups: []allocator.Group{{Count: 2, Pod: allocator.Pod{GPUs: 8}}}})
	must(err)
	for _, a := range placed.Assignments {
		fmt.Println("placed: pod", a.Pod, "on", cluster.ID(a.Node), "GPUs", a.GPUs)
	}

	// Refusals are data, and a fork is a what-if.
	_, err = ledger.Fork().Book(now, quota.Request{ID: "more", Tenant: "vision", Class: quota.Guaranteed,
		Amounts: []quota.Amount{{Key: "gpu/h100", N: 8}}, Window: quota.Window{Start: start, End: end}})
	if e, ok := errors.AsType[*quota.ExceededError](err); ok {
		fmt.Println("quota:", e.Blockers[0].Tenant, "lacks", e.Blockers[0].Deficit, "of", e.Blockers[0].Key)
	}
	_, err = calendar.Fork().Book(start, reservation.Request{ID: "more", Owner: "speech", Class: reservation.Firm,
		Window: reservation.Window{Start: start.Add(time.Hour), End: end}, Lines: []reservation.Line{{Pool: "h100", Count: 3}}})
	if e, ok := errors.AsType[*reservation.ConflictError](err); ok {
		fmt.Println("calendar:", e.Shortfall, "node short; could start", e.Offers[0].Window.Start.Format("15:04"))
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
