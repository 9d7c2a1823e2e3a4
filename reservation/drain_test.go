// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/reservation/reservationtest"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func closing(mode reservation.OutageMode, w reservation.Window, nodes ...string) reservation.Outage {
	return reservation.Outage{ID: "m", Owner: "ops", Nodes: nodes, Window: w, Mode: mode}
}

// Refuse asks first, and says what it would have cost.
func TestOutageRefuse(t *testing.T) {
	c := newCalendar(t, at("00:00"), h100(3))
	require.NoError(t, pin(c, "R", span("10:00", "12:00"), "n1"))
	require.NoError(t, book(c, "F", "10:00", "11:00", 2))
	before, _ := c.MarshalBinary()
	_, err := c.SetOutage(at("01:00"), closing(reservation.Refuse, span("09:00", "11:00"), "n1"))
	require.ErrorIs(t, err, reservation.ErrConflict)
	var x *reservation.ImpactError
	require.ErrorAs(t, err, &x)
	want := reservation.Impact{Degraded: []reservation.Degradation{
		{ID: "R", Pool: "h100", Window: span("10:00", "11:00"), Shortfall: 1, Owner: "o", By: at("10:00")}}}
	require.Equal(t, want, x.Impact)
	require.NotContains(t, err.Error(), `"R"`)
	after, _ := c.MarshalBinary()
	require.Equal(t, before, after, "I6")
	asked, err := c.Impact(at("01:00"), reservation.Change{SetOutage: &[]reservation.Outage{closing(reservation.Refuse, span("09:00", "11:00"), "n1")}[0]})
	require.NoError(t, err)
	require.Equal(t, want, asked)

	// What hurts nobody is done, and is an outage like others.
	_, err = c.SetOutage(at("01:00"), closing(reservation.Refuse, span("11:00", "12:00"), "n2"))
	require.NoError(t, err)
	o := slices.Collect(c.Outages())
	require.Equal(t, reservation.Break, o[0].Mode)
	events := len(c.Events())
	_, err = c.SetOutage(at("01:00"), closing(reservation.Refuse, span("11:00", "12:00"), "n2"))
	require.NoError(t, err)
	require.Len(t, c.Events(), events, "the same again")
}

func TestImpactErrorFor(t *testing.T) {
	c := newCalendar(t, at("00:00"), h100(3))
	for i, owner := range []string{"me", "x", "y"} {
		q := request(owner, owner, span("10:00", fmt.Sprint(12+i, ":00")), 0)
		q.Lines[0].Nodes = []string{fmt.Sprint("n", i+1)}
		_, err := c.Book(at("00:00"), q)
		require.NoError(t, err)
	}
	_, err := c.SetOutage(at("01:00"), closing(reservation.Refuse, span("09:00", "20:00"), "n1", "n2", "n3"))
	var x *reservation.ImpactError
	require.ErrorAs(t, err, &x)
	require.Equal(t, []reservation.Degradation{
		{ID: "me", Pool: "h100", Window: span("10:00", "12:00"), Shortfall: 1, Owner: "me", By: at("10:00")},
		{Pool: "h100", Window: span("10:00", "14:00"), Shortfall: 1, By: at("10:00")},
	}, x.For("me").Impact.Degraded)
	require.Len(t, x.Impact.Degraded, 3)
	require.ErrorContains(t, &reservation.ImpactError{Outage: "o"}, `outage "o"`)
}

// Drain: who sits stays, nobody else comes, and what nobody has is no capacity.
func TestOutageDrain(t *testing.T) {
	c := newCalendar(t, at("00:00"), h100(3))
	require.NoError(t, pin(c, "R", span("10:00", "12:00"), "n1"))
	impact, err := c.SetOutage(at("01:00"), closing(reservation.Drain, span("09:00", "20:00"), "n1"))
	require.NoError(t, err)
	require.Empty(t, impact.Degraded)
	require.Equal(t, []int64{2, 2, 2, 3}, []int64{free(t, c, "09:00", "10:00"), free(t, c, "10:00", "12:00"), free(t, c, "12:00", "20:00"), free(t, c, "20:00", "21:00")})
	var capacity []int64
	for s := range c.Profile("h100", span("08:00", "21:00")) {
		capacity = append(capacity, s.Capacity)
	}
	require.Equal(t, []int64{3, 2, 3, 2, 3}, capacity)
	require.ErrorIs(t, pin(c, "new", span("12:00", "13:00"), "n1"), reservation.ErrConflict)
	nodes, err := c.FreeNodes("h100", span("13:00", "14:00"))
	require.NoError(t, err)
	require.Equal(t, []string{"n2", "n3"}, nodes)
	_, err = c.Extend(at("01:00"), "R", at("13:00"), 0)
	require.ErrorIs(t, err, reservation.ErrConflict, "longer is new")
	require.NoError(t, book(c, "F", "11:00", "13:00", 2))
	_, err = c.Seat(at("01:00"), "F", []string{"n1", "n2"})
	require.ErrorIs(t, err, reservation.ErrConflict)
	standby := reservation.Request{ID: "s", Owner: "batch", Class: reservation.Standby, Window: reservation.Window{Start: at("01:00")}, Lines: []reservation.Line{{Pool: "h100"}}}
	_, err = c.Book(at("01:00"), standby)
	require.NoError(t, err)
	_, err = c.Seat(at("09:00"), "s", []string{"n1"})
	require.ErrorIs(t, err, reservation.ErrConflict)
	c.Advance(at("10:00"))
	require.Equal(t, []string{"n1"}, seatsOf(c, "R"))
	require.Empty(t, c.PlanRepair(at("10:00")), "its node is no loss")
	_, err = c.Release(at("10:30"), "R", 0)
	require.NoError(t, err)
	require.Equal(t, int64(2), free(t, c, "10:30", "11:00"), "what it left is closed")
	c.Advance(at("11:00"))
	require.Equal(t, []string{"n2", "n3"}, seatsOf(c, "F"))
	require.NoError(t, c.Check())

	// The same nodes in earnest: now they are lost.
	c = newCalendar(t, at("00:00"), h100(3))
	require.NoError(t, pin(c, "R", span("10:00", "12:00"), "n1"))
	_, err = c.SetOutage(at("01:00"), closing(reservation.Drain, span("09:00", "20:00"), "n1"))
	require.NoError(t, err)
	impact, err = c.SetOutage(at("02:00"), closing(reservation.Break, span("09:00", "20:00"), "n1"))
	require.NoError(t, err)
	require.Len(t, impact.Degraded, 1)
	impact, err = c.SetOutage(at("03:00"), closing(reservation.Drain, span("09:00", "20:00"), "n1"))
	require.NoError(t, err)
	require.Len(t, impact.Healed, 1)
	require.NoError(t, c.Check())
}

// A change of the pool, looked at beforehand, is what it then does.
func TestImpactOfPool(t *testing.T) {
	c := newCalendar(t, at("00:00"), h100(3))
	require.NoError(t, pin(c, "R", span("10:00", "12:00"), "n1", "n2"))
	require.NoError(t, book(c, "F", "11:00", "13:00", 1))
	p := h100(3)
	p.Units = p.Units[1:]
	i, err := c.Impact(at("10:30"), reservation.Change{SetPool: &p})
	require.NoError(t, err)
	require.Equal(t, []reservation.Degradation{{ID: "R", Pool: "h100", Window: span("10:30", "12:00"), Shortfall: 1, Owner: "o", By: at("10:30")}}, i.Degraded)
	require.NoError(t, c.SetPool(at("10:30"), p))
	back := h100(3)
	i, err = c.Impact(at("10:40"), reservation.Change{SetPool: &back})
	require.NoError(t, err)
	require.Len(t, i.Healed, 1)
	require.Equal(t, span("10:40", "12:00"), i.Healed[0].Window)
	_, err = c.Impact(at("10:40"), reservation.Change{})
	require.ErrorIs(t, err, reservation.ErrInvalid)
	_, err = c.Impact(at("10:40"), reservation.Change{EndOutage: "x"})
	require.ErrorIs(t, err, reservation.ErrUnknown)
	fresh := reservation.Pool{Name: "new", GPUsPerUnit: 8}
	i, err = c.Impact(at("10:40"), reservation.Change{SetPool: &fresh})
	require.NoError(t, err)
	require.Empty(t, i)
}

// lackAt returns what each booking lacks at a minute.
func lackAt(c *reservation.Calendar, m int) map[string]int64 {
	out := map[string]int64{}
	for d := range c.Degraded() {
		if !minute(m).Before(d.Window.Start) && (d.Window.End.IsZero() || minute(m).Before(d.Window.End)) {
			out[d.ID] += d.Shortfall
		}
	}
	return out
}

// TestImpactIsTheDifference: for outages in each mode, their end and changes of
// the pool, the Impact is what Degraded says after less what it said before,
// minute by minute, and By lies between the present and the shortfall.
func TestImpactIsTheDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, p := brokenWorld(t, true, true, 9)
		var change reservation.Change
		after := c.Fork()
		switch rapid.IntRange(0, 2).Draw(t, "change") {
		case 0:
			from := rapid.IntRange(5, 12).Draw(t, "from")
			mode := rapid.SampledFrom([]reservation.OutageMode{reservation.Break, reservation.Refuse, reservation.Drain}).Draw(t, "mode")
			o := closing(mode, minutes(from, from+rapid.IntRange(1, 15).Draw(t, "length")), rapid.SampledFrom(names(p)).Draw(t, "node"))
			change.SetOutage = &o
			_, err := after.SetOutage(minute(5), o)
			i, asked := c.Impact(minute(5), change)
			require.NoError(t, asked)
			require.Equal(t, mode == reservation.Refuse && len(i.Degraded) > 0, err != nil)
			if err != nil {
				o.Mode = reservation.Break
				_, err = after.SetOutage(minute(5), o)
				require.NoError(t, err)
			}
		case 1:
			change.EndOutage = "o0"
			require.NoError(t, after.EndOutage(minute(5), "o0"))
		default:
			p.Units = slices.Clone(p.Units[1:])
			change.SetPool = &p
			require.NoError(t, after.SetPool(minute(5), p))
		}
		before, _ := c.MarshalBinary()
		i, err := c.Impact(minute(5), change)
		require.NoError(t, err)
		same, _ := c.MarshalBinary()
		require.Equal(t, before, same)
		for m := 5; m < 40; m++ {
			want := lackAt(after, m)
			for id, n := range lackAt(c, m) {
				want[id] -= n
			}
			got := map[string]int64{}
			for k, list := range [][]reservation.Degradation{i.Degraded, i.Healed} {
				for _, d := range list {
					require.Positive(t, d.Shortfall)
					if !minute(m).Before(d.Window.Start) && minute(m).Before(d.Window.End) {
						got[d.ID] += d.Shortfall * int64(1-2*k)
					}
					if k == 0 {
						require.False(t, d.By.Before(minute(5)) || d.By.After(d.Window.Start))
					}
				}
			}
			for id, n := range want {
				require.Equal(t, n, got[id], "%s at %d", id, m)
			}
		}
	})
}

// TestDrainLetsNobodyIn: after a drain no event gives a node of it, within its
// window, to a booking that did not have it; who had it keeps it and lacks nothing.
func TestDrainLetsNobodyIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := poolOf("p", 5, 1, reservation.Policy{})
		c := newCalendar(t, modelStart, p)
		now, n := 0, 0
		command := func() {
			from := now + rapid.IntRange(0, 20).Draw(t, "in")
			w := minutes(from, from+rapid.IntRange(1, 15).Draw(t, "length"))
			l := reservation.Line{Pool: "p", Count: int64(rapid.IntRange(1, 3).Draw(t, "count"))}
			if rapid.IntRange(0, 2).Draw(t, "kind") == 0 {
				l = reservation.Line{Pool: "p", Nodes: []string{rapid.SampledFrom(names(p)).Draw(t, "node")}}
			}
			id := fmt.Sprint("b", rapid.IntRange(0, n).Draw(t, "id"))
			switch rapid.IntRange(0, 7).Draw(t, "command") {
			default:
				n++
				_, _ = c.Book(minute(now), reservation.Request{ID: fmt.Sprint("b", n), Owner: "o", Window: w, Lines: []reservation.Line{l}})
			case 3:
				_, _ = c.Extend(minute(now), id, w.End, 0)
			case 4:
				if _, err := c.Cancel(minute(now), id, 0); err != nil {
					_, _ = c.Release(minute(now), id, 0)
				}
			case 5, 6:
				k := rapid.IntRange(1, 3).Draw(t, "seats")
				_, _ = c.Seat(minute(now), id, rapid.Permutation(names(p)).Draw(t, "nodes")[:k])
			case 7:
				now += rapid.IntRange(1, 5).Draw(t, "wait")
				c.Advance(minute(now))
			}
		}
		for range rapid.IntRange(2, 12).Draw(t, "before") {
			command()
		}
		from := now + rapid.IntRange(0, 10).Draw(t, "from")
		o := closing(reservation.Drain, minutes(from, from+rapid.IntRange(5, 30).Draw(t, "length")), "p-1", "p-2")
		had := map[[2]string]bool{}
		had0 := c.Fork()
		had0.Advance(minute(now))
		for b := range had0.Bookings("p", reservation.Window{}) {
			for _, s := range b.Seats {
				had[[2]string{b.ID, s.Node}] = true
			}
		}
		impact, err := c.SetOutage(minute(now), o)
		require.NoError(t, err)
		for _, d := range impact.Degraded {
			b, _ := c.Find(d.ID)
			require.Empty(t, b.Seats, "only who has no seats yet can lack any")
		}
		for range rapid.IntRange(1, 12).Draw(t, "after") {
			command()
			require.NoError(t, c.Check())
			require.NoError(t, reservationtest.Recount(c))
		}
		c.Advance(minute(now + 60))
		drained, windows := false, map[string]reservation.Window{} // as of each event
		check := func(id string, nodes []string) {
			for _, x := range nodes {
				if drained && (x == "p-1" || x == "p-2") && !had[[2]string{id, x}] {
					require.False(t, windows[id].Overlaps(o.Window), "%s on %s in %s", id, x, windows[id])
				}
			}
		}
		for _, e := range c.TakeEvents() {
			switch e := e.(type) {
			case reservation.OutageSet:
				drained = true
			case reservation.Booked:
				windows[e.Request.ID] = e.Request.Window
				check(e.Request.ID, e.Request.Lines[0].Nodes)
			case reservation.Extended:
				windows[e.ID] = reservation.Window{Start: windows[e.ID].Start, End: e.End}
			case reservation.Opened:
				check(e.ID, e.Nodes)
			case reservation.Seated:
				check(e.ID, e.Nodes)
			case reservation.Planned:
				for _, x := range e.Plans {
					check(x.ID, x.Nodes)
				}
			}
		}
	})
}
