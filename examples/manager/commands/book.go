// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/reservation"
)

// Book asks for nodes of one pool for a window.
type Book struct {
	ID    string
	Owner string
	Pool  string
	Nodes int64
	Start time.Time
	End   time.Time
	Hold  time.Duration // 0: booked at once; else held for so long
	Note  string
}

// MaxHold bounds how long an offer may be held.
const MaxHold = 30 * time.Minute

// Do charges the ledger and books the calendar under one id.
func (c Book) Do(s *state.State, at time.Time) (reservation.Booking, error) {
	if err := jobs.ValidID(c.ID); err != nil {
		return reservation.Booking{}, fmt.Errorf("%w: id is %.100q: %w", state.ErrInvalid, c.ID, err)
	}
	return c.do(s, at)
}

func (c Book) do(s *state.State, at time.Time) (reservation.Booking, error) {
	charge, booking, err := c.requests(s)
	if err != nil {
		return reservation.Booking{}, err
	}
	if c.Hold > 0 {
		charge.TTL = c.Hold
		_, qerr := s.Ledger.Reserve(at, charge)
		b, cerr := s.Calendar.Hold(at, booking, c.Hold)
		if err := errors.Join(qerr, cerr); err != nil {
			return b, err
		}
		return b, s.ReconcileAfter(at, b) // a hold that begins at once has its nodes at once
	}
	_, qerr := s.Ledger.Book(at, charge)
	b, cerr := s.Calendar.Book(at, booking)
	if err := errors.Join(qerr, cerr); err != nil {
		return b, err
	}
	return b, s.ReconcileAfter(at, b)
}

func (c Book) requests(s *state.State) (quota.Request, reservation.Request, error) {
	var q quota.Request
	var r reservation.Request
	key, perNode, ok := s.PoolPrice(c.Pool)
	if !ok {
		return q, r, fmt.Errorf("%w: pool %q is unknown", state.ErrInvalid, c.Pool)
	}
	if most := min(1<<30, quota.MaxAmount/perNode); c.Nodes < 1 || c.Nodes > most {
		return q, r, fmt.Errorf("%w: nodes is %d: must be 1 to %d", state.ErrInvalid, c.Nodes, most)
	}
	if c.Hold < 0 || c.Hold > MaxHold || c.Hold%time.Second != 0 {
		return q, r, fmt.Errorf("%w: hold is %s: must be whole seconds, at most %s", state.ErrInvalid, c.Hold, MaxHold)
	}
	if c.End.IsZero() {
		return q, r, fmt.Errorf("%w: end is missing: a booking has an end", state.ErrInvalid)
	}
	w := reservation.Window{Start: c.Start, End: c.End}
	q = quota.Request{ID: c.ID, Tenant: c.Owner, Class: quota.Guaranteed, Note: c.Pool,
		Amounts: []quota.Amount{{Key: key, N: c.Nodes * perNode}},
		Window:  quota.Window{Start: c.Start, End: c.End}}
	r = reservation.Request{ID: c.ID, Owner: c.Owner, Class: reservation.Firm, Window: w, Note: c.Note,
		Lines: []reservation.Line{{Pool: c.Pool, Count: c.Nodes}}}
	return q, r, nil
}

// An Offer is a booking that could be had at the moment of asking.
type Offer struct {
	Kind   string // exact, later, earlier, shorter, smaller
	Window reservation.Window
	Nodes  int64
}

// Offers returns what could be had now: the exact wish if it fits, else why it
// does not, and the nearest alternatives that calendar and quota both allow. There
// may be none.
func (c Book) Offers(s *state.State, at time.Time) (offers []Offer, why, err error) {
	c.ID = "offer/-" // no booking can have that id, so none is in the way
	why = c.fits(s, at)
	if why == nil {
		return []Offer{{Kind: "exact", Window: reservation.Window{Start: c.Start.UTC(), End: c.End.UTC()}, Nodes: c.Nodes}}, nil, nil
	}
	if !refused(why) {
		return nil, nil, why
	}
	_, r, err := c.requests(s)
	if err != nil {
		return nil, nil, err
	}
	for _, o := range s.Calendar.Offers(at, r) {
		if o.Kind == reservation.Smaller {
			continue // the quota may allow fewer still
		}
		try := c
		try.Start, try.End, try.Nodes = o.Window.Start, o.Window.End, o.Lines[0].Count
		if try.fits(s, at) == nil {
			offers = append(offers, Offer{strings.ToLower(o.Kind.String()), o.Window, try.Nodes})
		}
	}
	if n := c.most(s, at); n > 0 {
		offers = append(offers, Offer{"smaller", r.Window, n})
	}
	return offers, why, nil
}

func (c Book) fits(s *state.State, at time.Time) error {
	_, err := c.do(s.Fork(), at)
	return err
}

// refused reports whether there might be something else instead.
func refused(err error) bool {
	return errors.Is(err, reservation.ErrConflict) || errors.Is(err, quota.ErrExceeded)
}

// most returns how many nodes, fewer than asked for, could be had in the same
// window: what fits n nodes fits n-1.
func (c Book) most(s *state.State, at time.Time) int64 {
	p, _ := s.Calendar.Pool(c.Pool)
	fit, not := int64(0), min(c.Nodes, int64(len(p.Units))+1)
	for not-fit > 1 {
		try := c
		try.Nodes = fit + (not-fit)/2
		if try.fits(s, at) == nil {
			fit = try.Nodes
		} else {
			not = try.Nodes
		}
	}
	return fit
}
