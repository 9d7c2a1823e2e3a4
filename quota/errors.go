// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// The errors of this package, always returned wrapped with the field and value.
var (
	// ErrExceeded: the tree has no room. The error is an [*ExceededError].
	ErrExceeded = errors.New("quota: exceeded")
	// ErrExists: the id is used by a charge with another body.
	ErrExists = errors.New("quota: id is used by another charge")
	// ErrUnknown: no such tenant or charge.
	ErrUnknown = errors.New("quota: unknown")
	// ErrInvalid: the input is malformed, or contradicts itself.
	ErrInvalid = errors.New("quota: invalid")
	// ErrExpired: the hold ran out before it was committed.
	ErrExpired = errors.New("quota: hold has expired")
	// ErrState: the charge or tenant is not in a state that allows this.
	ErrState = errors.New("quota: not possible in this state")
	// ErrCorrupt: bytes that no encoder of this package wrote.
	ErrCorrupt = errors.New("quota: corrupt encoding")
	// ErrContradiction: an event that does not follow from the state.
	ErrContradiction = errors.New("quota: event contradicts the state")
)

// invalid joins problems under ErrInvalid, or returns nil if there are none.
func invalid(problems []error) error {
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrInvalid, errors.Join(problems...))
}

const maxName = 256 // bytes

// badName says what is wrong with an id, a name or a key, or "".
func badName(s string) string {
	if s == "" {
		return "is empty"
	}
	return badText(s)
}

// badText is badName for text that may be empty.
func badText(s string) string {
	if len(s) > maxName {
		return fmt.Sprintf("is %d bytes long: at most %d", len(s), maxName)
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < 0x20 || c == 0x7f:
			return "has a control character"
		case c >= utf8.RuneSelf:
			return badUnicode(s)
		}
	}
	return ""
}

func badUnicode(s string) string {
	if !utf8.ValidString(s) {
		return "is not valid UTF-8"
	}
	for _, r := range s {
		if unicode.IsControl(r) {
			return "has a control character"
		}
	}
	return ""
}
