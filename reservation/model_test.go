// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/berth-gpu/berth/reservation"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The model: one pool of nodes 0 … 5 that are counted, minute by minute.
// prep 2, grace 3, cleanup 1. It knows nothing of trees, indexes or seats.
const modelNodes = 6

var modelPolicy = reservation.Policy{Prep: 2 * time.Minute, Grace: 3 * time.Minute, Cleanup: time.Minute}

type modelBooking struct {
	start, end, to int // to is the end of the envelope
	count          int
	expires        int // −1: confirmed
	gone           int // −1, or when it was cancelled or released
	released       bool
}

type model struct {
	now   int
	books map[string]*modelBooking
	outs  map[[2]int]map[int]bool // range → nodes
}

// free returns the free nodes at minute t, now or later.
func (m *model) free(t int) int {
	return m.count(t, func(p reservation.Phase) bool { return p <= reservation.Ended })
}

// lacking reports whether the live bookings alone are too many at minute t: a
// broken node that is only being cleaned hurts nobody.
func (m *model) lacking(t int) bool { return m.count(t, reservation.Phase.Live) < 0 }

func (m *model) count(t int, counts func(reservation.Phase) bool) int {
	n := modelNodes
	for _, b := range m.books {
		if counts(m.phase(b)) && b.start-2 <= t && t < b.to {
			n -= b.count
		}
	}
	for node := range modelNodes {
		for r, nodes := range m.outs {
			if nodes[node] && r[0] <= t && t < r[1] {
				n--
				break
			}
		}
	}
	return n
}

func (m *model) minFree(from, to int) int {
	least := m.free(from)
	for t := from; t < to; t++ {
		least = min(least, m.free(t))
	}
	return least
}

func (m *model) phase(b *modelBooking) reservation.Phase {
	switch {
	case b.gone >= 0 && b.released:
		return reservation.Ended
	case b.gone >= 0:
		return reservation.Cancelled
	case b.expires >= 0 && b.expires <= m.now:
		return reservation.Expired
	case b.expires >= 0:
		return reservation.Held
	case m.now >= b.end+3:
		return reservation.Ended
	case m.now >= b.end:
		return reservation.Grace
	case m.now >= b.start:
		return reservation.Active
	}
	return reservation.Confirmed
}

var modelStart = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func minute(t int) time.Time { return modelStart.Add(time.Duration(t) * time.Minute) }

func minutes(from, to int) reservation.Window {
	return reservation.Window{Start: minute(from), End: minute(to)}
}

// TestModel drives a calendar in the regime in which the count decides (no seat
// and no outage begins in the future) beside the model: I1, I2, I4, I5, I14.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := poolOf("p", modelNodes+1, 1, modelPolicy)
		c := newCalendar(t, modelStart, pool)
		m := &model{books: map[string]*modelBooking{}, outs: map[[2]int]map[int]bool{}}
		pick := func(phases ...reservation.Phase) (string, *modelBooking) {
			var ids []string
			for i := range len(m.books) {
				id := fmt.Sprint("b", i)
				for _, p := range phases {
					if m.phase(m.books[id]) == p {
						ids = append(ids, id)
					}
				}
			}
			if len(ids) == 0 {
				t.Skip("none in the phase")
			}
			id := rapid.SampledFrom(ids).Draw(t, "booking")
			return id, m.books[id]
		}
		line := func(n int) []reservation.Line { return []reservation.Line{{Pool: "p", Count: int64(n)}} }
		t.Repeat(map[string]func(*rapid.T){
			"book": func(t *rapid.T) {
				start := m.now + 2 + rapid.IntRange(0, 20).Draw(t, "in")
				b := &modelBooking{start: start, end: start + rapid.IntRange(1, 15).Draw(t, "length"), expires: -1, gone: -1}
				b.to = b.end + 4
				b.count = rapid.IntRange(1, 4).Draw(t, "count")
				q := reservation.Request{ID: fmt.Sprint("b", len(m.books)), Owner: "o", Window: minutes(b.start, b.end), Lines: line(b.count)}
				free := m.minFree(b.start-2, b.to)
				before := c.Fork()
				var err error
				if ttl := rapid.IntRange(0, 10).Draw(t, "ttl"); ttl > 0 && m.now+ttl <= b.end {
					b.expires = m.now + ttl
					_, err = c.Hold(minute(m.now), q, time.Duration(ttl)*time.Minute)
				} else {
					_, err = c.Book(minute(m.now), q)
				}
				if free >= b.count {
					require.NoError(t, err)
					m.books[q.ID] = b
					return
				}
				var why *reservation.ConflictError
				require.ErrorAs(t, err, &why)
				require.Equal(t, reservation.ReasonCount, why.Reason)
				require.Equal(t, [3]int64{int64(free), int64(b.count), int64(b.count - free)}, [3]int64{why.Free, why.Need, why.Shortfall})
				// I14: the shortfall is exact.
				for less := range 2 {
					more := pool
					for i := range int(why.Shortfall) - less {
						more.Units = append(more.Units[:len(more.Units):len(more.Units)], reservation.Unit{Name: fmt.Sprint("new", i)})
					}
					fork := before.Fork()
					require.NoError(t, fork.SetPool(minute(m.now), more))
					_, err := fork.Book(minute(m.now), q)
					require.Equal(t, less == 0, err == nil, "I14: with %d nodes more: %v", int(why.Shortfall)-less, err)
				}
				// Every offer is kept, and differs from what was refused.
				for i, o := range why.Offers {
					fork := before.Fork()
					_, err := fork.Book(minute(m.now), reservation.Request{ID: "offer", Owner: "o", Window: o.Window, Lines: o.Lines})
					require.NoError(t, err, "offer %d %s %s", i, o.Kind, o.Window)
				}
			},
			"confirm": func(t *rapid.T) {
				id, b := pick(reservation.Held)
				if _, err := c.Confirm(minute(m.now), id, 0); err == nil {
					b.expires = -1
				} else { // only a hold that became short, or has a broken seat, is refused
					require.ErrorIs(t, err, reservation.ErrConflict)
					require.True(t, m.minFree(max(m.now, b.start-2), b.to) < 0 || b.start-2 <= m.now)
				}
			},
			"cancel": func(t *rapid.T) {
				id, b := pick(reservation.Held, reservation.Confirmed)
				_, err := c.Cancel(minute(m.now), id, 0)
				require.NoError(t, err)
				b.gone = m.now
			},
			"release": func(t *rapid.T) {
				id, b := pick(reservation.Active, reservation.Grace)
				_, err := c.Release(minute(m.now), id, 0)
				require.NoError(t, err)
				b.gone, b.released, b.to = m.now, true, min(b.to, m.now+1)
			},
			"extend": func(t *rapid.T) {
				id, b := pick(reservation.Held, reservation.Confirmed, reservation.Active)
				end := max(m.now+1, b.start+1, b.expires) + rapid.IntRange(0, 12).Draw(t, "length")
				open := b.start-2 <= m.now
				_, err := c.Extend(minute(m.now), id, minute(end), 0)
				fits := end+4 <= b.to || m.minFree(b.to, end+4) >= b.count
				if !fits || !open { // what has begun may also be stuck on a node in outage
					require.Equal(t, fits, err == nil, "I2: extend %s to %d: %v", id, end, err)
				}
				if err == nil {
					b.end, b.to = end, end+4
				}
			},
			"outage": func(t *rapid.T) {
				r := [2]int{m.now, m.now + rapid.IntRange(1, 15).Draw(t, "length")}
				nodes := map[int]bool{rapid.IntRange(0, 5).Draw(t, "node"): true, rapid.IntRange(0, 5).Draw(t, "node"): true}
				if m.outs[r] != nil {
					t.Skip("there")
				}
				m.outs[r] = nodes
				o := reservation.Outage{ID: fmt.Sprint(r), Owner: "ops", Window: minutes(r[0], r[1])}
				for n := range nodes {
					o.Nodes = append(o.Nodes, fmt.Sprint("p-", n+1))
				}
				_, err := c.SetOutage(minute(m.now), o)
				require.NoError(t, err)
			},
			"fit": func(t *rapid.T) {
				n, length, align := rapid.IntRange(1, 7).Draw(t, "count"), rapid.IntRange(1, 15).Draw(t, "length"), rapid.SampledFrom([]int{1, 5}).Draw(t, "align")
				lo := m.now + rapid.IntRange(0, 10).Draw(t, "earliest")
				hi := lo + rapid.IntRange(4, 40).Draw(t, "latest")
				want := -1
				for s := hi; s >= max(lo, m.now+2); s-- {
					if s%align == 0 && m.minFree(s-2, s+length+4) >= n {
						want = s
					}
				}
				c.Advance(minute(m.now))
				if c.Present().Before(minute(m.now)) { // the search starts at the present
					_, err := c.SetOutage(minute(m.now), reservation.Outage{ID: "tick", Owner: "ops", Nodes: []string{"p-7"}, Window: minutes(m.now, m.now+1)})
					require.NoError(t, err) // a spare: it does not count
				}
				got, err := c.EarliestFit(c.Present(), reservation.Query{Lines: line(n), Length: time.Duration(length) * time.Minute,
					Earliest: minute(lo), Latest: minute(hi), Align: time.Duration(align) * time.Minute})
				if want < 0 {
					require.Error(t, err)
					return
				}
				require.NoError(t, err)
				require.Equal(t, minutes(want, want+length), got.Window, "I4")
			},
			"wait": func(t *rapid.T) {
				m.now += rapid.IntRange(1, 12).Draw(t, "minutes")
				c.Advance(minute(m.now))
			},
			"": func(t *rapid.T) {
				fork := c.Fork()
				fork.Advance(minute(m.now))
				require.NoError(t, fork.Check())
				for id, b := range m.books { // the cleanup holds the nodes it had
					if got, _ := fork.Find(id); got.Phase == reservation.Ended {
						b.count = len(got.Seats)
					}
				}
				short := false
				for x := range fork.Profile("p", minutes(m.now, m.now+60)) {
					for at := x.Window.Start; at.Before(x.Window.End); at = at.Add(time.Minute) {
						minute := int(at.Sub(modelStart) / time.Minute)
						require.Equal(t, int64(m.free(minute)), x.Free, "I1: minute %d", minute)
						require.Equal(t, x.Capacity-x.Firm, x.Free)
						short = short || m.lacking(minute)
					}
				}
				var lacking int
				for range fork.Degraded() {
					lacking++
				}
				if short {
					require.NotZero(t, lacking, "I2: a shortfall that is not recorded")
				}
				for id, b := range m.books {
					got, ok := fork.Find(id)
					require.True(t, ok)
					require.Equal(t, m.phase(b), got.Phase, id)
					if lacking == 0 && got.Phase.Live() && m.now >= b.start-2 {
						require.Len(t, got.Seats, b.count, "I3: %s", id)
					}
				}
			},
		})
	})
}

// TestSeatsFollow runs the clock on after random commands with pinned lines,
// early seats, planned outages and cancellations: whoever is not Degraded gets
// all its nodes (I3), and the offers hold.
func TestSeatsFollow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCalendar(t, modelStart, poolOf("p", 5, 0, reservation.Policy{}))
		now, n := 0, 0
		var ids []string
		for range rapid.IntRange(5, 40).Draw(t, "commands") {
			now += rapid.IntRange(0, 3).Draw(t, "wait")
			from := now + rapid.IntRange(0, 30).Draw(t, "in")
			w := minutes(from, from+rapid.IntRange(1, 20).Draw(t, "length"))
			node := fmt.Sprint("p-", rapid.IntRange(1, 5).Draw(t, "node"))
			l := reservation.Line{Pool: "p", Count: int64(rapid.IntRange(1, 3).Draw(t, "count"))}
			var err error
			var unplaced *reservation.ConflictError
			command := rapid.IntRange(0, 9).Draw(t, "command")
			switch command {
			case 0:
				l = reservation.Line{Pool: "p", Nodes: []string{node}}
				fallthrough
			case 1, 2, 3:
				n++
				id := fmt.Sprint("b", n)
				if _, err = c.Book(minute(now), reservation.Request{ID: id, Owner: "o", Window: w, Lines: []reservation.Line{l}}); err == nil {
					ids = append(ids, id)
				}
			case 4, 5:
				if len(ids) > 0 {
					id := rapid.SampledFrom(ids).Draw(t, "id")
					if _, err = c.Cancel(minute(now), id, 0); err != nil {
						_, err = c.Release(minute(now), id, 0)
					}
				}
			case 6:
				if len(ids) > 0 {
					_, err = c.Extend(minute(now), rapid.SampledFrom(ids).Draw(t, "id"), w.End, 0)
				}
			case 7:
				for b := range c.Binding(minute(now)) {
					free, _ := c.FreeNodes("p", b.Window)
					if k := b.Lines[0].Count; int64(len(free)) >= k {
						_, err = c.Seat(minute(now), b.ID, rapid.Permutation(free).Draw(t, "nodes")[:k])
					}
					break
				}
			}
			switch command {
			case 8: // an outage is never refused; keep it if it hurts nobody
				fork := c.Fork()
				o := reservation.Outage{ID: fmt.Sprint("o", now), Owner: "ops", Nodes: []string{node}, Window: w}
				impact, err := fork.SetOutage(minute(now), o)
				require.NoError(t, err)
				if len(impact.Degraded) == 0 {
					c = fork
				}
			case 9: // I4: an offer fits
				c.Advance(minute(now))
				lines := []reservation.Line{l, {Pool: "p", Nodes: []string{node}}}[now%2 : now%2+1]
				o, err := c.EarliestFit(c.Present(), reservation.Query{Lines: lines, Length: w.Length(), Earliest: minute(from)})
				require.NoError(t, err)
				_, err = c.Fork().Book(minute(now), reservation.Request{ID: "fit", Owner: "o", Window: o.Window, Lines: lines})
				require.NoError(t, err, "I4")
			}
			if errors.As(err, &unplaced) && unplaced.Reason == reservation.ReasonUnplaced {
				require.GreaterOrEqual(t, unplaced.Free, unplaced.Need)
			}
			require.NoError(t, c.Check())
			for d := range c.Degraded() {
				require.Fail(t, "I3: nothing failed, and yet", "%+v", d)
			}
		}
		far := c.Fork()
		far.TakeEvents()
		far.Advance(minute(now + 100))
		for _, e := range far.Events() {
			if o, ok := e.(reservation.Opened); ok {
				b, _ := far.Find(o.ID)
				require.Len(t, o.Nodes, int(b.Lines[0].Count), "I3: %s", o.ID)
			}
		}
	})
}
