// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-gpu/berth/internal/enginetest"
	"github.com/berth-gpu/berth/reservation"
	"github.com/stretchr/testify/require"
)

// poolOf returns a pool of n nodes named prefix1, prefix2 …, of which the last
// spares are spares.
func poolOf(name string, n, spares int, policy reservation.Policy) reservation.Pool {
	p := reservation.Pool{Name: name, GPUsPerUnit: 8, Policy: policy}
	for i := 1; i <= n; i++ {
		p.Units = append(p.Units, reservation.Unit{Name: fmt.Sprintf("%s-%d", name, i), Spare: i > n-spares})
	}
	return p
}

func newCalendar(t require.TestingT, start time.Time, pools ...reservation.Pool) *reservation.Calendar {
	c, err := reservation.New(reservation.Config{Pools: pools, Start: start})
	require.NoError(t, err)
	return c
}

var suitePools = []reservation.Pool{
	inRacks(poolOf("a", 5, 1, reservation.Policy{Prep: 5 * time.Minute, Grace: 4 * time.Minute, Cleanup: 3 * time.Minute}), 2),
	inRacks(poolOf("b", 4, 0, reservation.Policy{MaxLength: 6 * time.Hour, Horizon: 14 * 24 * time.Hour, NoShowGrace: 40 * time.Minute}), 2),
}

// randomCommand runs one command drawn from r; many of them are refused. It
// draws the same numbers whatever the calendar answers.
func randomCommand(r *rand.Rand, c *reservation.Calendar, at time.Time) (string, error) {
	if r.IntN(4) == 0 {
		return randomIntent(r, c, at)
	}
	id := fmt.Sprintf("r%d", r.IntN(60))
	target, some := id, r.IntN(100)
	if live := slices.Collect(c.Bookings("", reservation.Window{})); len(live) > 0 && some < 90 {
		target = live[some%len(live)].ID
	}
	from := at.Truncate(10 * time.Minute).Add(time.Duration(r.IntN(36)) * 10 * time.Minute)
	length := time.Duration(1+r.IntN(18)) * 10 * time.Minute
	pool := []string{"a", "b"}[r.IntN(2)]
	n := 1 + r.IntN(4)
	version := uint64(0)
	if r.IntN(6) == 0 {
		version = uint64(1 + r.IntN(3))
	}
	var nodes []string
	for _, i := range r.Perm(5)[:n] {
		nodes = append(nodes, fmt.Sprintf("%s-%d", pool, i+1))
	}
	q := reservation.Request{ID: id, Owner: "team" + id[1:2], Window: reservation.Window{Start: from, End: from.Add(length)}}
	q.Lines = []reservation.Line{{Pool: pool, Count: int64(n)}}
	switch r.IntN(8) {
	case 0, 1:
		q.Lines = []reservation.Line{{Pool: pool, Nodes: nodes}}
	case 2:
		q.Lines = []reservation.Line{{Pool: "a", Count: 1}, {Pool: "b", Count: int64(n)}}
	case 4, 5:
		q.Lines = []reservation.Line{{Pool: pool, Count: int64(1 + n%2), Within: "rack"}}
	case 6:
		q.Lines = []reservation.Line{{Pool: "a", Count: int64(1 + n%2), Within: "rack"}, {Pool: "b", Count: int64(n), Within: "zone"}}
	case 3:
		q.Class, q.Lines = reservation.Standby, []reservation.Line{{Pool: pool}}
		q.Window = reservation.Window{Start: at.Truncate(time.Second).Add(time.Second)}
	}
	coin, k, ttl := r.IntN(8), r.IntN(36), time.Duration(1+r.IntN(60))*time.Minute
	show := func(b reservation.Booking, err error) (string, error) {
		return fmt.Sprintf("%+v", b), err
	}
	switch k {
	case 0, 1, 2, 3, 4:
		return show(c.Book(at, q))
	case 5, 6, 7:
		return show(c.Hold(at, q, ttl))
	case 8, 9:
		return show(c.Confirm(at, target, version))
	case 10:
		return show(c.Cancel(at, target, version))
	case 11, 12:
		return show(c.Release(at, target, version))
	case 13, 14:
		return show(c.Extend(at, target, from.Add(length), version))
	case 15, 16, 17:
		if b, ok := c.Find(target); ok && coin > 2 { // nodes of its own pool
			for i := range nodes {
				nodes[i] = b.Lines[0].Pool + nodes[i][1:]
			}
		}
		return show(c.Seat(at, target, nodes))
	case 18:
		for b := range c.Binding(at.Add(5 * time.Hour)) {
			l := b.Lines[0]
			free, err := c.FreeNodes(l.Pool, b.Window)
			if err != nil || int64(len(free)) < l.Count {
				return "", fmt.Errorf("no free nodes for %s: %w", b.ID, err)
			}
			return show(c.Seat(at, b.ID, free[:l.Count]))
		}
		return "nothing to bind", nil
	case 19, 20:
		o := reservation.Outage{ID: fmt.Sprintf("o%d", coin%3), Owner: "ops", Nodes: nodes, Window: reservation.Window{Start: from, End: from.Add(length)}}
		if coin == 0 {
			o.Window = reservation.Window{}
		}
		o.Mode = []reservation.OutageMode{reservation.Break, reservation.Break, reservation.Refuse, reservation.Drain}[n-1]
		impact, err := c.SetOutage(at, o)
		return fmt.Sprintf("%+v", impact), err
	case 21:
		return "ended", c.EndOutage(at, fmt.Sprintf("o%d", coin%3))
	case 22:
		p := suitePools[n%2]
		p.Units = slices.Clone(p.Units)
		if coin < 4 {
			i := coin % len(p.Units)
			p.Units = append(p.Units[:i:i], p.Units[i+1:]...)
		}
		if coin == 1 && len(p.Units) > 0 {
			p.Units[0].Spare = true
		}
		switch coin {
		case 4:
			p.Regime = reservation.Cells
			for i := 9; i > n; i-- {
				p.Cells = append(p.Cells, reservation.Cell{Owner: fmt.Sprint("team", i), Count: int64(i % 4)})
			}
		case 5: // a node moves to another rack
			i := n % len(p.Units)
			p.Units[i].Path = p.Units[(i+2)%len(p.Units)].Path
		case 6:
			p.Levels = nil
		}
		if coin == 7 {
			return "removed", c.RemovePool(at, pool)
		}
		return "set", c.SetPool(at, p)
	case 23:
		return show(c.Move(at, target, q.Window, version))
	case 24:
		return show(c.Resize(at, target, q.Lines, version))
	case 25:
		return show(c.Transfer(at, target, q.Owner, version))
	case 26:
		b, moved, err := c.Push(at, target, from.Add(length), version)
		return fmt.Sprintf("%+v %+v", b, moved), err
	case 27, 28:
		part := reservation.Part{Time: from}
		if b, ok := c.Find(target); ok && coin < 5 {
			part = reservation.Part{Lines: []reservation.Line{{Pool: b.Lines[0].Pool, Count: 1}}}
		}
		b, child, err := c.Split(at, target, id, part, version)
		return fmt.Sprintf("%+v %+v", b, child), err
	case 29:
		for b := range c.Bookings("", reservation.Window{}) {
			if b.Continues != "" && coin < 3 {
				return show(c.Merge(at, b.ID, b.Continues, version))
			}
			if b.From != "" && coin > 2 {
				return show(c.Merge(at, b.ID, b.From, version))
			}
		}
		return show(c.Merge(at, target, id, version))
	case 30:
		if coin < 2 {
			return show(c.Revoke(at, target, "why not", version))
		}
		return show(c.CheckIn(at, target, version))
	case 31:
		if coin < 3 {
			return show(c.Reclaim(at, target, version))
		}
		to := time.Time{}
		if coin < 6 {
			to = from
		}
		return show(c.Yield(at, target, to, version))
	case 32:
		if b, ok := c.Find(target); ok {
			q.Owner, q.Continues, q.Class, q.Lines, q.Window = b.Owner, b.ID, reservation.Firm, b.Lines, reservation.Window{Start: b.Window.End, End: b.Window.End.Add(length)}
		}
		return show(c.Book(at, q))
	case 33, 34:
		plan := c.PlanRepair(at)
		if coin == 0 && len(plan.Steps) > 0 {
			plan.Steps[len(plan.Steps)-1].Version++
		}
		return fmt.Sprintf("%+v", plan), c.Repair(at, plan)
	default:
		gone, err := c.Forget(at, at.Truncate(time.Second).Add(-time.Duration(coin)*time.Hour))
		return fmt.Sprint(gone), err
	}
}

// randomQuestions asks c everything it can be asked.
func randomQuestions(r *rand.Rand, c *reservation.Calendar) string {
	var b strings.Builder
	from := c.Present().Add(time.Duration(r.IntN(7200)) * time.Second)
	w := reservation.Window{Start: from, End: from.Add(time.Duration(1+r.IntN(36000)) * time.Second)}
	count := int64(1 + r.IntN(5))
	next, ok := c.Next()
	fmt.Fprintln(&b, next, ok)
	next, ok = c.NextBinding()
	fmt.Fprintln(&b, next, ok)
	for _, pool := range []string{"a", "b", "c"} {
		free, err := c.MinFree(pool, w)
		fmt.Fprintln(&b, pool, free, err)
		fmt.Fprintln(&b, slices.Collect(c.Profile(pool, w)))
		bins, err := c.Bins(pool, w, 1+int(count))
		fmt.Fprintln(&b, bins, err)
		nodes, err := c.FreeNodes(pool, w)
		fmt.Fprintln(&b, nodes, err)
		fmt.Fprintln(&b, slices.Collect(c.Bookings(pool, w)))
		lines := []reservation.Line{{Pool: pool, Count: count}}
		if r.IntN(2) == 0 {
			lines[0].Within = "rack"
		}
		offer, err := c.EarliestFit(c.Present(), reservation.Query{Owner: "team1", Lines: lines, Length: w.Length(), Earliest: from, Align: time.Minute})
		fmt.Fprintln(&b, offer, err)
		fmt.Fprintln(&b, c.Offers(c.Present(), reservation.Request{ID: "ask", Owner: "team1", Window: w, Lines: lines}))
		offers, err := c.Search(c.Present(), reservation.Query{Owner: "team1", Lines: lines, Length: w.Length(), Start: from, Segments: int(count), MinLength: w.Length() / time.Second / 3 * time.Second,
			MinCounts: map[string]int64{pool: 1}, Others: map[string][]string{pool: {"a", "b"}}, Limit: 5})
		fmt.Fprintln(&b, offers, err)
		units, err := c.FreeUnits(pool, w, reservation.Selector{Spares: reservation.SpareChoice(count % 3)})
		fmt.Fprintln(&b, units, err)
	}
	for booked := range c.Bookings("", reservation.Window{}) {
		end, err := c.LatestEnd(c.Present(), booked.ID)
		fmt.Fprintln(&b, end, err)
	}
	fmt.Fprintln(&b, slices.Collect(c.Degraded()), slices.Collect(c.Binding(from)), slices.Collect(c.Outages()))
	fmt.Fprintln(&b, slices.Collect(c.Bookings("", reservation.Window{})))
	fmt.Fprintln(&b, slices.Collect(c.AtRisk(from)), c.PlanRepair(from), c.PlanRepair(from, "b"))
	closing := reservation.Outage{ID: "o1", Owner: "ops", Nodes: []string{"a-1", "b-2"}, Window: w}
	smaller := suitePools[1]
	smaller.Units = smaller.Units[:2]
	for _, change := range []reservation.Change{{SetOutage: &closing}, {EndOutage: "o0"}, {SetPool: &smaller}, {}} {
		impact, err := c.Impact(from, change)
		fmt.Fprintln(&b, impact, err)
	}
	askIntents(&b, c)
	js, err := c.MarshalJSON()
	fmt.Fprintln(&b, string(js), err)
	return b.String()
}

func TestSuite(t *testing.T) {
	enginetest.Run(t, enginetest.Subject[*reservation.Calendar, reservation.Event]{
		New:     func() *reservation.Calendar { return newCalendar(t, enginetest.Start, suitePools...) },
		Restore: reservation.Restore,
		Decode:  reservation.DecodeEvent,
		Do:      randomCommand,
		Ask:     randomQuestions,
		Check:   (*reservation.Calendar).Check,
	})
}
