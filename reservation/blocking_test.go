// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"testing"
	"time"

	"github.com/berth-gpu/berth/reservation"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A refusal by count names the first instant that is short and as few bookings as
// are enough there: counted out over all sets of bookings.
func TestBlockingIsMinimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCalendar(t, modelStart, poolOf("p", modelNodes, 0, modelPolicy))
		for i := range rapid.IntRange(1, 10).Draw(t, "n") {
			_, _ = c.Book(modelStart, drawRequest(t, fmt.Sprint(i)))
		}
		q := drawRequest(t, "new")
		q.Lines = []reservation.Line{{Pool: "p", Count: int64(rapid.IntRange(1, modelNodes+1).Draw(t, "count"))}}
		_, err := c.Book(modelStart, q)
		x, ok := err.(*reservation.ConflictError)
		if !ok || x.Reason != reservation.ReasonCount {
			return
		}
		var there []reservation.Booking
		used := func(at time.Time) (n int64) {
			there = nil
			for b := range c.Bookings("", reservation.Window{}) {
				if !b.Envelope.Start.After(at) && at.Before(b.Envelope.End) {
					there, n = append(there, b), n+b.Lines[0].Count
				}
			}
			return n
		}
		first := q.Window.Start.Add(-2 * time.Minute)
		for used(first)+q.Lines[0].Count <= modelNodes {
			first = first.Add(time.Minute)
		}
		require.Equal(t, first, x.At.Start)
		short := used(first) + q.Lines[0].Count - modelNodes
		fewest := len(there) + 1
		for set := range 1 << len(there) {
			n := int64(0)
			for i, b := range there {
				if set>>i&1 == 1 {
					n += b.Lines[0].Count
				}
			}
			if n >= short {
				fewest = min(fewest, bits.OnesCount(uint(set)))
			}
		}
		if fewest > len(there) {
			require.Empty(t, x.Blocking)
			return
		}
		require.Len(t, x.Blocking, fewest)
		for less := range fewest + 1 { // all of them are enough, and without any one they are not
			n := int64(0)
			for i, b := range x.Blocking {
				if i != less {
					n += b.Count
				}
			}
			require.Equal(t, less == fewest, n >= short)
		}
	})
}

// Of several smallest sets it is the one that is documented.
func TestBlockingChoice(t *testing.T) {
	for _, x := range []struct {
		counts []int64 // of bookings 0, 1 …; each begins a minute after the one before
		need   int64
		want   []string
	}{
		{[]int64{1, 1, 1}, 6, []string{"2"}},
		{[]int64{1, 1, 1}, 7, []string{"1", "2"}},
		{[]int64{1, 3, 2}, 4, []string{"2"}},
		{[]int64{1, 3, 2}, 5, []string{"1"}},
		{[]int64{1, 3, 2}, 6, []string{"0", "1"}},
		{[]int64{4, 1, 2}, 8, []string{"0", "1", "2"}},
		{[]int64{4, 1, 2}, 9, nil}, // more than there is
	} {
		c := newCalendar(t, modelStart, poolOf("p", 8, 0, reservation.Policy{}))
		for i, n := range x.counts {
			_, err := c.Book(modelStart, reservation.Request{ID: fmt.Sprint(i), Owner: "o", Window: minutes(i, 20), Lines: []reservation.Line{{Pool: "p", Count: n}}})
			require.NoError(t, err)
		}
		_, err := c.Book(modelStart, reservation.Request{ID: "new", Owner: "o", Window: minutes(10, 12), Lines: []reservation.Line{{Pool: "p", Count: x.need}}})
		var got []string
		for _, b := range conflict(t, err).Blocking {
			got = append(got, b.ID)
		}
		require.Equal(t, x.want, got, "%+v", x)
	}
}

// For shows others as one, of which nothing can be told but what is short.
func TestConflictFor(t *testing.T) {
	refusal := func(others ...int64) *reservation.ConflictError {
		c := newCalendar(t, at("00:00"), h100(12))
		_, err := c.Book(at("00:00"), request("mine", "me", span("10:00", "12:00"), 6))
		require.NoError(t, err)
		for i, n := range others {
			_, err := c.Book(at("00:00"), request(fmt.Sprint("secret-", i), fmt.Sprint("them-", i), span("06:00", "12:00"), n))
			require.NoError(t, err)
		}
		return conflict(t, book(c, "new", "11:00", "13:00", 9))
	}
	one, many := refusal(4), refusal(1, 1, 1, 1)
	require.Len(t, one.Blocking, 2)
	require.Len(t, many.Blocking, 2)
	require.Equal(t, []reservation.Blocking{
		{ID: "mine", Owner: "me", Window: span("10:00", "12:00"), Count: 6},
		{Window: span("11:00", "12:00"), Count: 1},
	}, one.For("me").Blocking)
	require.Equal(t, one.For("me"), many.For("me"), "one other or four: it looks the same")
	require.Equal(t, []reservation.Blocking{{Window: span("11:00", "12:00"), Count: 7}}, many.For("nobody").Blocking)
	for _, x := range []*reservation.ConflictError{one, many} {
		js, err := json.Marshal(x.For("me"))
		require.NoError(t, err)
		for _, s := range []string{string(js), x.For("me").Error(), x.Error()} {
			require.NotContains(t, s, "secret")
			require.NotContains(t, s, "them")
		}
		require.Len(t, x.Blocking, 2, "For changes nothing")
	}

	c := newCalendar(t, at("00:00"), h100(4)) // named nodes, too
	require.NoError(t, pin(c, "mine", span("10:00", "12:00"), "n1"))
	_, err := c.Book(at("00:00"), reservation.Request{ID: "secret", Owner: "them", Window: span("09:00", "12:00"), Lines: []reservation.Line{{Pool: "h100", Nodes: []string{"n2", "n3", "n4"}}}})
	require.NoError(t, err)
	require.NoError(t, pin(c, "later", span("13:00", "14:00"), "n2"))
	x := conflict(t, pin(c, "new", span("10:00", "15:00"), "n1", "n2", "n3"))
	require.Equal(t, at("10:00"), x.At.Start, "the first instant, though n2 is taken later as well")
	require.Equal(t, []string{"n1", "n2", "n3"}, x.Nodes)
	require.Equal(t, []reservation.Blocking{
		{ID: "secret", Owner: "them", Window: span("09:00", "12:00"), Count: 2},
		{ID: "mine", Owner: "o", Window: span("10:00", "12:00"), Count: 1},
	}, x.Blocking)
	require.Equal(t, reservation.Blocking{Window: x.At, Count: 2}, x.For("o").Blocking[1])
}

// S18: an extension keeps the nodes or is refused, and then the longest that could
// be had is offered. Beside a trial of every minute.
func TestLatestEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := modelPolicy
		if rapid.Bool().Draw(t, "rules") {
			policy.MaxLength, policy.Horizon = 30*time.Minute, 35*time.Minute
		}
		c := newCalendar(t, modelStart, poolOf("p", modelNodes, 0, policy))
		for i := range rapid.IntRange(1, 8).Draw(t, "n") {
			q := drawRequest(t, fmt.Sprint(i))
			q.Window.Start, q.Window.End = q.Window.Start.Add(-15*time.Minute), q.Window.End.Add(-15*time.Minute) // many have begun by now
			if rapid.IntRange(0, 3).Draw(t, "pin") == 0 {
				q.Lines = []reservation.Line{{Pool: "p", Nodes: []string{fmt.Sprint("p-", rapid.IntRange(1, 6).Draw(t, "node"))}}}
			}
			_, _ = c.Book(modelStart, q)
		}
		now := minute(rapid.IntRange(0, 20).Draw(t, "now"))
		c.Advance(now)
		for b := range c.Fork().Bookings("", reservation.Window{}) {
			end, err := c.LatestEnd(now, b.ID)
			if b.Phase > reservation.Active {
				require.ErrorIs(t, err, reservation.ErrState)
				continue
			}
			require.NoError(t, err)
			_, err = c.Fork().Extend(now, b.ID, end, 0)
			require.NoError(t, err, "%s %s", b.ID, end)
			for m := b.Window.End.Add(time.Minute); m.Before(minute(90)); m = m.Add(time.Minute) {
				_, err := c.Fork().Extend(now, b.ID, m, 0)
				x, refused := err.(*reservation.ConflictError)
				if refused && x.Reason == reservation.ReasonUnplaced {
					break // a plan may be in the way of one end and not of a later one
				}
				require.Equal(t, m.After(end), err != nil, "%s to %s: %v", b.ID, m, err)
				if refused && end.After(b.Window.End) {
					require.Equal(t, reservation.Window{Start: b.Window.Start, End: end}, x.Offers[0].Window)
				}
			}
		}
	})
}

// A rule that does not concern an extension (MinLead: it has begun) must not hide
// one that does.
func TestExtendMindsHorizon(t *testing.T) {
	c := newCalendar(t, modelStart, poolOf("p", 1, 0, reservation.Policy{Horizon: 2 * time.Hour}))
	_, err := c.Book(modelStart, reservation.Request{ID: "a", Owner: "o", Window: minutes(0, 75), Lines: []reservation.Line{{Pool: "p", Count: 1}}})
	require.NoError(t, err)
	_, err = c.Extend(minute(5), "a", minute(145), 0)
	x := conflict(t, err)
	require.Equal(t, "Horizon", x.Rule)
	require.Equal(t, []reservation.Offer{{Kind: reservation.Shorter, Window: minutes(0, 125), Lines: []reservation.Line{{Pool: "p", Count: 1}}}}, x.Offers)
	_, err = c.Extend(minute(5), "a", minute(125), 0)
	require.NoError(t, err)
}
