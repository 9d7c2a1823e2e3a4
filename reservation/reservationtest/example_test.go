// SPDX-License-Identifier: Apache-2.0

package reservationtest_test

import (
	"fmt"
	"time"

	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/reservation/reservationtest"
)

// smallDesk is a front end on a calendar. Its edit gives the booking back and books
// again: if somebody else is in the way, the booking is lost.
type smallDesk struct{ *reservation.Calendar }

func (d smallDesk) Do(c reservationtest.Command) error {
	if c.Op != reservationtest.Extend {
		return c.On(d.Calendar)
	}
	b, ok := d.Find(c.ID)
	if !ok || b.Phase != reservation.Confirmed {
		return c.On(d.Calendar)
	}
	if _, err := d.Cancel(c.At, c.ID, 0); err != nil {
		return err
	}
	b.Request.ID += "'"
	b.Request.Window.End = c.End
	_, err := d.Book(c.At, b.Request)
	return err
}

// Loads that rapid draws for some seeds go to a front end and to the model. In a
// test, use a Suite: rapid then makes the load that fails as small as it can.
func Example() {
	tried := func(open func(*reservation.Calendar) reservationtest.FrontEnd) string {
		for seed := range 100 {
			pools := reservationtest.Pools().Example(seed)
			load := reservationtest.Loads(pools, reservationtest.Mix{}).Example(seed)
			cal, err := reservation.New(reservation.Config{Pools: pools, Start: reservationtest.Start})
			if err != nil {
				return err.Error()
			}
			model := reservationtest.New(pools, reservationtest.Start)
			if err := reservationtest.Run(open(cal), model, load); err != nil {
				return "wrong"
			}
		}
		return "right"
	}
	fmt.Println("the desk is", tried(func(c *reservation.Calendar) reservationtest.FrontEnd { return smallDesk{c} }))
	fmt.Println("the calendar itself is", tried(reservationtest.Front))
	// Output:
	// the desk is wrong
	// the calendar itself is right
}

// A load may be written by hand as well.
func ExampleRun() {
	pools := []reservation.Pool{{Name: "h100", GPUsPerUnit: 8, Units: []reservation.Unit{{Name: "n1"}, {Name: "n2"}}}}
	at := reservationtest.Start
	load := []reservationtest.Command{
		{Op: reservationtest.Book, At: at, Request: reservation.Request{ID: "a", Owner: "ants",
			Window: reservation.Window{Start: at.Add(time.Hour), End: at.Add(2 * time.Hour)}, Lines: []reservation.Line{{Pool: "h100", Count: 2}}}},
		{Op: reservationtest.Extend, At: at, ID: "a", End: at.Add(3 * time.Hour)},
		{Op: reservationtest.Advance, At: at.Add(time.Hour)},
	}
	cal, _ := reservation.New(reservation.Config{Pools: pools, Start: at})
	model := reservationtest.New(pools, at)
	fmt.Println(reservationtest.Run(smallDesk{cal}, model, load[:1]), reservationtest.Run(smallDesk{cal}, model, load[1:]))
	fmt.Println(reservationtest.Agree(model, cal))
	// Output:
	// <nil> <nil>
	// booking "a" is Active, the calendar says Cancelled, true
}

// The model says what has to become of a command.
func ExampleModel_Judge() {
	pools := []reservation.Pool{{Name: "h100", GPUsPerUnit: 8, Units: []reservation.Unit{{Name: "n1"}, {Name: "n2"}}}}
	at := reservationtest.Start
	model := reservationtest.New(pools, at)
	book := func(id string, from, to int, line reservation.Line) reservationtest.Command {
		w := reservation.Window{Start: at.Add(time.Duration(from) * time.Hour), End: at.Add(time.Duration(to) * time.Hour)}
		return reservationtest.Command{Op: reservationtest.Book, At: at, Request: reservation.Request{ID: id, Owner: "ants", Window: w, Lines: []reservation.Line{line}}}
	}
	fmt.Println(model.Do(book("a", 1, 2, reservation.Line{Pool: "h100", Count: 2})))
	for _, c := range []reservationtest.Command{
		book("b", 1, 3, reservation.Line{Pool: "h100", Count: 1}),
		book("b", 2, 3, reservation.Line{Pool: "h100", Count: 1}),
		book("b", 2, 3, reservation.Line{Pool: "h100", Nodes: []string{"n2"}}),
	} {
		verdict, why := model.Judge(c)
		fmt.Printf("%s %q\n", verdict, why)
	}
	// Output:
	// <nil>
	// Refuse "pool h100 has 0 free nodes in [2026-03-01T01:00:00Z, 2026-03-01T03:00:00Z), not 1"
	// Accept ""
	// Either ""
}

func ExampleD90() {
	trace := reservationtest.D90(2000, 1)
	cal, _ := reservation.New(reservation.Config{Pools: []reservation.Pool{trace.Pool}, Start: trace.Start})
	refused := 0
	for c := range trace.Commands() {
		if c.On(cal) != nil {
			refused++
		}
	}
	fmt.Printf("%d requests, %.1f of %d nodes over %.0f days, %d refused\n",
		len(trace.Arrivals), trace.Load(), len(trace.Pool.Units), trace.Span.Hours()/24, refused)
	// Output: 2000 requests, 0.9 of 12500 nodes over 90 days, 0 refused
}
