// SPDX-License-Identifier: Apache-2.0

package reservationtest

import (
	"errors"
	"fmt"
	"time"

	"github.com/berth-gpu/berth/reservation"
)

// An Op is what a [Command] does.
//
// An Op is immutable and safe for concurrent use.
type Op uint8

// Ops, named like the methods of a reservation.Calendar.
const (
	Book Op = iota
	Hold
	Confirm
	Cancel
	Release
	Extend
	Advance
	SetOutage
	EndOutage
)

var opNames = []string{"Book", "Hold", "Confirm", "Cancel", "Release", "Extend", "Advance", "SetOutage", "EndOutage"}

// String returns the name of o.
func (o Op) String() string {
	if int(o) < len(opNames) {
		return opNames[o]
	}
	return fmt.Sprintf("Op(%d)", o)
}

// A Command is one call as plain data.
//
// A Command is immutable and safe for concurrent use.
type Command struct {
	Op      Op
	At      time.Time           // when it is given
	ID      string              // of a booking, or of the outage that EndOutage ends
	Request reservation.Request // of Book and Hold
	TTL     time.Duration       // of Hold
	End     time.Time           // of Extend; zero: open
	Outage  reservation.Outage  // of SetOutage
}

// String returns the command for people.
func (c Command) String() string {
	at := c.At.UTC().Format(time.RFC3339)
	switch c.Op {
	case Book:
		return fmt.Sprintf("%s Book %s", at, describe(c.Request))
	case Hold:
		return fmt.Sprintf("%s Hold %s for %s", at, describe(c.Request), c.TTL)
	case Extend:
		return fmt.Sprintf("%s Extend %q to %s", at, c.ID, c.End.UTC().Format(time.RFC3339))
	case SetOutage:
		return fmt.Sprintf("%s SetOutage %q of %q in %s", at, c.Outage.ID, c.Outage.Nodes, c.Outage.Window)
	case Advance:
		return at + " Advance"
	default:
		return fmt.Sprintf("%s %s %q", at, c.Op, c.ID)
	}
}

// GoString returns String, so that the load that rapid prints when a property
// fails can be read.
func (c Command) GoString() string { return c.String() }

func describe(q reservation.Request) string {
	return fmt.Sprintf("%q %s %+v in %s", q.ID, q.Class, q.Lines, q.Window)
}

// On runs the command on a calendar, whatever version a booking has.
//
// Possible errors: those of the method of the calendar; errors.ErrUnsupported
// for an Op that it does not have.
func (c Command) On(cal *reservation.Calendar) error {
	var err error
	switch c.Op {
	case Book:
		_, err = cal.Book(c.At, c.Request)
	case Hold:
		_, err = cal.Hold(c.At, c.Request, c.TTL)
	case Confirm:
		_, err = cal.Confirm(c.At, c.ID, 0)
	case Cancel:
		_, err = cal.Cancel(c.At, c.ID, 0)
	case Release:
		_, err = cal.Release(c.At, c.ID, 0)
	case Extend:
		_, err = cal.Extend(c.At, c.ID, c.End, 0)
	case Advance:
		cal.Advance(c.At)
	case SetOutage:
		_, err = cal.SetOutage(c.At, c.Outage)
	case EndOutage:
		err = cal.EndOutage(c.At, c.ID)
	default:
		err = fmt.Errorf("%w: %s", errors.ErrUnsupported, c.Op)
	}
	return err
}
