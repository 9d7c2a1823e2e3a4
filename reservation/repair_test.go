// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/reservation/reservationtest"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func down(t require.TestingT, c *reservation.Calendar, when string, nodes ...string) reservation.Impact {
	impact, err := c.SetOutage(at(when), reservation.Outage{ID: "o", Owner: "ops", Nodes: nodes})
	require.NoError(t, err)
	return impact
}

func seatsOf(c *reservation.Calendar, id string) (out []string) {
	b, _ := c.Find(id)
	for _, s := range b.Seats {
		out = append(out, s.Node)
	}
	return out
}

// What is left stays, and only what is lost is replaced.
func TestScenario21Repaired(t *testing.T) {
	c := newCalendar(t, at("00:00"), h100(3))
	require.NoError(t, pin(c, "R", span("10:00", "12:00"), "n1", "n2"))
	c.Advance(at("10:00"))
	down(t, c, "10:30", "n2")
	r := slices.Collect(c.AtRisk(at("10:30")))
	require.Len(t, r, 1)
	require.Equal(t, at("10:30"), r[0].By)
	plan := c.PlanRepair(at("10:30"))
	require.Equal(t, reservation.Repair{Steps: []reservation.RepairStep{{ID: "R", Version: 2, Pool: "h100", Out: "n2", In: "n3"}}}, plan)
	require.NoError(t, c.Repair(at("10:31"), plan))
	require.Equal(t, []string{"n1", "n3"}, seatsOf(c, "R"))
	require.Empty(t, slices.Collect(c.Degraded()))
	require.Empty(t, c.PlanRepair(at("10:31")))
	// The plan is stale now, and says for whom.
	before, _ := c.MarshalBinary()
	err := c.Repair(at("10:31"), plan)
	require.ErrorIs(t, err, reservation.ErrVersion)
	require.ErrorContains(t, err, `booking "R"`)
	after, _ := c.MarshalBinary()
	require.Equal(t, before, after, "I6")
}

// Without a third node the booking is Degraded by one, and that is said.
func TestScenario21NoNode(t *testing.T) {
	c := newCalendar(t, at("00:00"), h100(2))
	require.NoError(t, pin(c, "R", span("10:00", "12:00"), "n1", "n2"))
	c.Advance(at("10:00"))
	down(t, c, "10:30", "n2")
	plan := c.PlanRepair(at("10:30"))
	require.Equal(t, reservation.Repair{Unrepaired: []reservation.Unrepaired{{ID: "R", Pool: "h100", Shortfall: 1, Why: reservation.NoNode}}}, plan)
	require.NoError(t, c.Repair(at("10:30"), plan), "an empty plan")
	require.Equal(t, []string{"n1", "n2"}, seatsOf(c, "R"), "n2 may come back")
	require.Equal(t, int64(1), slices.Collect(c.Degraded())[0].Shortfall)
}

// Without any node it stays Active with an empty set (S31), also when it is
// planned for, and it is repaired once there are nodes.
func TestScenario21AllLost(t *testing.T) {
	c := newCalendar(t, at("00:00"), h100(2))
	require.NoError(t, pin(c, "R", span("10:00", "12:00"), "n1", "n2"))
	c.Advance(at("10:00"))
	require.NoError(t, c.SetPool(at("10:30"), h100(0)))
	require.NoError(t, c.Repair(at("10:30"), c.PlanRepair(at("10:30"))))
	b, _ := c.Find("R")
	require.Equal(t, reservation.Active, b.Phase)
	require.Empty(t, b.Seats)
	risk := slices.Collect(c.AtRisk(at("10:30")))
	require.Len(t, risk, 1)
	require.Equal(t, int64(2), risk[0].Lacks[0].Shortfall)
	p := h100(4)
	p.Units = p.Units[2:]
	require.NoError(t, c.SetPool(at("10:40"), p))
	plan := c.PlanRepair(at("10:40"))
	require.Equal(t, []reservation.RepairStep{
		{ID: "R", Version: b.Version, Pool: "h100", In: "n3"},
		{ID: "R", Version: b.Version, Pool: "h100", In: "n4"},
	}, plan.Steps)
	require.NoError(t, c.Repair(at("10:40"), plan))
	require.Empty(t, slices.Collect(c.Degraded()))
	require.NoError(t, c.Check())
}

// Standby work that does not clear its node by 10:00 is told to the calendar as an
// outage: R is Degraded and not smaller, and whole again when the node is clear.
func TestScenario39NotClear(t *testing.T) {
	c := newCalendar(t, at("09:00"), h100(2))
	require.NoError(t, pin(c, "R", span("10:00", "12:00"), "n1", "n2"))
	c.Advance(at("10:00"))
	impact := down(t, c, "10:00", "n1")
	require.Equal(t, []reservation.Degradation{{ID: "R", Pool: "h100", Window: span("10:00", "12:00"), Shortfall: 1, Owner: "o", By: at("10:00")}}, impact.Degraded)
	b, _ := c.Find("R")
	require.Equal(t, int64(2), b.Lines[0].Count)
	healed, err := c.Impact(at("10:04"), reservation.Change{EndOutage: "o"})
	require.NoError(t, err)
	require.Equal(t, []reservation.Degradation{{ID: "R", Pool: "h100", Window: span("10:04", "12:00"), Shortfall: 1, Owner: "o"}}, healed.Healed)
	require.NoError(t, c.EndOutage(at("10:04"), "o"))
	require.Equal(t, []string{"n1", "n2"}, seatsOf(c, "R"))
	require.Empty(t, slices.Collect(c.Degraded()))
}

// Nodes of the failure domain of the lost one come first, open ones before spares,
// and each choice says what it is.
func TestRepairPrefersTheDomain(t *testing.T) {
	p := h100(6)
	for i, rack := range []string{"r1", "r2", "r1", "r2", "r1", "r2"} {
		p.Units[i].Path = []string{"z", rack}
	}
	p.Units[4].Spare, p.Units[5].Spare = true, true
	c := newCalendar(t, at("00:00"), p)
	require.NoError(t, pin(c, "R", span("10:00", "12:00"), "n2"))
	require.NoError(t, pin(c, "S", span("10:00", "11:00"), "n3"))
	other := c.Fork()
	c.Advance(at("10:00"))
	down(t, c, "10:10", "n2", "n3")
	require.Equal(t, []reservation.RepairStep{
		{ID: "R", Version: 2, Pool: "h100", Out: "n2", In: "n4"}, // not n1, which is first in the pool
		{ID: "S", Version: 2, Pool: "h100", Out: "n3", In: "n1"},
	}, c.PlanRepair(at("10:10")).Steps)
	c = other
	require.NoError(t, book(c, "F", "10:30", "13:00", 2)) // it needs n1 and n4
	c.Advance(at("10:00"))
	down(t, c, "10:10", "n2", "n3")
	require.Equal(t, []reservation.RepairStep{
		{ID: "R", Version: 2, Pool: "h100", Out: "n2", In: "n6", Spare: true},
		{ID: "S", Version: 2, Pool: "h100", Out: "n3", In: "n5", Spare: true},
	}, c.PlanRepair(at("10:10")).Steps)
}

// Why a line is not repaired.
func TestRepairObstacles(t *testing.T) {
	plan := func(others ...func(c *reservation.Calendar) error) reservation.Unrepaired {
		c := newCalendar(t, at("00:00"), h100(2))
		require.NoError(t, pin(c, "R", span("10:00", "12:00"), "n1"))
		for _, f := range others {
			require.NoError(t, f(c))
		}
		c.Advance(at("10:00"))
		down(t, c, "10:10", "n1")
		r := c.PlanRepair(at("10:10"))
		require.Empty(t, r.Steps)
		require.Len(t, r.Unrepaired, 1)
		return r.Unrepaired[0]
	}
	x := plan(func(c *reservation.Calendar) error { return pin(c, "P", span("11:00", "12:00"), "n2") })
	require.Equal(t, reservation.Unrepaired{ID: "R", Pool: "h100", Shortfall: 1, Why: reservation.OnlyUntil, Until: at("11:00")}, x)
	x = plan(func(c *reservation.Calendar) error { return book(c, "F", "11:00", "13:00", 1) })
	require.Equal(t, reservation.Unrepaired{ID: "R", Pool: "h100", Shortfall: 1, Why: reservation.OthersNeed, InTheWay: []string{"F"}}, x)
	x = plan(func(c *reservation.Calendar) error { return book(c, "F", "10:00", "13:00", 1) })
	require.Equal(t, reservation.NoNode, x.Why)

	p := h100(2)
	p.Policy.Grace = 30 * time.Minute
	c := newCalendar(t, at("00:00"), p)
	require.NoError(t, pin(c, "R", span("10:00", "12:00"), "n1"))
	c.Advance(at("12:00"))
	down(t, c, "12:10", "n1")
	require.Equal(t, reservation.InGrace, c.PlanRepair(at("12:10")).Unrepaired[0].Why)
}

// A line before gives its node to one behind it that has no other, where it has one.
func TestRepairGivesWay(t *testing.T) {
	c := newCalendar(t, at("00:00"), h100(4))
	require.NoError(t, pin(c, "short", span("10:00", "11:00"), "n1"))
	require.NoError(t, pin(c, "long", span("10:00", "14:00"), "n2"))
	require.NoError(t, pin(c, "later", span("12:00", "13:00"), "n4"))
	c.Advance(at("10:00"))
	down(t, c, "10:10", "n1", "n2")
	plan := c.PlanRepair(at("10:10"))
	require.Empty(t, plan.Unrepaired)
	require.NoError(t, c.Repair(at("10:10"), plan))
	require.Equal(t, [][]string{{"n4"}, {"n3"}}, [][]string{seatsOf(c, "short"), seatsOf(c, "long")})
}

// A floating booking is listed and not seated.
func TestRepairLeavesFloating(t *testing.T) {
	c := newCalendar(t, at("00:00"), h100(2))
	require.NoError(t, book(c, "F", "10:00", "12:00", 2))
	down(t, c, "09:00", "n1")
	plan := c.PlanRepair(at("09:00"))
	require.Empty(t, plan.Steps)
	require.Empty(t, plan.Unrepaired)
	require.Equal(t, slices.Collect(c.Degraded()), plan.Floating)
}

// Plans are data: what they may not say is refused.
func TestRepairRefusals(t *testing.T) {
	p := h100(4)
	p.Units[3].Spare = true
	c := newCalendar(t, at("00:00"), p)
	require.NoError(t, pin(c, "R", span("10:00", "12:00"), "n1", "n2"))
	require.NoError(t, book(c, "F", "20:00", "21:00", 1))
	c.Advance(at("10:00"))
	down(t, c, "10:10", "n2")
	step := reservation.RepairStep{ID: "R", Pool: "h100", Out: "n2", In: "n3"}
	for name, x := range map[string]struct {
		do   func(s *reservation.RepairStep)
		is   error
		says string
	}{
		"booking":  {func(s *reservation.RepairStep) { s.ID = "x" }, reservation.ErrUnknown, `booking "x"`},
		"version":  {func(s *reservation.RepairStep) { s.Version = 1 }, reservation.ErrVersion, `"R" has version 2, not 1`},
		"pool":     {func(s *reservation.RepairStep) { s.Pool = "x" }, reservation.ErrInvalid, `"x"`},
		"node":     {func(s *reservation.RepairStep) { s.In = "x" }, reservation.ErrUnknown, `node "x"`},
		"own node": {func(s *reservation.RepairStep) { s.In = "n1" }, reservation.ErrInvalid, "already"},
		"healthy":  {func(s *reservation.RepairStep) { s.Out = "n1" }, reservation.ErrState, "healthy"},
		"no seat":  {func(s *reservation.RepairStep) { s.Out = "n4" }, reservation.ErrInvalid, "does not have"},
		"too many": {func(s *reservation.RepairStep) { s.Out = "" }, reservation.ErrInvalid, "3 of its 2"},
		"spare":    {func(s *reservation.RepairStep) { s.In = "n4" }, reservation.ErrState, "plan again"},
		"floating": {func(s *reservation.RepairStep) { s.ID, s.Out = "F", "" }, reservation.ErrState, "use Seat"},
	} {
		before, _ := c.MarshalBinary()
		bad := step
		x.do(&bad)
		steps := []reservation.RepairStep{bad}
		if bad.ID != "R" { // all or nothing
			steps = []reservation.RepairStep{step, bad}
		}
		err := c.Repair(at("10:10"), reservation.Repair{Steps: steps})
		require.ErrorIs(t, err, x.is, name)
		require.ErrorContains(t, err, x.says, name)
		after, _ := c.MarshalBinary()
		require.Equal(t, before, after, "I6: %s", name)
	}
	require.NoError(t, c.Repair(at("10:10"), reservation.Repair{Steps: []reservation.RepairStep{step}}))
}

// subsets yields the sets of k of the names.
func subsets(names []string, k int) (out [][]string) {
	if k == 0 {
		return [][]string{nil}
	}
	for i, n := range names {
		for _, rest := range subsets(names[i+1:], k-1) {
			out = append(out, append([]string{n}, rest...))
		}
	}
	return out
}

// lost returns the healthy seats of a booking, for the rest of its envelope, and
// how many it lacks. The pool has no grace and no cleanup.
func lost(c *reservation.Calendar, b reservation.Booking) (healthy []string, lacks int) {
	rest := reservation.Window{Start: c.Present(), End: b.Window.End}
	if b.Window.Start.After(rest.Start) {
		rest.Start = b.Window.Start
	}
	for _, s := range b.Seats {
		dead := false
		for o := range c.Outages() {
			dead = dead || o.Mode == reservation.Break && slices.Contains(o.Nodes, s.Node) && o.Window.Overlaps(rest)
		}
		if !dead {
			healthy = append(healthy, s.Node)
		}
	}
	return healthy, int(b.Lines[0].Count) - len(healthy)
}

// repairs returns the calendars in which Seat has made a booking whole.
func repairs(c *reservation.Calendar, id string, names []string) (out []*reservation.Calendar) {
	b, _ := c.Find(id)
	healthy, k := lost(c, b)
	others := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(b.Seats, reservation.Seat{Pool: "p", Node: n}) })
	for _, set := range subsets(others, k) {
		f := c.Fork()
		if _, err := f.Seat(c.Present(), id, append(set, healthy...)); err == nil {
			out = append(out, f)
		}
	}
	return out
}

// most returns, for lines in order, which can be repaired: the first one if at all
// possible, and so on. It tries everything.
func most(c *reservation.Calendar, ids, names []string) []bool {
	if len(ids) == 0 {
		return nil
	}
	var best []bool
	for _, f := range repairs(c, ids[0], names) {
		got := append([]bool{true}, most(f, ids[1:], names)...)
		for i := range got {
			if best == nil || got[i] != best[i] {
				if best == nil || got[i] {
					best = got
				}
				break
			}
		}
	}
	if best == nil {
		best = append([]bool{false}, most(c, ids[1:], names)...)
	}
	return best
}

func names(p reservation.Pool) (out []string) {
	for _, u := range p.Units {
		out = append(out, u.Name)
	}
	return out
}

// brokenWorld draws a calendar at minute 5 in which nodes have failed; without
// floating bookings these are none that a later one names.
func brokenWorld(t *rapid.T, floating, future bool, latest int) (*reservation.Calendar, reservation.Pool) {
	p := poolOf("p", rapid.IntRange(3, 7).Draw(t, "nodes"), rapid.IntRange(0, 2).Draw(t, "spares"), reservation.Policy{})
	for i := range p.Units {
		p.Units[i].Path = []string{rapid.SampledFrom([]string{"r1", "r2"}).Draw(t, "rack")}
	}
	c := newCalendar(t, modelStart, p)
	add := func(id string, from int, l reservation.Line) {
		l.Pool = "p"
		_, _ = c.Book(modelStart, reservation.Request{ID: id, Owner: id, Window: minutes(from, from+rapid.IntRange(6, 20).Draw(t, "length")), Lines: []reservation.Line{l}})
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "begun") {
		add(fmt.Sprint("b", i), rapid.IntRange(0, 4).Draw(t, "from"), reservation.Line{Count: int64(rapid.IntRange(1, 2).Draw(t, "count"))})
	}
	named := map[string]bool{}
	if future {
		for i := range rapid.IntRange(0, 3).Draw(t, "future") {
			node := rapid.SampledFrom(names(p)).Draw(t, "node")
			named[node] = !floating
			add(fmt.Sprint("p", i), rapid.IntRange(7, 15).Draw(t, "from"), reservation.Line{Nodes: []string{node}})
		}
	}
	if floating {
		for i := range rapid.IntRange(0, 3).Draw(t, "floating") {
			add(fmt.Sprint("f", i), rapid.IntRange(7, 15).Draw(t, "from"), reservation.Line{Count: int64(rapid.IntRange(1, 2).Draw(t, "count"))})
		}
	}
	c.Advance(minute(5))
	frail := slices.DeleteFunc(names(p), func(n string) bool { return named[n] })
	for i := range rapid.IntRange(min(1, len(frail)), min(2, len(frail))).Draw(t, "outages") {
		from := rapid.IntRange(5, latest).Draw(t, "from")
		o := reservation.Outage{ID: fmt.Sprint("o", i), Owner: "ops", Window: minutes(from, from+rapid.IntRange(3, 20).Draw(t, "length"))}
		o.Nodes = append(o.Nodes, rapid.SliceOfNDistinct(rapid.SampledFrom(frail), 1, min(2, len(frail)), rapid.ID[string]).Draw(t, "out")...)
		o.Mode = rapid.SampledFrom([]reservation.OutageMode{reservation.Break, reservation.Break, reservation.Drain}).Draw(t, "mode")
		_, err := c.SetOutage(minute(5), o)
		require.NoError(t, err)
	}
	return c, p
}

// TestRepairsMost compares plans with everything that Seat accepts: with begun
// bookings whose nodes are gone and no floating one, each line in order is repaired if that is possible
// together with those before it, and exactly what is lost moves.
func TestRepairsMost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, p := brokenWorld(t, false, rapid.Bool().Draw(t, "future"), 5)
		plan := c.PlanRepair(c.Present())
		var ids []string
		for r := range c.AtRisk(c.Present()) {
			require.Equal(t, reservation.Active, r.Phase, "%s has begun", r.ID)
			ids = append(ids, r.ID)
		}
		want := most(c, ids, names(p))
		moved := map[string]int{}
		for _, x := range plan.Steps {
			moved[x.ID]++
		}
		for i, id := range ids {
			b, _ := c.Find(id)
			_, lacks := lost(c, b)
			require.Equal(t, want[i], moved[id] > 0, "%s of %v, plan %+v", id, ids, plan)
			require.True(t, moved[id] == 0 || moved[id] == lacks, "%s: %+v", id, plan)
		}
		require.Len(t, plan.Unrepaired, len(ids)-len(moved))
		require.NoError(t, c.Repair(c.Present(), plan))
	})
}

// TestRepairHarmsNobody: in worlds with pinned, floating and early seated
// bookings no healthy node moves, nobody lacks more, and what is left unrepaired
// no choice of nodes repairs.
func TestRepairHarmsNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, p := brokenWorld(t, true, true, 9)
		for b := range c.Binding(minute(20)) {
			if rapid.Bool().Draw(t, "seat") {
				free, _ := c.FreeNodes("p", b.Window)
				if k := b.Lines[0].Count; int64(len(free)) >= k {
					_, _ = c.Seat(minute(5), b.ID, free[:k])
				}
			}
		}
		before := c.Fork()
		plan := c.PlanRepair(c.Present())
		bytes, _ := before.MarshalBinary()
		same, _ := c.MarshalBinary()
		require.Equal(t, bytes, same, "a plan changes nothing")
		require.NoError(t, c.Repair(c.Present(), plan))
		require.NoError(t, c.Check())
		require.NoError(t, reservationtest.Recount(c))
		for b := range before.Bookings("p", reservation.Window{}) {
			healthy, _ := lost(before, b)
			after := seatsOf(c, b.ID)
			for _, n := range healthy {
				require.Contains(t, after, n, "%s: a healthy node has moved", b.ID)
			}
		}
		short := func(c *reservation.Calendar, id string, m int) (n int64) {
			for d := range c.Degraded() {
				if d.ID == id && !minute(m).Before(d.Window.Start) && minute(m).Before(d.Window.End) {
					n += d.Shortfall
				}
			}
			return n
		}
		for b := range c.Bookings("p", reservation.Window{}) {
			for m := 5; m < 40; m++ {
				require.LessOrEqual(t, short(c, b.ID, m), short(before, b.ID, m), "%s at %d", b.ID, m)
			}
		}
		listed := map[string]bool{}
		for _, x := range plan.Unrepaired {
			listed[x.ID] = true
			require.Empty(t, repairs(c, x.ID, names(p)), "%+v", x)
			if x.Why == reservation.OthersNeed {
				require.NotEmpty(t, x.InTheWay)
			}
		}
		for _, d := range plan.Floating {
			listed[d.ID] = true
		}
		for d := range c.Degraded() {
			require.True(t, listed[d.ID], "%+v is neither repaired nor listed", d)
		}
	})
}

// A repair of one line leaves the other lines as they are, also a plan.
func TestRepairOneLine(t *testing.T) {
	c := newCalendar(t, modelStart, poolOf("a", 2, 0, reservation.Policy{}), poolOf("b", 3, 0, reservation.Policy{}))
	lines := []reservation.Line{{Pool: "a", Nodes: []string{"a-1"}}, {Pool: "b", Count: 1}}
	_, err := c.Book(modelStart, reservation.Request{ID: "R", Owner: "o", Window: minutes(100, 120), Lines: lines})
	require.NoError(t, err)
	_, err = c.Book(modelStart, reservation.Request{ID: "P", Owner: "o", Window: minutes(130, 140), Lines: []reservation.Line{{Pool: "b", Nodes: []string{"b-1"}}}})
	require.NoError(t, err)
	c.Advance(minute(90)) // R is near
	_, err = c.SetOutage(minute(91), reservation.Outage{ID: "o", Owner: "ops", Nodes: []string{"a-1"}})
	require.NoError(t, err)
	c.TakeEvents()
	require.Empty(t, c.PlanRepair(minute(91), "b", "x"), "nothing is lost there")
	plan := c.PlanRepair(minute(91), "a")
	require.Equal(t, []reservation.RepairStep{{ID: "R", Version: 1, Pool: "a", Out: "a-1", In: "a-2"}}, plan.Steps)
	require.NoError(t, c.Repair(minute(91), plan))
	require.Equal(t, []string{"seated"}, kinds(c), "the plan in pool b stays")
	require.NoError(t, c.Check())
	c.Advance(minute(100))
	require.Equal(t, []string{"a-2", "b-1"}, seatsOf(c, "R"))
}
