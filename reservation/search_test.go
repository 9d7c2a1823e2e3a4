// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/berth-gpu/berth/reservation"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// bookable books all pieces of an offer on a fork.
func bookable(t require.TestingT, c *reservation.Calendar, at time.Time, o reservation.Offer) {
	fork := c.Fork()
	pieces := o.Segments
	if len(pieces) == 0 {
		pieces = []reservation.Window{o.Window}
	}
	for i, w := range pieces {
		_, err := fork.Book(at, reservation.Request{ID: fmt.Sprint("offer/", i), Owner: "o", Window: w, Lines: o.Lines})
		require.NoError(t, err, "I4: %s %s: piece %d", o.Kind, o, i)
	}
}

// I4: whatever is offered can be booked, also among named nodes, early seats and
// outages; offers keep what the query says, and their rank.
func TestSearchOffersHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := poolOf("p", 4, 0, modelPolicy), poolOf("q", 3, 0, reservation.Policy{MaxLength: 10 * time.Minute, Prep: time.Minute})
		r := poolOf("r", 5, 0, reservation.Policy{})
		p.Label, q.Label, r.GPUsPerUnit = "H", "H", 4
		c := newCalendar(t, modelStart, p, q, r)
		for i := range rapid.IntRange(0, 12).Draw(t, "n") {
			x := drawRequest(t, fmt.Sprint(i))
			pool := rapid.SampledFrom([]string{"p", "p", "p", "q", "r"}).Draw(t, "pool")
			x.Lines[0].Pool = pool
			node := fmt.Sprint(pool, "-", rapid.IntRange(1, 3).Draw(t, "node"))
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				x.Lines[0] = reservation.Line{Pool: pool, Nodes: []string{node}}
			case 1:
				_, err := c.SetOutage(modelStart, reservation.Outage{ID: fmt.Sprint("o", i), Owner: "ops", Nodes: []string{node}, Window: x.Window})
				require.NoError(t, err)
				continue
			}
			_, _ = c.Book(modelStart, x)
		}
		now := minute(rapid.IntRange(0, 20).Draw(t, "now"))
		from := rapid.IntRange(20, 50).Draw(t, "start")
		length := rapid.IntRange(1, 15).Draw(t, "length")
		ask := reservation.Query{Lines: []reservation.Line{{Pool: "p", Count: int64(rapid.IntRange(1, 4).Draw(t, "count"))}},
			Start: minute(from), Length: time.Duration(length) * time.Minute, Align: time.Duration(rapid.IntRange(1, 3).Draw(t, "align")) * time.Minute,
			MinLength: time.Duration(rapid.IntRange(1, length).Draw(t, "minLength")) * time.Minute, Segments: rapid.IntRange(0, 3).Draw(t, "segments"),
			MinCounts: map[string]int64{"p": 1}, Limit: rapid.IntRange(0, 3).Draw(t, "limit")}
		switch rapid.IntRange(0, 4).Draw(t, "variant") {
		case 0:
			ask.Lines = []reservation.Line{{Pool: "p", Nodes: []string{"p-1"}}}
		case 1:
			ask.Lines = append(ask.Lines, reservation.Line{Pool: "r", Count: 2})
		case 2:
			ask.Others = map[string][]string{"p": {"r", "q"}}
		}
		if rapid.Bool().Draw(t, "bounded") {
			ask.Earliest, ask.Latest = minute(from-10), minute(from+20)
			ask.Deadline = minute(from + length + rapid.IntRange(0, 20).Draw(t, "deadline"))
		}
		before, err := c.MarshalBinary()
		require.NoError(t, err)
		offers, err := c.Search(now, ask)
		after, err2 := c.MarshalBinary()
		require.NoError(t, err2)
		require.Equal(t, before, after)
		require.Equal(t, err == nil, len(offers) > 0, "offers or an error: %v", err)
		if ask.Limit > 0 {
			require.LessOrEqual(t, len(offers), ask.Limit)
		}
		part, off, work := false, time.Duration(0), int64(math.MaxInt64)
		wish := ask.Start
		if rest := wish.Sub(time.Unix(0, 0)) % ask.Align; rest != 0 {
			wish = wish.Add(ask.Align - rest)
		}
		for i, o := range offers {
			bookable(t, c, now, o)
			require.False(t, o.Window.Start.Before(now) || o.Window.Start.Before(ask.Earliest))
			require.False(t, !ask.Latest.IsZero() && o.Window.Start.After(ask.Latest))
			require.False(t, !ask.Deadline.IsZero() && o.Window.End.After(ask.Deadline))
			require.Zero(t, o.Window.Start.Unix()%int64(ask.Align/time.Second))
			switch o.Kind {
			case reservation.Exact:
				require.Len(t, offers, 1)
				require.Equal(t, wish, o.Window.Start)
			case reservation.Later:
				require.True(t, o.Window.Start.After(wish))
			case reservation.Earlier:
				require.True(t, o.Window.Start.Before(wish))
			case reservation.Segments:
				require.LessOrEqual(t, len(o.Segments), ask.Segments)
			}
			if o.Kind == reservation.Shorter || o.Kind == reservation.Smaller {
				n := int64(0)
				for _, l := range o.Lines {
					n += l.Count
				}
				n *= int64(o.Window.Length() / time.Second)
				require.LessOrEqual(t, n, work, "rank %d: %v", i, offers)
				require.GreaterOrEqual(t, o.Window.Length(), ask.MinLength)
				part, work = true, n
				continue
			}
			require.False(t, part, "rank %d: %v", i, offers)
			d := o.Window.End.Sub(wish.Add(ask.Length)).Abs()
			require.GreaterOrEqual(t, d, off, "rank %d: %v", i, offers)
			off = d
			if o.Kind != reservation.Segments {
				require.Equal(t, ask.Length, o.Window.Length())
			}
		}
	})
}

// I4: where the count decides, Later and Earlier are the nearest, and Exact is
// there if and only if it fits. Every start is tried.
func TestSearchIsNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t, rapid.IntRange(1, 2).Draw(t, "pools"))
		counts := []int64{int64(rapid.IntRange(1, 4).Draw(t, "count")), 1}[:len(w.pools)]
		length, align := rapid.IntRange(1, 15).Draw(t, "length"), rapid.IntRange(1, 4).Draw(t, "align")
		start := (w.now + rapid.IntRange(5, 40).Draw(t, "start")) / align * align
		if start < w.now {
			start += align
		}
		want := map[reservation.OfferKind]int{}
		if w.fits(counts, start, start+length) {
			want[reservation.Exact] = start
		} else {
			for s := 0; s <= 2*queryEnd; s++ {
				if s%align != 0 || !w.fits(counts, s, s+length) {
					continue
				}
				if s < start {
					want[reservation.Earlier] = s
				} else if _, ok := want[reservation.Later]; !ok {
					want[reservation.Later] = s
				}
			}
		}
		offers, err := w.c.Search(minute(w.now), reservation.Query{Lines: w.lines(counts), Start: minute(start),
			Length: time.Duration(length) * time.Minute, Align: time.Duration(align) * time.Minute})
		require.NoError(t, err)
		got := map[reservation.OfferKind]int{}
		for _, o := range offers {
			got[o.Kind] = mins(o.Window.Start.Sub(modelStart))
		}
		require.Equal(t, want, got, "I4")
	})
}

// Pools with different graces: work leaves all of them at one instant, so the
// envelope in each pool ends after the greatest grace. EarliestFit knows (I4).
func TestFitOneGraceForAllLines(t *testing.T) {
	c := newCalendar(t, modelStart, poolOf("p", 1, 0, reservation.Policy{}), poolOf("q", 1, 0, reservation.Policy{Grace: 10 * time.Minute}))
	_, err := c.Book(modelStart, reservation.Request{ID: "a", Owner: "o", Window: minutes(25, 30), Lines: []reservation.Line{{Pool: "p", Count: 1}}})
	require.NoError(t, err)
	lines := []reservation.Line{{Pool: "p", Count: 1}, {Pool: "q", Count: 1}}
	o, err := c.EarliestFit(modelStart, reservation.Query{Lines: lines, Length: 20 * time.Minute})
	require.NoError(t, err)
	require.Equal(t, minutes(30, 50), o.Window)
	bookable(t, c, modelStart, o)
}

// A pool with a greatest length, and a wish that is longer: pieces, one behind the
// other, or a shorter window.
func TestPiecesBecauseOfMaxLength(t *testing.T) {
	c := newCalendar(t, modelStart, poolOf("p", 2, 0, reservation.Policy{MaxLength: 8 * time.Hour, Cleanup: 10 * time.Minute}))
	q := reservation.Query{Lines: []reservation.Line{{Pool: "p", Count: 2}}, Length: 20 * time.Hour, MinLength: time.Hour, Segments: 3}
	o, err := c.EarliestFit(modelStart, q)
	require.NoError(t, err)
	require.Equal(t, []reservation.Window{minutes(0, 480), minutes(490, 970), minutes(980, 1220)}, o.Segments)
	bookable(t, c, modelStart, o)
	offers, err := c.Search(modelStart, q)
	require.NoError(t, err)
	require.Equal(t, []reservation.OfferKind{reservation.Segments, reservation.Shorter}, []reservation.OfferKind{offers[0].Kind, offers[1].Kind})
	require.Equal(t, 8*time.Hour, offers[1].Window.Length())
	q.Segments = 2
	_, err = c.EarliestFit(modelStart, q)
	require.Equal(t, reservation.ReasonUnplaced, conflict(t, err).Reason, "with a greatest length it is no proof")
}

// What is not found within the budget is Unplaced and says what was tried: the
// count would say no at the first start, but it suffices at many that are tried.
func TestNoFalseNo(t *testing.T) {
	c := newCalendar(t, modelStart, poolOf("p", 2, 0, reservation.Policy{}))
	_, err := c.Book(modelStart, reservation.Request{ID: "full", Owner: "o", Window: minutes(0, 5), Lines: []reservation.Line{{Pool: "p", Count: 2}}})
	require.NoError(t, err)
	for i := range 400 { // n1 and n2 by turns: one node is free, and never the same for long
		w := minutes(10+10*i, 20+10*i)
		_, err := c.Book(modelStart, reservation.Request{ID: fmt.Sprint(i), Owner: "o", Window: w, Lines: []reservation.Line{{Pool: "p", Nodes: []string{fmt.Sprint("p-", 1+i%2)}}}})
		require.NoError(t, err)
	}
	lines := []reservation.Line{{Pool: "p", Count: 1}}
	q := reservation.Query{Lines: lines, Length: 20 * time.Minute, Latest: minute(3000)}
	_, err = c.EarliestFit(modelStart, q)
	x := conflict(t, err)
	require.Equal(t, reservation.ReasonUnplaced, x.Reason)
	require.Zero(t, x.Shortfall)
	require.ErrorContains(t, err, "tried 64 starts at which the count suffices")
	q.Latest = minute(200) // every start that the count allows is tried, and none is a proof
	_, err = c.EarliestFit(modelStart, q)
	require.Equal(t, reservation.ReasonUnplaced, conflict(t, err).Reason)
	q.Segments, q.MinLength, q.Deadline = 2, 10*time.Minute, minute(100)
	o, err := c.EarliestFit(modelStart, q)
	if err != nil {
		require.Equal(t, reservation.ReasonUnplaced, conflict(t, err).Reason)
	} else {
		bookable(t, c, modelStart, o)
	}
	q = reservation.Query{Lines: []reservation.Line{{Pool: "p", Count: 3}}, Length: time.Minute}
	_, err = c.EarliestFit(modelStart, q)
	require.Equal(t, reservation.ReasonCount, conflict(t, err).Reason, "this is a proof")
}

func TestScenario9And11And26Answers(t *testing.T) {
	c := newCalendar(t, at("00:00"), h100(10))
	require.NoError(t, c.SetPool(at("00:00"), h100(20)))
	o, err := c.EarliestFit(at("00:00"), reservation.Query{Lines: []reservation.Line{{Pool: "h100", Count: 15}}, Length: time.Hour})
	require.NoError(t, err)
	require.Equal(t, []any{reservation.Exact, at("00:00")}, []any{o.Kind, o.Window.Start}, "scenario 9")

	sec := func(n int) time.Time { return at("00:00").Add(time.Duration(n) * time.Second) }
	c = newCalendar(t, at("00:00"), h100(1))
	for _, w := range [][2]int{{0, 100}, {101, 201}} {
		_, err := c.Book(at("00:00"), request(fmt.Sprint("full", w[0]), "o", reservation.Window{Start: sec(w[0]), End: sec(w[1])}, 1))
		require.NoError(t, err)
	}
	for _, x := range []struct{ length, deadline, want int }{{1, 0, 100}, {5, 0, 201}, {5, 205, -1}, {5, 206, 201}} {
		q := reservation.Query{Lines: []reservation.Line{{Pool: "h100", Count: 1}}, Length: time.Duration(x.length) * time.Second}
		if x.deadline > 0 {
			q.Deadline = sec(x.deadline)
		}
		o, err := c.EarliestFit(at("00:00"), q)
		offers, err2 := c.Search(at("00:00"), q)
		if x.want < 0 {
			require.Equal(t, reservation.ReasonCount, conflict(t, err).Reason, "scenario 11")
			require.Equal(t, reservation.ReasonCount, conflict(t, err2).Reason)
			continue
		}
		require.NoError(t, err)
		require.NoError(t, err2)
		require.Equal(t, sec(x.want), o.Window.Start, "scenario 11: %+v", x)
		require.Equal(t, o.Window, offers[0].Window)
	}

	p := h100(8)
	p.Policy = reservation.Policy{Prep: 30 * time.Minute, ReclaimLead: time.Hour, Cleanup: 30 * time.Minute}
	c = newCalendar(t, at("00:00"), p)
	require.NoError(t, book(c, "A", "16:00", "16:45", 8))
	offers, err := c.Search(at("00:00"), reservation.Query{Lines: []reservation.Line{{Pool: "h100", Count: 1}}, Length: 30 * time.Minute, Start: at("15:30"), Align: 15 * time.Minute})
	require.NoError(t, err)
	require.Equal(t, []reservation.Window{span("14:30", "15:00"), span("17:45", "18:15")}, []reservation.Window{offers[0].Window, offers[1].Window}, "scenario 26: never 15:30")
}

func TestSearchOtherPools(t *testing.T) {
	p, same, four, plain := h100(2), h100(2), h100(4), h100(2)
	same.Name, four.Name, plain.Name = "same", "four", "plain"
	four.GPUsPerUnit, plain.Label = 4, "other"
	for _, x := range []*reservation.Pool{&same, &four, &plain} {
		for i := range x.Units {
			x.Units[i].Name = x.Name + x.Units[i].Name
		}
	}
	c := newCalendar(t, at("00:00"), p, same, four, plain)
	require.NoError(t, book(c, "A", "10:00", "12:00", 2))
	q := reservation.Query{Lines: []reservation.Line{{Pool: "h100", Count: 2}}, Length: time.Hour, Start: at("10:00"), Earliest: at("10:00")}
	pools := func() (out []string) {
		offers, err := c.Search(at("00:00"), q)
		require.NoError(t, err)
		for _, o := range offers {
			out = append(out, fmt.Sprint(o.Kind, " ", o.Lines[0].Pool, " ", o.Lines[0].Count))
		}
		return out
	}
	require.Equal(t, []string{"OtherPool same 2", "Later h100 2"}, pools(), "the same label and GPUs per node")
	q.Others = map[string][]string{"h100": {"four", "plain"}}
	require.Equal(t, []string{"OtherPool four 4", "OtherPool plain 2", "Later h100 2"}, pools(), "as many GPUs")
	q.Others = map[string][]string{"h100": nil}
	require.Equal(t, []string{"Later h100 2"}, pools())
	q.Lines = []reservation.Line{{Pool: "h100", Nodes: []string{"n1"}}}
	q.Others = map[string][]string{"h100": {"plain"}}
	require.Equal(t, []string{"Later h100 1"}, pools(), "named nodes are in their pool")
}

func TestQueryMistakes(t *testing.T) {
	c := newCalendar(t, at("00:00"), h100(4))
	type Q = reservation.Query
	for name, x := range map[string]struct {
		change func(*Q)
		is     error
		says   string
	}{
		"MinLength":    {func(q *Q) { q.MinLength = 2 * time.Hour }, reservation.ErrInvalid, "MinLength 2h0m0s"},
		"segments":     {func(q *Q) { q.Segments = 17 }, reservation.ErrInvalid, "Segments is 17"},
		"no MinLength": {func(q *Q) { q.Segments = 2 }, reservation.ErrInvalid, "MinLength is not set"},
		"limit":        {func(q *Q) { q.Limit = -1 }, reservation.ErrInvalid, "Limit is -1"},
		"MinCount":     {func(q *Q) { q.MinCounts = map[string]int64{"h100": 3} }, reservation.ErrInvalid, `MinCounts["h100"] is 3`},
		"MinCount of":  {func(q *Q) { q.MinCounts = map[string]int64{"x": 1} }, reservation.ErrInvalid, `MinCounts["x"] has no line`},
		"others of":    {func(q *Q) { q.Others = map[string][]string{"x": nil} }, reservation.ErrInvalid, `Others["x"] has no line`},
		"other":        {func(q *Q) { q.Others = map[string][]string{"h100": {"x"}} }, reservation.ErrUnknown, `pool "x"`},
		"deadline":     {func(q *Q) { q.Deadline = at("00:30") }, reservation.ErrHorizon, "Query.Deadline"},
		"start":        {func(q *Q) { q.Earliest, q.Start = at("02:00"), at("01:00") }, reservation.ErrHorizon, "Query.Start"},
		"unaligned":    {func(q *Q) { q.Deadline = at("04:00").Add(1) }, reservation.ErrUnaligned, "Query.Deadline"},
		"unknown node": {func(q *Q) { q.Lines[0] = reservation.Line{Pool: "h100", Nodes: []string{"x"}} }, reservation.ErrUnknown, `node "x"`},
		"pieces, node": {func(q *Q) {
			q.Lines[0], q.Segments, q.MinLength = reservation.Line{Pool: "h100", Nodes: []string{"x"}}, 2, time.Minute
		}, reservation.ErrUnknown, `node "x"`},
		"pieces, short": {func(q *Q) { q.Segments, q.MinLength, q.Lines[0].Count = 2, time.Minute, 5 }, reservation.ErrConflict, "5 nodes needed, 4 free"},
	} {
		q := Q{Lines: []reservation.Line{{Pool: "h100", Count: 2}}, Length: time.Hour}
		x.change(&q)
		for _, f := range []func() error{
			func() error { _, err := c.EarliestFit(at("00:00"), q); return err },
			func() error { _, err := c.Search(at("00:00"), q); return err },
		} {
			err := f()
			require.ErrorIs(t, err, x.is, name)
			require.ErrorContains(t, err, x.says, name)
		}
	}
	require.True(t, slices.Contains([]string{"Segments"}, reservation.Segments.String()))
}

// Where the count does not decide, the answers are those that a trial confirms.
func TestAnswersAmongNamedNodes(t *testing.T) {
	c := newCalendar(t, modelStart, poolOf("p", 3, 0, reservation.Policy{}))
	for i, w := range []reservation.Window{minutes(10, 20), minutes(20, 30)} {
		_, err := c.Book(modelStart, reservation.Request{ID: fmt.Sprint(i), Owner: "o", Window: w, Lines: []reservation.Line{{Pool: "p", Nodes: []string{fmt.Sprint("p-", i+1)}}}})
		require.NoError(t, err)
	}
	q := reservation.Query{Lines: []reservation.Line{{Pool: "p", Count: 2}}, Earliest: minute(10), Latest: minute(12), Length: 20 * time.Minute}
	_, err := c.EarliestFit(modelStart, q)
	require.Equal(t, reservation.ReasonUnplaced, conflict(t, err).Reason, "two are free at each instant, and one all the time")
	q.MinCounts = map[string]int64{"p": 1}
	o, err := c.EarliestFit(modelStart, q)
	require.NoError(t, err)
	require.Equal(t, reservation.Offer{Kind: reservation.Smaller, Window: minutes(10, 30), Lines: []reservation.Line{{Pool: "p", Count: 1}}}, o)
	q.MinCounts, q.MinLength = nil, time.Minute
	o, err = c.EarliestFit(modelStart, q)
	require.NoError(t, err)
	require.Equal(t, minutes(10, 20), o.Window, "p-2 and p-3, until p-2 is taken")
	q.Segments = 2
	o, err = c.EarliestFit(modelStart, q)
	require.NoError(t, err)
	require.Equal(t, []reservation.Window{minutes(10, 20), minutes(20, 30)}, o.Segments, "p-2 and p-3, then p-1 and p-3")
	bookable(t, c, modelStart, o)
}

func TestPiecesNeedTimeInAll(t *testing.T) {
	c := newCalendar(t, modelStart, poolOf("p", 3, 0, reservation.Policy{}))
	_, err := c.EarliestFit(modelStart, reservation.Query{Lines: []reservation.Line{{Pool: "p", Count: 1}}, Length: time.Hour, MinLength: time.Minute, Segments: 2, Deadline: minute(50)})
	require.ErrorIs(t, err, reservation.ErrHorizon)
	_, err = c.EarliestFit(modelStart, reservation.Query{Lines: []reservation.Line{{Pool: "p", Count: 4}}, Length: time.Hour, MinLength: time.Minute, Segments: 2})
	x := conflict(t, err)
	require.Equal(t, []any{reservation.ReasonCount, int64(1), modelStart}, []any{x.Reason, x.Shortfall, x.At.Start})
}
