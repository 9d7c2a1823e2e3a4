// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/berth-gpu/berth/reservation"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// inRacks puts the units of a pool into racks of n nodes in one zone.
func inRacks(p reservation.Pool, n int) reservation.Pool {
	p.Levels = []string{"zone", "rack"}
	for i := range p.Units {
		p.Units[i].Path = []string{"z", fmt.Sprint("r", i/n+1)}
	}
	return p
}

func within(id string, w reservation.Window, n int64) reservation.Request {
	q := request(id, "o", w, n)
	q.Lines[0].Within = "rack"
	return q
}

func bookWithin(t *testing.T, c *reservation.Calendar, id string, w reservation.Window, n int64) []string {
	b, err := c.Book(at("00:00"), within(id, w, n))
	require.NoError(t, err)
	return seated(b)
}

func seated(b reservation.Booking) (out []string) {
	for _, x := range b.Seats {
		out = append(out, x.Node)
	}
	return out
}

func TestWithinBestFit(t *testing.T) {
	c := newCalendar(t, at("00:00"), inRacks(h100(9), 3))
	require.NoError(t, pin(c, "pin", span("10:00", "12:00"), "n5"))
	day := span("08:00", "20:00")
	require.Equal(t, []string{"n4", "n6"}, bookWithin(t, c, "a", day, 2), "the rack that is left with the fewest")
	require.Equal(t, []string{"n1", "n2"}, bookWithin(t, c, "b", day, 2), "then the pool's order")
	require.Equal(t, []string{"n3"}, bookWithin(t, c, "c", span("12:00", "13:00"), 1), "one free node is left in two racks")
	require.Equal(t, []string{"n7", "n8", "n9"}, bookWithin(t, c, "d", day, 3))
	require.NoError(t, c.Check())

	e := conflict(t, func() error { _, err := c.Book(at("00:00"), within("e", span("13:00", "14:00"), 2)); return err }())
	require.Equal(t, reservation.ReasonDomain, e.Reason)
	require.Equal(t, [3]int64{1, 2, 1}, [3]int64{e.Free, e.Need, e.Shortfall})
	require.Equal(t, []string{"z", "r1"}, e.Domain)
	require.Equal(t, []reservation.Blocking{{ID: "b", Owner: "o", Window: day, Count: 2}}, e.Blocking)
	require.ErrorContains(t, e, "2 nodes needed within one rack, at most 1 free in all of [2026-03-02T13:00:00Z, 2026-03-02T14:00:00Z); instead: ")
	kinds := map[reservation.OfferKind]string{}
	for _, o := range e.Offers {
		kinds[o.Kind] = fmt.Sprint(o.Window.Start.Format("15:04"), " ", o.Lines[0].Count)
	}
	require.Equal(t, map[reservation.OfferKind]string{reservation.Later: "20:00 2", reservation.Earlier: "07:00 2", reservation.Smaller: "13:00 1"}, kinds)
}

// The bytes and the refusals of what cannot be.
func TestWithinRefusals(t *testing.T) {
	c := newCalendar(t, at("00:00"), inRacks(h100(6), 3))
	for name, x := range map[string]struct {
		line reservation.Line
		is   error
		says string
	}{
		"level":         {reservation.Line{Pool: "h100", Count: 1, Within: "spine"}, reservation.ErrUnknown, `level "spine" in Lines[pool "h100"].Within; the pool has ["zone" "rack"]`},
		"nodes":         {reservation.Line{Pool: "h100", Nodes: []string{"n1"}, Within: "rack"}, reservation.ErrInvalid, "only a Firm line without Nodes"},
		"bad name":      {reservation.Line{Pool: "h100", Count: 1, Within: "a\n"}, reservation.ErrInvalid, "control character"},
		"more than one": {reservation.Line{Pool: "h100", Count: 4, Within: "rack"}, reservation.ErrConflict, "within one rack, at most 3 free"},
	} {
		q := request("x", "o", span("10:00", "12:00"), 1)
		q.Lines[0] = x.line
		_, err := c.Book(at("00:00"), q)
		require.ErrorIs(t, err, x.is, name)
		require.ErrorContains(t, err, x.says, name)
	}
	bookWithin(t, c, "a", span("10:00", "12:00"), 2)
	_, err := c.Seat(at("00:00"), "a", []string{"n3", "n4"})
	require.ErrorContains(t, err, `node "n4" is not in the same rack`)
	for _, p := range []reservation.Pool{
		{Name: "p", GPUsPerUnit: 1, Levels: []string{"rack", "rack"}},
		{Name: "p", GPUsPerUnit: 1, Levels: []string{""}},
		{Name: "p", GPUsPerUnit: 1, Levels: []string{"rack"}, Units: []reservation.Unit{{Name: "u", Path: []string{"a", "b"}}}},
		{Name: "p", GPUsPerUnit: 1, Regime: 7},
		{Name: "p", GPUsPerUnit: 1, Cells: []reservation.Cell{{Owner: "a"}, {Owner: "a"}}},
		{Name: "p", GPUsPerUnit: 1, Cells: []reservation.Cell{{Owner: "a", Count: -1}}},
	} {
		require.ErrorIs(t, c.SetPool(at("00:00"), p), reservation.ErrInvalid, "%+v", p)
	}
	spans := []reservation.Span{{From: at("10:00"), To: at("12:00")}}
	for i, seats := range [][][]string{nil, {nil}, {{"n5"}}, {{"n3", "n4"}}, {{"n5", "n4"}}, {{"n1", "n3"}}, {{"n4", "n5"}, nil}} {
		e := reservation.Booked{At: at("00:00"), Request: within("e", span("10:00", "12:00"), 2), Spans: spans, Seats: seats}
		require.ErrorIs(t, c.Apply(e), reservation.ErrEvent, "%d", i)
	}
	require.ErrorIs(t, c.Apply(reservation.Booked{At: at("00:00"), Request: request("e", "o", span("10:00", "12:00"), 1), Spans: spans, Seats: [][]string{{"n5"}}}), reservation.ErrEvent)
	require.ErrorIs(t, c.Apply(reservation.Seated{At: at("00:00"), ID: "a", Nodes: []string{"n3", "n4"}}), reservation.ErrEvent)
	require.ErrorIs(t, c.Apply(reservation.Opened{At: at("10:00"), ID: "a", Pool: "h100", Nodes: []string{"n3", "n4"}}), reservation.ErrEvent)
	require.NoError(t, c.Check())
}

// The host may seat it elsewhere until it begins; then only what is lost is
// replaced, in the same domain.
func TestWithinSeat(t *testing.T) {
	c := newCalendar(t, at("00:00"), inRacks(h100(6), 3))
	require.Equal(t, []string{"n1", "n2"}, bookWithin(t, c, "a", span("10:00", "12:00"), 2))
	b, err := c.Seat(at("09:00"), "a", []string{"n5", "n6"})
	require.NoError(t, err)
	require.Equal(t, []string{"n5", "n6"}, seated(b))
	c.Advance(at("10:00"))
	_, err = c.SetOutage(at("10:30"), reservation.Outage{ID: "o", Owner: "ops", Nodes: []string{"n5"}})
	require.NoError(t, err)
	_, err = c.Seat(at("10:30"), "a", []string{"n1", "n6"})
	require.ErrorIs(t, err, reservation.ErrInvalid)
	_, err = c.Seat(at("10:30"), "a", []string{"n4", "n6"})
	require.NoError(t, err)
	require.Empty(t, slices.Collect(c.Degraded()))
	require.NoError(t, c.Check())
}

// A node that is lost before the begin is replaced at the begin: in its domain,
// else all move, else the booking is Degraded.
func TestWithinLosesNode(t *testing.T) {
	for name, x := range map[string]struct {
		others map[string][]string
		want   []string
		short  int64
	}{
		"in its rack":    {nil, []string{"n2", "n3"}, 0},
		"all move":       {map[string][]string{"p": {"n3"}}, []string{"n4", "n5"}, 0},
		"it stays short": {map[string][]string{"p": {"n3", "n5", "n6"}}, []string{"n1", "n2"}, 1},
	} {
		c := newCalendar(t, at("00:00"), inRacks(h100(6), 3))
		require.Equal(t, []string{"n1", "n2"}, bookWithin(t, c, "a", span("10:00", "12:00"), 2), name)
		for id, nodes := range x.others {
			require.NoError(t, pin(c, id, span("10:00", "12:00"), nodes...), name)
		}
		_, err := c.SetOutage(at("09:00"), reservation.Outage{ID: "o", Owner: "ops", Nodes: []string{"n1"}})
		require.NoError(t, err, name)
		require.Len(t, slices.Collect(c.Degraded()), 1, name)
		c.Advance(at("10:00"))
		b, _ := c.Find("a")
		require.Equal(t, x.want, seated(b), name)
		short := int64(0)
		for d := range c.Degraded() {
			short += d.Shortfall
		}
		require.Equal(t, x.short, short, name)
		require.NoError(t, c.Check(), name)
	}
}

// The pool changes under a line: a node that goes, or moves to another rack, is
// lacking until the line begins or is seated; a level that goes asks nothing.
func TestWithinPoolChanges(t *testing.T) {
	pool := inRacks(h100(6), 3)
	c := newCalendar(t, at("00:00"), pool)
	bookWithin(t, c, "a", span("10:00", "12:00"), 2)
	fork := c.Fork()
	gone := pool
	gone.Units = gone.Units[1:]
	require.NoError(t, fork.SetPool(at("01:00"), gone))
	require.NoError(t, fork.SetPool(at("01:00"), inRacks(h100(6), 3)))
	b, _ := fork.Find("a")
	require.Equal(t, []string{"n2"}, seated(b))
	require.Len(t, slices.Collect(fork.Degraded()), 1)
	fork.Advance(at("10:00"))
	b, _ = fork.Find("a")
	require.Len(t, seated(b), 2)
	require.Empty(t, slices.Collect(fork.Degraded()))
	require.NoError(t, fork.Check())

	moved := inRacks(h100(6), 3)
	moved.Units[0].Path = []string{"z", "r2"}
	require.NoError(t, c.SetPool(at("01:00"), moved))
	b, _ = c.Find("a")
	require.Equal(t, []string{"n1"}, seated(b), "as many as can be, the first of the pool among equals")
	require.Len(t, slices.Collect(c.Degraded()), 1)
	moved.Levels = nil
	require.NoError(t, c.SetPool(at("01:00"), moved))
	_, err := c.Seat(at("01:00"), "a", []string{"n3", "n4"})
	require.NoError(t, err)
	require.NoError(t, c.Check())
}

// A booking takes a planned node if the floating line finds another one; else it
// goes to the next domain, and if there is none it is Unplaced.
func TestWithinKeepsPlans(t *testing.T) {
	c := newCalendar(t, at("00:00"), inRacks(h100(4), 2))
	require.NoError(t, pin(c, "pin", span("12:00", "13:00"), "n1"))
	require.NoError(t, book(c, "float", "10:00", "13:00", 1))
	require.NoError(t, pin(c, "x", span("10:00", "11:00"), "n3"))
	require.Equal(t, []string{"n1", "n2"}, bookWithin(t, c, "a", span("10:00", "11:00"), 2), "float goes to n4")
	require.NoError(t, c.Check())

	c = newCalendar(t, at("00:00"), inRacks(h100(6), 2))
	require.NoError(t, pin(c, "pin", span("12:00", "13:00"), "n1", "n3", "n4", "n5", "n6"))
	require.NoError(t, book(c, "float", "10:00", "13:00", 1)) // on n2 alone
	require.Equal(t, []string{"n3", "n4"}, bookWithin(t, c, "a", span("10:00", "11:00"), 2), "not rack 1, though it comes first")
	require.NoError(t, pin(c, "x", span("10:00", "11:00"), "n5"))
	_, err := c.Book(at("00:00"), within("b", span("10:00", "11:00"), 2))
	e := conflict(t, err)
	require.Equal(t, reservation.ReasonUnplaced, e.Reason)
	require.ErrorContains(t, e, "tried 1 of 1 domains (rack) with as many, keeping the plans of the others or laying them anew")
	require.Equal(t, at("11:00"), e.Offers[0].Window.Start)
	require.NoError(t, c.Check())
}

// TestWithinExact compares with brute force while nothing floats: the answer is
// yes iff some domain works; the earliest start is the earliest; with the
// shortfall more nodes in the named domain it is yes (I4, I14).
func TestWithinExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		racks := rapid.IntRange(1, 3).Draw(t, "racks")
		pool := reservation.Pool{Name: "p", GPUsPerUnit: 8, Levels: []string{"rack"}, Policy: modelPolicy}
		rackOf := map[string]int{}
		for i := range rapid.IntRange(1, 6).Draw(t, "nodes") {
			k := rapid.IntRange(0, racks).Draw(t, "rack") // 0: in none
			u := reservation.Unit{Name: fmt.Sprint("n", i), Spare: rapid.IntRange(0, 5).Draw(t, "spare") == 0}
			if k > 0 {
				u.Path = []string{fmt.Sprint("r", k)}
			}
			if !u.Spare {
				rackOf[u.Name] = k
			}
			pool.Units = append(pool.Units, u)
		}
		c := newCalendar(t, modelStart, pool)
		busy := map[string][][2]int{} // node → envelopes and outages
		free := func(name string, from, to int) bool {
			for _, x := range busy[name] {
				if x[0] < to && from < x[1] {
					return false
				}
			}
			return true
		}
		most := func(from, to int) (n int) { // free nodes of the best rack
			for k := 1; k <= racks; k++ {
				m := 0
				for name, rack := range rackOf {
					if rack == k && free(name, from, to) {
						m++
					}
				}
				n = max(n, m)
			}
			return n
		}
		for i := range rapid.IntRange(0, 14).Draw(t, "commands") {
			from := 2 + rapid.IntRange(0, 25).Draw(t, "from")
			to := from + rapid.IntRange(1, 12).Draw(t, "length")
			n := rapid.IntRange(1, 3).Draw(t, "count")
			id := fmt.Sprint("b", i)
			q := reservation.Request{ID: id, Owner: "o", Window: minutes(from, to), Lines: []reservation.Line{{Pool: "p", Count: int64(n), Within: "rack"}}}
			if command := rapid.IntRange(0, 5).Draw(t, "command"); command == 0 {
				node := rapid.SampledFrom(pool.Units).Draw(t, "node").Name
				ok := free(node, from, to)
				for _, x := range busy[node] {
					ok = ok && !(x[0] < to && from < x[1])
				}
				if ok { // an outage that hurts nobody
					_, err := c.SetOutage(modelStart, reservation.Outage{ID: id, Owner: "ops", Nodes: []string{node}, Window: minutes(from, to)})
					require.NoError(t, err)
					busy[node] = append(busy[node], [2]int{from, to})
				}
				continue
			}
			before := c.Fork()
			b, err := c.Book(modelStart, q)
			have := most(from-2, to+4)
			require.Equal(t, have >= n, err == nil, "%d of %d: %v", have, n, err)
			lo := rapid.IntRange(0, 20).Draw(t, "earliest")
			want := max(lo, 2)
			for want < 200 && most(want-2, want+to-from+4) < n {
				want++
			}
			// Before the booking: the brute force does not know it yet.
			got, fit := before.EarliestFit(modelStart, reservation.Query{Lines: q.Lines, Length: q.Window.Length(), Earliest: minute(lo), Align: time.Minute})
			require.Equal(t, want < 200, fit == nil, "%v", fit)
			if fit == nil {
				require.Equal(t, minute(want), got.Window.Start, "I4")
			}
			if err == nil {
				require.Len(t, b.Seats, n)
				for _, x := range b.Seats {
					require.Equal(t, rackOf[b.Seats[0].Node], rackOf[x.Node])
					require.NotZero(t, rackOf[x.Node])
					require.True(t, free(x.Node, from-2, to+4), "I3")
					busy[x.Node] = append(busy[x.Node], [2]int{from - 2, to + 4})
				}
				continue
			}
			var e *reservation.ConflictError
			require.ErrorAs(t, err, &e)
			for i, o := range e.Offers {
				_, err := before.Fork().Book(modelStart, reservation.Request{ID: "offer", Owner: "o", Window: o.Window, Lines: o.Lines})
				require.NoError(t, err, "offer %d %s %s", i, o.Kind, o.Window)
			}
			if e.Reason != reservation.ReasonDomain {
				continue // the count: it is smaller still
			}
			require.Equal(t, int64(have), e.Free)
			for less := range int64(2) { // I14
				more := pool
				for i := range e.Shortfall - less {
					more.Units = append(more.Units[:len(more.Units):len(more.Units)], reservation.Unit{Name: fmt.Sprint("new", i), Path: e.Domain})
				}
				fork := before.Fork()
				require.NoError(t, fork.SetPool(modelStart, more))
				_, err := fork.Book(modelStart, q)
				if len(e.Domain) > 0 {
					require.Equal(t, less == 0, err == nil, "I14: %v", err)
				}
			}
		}
		require.NoError(t, c.Check())
		require.Empty(t, slices.Collect(c.Degraded()))
	})
}

// TestWithinAmongOthers mixes lines of all forms: what is accepted gets its
// nodes in one domain, nobody loses any (I3), and the offers hold.
func TestWithinAmongOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCalendar(t, modelStart, inRacks(poolOf("p", 6, 0, reservation.Policy{}), 2))
		rack := map[string]string{}
		pool, _ := c.Pool("p")
		for _, u := range pool.Units {
			rack[u.Name] = u.Path[1]
		}
		now := 0
		for i := range rapid.IntRange(5, 30).Draw(t, "commands") {
			now += rapid.IntRange(0, 3).Draw(t, "wait")
			from := now + rapid.IntRange(0, 20).Draw(t, "in")
			w := minutes(from, from+rapid.IntRange(1, 15).Draw(t, "length"))
			l := reservation.Line{Pool: "p", Count: int64(rapid.IntRange(1, 2).Draw(t, "count"))}
			switch rapid.IntRange(0, 4).Draw(t, "form") {
			case 0:
				l = reservation.Line{Pool: "p", Nodes: []string{fmt.Sprint("p-", rapid.IntRange(1, 6).Draw(t, "node"))}}
			case 1, 2:
				l.Within = "rack"
			}
			before := c.Fork()
			_, err := c.Book(minute(now), reservation.Request{ID: fmt.Sprint("b", i), Owner: "o", Window: w, Lines: []reservation.Line{l}})
			if err != nil {
				var e *reservation.ConflictError
				require.ErrorAs(t, err, &e)
				for i, o := range e.Offers {
					_, err := before.Fork().Book(minute(now), reservation.Request{ID: "offer", Owner: "o", Window: o.Window, Lines: o.Lines})
					require.NoError(t, err, "offer %d %s %s", i, o.Kind, o.Window)
				}
			}
			require.NoError(t, c.Check())
			require.Empty(t, slices.Collect(c.Degraded()), "I3")
		}
		for b := range c.Bookings("", reservation.Window{}) {
			c.Advance(b.Envelope.Start)
			got, _ := c.Find(b.ID)
			require.Len(t, got.Seats, int(b.Lines[0].Count), "I3: %s", b.ID)
			for _, x := range got.Seats {
				require.True(t, b.Lines[0].Within == "" || rack[x.Node] == rack[got.Seats[0].Node], "%s: %v", b.ID, got.Seats)
			}
		}
	})
}

// At the instant of the last fixed seat the count decides: a line that begins
// then takes what others only wish for, also when the clock jumps there.
func TestOpensBesideAFixedSeat(t *testing.T) {
	c := newCalendar(t, at("09:55"), h100(3))
	ask := func(id string, w reservation.Window, l reservation.Line) {
		l.Pool = "h100"
		_, err := c.Book(at("09:55"), reservation.Request{ID: id, Owner: "o", Window: w, Lines: []reservation.Line{l}})
		require.NoError(t, err)
	}
	ask("a", span("10:00", "12:00"), reservation.Line{Count: 1})
	ask("b", span("10:01", "12:00"), reservation.Line{Count: 2})
	ask("pin", span("10:00", "10:01"), reservation.Line{Nodes: []string{"n1"}})
	c.Advance(at("10:30"))
	for _, id := range []string{"a", "b"} {
		b, _ := c.Find(id)
		require.Len(t, b.Seats, int(b.Lines[0].Count), id)
	}
	require.Empty(t, slices.Collect(c.Degraded()))
}
