// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// An Event is a decided fact: what the ledger has done, with its instant. The
// types of this package that end in Event are all there are.
//
// An Event is immutable and safe for concurrent use.
type Event interface {
	// Kind is the name of the fact, such as "reserved".
	Kind() string
	// AppendBinary appends the binary form. It fails only on an event that no
	// ledger made.
	AppendBinary([]byte) ([]byte, error)
	event()
}

// A ReservedEvent says that a request was admitted: held, or committed at once
// if Booked. Amounts are sorted by key.
//
// A ReservedEvent is immutable and safe for concurrent use.
type ReservedEvent struct {
	At time.Time `json:"at"`
	Request
	Booked bool `json:"booked,omitempty"`
}

// A CommittedEvent says that a hold was committed with these amounts.
//
// A CommittedEvent is immutable and safe for concurrent use.
type CommittedEvent struct {
	At      time.Time `json:"at"`
	ID      string    `json:"id"`
	Amounts []Amount  `json:"amounts"` // sorted by key
}

// A ResizedEvent says that from At on a charge uses these amounts over this window.
//
// A ResizedEvent is immutable and safe for concurrent use.
type ResizedEvent struct {
	At      time.Time `json:"at"`
	ID      string    `json:"id"`
	Amounts []Amount  `json:"amounts"` // sorted by key
	Window  Window    `json:"window"`
}

// A ReleasedEvent says that from At on a charge uses nothing.
//
// A ReleasedEvent is immutable and safe for concurrent use.
type ReleasedEvent struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// An ExpiredEvent says that a hold ran out at At.
//
// An ExpiredEvent is immutable and safe for concurrent use.
type ExpiredEvent struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// An EndedEvent says that the window of a charge ended at At.
//
// An EndedEvent is immutable and safe for concurrent use.
type EndedEvent struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// A TenantSetEvent says that a tenant was made or replaced. Limits are sorted by
// key, without those that say nothing.
//
// A TenantSetEvent is immutable and safe for concurrent use.
type TenantSetEvent struct {
	At     time.Time `json:"at"`
	Tenant Tenant    `json:"tenant"`
}

// A TenantRemovedEvent says that a tenant was removed, with its past charges.
//
// A TenantRemovedEvent is immutable and safe for concurrent use.
type TenantRemovedEvent struct {
	At   time.Time `json:"at"`
	Name string    `json:"name"`
}

// A ForgottenEvent says that Charges past charges, stopped at or before Before,
// were dropped, and the spans up to Before of the others.
//
// A ForgottenEvent is immutable and safe for concurrent use.
type ForgottenEvent struct {
	At      time.Time `json:"at"`
	Before  time.Time `json:"before"`
	Charges int       `json:"charges"`
}

// Kind returns "reserved".
func (ReservedEvent) Kind() string { return "reserved" }

// Kind returns "committed".
func (CommittedEvent) Kind() string { return "committed" }

// Kind returns "resized".
func (ResizedEvent) Kind() string { return "resized" }

// Kind returns "released".
func (ReleasedEvent) Kind() string { return "released" }

// Kind returns "expired".
func (ExpiredEvent) Kind() string { return "expired" }

// Kind returns "ended".
func (EndedEvent) Kind() string { return "ended" }

// Kind returns "tenant-set".
func (TenantSetEvent) Kind() string { return "tenant-set" }

// Kind returns "tenant-removed".
func (TenantRemovedEvent) Kind() string { return "tenant-removed" }

// Kind returns "forgotten".
func (ForgottenEvent) Kind() string { return "forgotten" }

func (ReservedEvent) event()      {}
func (CommittedEvent) event()     {}
func (ResizedEvent) event()       {}
func (ReleasedEvent) event()      {}
func (ExpiredEvent) event()       {}
func (EndedEvent) event()         {}
func (TenantSetEvent) event()     {}
func (TenantRemovedEvent) event() {}
func (ForgottenEvent) event()     {}

// ours reports whether ev is a value of a type of this package: a pointer has
// the methods too, but is no event.
func ours(ev Event) bool {
	switch ev.(type) {
	case ReservedEvent, CommittedEvent, ResizedEvent, ReleasedEvent, ExpiredEvent, EndedEvent,
		TenantSetEvent, TenantRemovedEvent, ForgottenEvent:
		return true
	}
	return false
}

// owned returns ev with its own copy of every list, so that the ledger may keep
// it whatever the caller does with the original.
func owned(ev Event) Event {
	switch e := ev.(type) {
	case ReservedEvent:
		e.Amounts = slices.Clone(e.Amounts)
		return e
	case CommittedEvent:
		e.Amounts = slices.Clone(e.Amounts)
		return e
	case ResizedEvent:
		e.Amounts = slices.Clone(e.Amounts)
		return e
	case TenantSetEvent:
		e.Tenant.Limits = slices.Clone(e.Tenant.Limits)
		return e
	}
	return ev
}

// EventJSON returns an event for people: its fields after "kind". Possible
// errors: [ErrInvalid], for what no ledger made.
func EventJSON(ev Event) ([]byte, error) {
	if !ours(ev) {
		return nil, fmt.Errorf("%w: event of type %T: pass an event of this package by value", ErrInvalid, ev)
	}
	body, err := json.Marshal(ev)
	if err != nil {
		return nil, fmt.Errorf("%w: event %s: %w", ErrInvalid, ev.Kind(), err)
	}
	return append([]byte(`{"kind":"`+ev.Kind()+`",`), body[1:]...), nil
}
