// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"errors"
	"fmt"

	"github.com/berth-gpu/berth/reservation"
)

// All nodes of a line in one rack.
func ExampleLine() {
	pool := reservation.Pool{Name: "h100", GPUsPerUnit: 8, Levels: []string{"spine", "rack"}}
	for i := range 6 {
		pool.Units = append(pool.Units, reservation.Unit{Name: fmt.Sprintf("n%d", i+1), Path: []string{"s1", fmt.Sprintf("r%d", i/3+1)}})
	}
	cal, _ := reservation.New(reservation.Config{Start: clock(9, 0), Pools: []reservation.Pool{pool}})
	for _, id := range []string{"a", "b", "c"} {
		booking, err := cal.Book(clock(9, 0), reservation.Request{ID: id, Owner: "vision", Window: window(10, 12),
			Lines: []reservation.Line{{Pool: "h100", Count: 2, Within: "rack"}}})
		if refusal, ok := errors.AsType[*reservation.ConflictError](err); ok {
			fmt.Println(id, refusal.Reason, refusal.Domain, "has", refusal.Free, "free;", refusal.Offers[0].Kind, refusal.Offers[0].Window)
			continue
		}
		fmt.Println(id, booking.Seats)
	}
	// Output:
	// a [{h100 n1} {h100 n2}]
	// b [{h100 n4} {h100 n5}]
	// c Domain [s1 r1] has 1 free; Later [2026-03-02T12:00:00Z, 2026-03-02T14:00:00Z)
}

// The host mirrors what its quota tree grants.
func ExampleCell() {
	pool := h100(8)
	pool.Regime = reservation.Cells
	pool.Cells = []reservation.Cell{{Owner: "vision", Count: 5}, {Owner: "speech", Count: 3}}
	cal, _ := reservation.New(reservation.Config{Start: clock(9, 0), Pools: []reservation.Pool{pool}})
	_, err := cal.Book(clock(9, 0), request("train", "vision", window(10, 12), 5))
	fmt.Println(err)
	_, err = cal.Book(clock(9, 0), request("more", "vision", window(11, 13), 1))
	refusal, _ := errors.AsType[*reservation.ConflictError](err)
	fmt.Println(refusal.Reason, refusal.Used, "of", refusal.Cell, "in", refusal.At)
	_, err = cal.Book(clock(9, 0), request("eval", "speech", window(11, 13), 3))
	fmt.Println(err)
	// Output:
	// <nil>
	// Cell 5 of 5 in [2026-03-02T11:00:00Z, 2026-03-02T12:00:00Z)
	// <nil>
}
