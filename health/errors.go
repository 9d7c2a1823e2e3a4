// SPDX-License-Identifier: Apache-2.0

package health

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

var (
	// ErrInvalid marks input that no record would take. The message names the field and the value.
	ErrInvalid = errors.New("health: invalid argument")
	// ErrUnknown marks a hold that does not exist.
	ErrUnknown = errors.New("health: unknown hold")
	// ErrPast marks a date that is not in the future.
	ErrPast = errors.New("health: date is not in the future")
	// ErrEvent marks an event that contradicts the record it is applied to.
	ErrEvent = errors.New("health: event contradicts the record")
	// ErrCorrupt marks a snapshot or an event that is not what this package wrote.
	ErrCorrupt = errors.New("health: corrupt encoding")
)

// A Reason is the stable code of a refusal.
//
// A Reason is immutable and safe for concurrent use.
type Reason string

// The reasons of a [RefusedError].
const (
	ReasonUnknown Reason = "unknown-hold"    // Is [ErrUnknown]; Owners says who does hold the component
	ReasonPast    Reason = "date-not-future" // Is [ErrPast]; any date after Present would do
)

// A RefusedError is a command that was well formed but does not fit the record. It is meant for operators: it names owners.
//
// A RefusedError is immutable and safe for concurrent use.
type RefusedError struct {
	Reason Reason `json:"reason"`
	Component
	Owner    Owner     `json:"owner"`
	Expected time.Time `json:"expected,omitzero"` // the date that was refused
	Present  time.Time `json:"present,omitzero"`  // the instant of the command
	Owners   []Owner   `json:"owners,omitempty"`  // who holds the component, sorted
}

// Error says what was refused and what to do next.
func (e *RefusedError) Error() string {
	if e.Reason == ReasonPast {
		return fmt.Sprintf("%v: Expected %s of %q on %s: give an instant after %s, or none",
			ErrPast, stamp(e.Expected), e.Owner, e.Component.label(), stamp(e.Present))
	}
	who := "nobody; place the hold first"
	if len(e.Owners) > 0 {
		names := make([]string, len(e.Owners))
		for i, o := range e.Owners {
			names[i] = fmt.Sprintf("%q", o)
		}
		who = strings.Join(names, ", ") + "; an owner changes only its own hold"
	}
	return fmt.Sprintf("%v: Owner %q does not hold %s: it is held by %s", ErrUnknown, e.Owner, e.Component.label(), who)
}

// Is reports whether target is the sentinel of e's reason.
func (e *RefusedError) Is(target error) bool {
	return target == ErrUnknown && e.Reason == ReasonUnknown || target == ErrPast && e.Reason == ReasonPast
}

func (c Component) label() string {
	if c.WholeNode() {
		return fmt.Sprintf("node %q", c.Node)
	}
	return fmt.Sprintf("GPU %q of node %q", c.GPU, c.Node)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// date reads an instant of the caller; the zero time is Forever.
func date(field string, t time.Time) (int64, error) {
	if t.IsZero() {
		return tick.Forever, nil
	}
	s, err := tick.Exact(t)
	if err != nil {
		return tick.Forever, fmt.Errorf("%w: %s: %w", ErrInvalid, field, err)
	}
	return s, nil
}
