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

func inCells(p reservation.Pool, cells ...reservation.Cell) reservation.Pool {
	p.Regime, p.Cells = reservation.Cells, cells
	return p
}

func TestCells(t *testing.T) {
	c := newCalendar(t, at("00:00"), inCells(h100(8), reservation.Cell{Owner: "vision", Count: 5}, reservation.Cell{Owner: "speech", Count: 3}))
	ask := func(id, owner string, w reservation.Window, n int64) error {
		_, err := c.Book(at("00:00"), request(id, owner, w, n))
		return err
	}
	require.NoError(t, ask("a", "vision", span("10:00", "12:00"), 3))
	require.NoError(t, ask("b", "vision", span("11:00", "12:00"), 1))
	e := conflict(t, ask("c", "vision", span("09:00", "13:00"), 2))
	require.Equal(t, reservation.ReasonCell, e.Reason)
	require.Equal(t, [5]int64{5, 4, 1, 2, 1}, [5]int64{e.Cell, e.Used, e.Free, e.Need, e.Shortfall})
	require.Equal(t, span("11:00", "12:00"), e.At)
	require.Equal(t, []reservation.Blocking{{ID: "b", Owner: "vision", Window: span("11:00", "12:00"), Count: 1}}, e.Blocking)
	require.ErrorContains(t, e, "2 nodes needed, the cell of its owner has 5, of which 4 are in use at 2026-03-02T11:00:00Z; instead: [2026-03-02T12:00:00Z, ")
	var offers []string
	for _, o := range e.Offers {
		offers = append(offers, fmt.Sprint(o.Kind, o.Window.Start.Format(" 15:04"), o.Window.End.Format("-15:04 "), o.Lines[0].Count))
	}
	require.Equal(t, []string{"Later 12:00-16:00 2", "Earlier 07:00-11:00 2", "Shorter 09:00-11:00 2", "Smaller 09:00-13:00 1"}, offers)

	// Idle cells are not for others, but for Standby.
	require.NoError(t, ask("s", "speech", span("10:00", "12:00"), 3))
	require.Equal(t, reservation.ReasonCell, conflict(t, ask("x", "speech", span("10:00", "12:00"), 1)).Reason)
	require.Equal(t, int64(0), conflict(t, ask("x", "guest", span("10:00", "12:00"), 1)).Cell)
	_, err := c.Book(at("00:00"), reservation.Request{ID: "idle", Owner: "guest", Class: reservation.Standby, Window: reservation.Window{Start: at("00:00")}, Lines: []reservation.Line{{Pool: "h100"}}})
	require.NoError(t, err)
	_, err = c.Seat(at("00:00"), "idle", []string{"n7", "n8"})
	require.NoError(t, err)

	o, err := c.EarliestFit(at("00:00"), reservation.Query{Owner: "vision", Lines: []reservation.Line{{Pool: "h100", Count: 3}}, Length: time.Hour, Earliest: at("10:00")})
	require.NoError(t, err)
	require.Equal(t, span("12:00", "13:00"), o.Window)
	_, err = c.EarliestFit(at("00:00"), reservation.Query{Owner: "guest", Lines: []reservation.Line{{Pool: "h100", Count: 1}}, Length: time.Hour})
	require.Equal(t, reservation.ReasonCell, conflict(t, err).Reason)
	_, err = c.EarliestFit(at("00:00"), reservation.Query{Lines: []reservation.Line{{Pool: "h100", Count: 1}}, Length: time.Hour})
	require.ErrorIs(t, err, reservation.ErrInvalid)
	require.ErrorContains(t, err, `pool "h100" has cells`)

	// A mirror that shrinks takes nothing, and shrinking a booking is never refused.
	require.NoError(t, c.SetPool(at("00:00"), inCells(h100(8), reservation.Cell{Owner: "vision", Count: 2})))
	require.Empty(t, slices.Collect(c.Degraded()))
	_, err = c.Extend(at("00:00"), "a", at("11:30"), 0)
	require.NoError(t, err)
	_, err = c.Extend(at("00:00"), "a", at("12:30"), 0)
	require.Equal(t, reservation.ReasonCell, conflict(t, err).Reason)
	require.NoError(t, c.Check())
	require.NoError(t, c.SetPool(at("00:00"), h100(8)))
	_, err = c.Extend(at("00:00"), "a", at("12:30"), 0)
	require.NoError(t, err)
	require.NoError(t, c.Check())
}

// TestCellsModel compares with sums minute by minute, while cells, regime and
// bookings change: a cell is passed only because it shrank, whoever keeps to
// its cell is never refused while the cells fit the pool, offers hold, and the
// earliest start is the earliest.
func TestCellsModel(t *testing.T) {
	owners := []string{"x", "y", "z"}
	rapid.Check(t, func(t *rapid.T) {
		cells := map[string]int{}
		regime := reservation.Open
		pool := func() reservation.Pool {
			p := poolOf("p", modelNodes, 0, modelPolicy)
			p.Regime = regime
			for _, o := range owners {
				if n, ok := cells[o]; ok {
					p.Cells = append(p.Cells, reservation.Cell{Owner: o, Count: int64(n)})
				}
			}
			slices.Reverse(p.Cells) // any order will do
			return p
		}
		c := newCalendar(t, modelStart, pool())
		type booked struct {
			owner    string
			from, to int
			n        int
		}
		books := map[string]booked{}
		used := func(owner string, m int) (n int) {
			for _, b := range books {
				if (owner == "" || b.owner == owner) && b.from <= m && m < b.to {
					n += b.n
				}
			}
			return n
		}
		fits := func(owner string, from, to, n int) (cell, count bool) {
			cell, count = true, true
			for m := from; m < to; m++ {
				cell = cell && (regime == reservation.Open || used(owner, m)+n <= cells[owner])
				count = count && used("", m)+n <= modelNodes
			}
			return cell, count
		}
		for i := range rapid.IntRange(1, 25).Draw(t, "commands") {
			owner := rapid.SampledFrom(owners).Draw(t, "owner")
			start := 2 + rapid.IntRange(0, 25).Draw(t, "start")
			end := start + rapid.IntRange(1, 12).Draw(t, "length")
			n := rapid.IntRange(1, 3).Draw(t, "count")
			id := fmt.Sprint("b", i)
			lines := []reservation.Line{{Pool: "p", Count: int64(n)}}
			switch rapid.IntRange(0, 6).Draw(t, "command") {
			case 0:
				regime = rapid.SampledFrom([]reservation.Regime{reservation.Open, reservation.Cells}).Draw(t, "regime")
				if rapid.Bool().Draw(t, "drop") {
					delete(cells, owner)
				} else {
					cells[owner] = rapid.IntRange(0, 4).Draw(t, "cell")
				}
				require.NoError(t, c.SetPool(modelStart, pool()))
			case 1:
				for id := range books {
					_, err := c.Cancel(modelStart, id, 0)
					require.NoError(t, err)
				}
				clear(books)
			case 2:
				last := fmt.Sprint("b", i-1)
				b, ok := books[last]
				if !ok || end <= b.from+2 {
					continue
				}
				cell, count := fits(b.owner, b.to, end+4, b.n)
				_, err := c.Extend(modelStart, last, minute(end), 0)
				require.Equal(t, cell && count, err == nil, "%v", err)
				if err == nil {
					b.to = end + 4
					books[last] = b
				}
			case 3:
				lo, want := rapid.IntRange(2, 20).Draw(t, "earliest"), -1
				for s := 200; s >= lo; s-- {
					if cell, count := fits(owner, s-2, s+end-start+4, n); cell && count {
						want = s
					}
				}
				o, err := c.EarliestFit(modelStart, reservation.Query{Owner: owner, Lines: lines, Length: minute(end).Sub(minute(start)), Earliest: minute(lo), Align: time.Minute})
				require.Equal(t, want >= 0, err == nil, "%v", err)
				if err == nil {
					require.Equal(t, minute(want), o.Window.Start, "I4")
				}
			default:
				cell, count := fits(owner, start-2, end+4, n)
				before := c.Fork()
				_, err := c.Book(modelStart, reservation.Request{ID: id, Owner: owner, Window: minutes(start, end), Lines: lines})
				require.Equal(t, cell && count, err == nil, "%v", err)
				if err == nil {
					books[id] = booked{owner: owner, from: start - 2, to: end + 4, n: n}
					continue
				}
				var e *reservation.ConflictError
				require.ErrorAs(t, err, &e)
				require.Equal(t, map[bool]reservation.Reason{true: reservation.ReasonCount, false: reservation.ReasonCell}[cell], e.Reason)
				if !cell {
					first := int(e.At.Start.Sub(modelStart) / time.Minute)
					require.Equal(t, int64(cells[owner]), e.Cell)
					require.Equal(t, int64(used(owner, first)), e.Used)
					most := 0
					for m := start - 2; m < end+4; m++ {
						require.True(t, m >= first || used(owner, m)+n <= cells[owner], "the first instant")
						most = max(most, used(owner, m))
					}
					require.Equal(t, int64(n+most-cells[owner]), e.Shortfall, "I14")
				}
				for i, o := range e.Offers {
					_, err := before.Fork().Book(modelStart, reservation.Request{ID: "offer", Owner: owner, Window: o.Window, Lines: o.Lines})
					require.NoError(t, err, "offer %d %s %s", i, o.Kind, o.Window)
				}
			}
			require.NoError(t, c.Check())
		}
	})
}

// While the cells fit the pool, what one owner books never refuses another that
// keeps to its cell.
func TestCellsStarveNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCalendar(t, modelStart, inCells(poolOf("p", 6, 0, modelPolicy), reservation.Cell{Owner: "x", Count: 4}, reservation.Cell{Owner: "y", Count: 2}))
		for i := range rapid.IntRange(1, 20).Draw(t, "n") {
			q := drawRequest(t, fmt.Sprint(i))
			q.Window.Start, q.Window.End = q.Window.Start.Add(2*time.Minute), q.Window.End.Add(2*time.Minute)
			q.Owner = rapid.SampledFrom([]string{"x", "y"}).Draw(t, "owner")
			if _, err := c.Book(modelStart, q); err != nil {
				var e *reservation.ConflictError
				require.ErrorAs(t, err, &e)
				require.Equal(t, reservation.ReasonCell, e.Reason)
				for _, b := range e.Blocking {
					require.Equal(t, q.Owner, b.Owner)
				}
			}
		}
	})
}
