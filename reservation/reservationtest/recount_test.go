// SPDX-License-Identifier: Apache-2.0

package reservationtest_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/reservation"
	rt "github.com/berth-gpu/berth/reservation/reservationtest"
)

// TestRecountOfEverything: the count agrees after every command that a calendar
// has, also those that the model does not know.
func TestRecountOfEverything(t *testing.T) {
	mix := rt.Mix{Pinned: true, Several: true, Standby: true, Outages: true}
	rapid.Check(t, func(t *rapid.T) {
		pools := rt.Pools().Draw(t, "pools")
		c := open(t, pools)
		for i, x := range rt.Loads(pools, mix).Draw(t, "load") {
			_ = x.On(c)
			rt.Check(t, c)
			said := anything(t, c, x.At, pools, fmt.Sprint("n", i))
			if err := rt.Recount(c); err != nil {
				t.Fatalf("after %s and then %s: %v", x, said, err)
			}
		}
	})
}

// anything runs one of the commands that the model does not know. Many are refused.
func anything(t *rapid.T, c *reservation.Calendar, at time.Time, pools []reservation.Pool, fresh string) string {
	live := slices.Collect(c.Bookings("", reservation.Window{}))
	if len(live) == 0 {
		return "nothing"
	}
	b := rapid.SampledFrom(live).Draw(t, "booking")
	slots := func(name string) time.Duration { return rt.Slot * time.Duration(rapid.IntRange(-4, 12).Draw(t, name)) }
	what := rapid.SampledFrom([]string{"nothing", "move", "resize", "seat", "split", "merge", "push", "yield", "check in", "revoke", "pool"}).Draw(t, "what")
	switch what {
	case "move":
		w := reservation.Window{Start: b.Window.Start.Add(slots("start")), End: b.Window.End.Add(slots("end"))}
		_, _ = c.Move(at, b.ID, w, 0)
	case "resize":
		l := slices.Clone(b.Lines)
		l[0].Count, l[0].Nodes = rapid.Int64Range(1, 6).Draw(t, "count"), nil
		_, _ = c.Resize(at, b.ID, l, 0)
	case "seat":
		var nodes []string
		for _, l := range b.Lines {
			free, _ := c.FreeNodes(l.Pool, b.Window)
			if n := min(int(l.Count), len(free)); n > 0 {
				nodes = append(nodes, rapid.Permutation(free).Draw(t, "nodes")[:n]...)
			}
		}
		_, _ = c.Seat(at, b.ID, nodes)
	case "split":
		part := reservation.Part{}
		if rapid.Bool().Draw(t, "in time") {
			part.Time = b.Window.Start.Add(slots("cut"))
		} else {
			part.Lines = []reservation.Line{{Pool: b.Lines[0].Pool, Count: 1}}
		}
		_, _, _ = c.Split(at, b.ID, fresh, part, 0)
	case "merge":
		_, _ = c.Merge(at, rapid.SampledFrom(live).Draw(t, "other").ID, b.ID, 0)
	case "push":
		_, _, _ = c.Push(at, b.ID, b.Window.End.Add(slots("longer")), 0)
	case "yield":
		_, _ = c.Yield(at, b.ID, b.Window.End, 0)
	case "check in":
		_, _ = c.CheckIn(at, b.ID, 0)
	case "revoke":
		_, _ = c.Revoke(at, b.ID, "maintenance", 0)
	case "pool":
		p := rapid.SampledFrom(pools).Draw(t, "pool")
		p.Units = slices.Clone(p.Units)
		i := rapid.IntRange(0, len(p.Units)-1).Draw(t, "node")
		if rapid.Bool().Draw(t, "gone") {
			p.Units = slices.Delete(p.Units, i, i+1)
		} else {
			p.Units[i].Spare = !p.Units[i].Spare
		}
		p.Policy = rt.Policies().Draw(t, "policy")
		if rapid.Bool().Draw(t, "no-shows") {
			p.Policy.NoShowGrace = rt.Slot
		}
		_ = c.SetPool(at, p)
	}
	return fmt.Sprint(what, " ", b.ID)
}

// TestRecountOfNothing: an empty calendar, and one without pools.
func TestRecountOfNothing(t *testing.T) {
	require.NoError(t, rt.Recount(open(t, nil)))
	require.NoError(t, rt.Recount(open(t, []reservation.Pool{{Name: "p", GPUsPerUnit: 1}})))
}
