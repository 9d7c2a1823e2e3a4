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
	model, gpus, ok := s.PoolFacts(c.Pool)
	if !ok {
		return q, r, fmt.Errorf("%w: pool %q is unknown", state.ErrInvalid, c.Pool)
	}
	if c.Nodes < 1 || c.Nodes > 1<<30 {
		return q, r, fmt.Errorf("%w: nodes is %d: must be 1 to 2^30", state.ErrInvalid, c.Nodes)
	}
	if c.Hold < 0 || c.Hold > MaxHold || c.Hold%time.Second != 0 {
		return q, r, fmt.Errorf("%w: hold is %s: must be whole seconds, at most %s", state.ErrInvalid, c.Hold, MaxHold)
	}
	if c.End.IsZero() {
		return q, r, fmt.Errorf("%w: end is missing: a booking has an end", state.ErrInvalid)
	}
	w := reservation.Window{Start: c.Start, End: c.End}
	q = quota.Request{ID: c.ID, Tenant: c.Owner, Class: quota.Guaranteed, Note: c.Pool,
		Amounts: []quota.Amount{{Key: state.GPUKey(model), N: c.Nodes * gpus * state.MilliPerGPU}},
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

// Offers returns what could be had now: the exact wish if it fits, else the
// nearest alternatives that the owner's quota allows as well.
func (c Book) Offers(s *state.State, at time.Time) ([]Offer, error) {
	c.ID = "offer/-" // no booking can have that id, so none is in the way
	_, err := c.do(s.Fork(), at)
	if err == nil {
		return []Offer{{Kind: "exact", Window: reservation.Window{Start: c.Start.UTC(), End: c.End.UTC()}, Nodes: c.Nodes}}, nil
	}
	if !errors.Is(err, reservation.ErrConflict) && !errors.Is(err, quota.ErrExceeded) {
		return nil, err
	}
	_, r, err := c.requests(s)
	if err != nil {
		return nil, err
	}
	var out []Offer
	for _, o := range s.Calendar.Offers(at, r) {
		try := c
		try.Start, try.End, try.Nodes = o.Window.Start, o.Window.End, o.Lines[0].Count
		if _, err := try.do(s.Fork(), at); err == nil {
			out = append(out, Offer{strings.ToLower(o.Kind.String()), o.Window, try.Nodes})
		}
	}
	return out, nil
}
