// SPDX-License-Identifier: Apache-2.0

package reservationtest_test

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/reservation"
	rt "github.com/berth-gpu/berth/reservation/reservationtest"
)

// A desk is a front end of its own, for one plain pool, with a bug if one is named.
type desk struct {
	mu   sync.Mutex
	bug  string
	size int64
	now  time.Time
	rows []*row
}

type row struct {
	q       reservation.Request
	ttl     time.Duration
	end     time.Time
	expires time.Time // zero: confirmed
	gone    string
}

func openDesk(bug string) func([]reservation.Pool, time.Time) rt.FrontEnd {
	return func(pools []reservation.Pool, start time.Time) rt.FrontEnd {
		return &desk{bug: bug, size: int64(len(pools[0].Units)), now: start}
	}
}

var errNo = errors.New("no")

func refuse(if_ bool) error {
	if if_ {
		return errNo
	}
	return nil
}

func (d *desk) meets(r *row, w reservation.Window) bool {
	if d.bug == "touching windows meet" {
		return !r.q.Window.Start.After(w.End) && !w.Start.After(r.end)
	}
	return r.q.Window.Start.Before(w.End) && w.Start.Before(r.end)
}

// free returns the least free nodes in w, without those of but.
func (d *desk) free(w reservation.Window, but *row) int64 {
	least := d.size
	for _, at := range append(d.starts(w), w.Start) {
		n := d.size
		for _, r := range d.rows {
			if r != but && r.gone == "" && d.meets(r, w) && d.meets(r, reservation.Window{Start: at, End: at.Add(time.Second)}) {
				if d.bug == "a hold keeps nothing" && !r.expires.IsZero() {
					continue
				}
				n -= r.q.Lines[0].Count
			}
		}
		least = min(least, n)
	}
	return least
}

func (d *desk) starts(w reservation.Window) (out []time.Time) {
	for _, r := range d.rows {
		if r.q.Window.Start.After(w.Start) && r.q.Window.Start.Before(w.End) {
			out = append(out, r.q.Window.Start)
		}
	}
	return out
}

func (d *desk) MinFree(_ string, w reservation.Window) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bug == "tells nothing" {
		return 0, errors.ErrUnsupported
	}
	return d.free(w, nil), nil
}

func (d *desk) Do(c rt.Command) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.At.After(d.now) {
		d.now = c.At
	}
	var r *row
	for _, x := range d.rows {
		if late := !x.expires.IsZero() && !d.now.Before(x.expires); late && x.gone == "" && d.bug != "holds never expire" {
			x.gone = "expired"
		}
		if !d.now.Before(x.end) && x.gone == "" {
			x.gone = "over"
		}
		if x.q.ID == c.ID+c.Request.ID {
			r = x
		}
	}
	switch {
	case c.Op == rt.Advance:
		return nil
	case c.Op == rt.Book || c.Op == rt.Hold:
		return d.book(c, r)
	case r == nil:
		return errNo
	case c.Op == rt.Confirm:
		r.expires = time.Time{}
		return refuse(r.gone == "expired" || r.gone == "cancelled")
	case c.Op == rt.Cancel && r.gone == "cancelled" || c.Op == rt.Release && (r.gone == "over" || r.gone == "released"):
		return nil
	case r.gone != "":
		return errNo
	case c.Op == rt.Extend:
		return d.extend(c, r)
	}
	begun := !d.now.Before(r.q.Window.Start) && r.expires.IsZero()
	if c.Op == rt.Cancel == begun {
		return errNo
	}
	r.gone = map[rt.Op]string{rt.Cancel: "cancelled", rt.Release: "released"}[c.Op]
	if d.bug == "cancel frees nothing" && c.Op == rt.Cancel {
		d.rows = append(d.rows, &row{q: reservation.Request{Window: r.q.Window, Lines: r.q.Lines}, end: r.end})
	}
	return nil
}

func (d *desk) book(c rt.Command, r *row) error {
	if r != nil {
		return refuse(r.ttl != c.TTL || !reflect.DeepEqual(r.q, c.Request))
	}
	q := c.Request
	if q.Window.Start.Before(d.now) || c.Op == rt.Hold && q.Window.End.Before(d.now.Add(c.TTL)) || d.free(q.Window, nil) < q.Lines[0].Count {
		return errNo
	}
	if d.bug == "checks, then books" {
		d.mu.Unlock()
		for range 100 {
			runtime.Gosched()
		}
		d.mu.Lock()
	}
	r = &row{q: q, ttl: c.TTL, end: q.Window.End}
	if c.Op == rt.Hold {
		r.expires = d.now.Add(c.TTL)
	}
	d.rows = append(d.rows, r)
	return nil
}

func (d *desk) extend(c rt.Command, r *row) error {
	switch {
	case c.End.Equal(r.end):
		return nil
	case !r.q.Window.Start.Before(c.End) || !d.now.Before(c.End) || !r.expires.IsZero() && c.End.Before(r.expires):
		return errNo
	case d.bug == "an edit is not checked":
	case c.End.After(r.end) && d.free(reservation.Window{Start: r.end, End: c.End}, r) < r.q.Lines[0].Count:
		if d.bug == "a refused edit is done" {
			r.end = c.End
		}
		return errNo
	}
	if d.bug == "an edit forgets the hold" {
		r.expires = time.Time{}
	}
	r.end = c.End
	return nil
}

// TestFrontEnds: a right front end passes, also one that tells nothing.
func TestFrontEnds(t *testing.T) {
	for _, bug := range []string{"", "tells nothing"} {
		t.Run(bug, rt.Suite{Open: openDesk(bug), Pools: rt.PlainPools(), Concurrent: true}.Run)
	}
	t.Run("calendar", rt.Suite{Open: func(pools []reservation.Pool, _ time.Time) rt.FrontEnd {
		return &locked{c: open(t, pools)}
	}, Mix: rt.Mix{Several: true, Ops: []rt.Op{rt.Book, rt.Hold, rt.Confirm, rt.Cancel, rt.Release}}, Concurrent: true}.Run)
}

// locked is a calendar behind a mutex.
type locked struct {
	mu sync.Mutex
	c  *reservation.Calendar
}

func (l *locked) Do(c rt.Command) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return c.On(l.c)
}

func (l *locked) MinFree(pool string, w reservation.Window) (int64, error) {
	return l.c.MinFree(pool, w)
}

// TestWrongFrontEndsAreCaught: every bug is found within the hundred loads of a default run, and
// in what the front end says yes or no to where it tells nothing else.
func TestWrongFrontEndsAreCaught(t *testing.T) {
	for _, bug := range []string{"touching windows meet", "a hold keeps nothing", "holds never expire", "cancel frees nothing",
		"an edit is not checked", "a refused edit is done", "an edit forgets the hold"} {
		t.Run(bug, func(t *testing.T) {
			for seed := range 100 {
				pools := rt.PlainPools().Example(seed)
				if err := rt.Run(openDesk(bug)(pools, rt.Start), rt.New(pools, rt.Start), rt.Loads(pools, rt.Mix{}).Example(seed)); err != nil {
					t.Logf("seed %d: %v", seed, err)
					return
				}
			}
			require.Fail(t, "not caught")
		})
	}
}

// TestCheckThenBookIsCaught: two that ask at once both see the last node free.
func TestCheckThenBookIsCaught(t *testing.T) {
	pools := rt.PlainPools().Example(1)
	var requests []reservation.Request
	for i := range 8 {
		requests = append(requests, reservation.Request{ID: fmt.Sprint(i), Owner: "ants",
			Window: reservation.Window{Start: rt.Start, End: rt.Start.Add(time.Hour)},
			Lines:  []reservation.Line{{Pool: "p0", Count: int64(len(pools[0].Units))}}})
	}
	for range 1000 {
		if err := rt.AtOnce(openDesk("checks, then books")(pools, rt.Start), rt.New(pools, rt.Start), rt.Start, requests); err != nil {
			require.ErrorIs(t, err, rt.ErrRefused)
			return
		}
	}
	require.Fail(t, "not caught")
}

// TestCalendarAtOnce: of requests that come at once the calendar behind a lock
// takes a set that fits, and refuses none that would fit beside it.
func TestRefusalsAtOnce(t *testing.T) {
	pools := []reservation.Pool{{Name: "p0", GPUsPerUnit: 8, Units: []reservation.Unit{{Name: "n"}}}}
	q := reservation.Request{ID: "a", Owner: "ants", Window: reservation.Window{Start: rt.Start, End: rt.Start.Add(time.Hour)}, Lines: []reservation.Line{{Pool: "p0", Count: 1}}}
	err := rt.AtOnce(never{}, rt.New(pools, rt.Start), rt.Start, []reservation.Request{q})
	require.ErrorContains(t, err, "it fits beside the others")
}

// never refuses everything.
type never struct{}

func (never) Do(rt.Command) error                               { return errNo }
func (never) MinFree(string, reservation.Window) (int64, error) { return 0, errors.ErrUnsupported }

// TestGeneratorsRepeat: a seed draws the same again, and a load is in order.
func TestGeneratorsRepeat(t *testing.T) {
	mix := rt.Mix{Pinned: true, Several: true, Standby: true, Outages: true}
	for seed := range 50 {
		pools := rt.Pools().Example(seed)
		require.Equal(t, pools, rt.Pools().Example(seed))
		load := rt.Loads(pools, mix).Example(seed)
		require.Equal(t, load, rt.Loads(pools, mix).Example(seed))
		at := rt.Start
		for _, c := range load {
			require.False(t, c.At.Before(at))
			at = c.At
		}
	}
	rapid.Check(t, func(t *rapid.T) { // pools are valid, and so are requests
		pools := rt.Pools().Draw(t, "pools")
		c := open(t, pools)
		_, err := c.Book(rt.Start, rt.Requests(pools, mix, "r", rt.Start).Draw(t, "request"))
		require.NotErrorIs(t, err, reservation.ErrInvalid)
		require.NotErrorIs(t, err, reservation.ErrUnknown)
	})
}
