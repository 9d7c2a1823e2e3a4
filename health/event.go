// SPDX-License-Identifier: Apache-2.0

package health

import (
	"encoding/json"
	"time"
)

// An Event is a decided fact about a hold: one of [Held], [Changed], [Dated], [Slipped] and [Released]. A host stores the events
// of a command before it publishes the record, and looks at Where to see whose outage to mirror.
//
// An Event is immutable and safe for concurrent use.
type Event interface {
	// Kind returns the name of the kind, such as "held".
	Kind() string
	// Where returns the component that the event is about.
	Where() Component
	// AppendBinary appends the encoded event to b. Possible errors: [ErrInvalid], for an event that was made by hand.
	AppendBinary(b []byte) ([]byte, error)
	event()
}

// Held says that an owner took a component out of service.
//
// A Held is immutable and safe for concurrent use.
type Held struct {
	At time.Time `json:"at"`
	Component
	Owner    Owner     `json:"owner"`
	Step     Step      `json:"step"`
	Reason   string    `json:"reason,omitempty"`
	Asked    time.Time `json:"asked,omitzero"`    // Expected of the request
	Expected time.Time `json:"expected,omitzero"` // what was decided; zero: open-ended
}

// Changed says that an owner changed what it does about a component it holds.
//
// A Changed is immutable and safe for concurrent use.
type Changed struct {
	At time.Time `json:"at"`
	Component
	Owner    Owner     `json:"owner"`
	Step     Step      `json:"step"`
	Reason   string    `json:"reason,omitempty"`
	Asked    time.Time `json:"asked,omitzero"`    // Expected of the request
	Expected time.Time `json:"expected,omitzero"` // what was decided; zero: open-ended
}

// Dated says that somebody gave a hold another date.
//
// A Dated is immutable and safe for concurrent use.
type Dated struct {
	At time.Time `json:"at"`
	Component
	Owner    Owner     `json:"owner"`
	Expected time.Time `json:"expected,omitzero"` // zero: open-ended
}

// Slipped says that the date of a hold came, at At, and the hold was still there.
//
// A Slipped is immutable and safe for concurrent use.
type Slipped struct {
	At time.Time `json:"at"`
	Component
	Owner    Owner     `json:"owner"`
	Expected time.Time `json:"expected,omitzero"` // the new date; zero: it passed the year 9999
}

// Released says that an owner ended its hold.
//
// A Released is immutable and safe for concurrent use.
type Released struct {
	At time.Time `json:"at"`
	Component
	Owner Owner `json:"owner"`
}

// Kind returns "held".
func (Held) Kind() string { return kindHeld.String() }

// Kind returns "changed".
func (Changed) Kind() string { return kindChanged.String() }

// Kind returns "dated".
func (Dated) Kind() string { return kindDated.String() }

// Kind returns "slipped".
func (Slipped) Kind() string { return kindSlipped.String() }

// Kind returns "released".
func (Released) Kind() string { return kindReleased.String() }

// Where returns the component itself; embedded, it makes every event say what it is about.
func (c Component) Where() Component { return c }

// AppendBinary appends the encoded event to b. Possible errors: [ErrInvalid].
func (e Held) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, e) }

// AppendBinary appends the encoded event to b. Possible errors: [ErrInvalid].
func (e Changed) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, e) }

// AppendBinary appends the encoded event to b. Possible errors: [ErrInvalid].
func (e Dated) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, e) }

// AppendBinary appends the encoded event to b. Possible errors: [ErrInvalid].
func (e Slipped) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, e) }

// AppendBinary appends the encoded event to b. Possible errors: [ErrInvalid].
func (e Released) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, e) }

func (Held) event()     {}
func (Changed) event()  {}
func (Dated) event()    {}
func (Slipped) event()  {}
func (Released) event() {}

// EventJSON returns the event for people: one object with its kind first. Possible errors: [ErrInvalid].
func EventJSON(e Event) ([]byte, error) {
	f, err := factOf(e)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(f.public())
	if err != nil {
		return nil, err
	}
	head := append([]byte(`{"kind":"`+f.kind.String()+`"`), ',')
	return append(head, body[1:]...), nil
}
