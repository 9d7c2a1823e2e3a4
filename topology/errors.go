// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// The reasons of this package. They arrive wrapped in a [FieldError] that names the field and the value; test them with [errors.Is].
var (
	// ErrInvalid says that a value is outside what its field allows.
	ErrInvalid = errors.New("topology: invalid value")
	// ErrUnknown says that a name refers to a level, family, model, shape, node or product that was not declared.
	ErrUnknown = errors.New("topology: unknown name")
	// ErrDuplicate says that something that must be unique was given twice.
	ErrDuplicate = errors.New("topology: duplicate")
	// ErrConflict says that a value contradicts another one: a shape declared twice with different content, a node added
	// that is already present and different, a domain placed in two parents.
	ErrConflict = errors.New("topology: conflict")
	// ErrSyntax says that a document is not in the format that the reader expects.
	ErrSyntax = errors.New("topology: bad syntax")
	// ErrTooLarge says that an input passes one of the limits named in the package documentation.
	ErrTooLarge = errors.New("topology: too large")
)

// readerErrors is how many mistakes a reader reports before it only counts the rest, so that a wrong file of a million
// lines yields a readable message and bounded memory.
const readerErrors = 100

// How many bytes of a wrong value, of its place and of the advice a mistake keeps: all three may repeat input of any length.
const (
	valueShown = 80
	fieldShown = 240
	hintShown  = 400
)

// A FieldError names one mistake: where it is, what was there, why it is wrong and what to do about it.
// A FieldError is immutable and safe for concurrent use.
type FieldError struct {
	Line   int    // line of the document, from 1; 0 when the input has no lines
	Field  string // path of the field, for example nodes[3].path.rack, or a label key; cut after 240 bytes
	Value  string // the offending value, cut after 80 bytes
	Reason error  // one of the sentinels of this package
	Hint   string // what to do next
}

// Error gives one line: reason, place, value, advice.
func (e *FieldError) Error() string {
	where := e.Field
	if e.Line > 0 {
		where = fmt.Sprintf("line %d: %s", e.Line, e.Field)
	}
	return fmt.Sprintf("%v: %s=%s: %s", e.Reason, where, strconv.Quote(e.Value), e.Hint)
}

// Unwrap gives the sentinel.
func (e *FieldError) Unwrap() error { return e.Reason }

// mistakes gathers every mistake of one input, so that its author repairs them in one go.
type mistakes struct {
	list []*FieldError
	max  int // 0 = no bound
	more int
}

func (m *mistakes) add(reason error, field, value, hint string) {
	m.addLine(0, reason, field, value, hint)
}

func (m *mistakes) addLine(line int, reason error, field, value, hint string) {
	if m.full() {
		m.more++
		return
	}
	m.list = append(m.list, &FieldError{Line: line, Field: cut(field, fieldShown), Value: cut(value, valueShown), Reason: reason, Hint: cut(hint, hintShown)})
}

// full says that a further mistake is only counted, so that nobody need find out where it is.
func (m *mistakes) full() bool { return m.max > 0 && len(m.list) >= m.max }

// cut shortens a text to most bytes, at the end of a character. It copies, so that a mistake does not hold on to a long input.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

func (m *mistakes) any() bool { return len(m.list) > 0 }

// count gives how many mistakes there are, unlisted ones included.
func (m *mistakes) count() int { return len(m.list) + m.more }

func (m *mistakes) err() error {
	if !m.any() {
		return nil
	}
	all := make([]error, 0, len(m.list)+1)
	for _, e := range m.list {
		all = append(all, e)
	}
	if m.more > 0 {
		all = append(all, fmt.Errorf("%w: and %d more mistakes that are not listed", ErrInvalid, m.more))
	}
	return errors.Join(all...)
}
