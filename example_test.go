// SPDX-License-Identifier: Apache-2.0

package berth_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/reservation"
)

// One command over two engines, all or nothing: both work on forks, and the
// forks are published only if both agree.
func Example() {
	now := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	calendar, err := reservation.New(reservation.Config{Pools: []reservation.Pool{{
		Name: "h100", GPUsPerUnit: 8, Units: []reservation.Unit{{Name: "n1"}, {Name: "n2"}, {Name: "n3"}}}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ledger, err := quota.New(quota.Config{Tenants: []quota.Tenant{
		{Name: "vision", Limits: []quota.Limit{{Key: "gpu/h100", Nominal: 16}}},
		{Name: "speech", Limits: []quota.Limit{{Key: "gpu/h100", Nominal: 16}}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	book := func(id, team string, nodes int64, from, hours time.Duration) error {
		c, l := calendar.Fork(), ledger.Fork()
		start, end := now.Add(from*time.Hour), now.Add((from+hours)*time.Hour)
		if _, err := l.Book(now, quota.Request{ID: id, Tenant: team, Class: quota.Guaranteed,
			Amounts: []quota.Amount{{Key: "gpu/h100", N: nodes * 8}}, Window: quota.Window{Start: start, End: end}}); err != nil {
			return err
		}
		if _, err := c.Book(now, reservation.Request{ID: id, Owner: team, Class: reservation.Firm,
			Window: reservation.Window{Start: start, End: end}, Lines: []reservation.Line{{Pool: "h100", Count: nodes}}}); err != nil {
			return err // the ledger's fork is dropped with its charge
		}
		calendar, ledger = c, l // a host would store c.Events() and l.Events() first
		return nil
	}
	fmt.Println(book("a", "vision", 2, 1, 8))

	err = book("b", "speech", 2, 4, 8)
	var conflict *reservation.ConflictError
	if errors.As(err, &conflict) {
		view := conflict.For("speech") // a tenant sees others' bookings summed
		fmt.Println(view.Shortfall, "node short, first at", view.At.Start.Format("15:04"))
		for _, o := range view.Offers {
			fmt.Println("could have:", o.Kind, o.Lines[0].Count, "from", o.Window.Start.Format("15:04"), "to", o.Window.End.Format("15:04"))
		}
	}
	usage, _ := ledger.Usage("speech", "gpu/h100", now.Add(5*time.Hour))
	fmt.Println("charged to speech:", usage.Used)
	// Output:
	// <nil>
	// 1 node short, first at 12:00
	// could have: Later 2 from 17:00 to 01:00
	// could have: Smaller 1 from 12:00 to 20:00
	// charged to speech: 0
}
