// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"errors"
	"fmt"
	"time"

	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/reservation"
)

// find returns the firm booking that owner may change; owner "" may change any.
// A version other than 0 must be the booking's: whoever decided by an older one
// decided by what is no longer so.
func find(s *state.State, id, owner string, ifVersion uint64) (reservation.Booking, error) {
	b, ok := s.Calendar.Find(id)
	if !ok || b.Class != reservation.Firm || owner != "" && b.Owner != owner {
		return b, fmt.Errorf("%w: booking %q", ErrNotFound, id)
	}
	if ifVersion != 0 && ifVersion != b.Version {
		return b, fmt.Errorf("%w: booking %q is version %d, not %d; look at it again", reservation.ErrVersion, id, b.Version, ifVersion)
	}
	return b, nil
}

// ErrNotFound marks an id that does not exist for the one who asks: somebody
// else's looks just like none.
var ErrNotFound = errors.New("not found")

// Confirm turns a held offer into a booking.
type Confirm struct {
	ID    string
	Owner string // "" for an admin

	IfVersion uint64 // the booking's, as the caller knows it; 0 for any
}

// Do commits the charge and confirms the booking.
func (c Confirm) Do(s *state.State, at time.Time) (reservation.Booking, error) {
	if _, err := find(s, c.ID, c.Owner, c.IfVersion); err != nil {
		return reservation.Booking{}, err
	}
	b, err := s.Calendar.Confirm(at, c.ID, c.IfVersion)
	if err != nil {
		return b, err
	}
	if _, err := s.Ledger.Commit(at, c.ID, nil); err != nil {
		return b, err
	}
	return b, s.ReconcileAfter(at, b)
}

// Cancel gives back a hold, a booking that has not begun, or the rest of an
// active one.
type Cancel struct {
	ID    string
	Owner string

	IfVersion uint64
}

// Do releases the charge and frees the nodes.
func (c Cancel) Do(s *state.State, at time.Time) (reservation.Booking, error) {
	b, err := find(s, c.ID, c.Owner, c.IfVersion)
	if err != nil {
		return b, err
	}
	switch b.Phase {
	case reservation.Held, reservation.Confirmed:
		b, err = s.Calendar.Cancel(at, c.ID, c.IfVersion)
	case reservation.Active:
		b, err = s.Calendar.Release(at, c.ID, c.IfVersion)
	default:
		return b, nil // over already: nothing to give back
	}
	if err != nil {
		return b, err
	}
	if _, err := s.Ledger.Release(at, c.ID); err != nil {
		return b, err
	}
	return b, s.ReconcileAfter(at, b)
}

// Extend moves the end of a booking, later or earlier.
type Extend struct {
	ID    string
	Owner string
	End   time.Time

	IfVersion uint64
}

// Do checks and moves the end in the ledger and in the calendar, or in neither.
func (c Extend) Do(s *state.State, at time.Time) (reservation.Booking, error) {
	b, err := find(s, c.ID, c.Owner, c.IfVersion)
	if err != nil {
		return b, err
	}
	charge, ok := s.Ledger.Find(c.ID)
	if !ok {
		return b, fmt.Errorf("%w: booking %q has no charge", state.ErrInvalid, c.ID)
	}
	b, err = s.Calendar.Extend(at, c.ID, c.End, c.IfVersion)
	if err != nil {
		return b, err
	}
	if _, err := s.Ledger.Resize(at, c.ID, charge.Amounts, quota.Window{Start: charge.Window.Start, End: c.End}); err != nil {
		return b, err
	}
	return b, s.ReconcileAfter(at, b)
}
