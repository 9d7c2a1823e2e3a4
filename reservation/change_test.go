// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/reservation"
)

func TestScenario15Move(t *testing.T) {
	c := cal8(t)
	require.NoError(t, book(c, "R", "10:00", "12:00", 8))
	b, err := c.Move(at("00:00"), "R", span("11:00", "13:00"), 0)
	require.NoError(t, err)
	require.Equal(t, span("11:00", "13:00"), b.Window)
	require.Equal(t, int64(8), free(t, c, "10:00", "11:00"))
	require.Equal(t, int64(0), free(t, c, "11:00", "13:00"))

	c = cal8(t)
	require.NoError(t, book(c, "R", "10:00", "12:00", 8))
	require.NoError(t, book(c, "x", "12:00", "13:00", 1))
	before, _ := c.MarshalBinary()
	_, err = c.Move(at("00:00"), "R", span("11:00", "13:00"), 0)
	refusal := asConflict(t, err)
	require.Equal(t, span("12:00", "13:00"), refusal.At)
	require.Equal(t, int64(1), refusal.Shortfall)
	after, _ := c.MarshalBinary()
	require.Equal(t, before, after, "byte-identical")
	require.Equal(t, int64(0), free(t, c, "10:00", "12:00"))
}

func TestScenario16Push(t *testing.T) {
	c := cal8(t)
	require.NoError(t, book(c, "R", "10:00", "12:00", 8))
	require.NoError(t, book(c, "S", "12:00", "14:00", 8))
	require.NoError(t, book(c, "T", "14:00", "16:00", 8))
	_, err := c.Extend(at("00:00"), "R", at("13:00"), 0)
	refusal := asConflict(t, err)
	require.Equal(t, at("12:00"), refusal.At.Start)
	require.Equal(t, "S", refusal.Blocking[0].ID)

	fork := c.Fork()
	b, moved, err := fork.Push(at("00:00"), "R", at("13:00"), 0)
	require.NoError(t, err)
	require.Equal(t, span("10:00", "13:00"), b.Window)
	require.Equal(t, []reservation.Window{span("13:00", "15:00"), span("15:00", "17:00")}, windows(moved))
	require.NoError(t, fork.Check())

	// All or nothing: T may not end after its horizon.
	p := h100(8)
	p.Policy.Horizon = 16 * time.Hour
	require.NoError(t, c.SetPool(at("00:00"), p))
	before, _ := c.MarshalBinary()
	_, _, err = c.Push(at("00:00"), "R", at("13:00"), 0)
	require.ErrorIs(t, err, reservation.ErrState)
	require.ErrorContains(t, err, `"T"`)
	after, _ := c.MarshalBinary()
	require.Equal(t, before, after)
}

// Only what is in the way moves, and no further than it must.
func TestPushLeavesOthers(t *testing.T) {
	c := cal8(t)
	require.NoError(t, book(c, "R", "10:00", "12:00", 4))
	require.NoError(t, book(c, "small", "12:00", "13:00", 4))
	require.NoError(t, book(c, "S", "12:00", "14:00", 4))
	pin := request("pin", "o", span("14:00", "16:00"), 0)
	pin.Lines = []reservation.Line{{Pool: "h100", Nodes: []string{"n1", "n2", "n3", "n4", "n5"}}}
	_, err := c.Book(at("00:00"), pin)
	require.NoError(t, err)
	_, moved, err := c.Push(at("00:00"), "R", at("12:30"), 0)
	require.NoError(t, err)
	require.Equal(t, []string{"small"}, idsOf(moved), "who was made first is placed first")
	require.Equal(t, []reservation.Window{span("14:00", "15:00")}[0].Length(), windows(moved)[0].Length())
	require.NoError(t, c.Check())
}

func windows(list []reservation.Booking) (out []reservation.Window) {
	for _, b := range list {
		out = append(out, b.Window)
	}
	return out
}

func idsOf(list []reservation.Booking) (out []string) {
	for _, b := range list {
		out = append(out, b.ID)
	}
	return out
}

func asConflict(t *testing.T, err error) *reservation.ConflictError {
	t.Helper()
	var refusal *reservation.ConflictError
	require.ErrorAs(t, err, &refusal)
	return refusal
}

// I7: a split and a merge conserve what is booked at every instant.
func TestSplitMerge(t *testing.T) {
	c := newCalendar(t, at("00:00"), poolOf("h100", 8, 0, reservation.Policy{Prep: 5 * time.Minute, Grace: 5 * time.Minute, Cleanup: 10 * time.Minute}))
	require.NoError(t, book(c, "R", "10:00", "14:00", 8))
	whole := slices.Collect(c.Profile("h100", span("01:00", "20:00")))
	parent, child, err := c.Split(at("01:00"), "R", "R2", reservation.Part{Time: at("12:00")}, 0)
	require.NoError(t, err)
	require.Equal(t, []reservation.Window{span("10:00", "12:00"), span("12:00", "14:00")}, windows([]reservation.Booking{parent, child}))
	require.Equal(t, "R", child.From)
	require.Equal(t, "R2", parent.ContinuedBy)
	again, _, err := c.Split(at("01:00"), "R", "R2", reservation.Part{Time: at("12:00")}, 0)
	require.NoError(t, err)
	require.Equal(t, parent, again, "the same call again")
	require.Equal(t, whole, slices.Collect(c.Profile("h100", span("01:00", "20:00"))), "I7")
	// Both have the same nodes, without a turnaround.
	c.Advance(at("12:00"))
	first, _ := c.Find("R")
	second, _ := c.Find("R2")
	require.Equal(t, reservation.Ended, first.Phase)
	require.Equal(t, reservation.Active, second.Phase)
	require.Len(t, second.Seats, 8)
	require.NoError(t, c.Check())
	// By count: three nodes go to another booking, which is released and cleaned.
	_, part, err := c.Split(at("12:30"), "R2", "R3", reservation.Part{Lines: []reservation.Line{{Pool: "h100", Count: 3}}}, 0)
	require.NoError(t, err)
	require.Len(t, part.Seats, 3)
	require.NoError(t, c.Check())
}

func TestSplitByCount(t *testing.T) {
	c := newCalendar(t, at("00:00"), poolOf("h100", 8, 0, reservation.Policy{Cleanup: 10 * time.Minute}))
	require.NoError(t, book(c, "R", "10:00", "14:00", 8))
	c.Advance(at("10:00"))
	before := slices.Collect(c.Profile("h100", span("10:30", "20:00")))
	parent, child, err := c.Split(at("10:30"), "R", "R3", reservation.Part{Lines: []reservation.Line{{Pool: "h100", Count: 3}}}, 0)
	require.NoError(t, err)
	require.Len(t, parent.Seats, 5)
	require.Len(t, child.Seats, 3)
	require.Equal(t, reservation.Active, child.Phase)
	require.Equal(t, before, slices.Collect(c.Profile("h100", span("10:30", "20:00"))), "I7")
	merged, err := c.Merge(at("10:40"), "R3", "R", 0)
	require.NoError(t, err)
	require.Len(t, merged.Seats, 8)
	gone, _ := c.Find("R3")
	require.Equal(t, reservation.Merged, gone.Phase)
	require.Equal(t, "R", gone.Into)
	_, err = c.Merge(at("10:40"), "R3", "R", 0)
	require.NoError(t, err, "the same call again")
	_, _, err = c.Split(at("10:50"), "R", "R4", reservation.Part{Lines: []reservation.Line{{Pool: "h100", Count: 3}}}, 0)
	require.NoError(t, err)
	_, err = c.Release(at("11:00"), "R4", 0)
	require.NoError(t, err)
	require.Equal(t, int64(0), free(t, c, "11:00", "11:10"), "in cleanup")
	require.Equal(t, int64(3), free(t, c, "11:10", "14:00"))
	require.NoError(t, c.Check())
}

// A booking that continues another one stays where that one is, and gives the
// turnaround back when it is cancelled.
func TestContinues(t *testing.T) {
	c := newCalendar(t, at("00:00"), poolOf("h100", 2, 0, reservation.Policy{Grace: 5 * time.Minute, Cleanup: 10 * time.Minute}))
	require.NoError(t, book(c, "A", "10:00", "12:00", 2))
	require.Error(t, book(c, "B", "12:00", "13:00", 2), "the turnaround is in the way")
	q := request("B", "o", span("12:00", "13:00"), 2)
	a, _ := c.Find("A")
	q.Owner, q.Continues = a.Owner, "A"
	_, err := c.Book(at("01:00"), q)
	require.NoError(t, err)
	_, err = c.Extend(at("01:00"), "A", at("12:30"), 0)
	require.ErrorIs(t, err, reservation.ErrState)
	fork := c.Fork()
	_, err = fork.Cancel(at("02:00"), "B", 0)
	require.NoError(t, err)
	require.Equal(t, int64(0), free(t, fork, "12:00", "12:15"), "A is cleaned again")
	require.Equal(t, int64(2), free(t, fork, "12:15", "13:00"))
	require.NoError(t, fork.Check())
	b, err := c.Merge(at("02:00"), "B", "A", 0)
	require.NoError(t, err)
	require.Equal(t, span("10:00", "13:00"), b.Window)
	require.NoError(t, c.Check())
}

func TestResizeAndTransfer(t *testing.T) {
	c := cal8(t)
	require.NoError(t, book(c, "R", "10:00", "12:00", 4))
	require.NoError(t, book(c, "x", "11:00", "12:00", 3))
	_, err := c.Resize(at("01:00"), "R", []reservation.Line{{Pool: "h100", Count: 6}}, 0)
	refusal := asConflict(t, err)
	require.Equal(t, []int64{6, 5, 1}, []int64{refusal.Need, refusal.Free, refusal.Shortfall}, "with its own nodes given back")
	b, err := c.Resize(at("01:00"), "R", []reservation.Line{{Pool: "h100", Count: 5}}, 0)
	require.NoError(t, err)
	require.Equal(t, int64(0), free(t, c, "11:00", "12:00"))
	b, err = c.Transfer(at("01:00"), "R", "speech", b.Version)
	require.NoError(t, err)
	require.Equal(t, "speech", b.Owner)
	c.Advance(at("10:00"))
	_, err = c.Transfer(at("10:01"), "R", "vision", 0)
	require.ErrorIs(t, err, reservation.ErrState, "its nodes hold the work of speech")
	_, err = c.Resize(at("10:01"), "R", []reservation.Line{{Pool: "h100", Count: 4}}, 0)
	require.ErrorIs(t, err, reservation.ErrState)
	require.ErrorContains(t, err, "release that part")
	_, err = c.Cancel(at("10:02"), "x", 0)
	require.NoError(t, err)
	b, err = c.Resize(at("10:02"), "R", []reservation.Line{{Pool: "h100", Count: 8}}, 0)
	require.NoError(t, err)
	require.Len(t, b.Seats, 8)
	// The key still knows what was asked for first.
	require.NoError(t, book(c, "R", "10:00", "12:00", 4))
	require.NoError(t, c.Check())
}

func TestScenario25NoShow(t *testing.T) {
	p := h100(8)
	p.Policy.NoShowGrace = 15 * time.Minute
	c := newCalendar(t, at("09:00"), p)
	require.NoError(t, book(c, "R", "10:00", "12:00", 8))
	checked := c.Fork()
	checked.Advance(at("10:00"))
	_, err := checked.CheckIn(at("10:14"), "R", 0)
	require.NoError(t, err)
	checked.Advance(at("10:30"))
	b, _ := checked.Find("R")
	require.Equal(t, reservation.Active, b.Phase)

	c.Advance(at("10:15"))
	b, _ = c.Find("R")
	require.Equal(t, reservation.NoShow, b.Phase)
	require.Equal(t, at("10:15"), b.EndedAt)
	require.Equal(t, int64(8), free(t, c, "10:15", "12:00"))
	_, err = c.CheckIn(at("10:15"), "R", 0)
	require.ErrorIs(t, err, reservation.ErrState)
	require.NoError(t, c.Check())
}

// What an owner yields, Standby claims may use, and they are told in time.
func TestYield(t *testing.T) {
	c := newCalendar(t, at("09:00"), h100(2))
	require.NoError(t, book(c, "R", "10:00", "14:00", 2))
	_, err := c.Book(at("09:00"), reservation.Request{ID: "s", Owner: "batch", Class: reservation.Standby,
		Window: reservation.Window{Start: at("09:00")}, Lines: []reservation.Line{{Pool: "h100"}}})
	require.NoError(t, err)
	c.Advance(at("10:00"))
	_, err = c.Seat(at("10:00"), "s", []string{"n1"})
	require.ErrorIs(t, err, reservation.ErrConflict)
	_, err = c.Yield(at("10:05"), "R", at("12:00"), 0)
	require.NoError(t, err)
	_, err = c.Seat(at("10:06"), "s", []string{"n1", "n2"})
	require.NoError(t, err)
	require.NoError(t, c.Check())
	c.TakeEvents()
	fork := c.Fork()
	c.Advance(at("11:45"))
	require.Equal(t, []string{"reclaim-notice", "reclaim-notice"}, kinds(c))
	c.TakeEvents()
	c.Advance(at("12:00"))
	require.Equal(t, []string{"unseated", "yielded"}, kinds(c))
	r, _ := c.Find("R")
	require.Zero(t, r.Yielded)
	require.Equal(t, reservation.Active, r.Phase)
	require.NoError(t, c.Check())

	// The owner wants them back earlier: after the notice.
	b, err := fork.Reclaim(at("11:00"), "R", 0)
	require.NoError(t, err)
	require.Equal(t, at("11:15"), b.Yielded)
	require.Equal(t, []string{"yielded", "reclaim-notice", "reclaim-notice"}, kinds(fork))
	// It may also end at any time; then the claims leave at once.
	_, err = fork.Release(at("11:05"), "R", 0)
	require.NoError(t, err)
	s, _ := fork.Find("s")
	require.Empty(t, s.Seats)
	require.NoError(t, fork.Check())
}

func TestRevoke(t *testing.T) {
	c := newCalendar(t, at("09:00"), poolOf("h100", 2, 0, reservation.Policy{Cleanup: 10 * time.Minute}))
	require.NoError(t, book(c, "R", "10:00", "14:00", 2))
	require.NoError(t, book(c, "later", "15:00", "16:00", 2))
	b, err := c.Revoke(at("09:30"), "later", "the budget is spent", 0)
	require.NoError(t, err)
	require.Equal(t, reservation.Revoked, b.Phase)
	require.Equal(t, int64(2), free(t, c, "15:00", "16:00"))
	_, err = c.Revoke(at("10:30"), "R", "", 0)
	require.NoError(t, err)
	require.Equal(t, int64(0), free(t, c, "10:30", "10:40"))
	require.Equal(t, int64(2), free(t, c, "10:40", "14:00"))
	require.NoError(t, c.Check())
}

// I7 over random splits and merges: what is booked at each instant stays.
func TestSplitsConserve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		c, now := newCalendar(t, modelStart, suitePools...), modelStart
		for i := range 60 {
			now = now.Add(time.Duration(r.IntN(600)) * time.Second)
			c.Advance(now)
			before := profiles(c, now)
			id := fmt.Sprint("c", i)
			live := slices.Collect(c.Bookings("", reservation.Window{}))
			if len(live) == 0 || r.IntN(3) > 0 {
				_, _ = randomCommand(r, c, now)
				continue
			}
			b := live[r.IntN(len(live))]
			var err error
			switch r.IntN(3) {
			case 0:
				_, _, err = c.Split(now, b.ID, id, reservation.Part{Time: b.Window.Start.Add(time.Duration(1+r.IntN(100)) * time.Minute)}, 0)
			case 1:
				_, _, err = c.Split(now, b.ID, id, reservation.Part{Lines: []reservation.Line{{Pool: b.Lines[0].Pool, Count: 1}}}, 0)
			default:
				into := b.From
				if b.Continues != "" {
					into = b.Continues
				}
				_, err = c.Merge(now, b.ID, into, 0)
			}
			if err == nil {
				if now.After(c.Present()) {
					now = c.Present()
				}
				require.Equal(t, before, profiles(c, now), "I7")
			}
			require.NoError(t, c.Check())
		}
	})
}

func profiles(c *reservation.Calendar, from time.Time) (out []reservation.Step) {
	w := reservation.Window{Start: from, End: modelStart.Add(1000 * time.Hour)}
	for _, pool := range []string{"a", "b"} {
		for s := range c.Profile(pool, w) {
			s.Window.Start = s.Window.Start.Truncate(time.Second)
			if s.Window.Start.Before(from) {
				s.Window.Start = from
			}
			out = append(out, s)
		}
	}
	return out
}

// A booking that may not be made may not be edited into being either.
func TestScenario18EditIsChecked(t *testing.T) {
	c := cal8(t)
	require.NoError(t, book(c, "A", "10:00", "12:00", 5))
	require.NoError(t, book(c, "B", "14:00", "16:00", 5))
	refused := asConflict(t, book(c, "C", "11:00", "13:00", 5))
	_, err := c.Move(at("00:00"), "B", span("11:00", "13:00"), 0)
	edited := asConflict(t, err)
	require.Equal(t, []any{refused.Reason, refused.At, refused.Free, refused.Shortfall}, []any{edited.Reason, edited.At, edited.Free, edited.Shortfall})
	_, err = c.Resize(at("00:00"), "B", []reservation.Line{{Pool: "h100", Count: 9}}, 0)
	asConflict(t, err)
	_, err = c.Extend(at("00:00"), "A", at("15:00"), 0)
	asConflict(t, err)
}

// Bookings do not hang on anything outside the calendar: a restart without a
// directory of users keeps them all.
func TestScenario42NoDirectoryOfUsers(t *testing.T) {
	c := cal8(t)
	q := request("R", "somebody-who-left", span("10:00", "12:00"), 8)
	q.Owner = "somebody-who-left"
	_, err := c.Book(at("00:00"), q)
	require.NoError(t, err)
	b, err := c.MarshalBinary()
	require.NoError(t, err)
	again, err := reservation.Restore(b)
	require.NoError(t, err)
	again.Advance(at("11:00"))
	r, ok := again.Find("R")
	require.True(t, ok)
	require.Equal(t, reservation.Active, r.Phase)
	require.Equal(t, "somebody-who-left", r.Owner)
}
