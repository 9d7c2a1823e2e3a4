// SPDX-License-Identifier: Apache-2.0

package health

import (
	"errors"
	"fmt"

	"github.com/berth-gpu/berth/internal/tick"
)

// kind is the number of an event in its binary form. A number is never used for another layout.
type kind uint8

const (
	kindHeld kind = iota + 1
	kindChanged
	kindDated
	kindSlipped
	kindReleased
	kindEnd
)

var kindNames = [kindEnd]string{"", "held", "changed", "dated", "slipped", "released"}

func (k kind) String() string {
	if k >= kindEnd {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// hasBody reports whether events of the kind carry step, reason and asked date.
func (k kind) hasBody() bool { return k == kindHeld || k == kindChanged }

// hasDate reports whether events of the kind carry a date.
func (k kind) hasDate() bool { return k != kindReleased }

// fact is any event in ticks: what commands decide, apply takes and the codec writes.
type fact struct {
	kind     kind
	at       int64
	key      key
	step     Step
	reason   string
	asked    int64 // Forever: none
	expected int64 // Forever: open-ended
}

// public returns f as the caller sees it. Its kind is valid.
func (f fact) public() Event {
	at, expected := tick.Time(f.at), tick.Time(f.expected)
	c, o := f.key.Component, f.key.owner
	switch f.kind {
	case kindHeld:
		return Held{at, c, o, f.step, f.reason, tick.Time(f.asked), expected}
	case kindChanged:
		return Changed{at, c, o, f.step, f.reason, tick.Time(f.asked), expected}
	case kindDated:
		return Dated{at, c, o, expected}
	case kindSlipped:
		return Slipped{at, c, o, expected}
	default:
		return Released{at, c, o}
	}
}

// factOf reads an event, which may have been made by hand, and reports all its mistakes.
func factOf(e Event) (fact, error) {
	var f fact
	var err1, err2, err3 error
	switch e := e.(type) {
	case Held:
		f = fact{kind: kindHeld, key: key{e.Component, e.Owner}, step: e.Step, reason: e.Reason}
		f.at, err1 = exact(e.At)
		f.asked, err2 = date("Asked", e.Asked)
		f.expected, err3 = date("Expected", e.Expected)
	case Changed:
		f = fact{kind: kindChanged, key: key{e.Component, e.Owner}, step: e.Step, reason: e.Reason}
		f.at, err1 = exact(e.At)
		f.asked, err2 = date("Asked", e.Asked)
		f.expected, err3 = date("Expected", e.Expected)
	case Dated:
		f = fact{kind: kindDated, key: key{e.Component, e.Owner}}
		f.at, err1 = exact(e.At)
		f.expected, err3 = date("Expected", e.Expected)
	case Slipped:
		f = fact{kind: kindSlipped, key: key{e.Component, e.Owner}}
		f.at, err1 = exact(e.At)
		f.expected, err3 = date("Expected", e.Expected)
	case Released:
		f = fact{kind: kindReleased, key: key{e.Component, e.Owner}}
		f.at, err1 = exact(e.At)
	default:
		return fact{}, fmt.Errorf("%w: event is a %T: use the values that this package returns", ErrInvalid, e)
	}
	if err := errors.Join(err1, err2, err3); err != nil {
		return fact{}, err
	}
	return f, f.check()
}

// check reports what makes f impossible in any record.
func (f fact) check() error {
	errs := f.key.problems(nil)
	if !f.step.valid() {
		errs = append(errs, f.step.problem())
	}
	errs = appendProblem(errs, "Reason", f.reason, 0, MaxReasonBytes)
	if f.kind.hasDate() && f.expected <= f.at {
		errs = append(errs, fmt.Errorf("%w: Expected %s of a %s event is not after its At", ErrInvalid, stamp(tick.Time(f.expected)), f.kind))
	}
	if f.kind == kindHeld && f.asked != tick.Forever && f.asked != f.expected {
		errs = append(errs, fmt.Errorf("%w: Expected of a held event differs from Asked %s", ErrInvalid, stamp(tick.Time(f.asked))))
	}
	return errors.Join(errs...)
}
