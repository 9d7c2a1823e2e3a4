// SPDX-License-Identifier: Apache-2.0

// Package views is what the manager shows: plain structs, the same for the page,
// the HTTP API and the CLI. A view is made from one published state, so nothing
// in it contradicts anything else in it.
//
// Every view is made for a viewer. An admin ("" as viewer) sees everything; a
// tenant sees its own items in full and everybody else's summed. Totals of a
// pool over time are public.
package views

import (
	"context"
	"time"
)

// An Overview is the head of the page: what there is and how busy it is.
type Overview struct {
	Now      time.Time     `json:"now"` // the manager's clock, which runs fast in the demo
	Seq      uint64        `json:"seq"` // of the newest durable record
	Nodes    int64         `json:"nodes"`
	GPUs     int64         `json:"gpus"`
	Busy     int64         `json:"busy_milli"` // GPU thousandths that run work now
	Capacity int64         `json:"capacity_milli"`
	Running  int           `json:"running"`
	Waiting  int           `json:"waiting"`
	Bookings int           `json:"bookings"` // live ones
	Held     int           `json:"held"`     // nodes out of service
	Pools    []Pool        `json:"pools"`
	Tenants  []string      `json:"tenants"` // that may own bookings and jobs
	Demo     *DemoProgress `json:"demo,omitempty"`
}

// DemoProgress tells how far the demo's trace is.
type DemoProgress struct {
	Arrived int     `json:"arrived"` // jobs so far
	Total   int     `json:"total"`   // jobs in the trace
	Round   int     `json:"round"`   // the trace begins again when it is through
	Speed   float64 `json:"speed"`   // seconds of the manager's clock per second of the wall clock
	Paused  bool    `json:"paused"`  // wall speed, because a person holds an offer
}

// A Pool is a set of equal nodes that can be booked.
type Pool struct {
	Name        string `json:"name"`
	Model       string `json:"model"`
	GPUsPerNode int64  `json:"gpus_per_node"`
	Nodes       int64  `json:"nodes"`      // bookable, without spares and outages now
	FreeNow     int64  `json:"free_now"`   // nodes without a firm booking now
	BookedNow   int64  `json:"booked_now"` // nodes under a firm booking now
	OutNow      int64  `json:"out_now"`    // nodes in outage now
	Spares      int64  `json:"spares"`
	Busy        int64  `json:"busy_milli"` // GPU thousandths that run work now
	Capacity    int64  `json:"capacity_milli"`
	// CPU of each node, where nodes have no GPU; such a pool's Busy and Capacity are 0.
	CPUMilliPerNode int64 `json:"cpu_milli_per_node,omitempty"`
}

// A Bin is one column of an availability chart, in nodes, or in GPUs where a
// whole model is shown.
type Bin struct {
	Start    time.Time `json:"start"`
	End      time.Time `json:"end"`
	Min      int64     `json:"min_free"` // least number of free nodes in the bin; negative is a shortfall
	Max      int64     `json:"max_free"`
	Capacity int64     `json:"capacity"` // least in the bin
}

// Availability is one pool over time.
type Availability struct {
	Pool     Pool      `json:"pool"`
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	Bins     []Bin     `json:"bins"`
	Bookings []Booking `json:"bookings"` // own ones in full; all others summed, with owner "other tenants" and no id
	Outages  []Outage  `json:"outages"`
}

// A Booking is a claim on nodes of one pool for a window.
type Booking struct {
	ID        string    `json:"id,omitempty"`
	Owner     string    `json:"owner"`
	Pool      string    `json:"pool"`
	Nodes     int64     `json:"nodes"`
	GPUs      int64     `json:"gpus"`
	Start     time.Time `json:"start"`
	End       time.Time `json:"end"`
	Phase     string    `json:"phase"` // held, confirmed, active, grace, ended, expired, cancelled
	Expires   time.Time `json:"expires,omitzero"`
	Seats     []string  `json:"seats,omitempty"`
	Shortfall int64     `json:"shortfall,omitempty"` // nodes missing, if degraded
	Version   uint64    `json:"version,omitempty"`
}

// An Outage takes nodes out of a pool for a time.
type Outage struct {
	ID     string    `json:"id"`
	Owner  string    `json:"owner"`
	Reason string    `json:"reason"`
	Nodes  []string  `json:"nodes"`
	Start  time.Time `json:"start"`
	End    time.Time `json:"end,omitzero"` // none: open-ended
}

// ModelAvailability is all pools of one GPU model over time, in GPUs.
type ModelAvailability struct {
	Model string    `json:"model"`
	Pools []Pool    `json:"pools"`
	GPUs  int64     `json:"gpus"` // bookable, without spares and outages now
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
	Bins  []Bin     `json:"bins"`
}

// A QuotaNode is one tenant of the tree with its figures per key.
type QuotaNode struct {
	Tenant string     `json:"tenant"`
	Parent string     `json:"parent,omitempty"`
	Depth  int        `json:"depth"`
	Keys   []QuotaKey `json:"keys"`
}

// A QuotaKey is one tenant's figures for one key, now, in the key's unit.
type QuotaKey struct {
	Key        string `json:"key"`
	Nominal    int64  `json:"nominal"`
	Used       int64  `json:"used"`
	Guaranteed int64  `json:"guaranteed"` // part of Used that firm bookings hold
	Borrowed   int64  `json:"borrowed"`
	Lent       int64  `json:"lent"`
	Idle       int64  `json:"idle"`
	Available  int64  `json:"available"` // could be had now, borrowing included
}

// A Job is one piece of work.
type Job struct {
	ID          string    `json:"id"`
	Tenant      string    `json:"tenant"`
	Ask         string    `json:"ask"` // for people: "2 pods × 8 GPUs of G2"
	Milli       int64     `json:"gpu_milli"`
	Phase       string    `json:"phase"`
	Submitted   time.Time `json:"submitted"`
	Started     time.Time `json:"started,omitzero"`
	Ended       time.Time `json:"ended,omitzero"`
	Claim       string    `json:"claim,omitempty"`
	Nodes       []string  `json:"nodes,omitempty"`
	Preemptions int       `json:"preemptions,omitempty"`
	Reason      *Refusal  `json:"reason,omitempty"` // why it waits
}

// A Queue is the waiting and running work.
type Queue struct {
	Waiting      []Job `json:"waiting"` // oldest first, cut at the asked limit
	WaitingTotal int   `json:"waiting_total"`
	Running      []Job `json:"running"` // newest first, cut at the asked limit
	RunningTotal int   `json:"running_total"`
}

// A Node is one machine.
type Node struct {
	ID      string   `json:"id"`
	Pool    string   `json:"pool"`
	Model   string   `json:"model"`
	Tenant  string   `json:"tenant,omitempty"` // whom it serves now; "other tenants" for a viewer who is not it
	GPUs    []int64  `json:"gpus"`             // thousandths in use, per GPU; all of it on a node of others
	CPU     int64    `json:"cpu_milli"`        // all the node has
	CPUFree int64    `json:"cpu_free_milli"`
	MemFree int64    `json:"memory_free_mib"`
	Booking string   `json:"booking,omitempty"` // the firm booking whose seat it is now
	Holds   []Hold   `json:"holds,omitempty"`
	Jobs    []string `json:"jobs,omitempty"`
}

// A Hold keeps a node out of service.
type Hold struct {
	Owner    string    `json:"owner"`
	Step     string    `json:"step"`
	Reason   string    `json:"reason"`
	Since    time.Time `json:"since"`
	Expected time.Time `json:"expected,omitzero"`
}

// A FleetMap is every node, grouped by pool.
type FleetMap struct {
	Pools []FleetPool `json:"pools"`
}

// A FleetPool is one pool's nodes.
type FleetPool struct {
	Pool  Pool   `json:"pool"`
	Nodes []Node `json:"nodes"`
}

// A BookRequest asks for nodes of one pool for a window.
type BookRequest struct {
	ID     string    `json:"id"` // chosen by the caller: a repeated request is answered as before
	Owner  string    `json:"owner"`
	Pool   string    `json:"pool"`
	Nodes  int64     `json:"nodes"`
	Start  time.Time `json:"start"`
	End    time.Time `json:"end"`
	HoldS  int64     `json:"hold_seconds,omitempty"` // hold for so long instead of booking at once
	Reason string    `json:"note,omitempty"`
}

// An Offer is a booking that could be had at the moment of asking.
type Offer struct {
	Kind  string    `json:"kind"` // exact, later, earlier, shorter, smaller
	Pool  string    `json:"pool"`
	Nodes int64     `json:"nodes"`
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
}

// Offers is the answer to "when could I?": what could be had, which may be
// nothing, and why the wish itself cannot, if it cannot.
type Offers struct {
	Offers  []Offer  `json:"offers"` // the exact one first, if it can be had
	Refusal *Refusal `json:"refusal,omitempty"`
}

// A Refusal says why something cannot be had and what would help. It is also
// the body of a problem+json answer.
type Refusal struct {
	Code     string    `json:"code"`   // stable, for programs
	Title    string    `json:"title"`  // one line, for people
	Detail   string    `json:"detail"` // the limiting facts, in lines
	Status   int       `json:"status"` // of the HTTP answer
	Blockers []Blocker `json:"blockers,omitempty"`
	Help     []string  `json:"help,omitempty"`
	Offers   []Offer   `json:"offers,omitempty"`
}

// Error makes a Refusal an error.
func (r *Refusal) Error() string { return r.Title + ": " + r.Detail }

// A Blocker is one limiting fact.
type Blocker struct {
	Where   string `json:"where"` // tenant, pool, node or booking
	Kind    string `json:"kind"`
	Limit   int64  `json:"limit"`
	Used    int64  `json:"used"`
	Need    int64  `json:"need"`
	Deficit int64  `json:"deficit"`
}

// A Source answers the page's and the API's questions. Every method with an
// error may return a *Refusal.
type Source interface {
	Overview(viewer string) Overview
	Availability(viewer, pool string, from, to time.Time, bins int) (Availability, error)
	ModelAvailability(viewer, model string, from, to time.Time, bins int) (ModelAvailability, error)
	Offers(viewer string, r BookRequest) (Offers, error)
	Quota(viewer string) []QuotaNode
	Queue(viewer string, limit int) Queue
	Fleet(viewer, pool string) (FleetMap, error) // pool "" means all
	Node(viewer, id string) (Node, error)

	Book(ctx context.Context, actor string, r BookRequest, dryRun bool) (Booking, error)
	Confirm(ctx context.Context, actor, id string) (Booking, error)
	Cancel(ctx context.Context, actor, id string) (Booking, error) // gives back a hold, a future booking, or the rest of an active one

	// Changed returns a channel that is closed when a newer state is published.
	Changed() <-chan struct{}
}
