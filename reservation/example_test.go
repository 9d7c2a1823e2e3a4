// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/berth-gpu/berth/reservation"
)

func clock(hour, minute int) time.Time {
	return time.Date(2026, 3, 2, hour, minute, 0, 0, time.UTC)
}

func window(from, to int) reservation.Window {
	return reservation.Window{Start: clock(from, 0), End: clock(to, 0)}
}

// h100 is a pool of n nodes with eight GPUs each.
func h100(n int) reservation.Pool {
	p := reservation.Pool{Name: "h100", GPUsPerUnit: 8, Label: "NVIDIA H100"}
	for i := range n {
		p.Units = append(p.Units, reservation.Unit{Name: fmt.Sprintf("n%d", i+1)})
	}
	return p
}

func request(id, owner string, w reservation.Window, nodes int64) reservation.Request {
	return reservation.Request{ID: id, Owner: owner, Window: w, Lines: []reservation.Line{{Pool: "h100", Count: nodes}}}
}

func Example() {
	cal, err := reservation.New(reservation.Config{Start: clock(9, 0), Pools: []reservation.Pool{h100(4)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	hold, err := cal.Hold(clock(9, 0), request("train-7", "vision", window(10, 12), 3), 10*time.Minute)
	if refusal, ok := errors.AsType[*reservation.ConflictError](err); ok {
		fmt.Println("choose one of", refusal.Offers)
		return
	}
	booking, err := cal.Confirm(clock(9, 1), hold.ID, hold.Version)
	if err != nil {
		fmt.Println(err)
		return
	}
	cal.Advance(clock(10, 0)) // seats and starts what is due
	booking, _ = cal.Find(booking.ID)
	fmt.Println(booking.Phase, booking.Seats)
	for _, e := range cal.TakeEvents() { // durable before anybody sees it
		fmt.Println(e.Kind())
	}
	// Output:
	// Active [{h100 n1} {h100 n2} {h100 n3}]
	// held
	// confirmed
	// planned
	// opened
	// started
}

// A refusal says what is short and what could be had instead.
func ExampleConflictError() {
	cal, _ := reservation.New(reservation.Config{Start: clock(9, 0), Pools: []reservation.Pool{h100(4)}})
	_, _ = cal.Book(clock(9, 0), request("train-7", "vision", window(10, 12), 3))
	_, err := cal.Book(clock(9, 0), request("eval-1", "speech", window(11, 13), 2))
	fmt.Println(err)
	refusal, _ := errors.AsType[*reservation.ConflictError](err)
	for _, o := range refusal.Offers {
		fmt.Println(o.Kind, o.Window, o.Lines)
	}
	fmt.Printf("%+v\n", refusal.For("speech").Blocking)
	// Output:
	// reservation: conflict: booking "eval-1": pool "h100": 2 nodes needed, 1 free in [2026-03-02T11:00:00Z, 2026-03-02T12:00:00Z); instead: [2026-03-02T12:00:00Z, 2026-03-02T14:00:00Z), 1 node in [2026-03-02T11:00:00Z, 2026-03-02T13:00:00Z)
	// Later [2026-03-02T12:00:00Z, 2026-03-02T14:00:00Z) [{h100 2 [] }]
	// Smaller [2026-03-02T11:00:00Z, 2026-03-02T13:00:00Z) [{h100 1 [] }]
	// [{ID: Owner: Window:[2026-03-02T11:00:00Z, 2026-03-02T12:00:00Z) Count:1}]
}

func ExampleCalendar_Profile() {
	cal, _ := reservation.New(reservation.Config{Start: clock(9, 0), Pools: []reservation.Pool{h100(4)}})
	_, _ = cal.Book(clock(9, 0), request("a", "vision", window(10, 12), 3))
	_, _ = cal.SetOutage(clock(9, 0), reservation.Outage{ID: "rma", Owner: "ops", Nodes: []string{"n4"}, Window: window(11, 14)})
	for s := range cal.Profile("h100", window(9, 15)) {
		fmt.Println(s.Window.Start.Format("15:04"), s.Capacity, s.Firm, s.Free)
	}
	// Output:
	// 09:00 4 0 4
	// 10:00 4 3 1
	// 11:00 3 3 0
	// 12:00 3 0 3
	// 14:00 4 0 4
}

func ExampleCalendar_EarliestFit() {
	cal, _ := reservation.New(reservation.Config{Start: clock(9, 0), Pools: []reservation.Pool{h100(4)}})
	_, _ = cal.Book(clock(9, 0), request("a", "vision", reservation.Window{Start: clock(9, 0), End: clock(11, 20)}, 3))
	offer, err := cal.EarliestFit(cal.Present(), reservation.Query{
		Lines: []reservation.Line{{Pool: "h100", Count: 4}}, Length: 2 * time.Hour, Align: 30 * time.Minute,
	})
	fmt.Println(offer.Window, err)
	// Output: [2026-03-02T11:30:00Z, 2026-03-02T13:30:00Z) <nil>
}

// An elastic query: at least four nodes for two hours, better six for four.
func ExampleCalendar_EarliestFit_elastic() {
	cal, _ := reservation.New(reservation.Config{Start: clock(9, 0), Pools: []reservation.Pool{h100(8)}})
	_, _ = cal.Book(clock(9, 0), request("a", "vision", window(9, 11), 6))
	_, _ = cal.Book(clock(9, 0), request("b", "vision", window(14, 18), 3))
	offer, err := cal.EarliestFit(cal.Present(), reservation.Query{
		Lines: []reservation.Line{{Pool: "h100", Count: 6}}, MinCounts: map[string]int64{"h100": 4},
		Length: 4 * time.Hour, MinLength: 2 * time.Hour,
	})
	fmt.Println(offer.Kind, offer.Window, offer.Lines[0].Count, err)
	// Output: Smaller [2026-03-02T11:00:00Z, 2026-03-02T15:00:00Z) 5 <nil>
}

// Search ranks what could be had: all of the wish first, parts of it last.
func ExampleCalendar_Search() {
	other := reservation.Pool{Name: "h100-b", GPUsPerUnit: 8, Label: "NVIDIA H100", Units: []reservation.Unit{{Name: "b1"}, {Name: "b2"}, {Name: "b3"}, {Name: "b4"}}}
	cal, _ := reservation.New(reservation.Config{Start: clock(9, 0), Pools: []reservation.Pool{h100(4), other}})
	_, _ = cal.Book(clock(9, 0), request("a", "vision", window(11, 13), 3))
	_, _ = cal.Book(clock(9, 0), request("b", "vision", window(15, 20), 3))
	offers, err := cal.Search(cal.Present(), reservation.Query{
		Lines: []reservation.Line{{Pool: "h100", Count: 4}}, MinCounts: map[string]int64{"h100": 1},
		Start: clock(10, 0), Length: 3 * time.Hour, MinLength: time.Hour, Segments: 2,
	})
	for _, o := range offers {
		fmt.Println(o.Kind, o)
	}
	fmt.Println(err)
	// Output:
	// OtherPool 4 nodes of pool "h100-b" in [2026-03-02T10:00:00Z, 2026-03-02T13:00:00Z)
	// Segments [2026-03-02T09:00:00Z, 2026-03-02T11:00:00Z) and [2026-03-02T13:00:00Z, 2026-03-02T14:00:00Z)
	// Later [2026-03-02T20:00:00Z, 2026-03-02T23:00:00Z)
	// Shorter [2026-03-02T10:00:00Z, 2026-03-02T11:00:00Z)
	// Smaller 1 node in [2026-03-02T10:00:00Z, 2026-03-02T13:00:00Z)
	// <nil>
}

func ExampleCalendar_FreeUnits() {
	p := h100(4)
	for i := range p.Units {
		p.Units[i].Path = []string{"zone-1", fmt.Sprint("rack-", i/2+1)}
	}
	p.Units[3].Spare = true
	cal, _ := reservation.New(reservation.Config{Start: clock(9, 0), Pools: []reservation.Pool{p}})
	for _, choice := range []reservation.SpareChoice{reservation.WithoutSpares, reservation.WithSpares} {
		units, err := cal.FreeUnits("h100", window(10, 12), reservation.Selector{Path: []string{"zone-1", "rack-2"}, Spares: choice})
		fmt.Println(units, err)
	}
	// Output:
	// [{n3 [zone-1 rack-2] false}] <nil>
	// [{n3 [zone-1 rack-2] false} {n4 [zone-1 rack-2] true}] <nil>
}

// What-if: fork, change, ask, drop.
func ExampleCalendar_Fork() {
	cal, _ := reservation.New(reservation.Config{Start: clock(9, 0), Pools: []reservation.Pool{h100(4)}})
	_, _ = cal.Book(clock(9, 0), request("a", "vision", window(10, 12), 4))
	whatIf := cal.Fork()
	impact, _ := whatIf.SetOutage(clock(9, 0), reservation.Outage{ID: "maintenance", Owner: "ops", Nodes: []string{"n1"}, Window: window(11, 13)})
	for _, d := range impact.Degraded {
		fmt.Println(d.ID, d.Window, d.Shortfall)
	}
	free, _ := cal.MinFree("h100", window(12, 14))
	fmt.Println("the calendar itself still has", free)
	// Output:
	// a [2026-03-02T10:00:00Z, 2026-03-02T12:00:00Z) 1
	// the calendar itself still has 4
}

// The host chooses the nodes of a booking shortly before it begins.
func ExampleCalendar_Seat() {
	cal, _ := reservation.New(reservation.Config{Start: clock(9, 0), Pools: []reservation.Pool{h100(4)}})
	_, _ = cal.Book(clock(9, 0), request("a", "vision", window(10, 12), 2))
	for b := range cal.Binding(clock(9, 50)) {
		free, _ := cal.FreeNodes("h100", b.Window)
		fmt.Println(b.ID, free)
		b, err := cal.Seat(clock(9, 50), b.ID, free[2:]) // what the host's own planner says
		fmt.Println(b.Seats, err)
	}
	// Output:
	// a [n1 n2 n3 n4]
	// [{h100 n3} {h100 n4}] <nil>
}

func ExampleEventJSON() {
	cal, _ := reservation.New(reservation.Config{Start: clock(9, 0), Pools: []reservation.Pool{h100(4)}})
	_, _ = cal.Hold(clock(9, 0), request("a", "vision", window(10, 12), 2), time.Minute)
	cal.Advance(clock(9, 5))
	for _, e := range cal.Events()[1:] {
		b, err := reservation.EventJSON(e)
		fmt.Println(string(b), err)
	}
	// Output: {"kind":"expired","at":"2026-03-02T09:01:00Z","id":"a"} <nil>
}

// A node fails under a booking: what is at risk, what would repair it, and doing it.
func ExampleCalendar_PlanRepair() {
	pool := h100(4)
	pool.Units[3].Spare = true
	cal, _ := reservation.New(reservation.Config{Start: clock(9, 0), Pools: []reservation.Pool{pool}})
	_, _ = cal.Book(clock(9, 0), request("train-7", "vision", window(9, 12), 2))
	_, _ = cal.Book(clock(9, 0), request("eval-1", "speech", window(11, 13), 1))
	_, _ = cal.SetOutage(clock(10, 0), reservation.Outage{ID: "xid-79", Owner: "health", Nodes: []string{"n2"}})
	for r := range cal.AtRisk(clock(10, 0)) {
		fmt.Println(r.ID, "lacks", r.Lacks[0].Shortfall, "by", r.By.Format("15:04"))
	}
	plan := cal.PlanRepair(clock(10, 0))
	for _, s := range plan.Steps {
		fmt.Println(s.ID, s.Out, "→", s.In, s.Spare) // not n3: eval-1 needs it
	}
	if err := cal.Repair(clock(10, 1), plan); err != nil { // such as: the plan is stale
		fmt.Println(err)
		return
	}
	booking, _ := cal.Find("train-7")
	fmt.Println(booking.Seats)
	// Output:
	// train-7 lacks 1 by 10:00
	// train-7 n2 → n4 true
	// [{h100 n1} {h100 n4}]
}

// Maintenance that asks first, and a drain instead.
func ExampleCalendar_Impact() {
	cal, _ := reservation.New(reservation.Config{Start: clock(9, 0), Pools: []reservation.Pool{h100(3)}})
	pinned := request("train-7", "vision", window(10, 12), 0)
	pinned.Lines[0].Nodes = []string{"n1", "n2"}
	_, _ = cal.Book(clock(9, 0), pinned)
	maintenance := reservation.Outage{ID: "firmware", Owner: "ops", Nodes: []string{"n1"}, Window: window(11, 15), Mode: reservation.Refuse}
	impact, _ := cal.Impact(clock(9, 0), reservation.Change{SetOutage: &maintenance})
	for _, d := range impact.Degraded {
		fmt.Println(d.ID, d.Window, "repair by", d.By.Format("15:04"))
	}
	_, err := cal.SetOutage(clock(9, 0), maintenance)
	fmt.Println(errors.Is(err, reservation.ErrConflict))
	maintenance.Mode = reservation.Drain
	impact, err = cal.SetOutage(clock(9, 0), maintenance)
	fmt.Println(len(impact.Degraded), err)
	free, _ := cal.FreeNodes("h100", window(12, 14))
	fmt.Println(free)
	// Output:
	// train-7 [2026-03-02T11:00:00Z, 2026-03-02T12:00:00Z) repair by 10:00
	// true
	// 0 <nil>
	// [n2 n3]
}
