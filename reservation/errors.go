// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Sentinels of this package. They are always returned wrapped with the field
// and the value, so test with [errors.Is].
var (
	// ErrConflict marks a [*ConflictError]: the calendar cannot give what was asked.
	ErrConflict = errors.New("reservation: conflict")
	// ErrExists marks an id that is used with another body.
	ErrExists = errors.New("reservation: id is in use")
	// ErrUnknown marks a booking, pool, node or outage that the calendar does not have.
	ErrUnknown = errors.New("reservation: unknown")
	// ErrInvalid marks a field whose value is never valid.
	ErrInvalid = errors.New("reservation: invalid")
	// ErrEmptyWindow marks a window that does not end after its start.
	ErrEmptyWindow = errors.New("reservation: empty window")
	// ErrUnaligned marks an instant or a duration that is not in whole seconds.
	ErrUnaligned = errors.New("reservation: unaligned")
	// ErrHorizon marks a window that begins before the present.
	ErrHorizon = errors.New("reservation: before the present")
	// ErrExpired marks a hold whose time is over.
	ErrExpired = errors.New("reservation: hold has expired")
	// ErrState marks a command that the booking's phase does not allow.
	ErrState = errors.New("reservation: wrong phase")
	// ErrVersion marks a booking that changed since the caller read it.
	ErrVersion = errors.New("reservation: version has changed")
	// ErrStale marks a fork whose base has changed since.
	ErrStale = errors.New("reservation: stale fork")
	// ErrEvent marks an event that contradicts the state it is applied to.
	ErrEvent = errors.New("reservation: event contradicts the state")
	// ErrCorrupt marks bytes that no release of this package wrote.
	ErrCorrupt = errors.New("reservation: corrupt encoding")
)

// Limits of what a caller may put in.
const (
	maxID    = 256     // bytes of an id, an owner or a name
	maxText  = 4096    // bytes of a note, a reason or a label
	maxLines = 64      // lines of a request
	maxUnits = 1 << 20 // units of a pool
	maxCount = 1 << 40 // nodes of a line
	maxSum   = 1 << 62 // nodes of all bookings of a pool together
)

// checkID says whether v may name something.
func checkID(field, v string) error {
	switch {
	case v == "":
		return fmt.Errorf("%w: %s is empty", ErrInvalid, field)
	case len(v) > maxID:
		return fmt.Errorf("%w: %s %.20q… has %d bytes, more than %d", ErrInvalid, field, v, len(v), maxID)
	}
	return checkChars(field, v)
}

// checkText says whether v may be shown to people. It may be empty.
func checkText(field, v string) error {
	if len(v) > maxText {
		return fmt.Errorf("%w: %s has %d bytes, more than %d", ErrInvalid, field, len(v), maxText)
	}
	return checkChars(field, v)
}

func checkChars(field, v string) error {
	if !utf8.ValidString(v) {
		return fmt.Errorf("%w: %s %q is not valid UTF-8", ErrInvalid, field, v)
	}
	for _, r := range v {
		if unicode.IsControl(r) {
			return fmt.Errorf("%w: %s %q has a control character", ErrInvalid, field, v)
		}
	}
	return nil
}
