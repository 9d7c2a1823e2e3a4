// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"time"
)

// A Class says what a booking is entitled to.
//
// A Class is immutable and safe for concurrent use.
type Class uint8

// Classes of bookings.
const (
	Firm    Class = iota // its nodes are kept for it in its whole window
	Standby              // takes nodes that no Firm booking uses, and leaves with notice
)

var classNames = []string{"Firm", "Standby"}

// String returns the name of c.
func (c Class) String() string { return name("Class", classNames, int(c)) }

// MarshalText returns the name of c.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// A Phase is where a booking is in its life.
//
// A Phase is immutable and safe for concurrent use.
type Phase uint8

// Phases of a booking. Held → Confirmed → Active → Grace → Ended, with the side
// exits Expired, Cancelled, NoShow, Revoked and Merged. That a booking lacks nodes
// is no phase; see [Calendar.Degraded]. New phases are added at the end.
const (
	Held      Phase = iota // kept until Expires
	Confirmed              // kept for good
	Active                 // its window has begun
	Grace                  // its window is over, work may still leave
	Ended                  // over; its nodes may still be in cleanup
	Expired                // a hold that nobody confirmed
	Cancelled              // given back before it began
	NoShow                 // nobody checked in; over like Ended
	Revoked                // taken back by the host; over like Ended
	Merged                 // its nodes and its time went to another booking
)

var phaseNames = []string{"Held", "Confirmed", "Active", "Grace", "Ended", "Expired", "Cancelled", "NoShow", "Revoked", "Merged"}

// String returns the name of p.
func (p Phase) String() string { return name("Phase", phaseNames, int(p)) }

// MarshalText returns the name of p.
func (p Phase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Live reports whether the booking is neither over nor given up.
func (p Phase) Live() bool { return p <= Grace }

// cleans reports whether the booking is over and its nodes may be in cleanup.
func (p Phase) cleans() bool { return p == Ended || p == NoShow || p == Revoked }

func name(typ string, names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", typ, i)
}

// A Line asks one pool for nodes. A request has at most one line per pool.
//
// A Line is immutable and safe for concurrent use.
type Line struct {
	Pool string `json:"pool"`
	// Count is the number of nodes. With Nodes it is 0 or len(Nodes). In a
	// Standby claim it is the greatest number of seats, 0 for no limit.
	Count int64 `json:"count"`
	// Nodes pins the line to these nodes. Empty: floating, the nodes are chosen
	// when the booking is seated.
	Nodes []string `json:"nodes,omitempty"`
	// Within is one of the pool's Levels: all nodes of the line lie in one domain
	// of that level. The calendar chooses them when it books; the host may seat the
	// line elsewhere, in one domain, until its envelope begins.
	Within string `json:"within,omitempty"`
}

// A Request asks for nodes of one or more pools in one window, all or nothing.
//
// A Request is immutable and safe for concurrent use.
type Request struct {
	ID     string `json:"id"` // chosen by the caller; it is the request key as well
	Owner  string `json:"owner"`
	Class  Class  `json:"class"`
	Window Window `json:"window"`
	Lines  []Line `json:"lines"`
	Note   string `json:"note,omitempty"` // for people
	// Continues is a Firm booking of the same owner and lines that ends where this
	// one starts. Both have the same nodes, and there is no turnaround between them.
	Continues string `json:"continues,omitempty"`
}

// A Seat is a node that a booking has.
//
// A Seat is immutable and safe for concurrent use.
type Seat struct {
	Pool string `json:"pool"`
	Node string `json:"node"`
}

// A Booking is a request that the calendar has accepted, and what became of it.
//
// A Booking is immutable and safe for concurrent use.
type Booking struct {
	Request
	Phase    Phase     `json:"phase"`
	Expires  time.Time `json:"expires,omitzero"` // of a hold
	Seats    []Seat    `json:"seats,omitempty"`  // by pool and node; empty while it floats; at once for pinned lines and those within a domain
	Version  uint64    `json:"version"`          // grows by one with each change but the begin of an envelope
	Created  time.Time `json:"created"`
	GraceEnd time.Time `json:"graceEnd,omitzero"` // when work must be gone; zero if open
	EndedAt  time.Time `json:"endedAt,omitzero"`  // when it ended, expired, was cancelled and so on
	// CheckedIn is whether somebody checked in; ShowBy is when the booking becomes
	// a NoShow otherwise, zero if that rule does not apply.
	CheckedIn bool      `json:"checkedIn,omitempty"`
	ShowBy    time.Time `json:"showBy,omitzero"`
	// Yielded is until when Standby claims may use its nodes; zero if it keeps them.
	Yielded     time.Time `json:"yielded,omitzero"`
	ContinuedBy string    `json:"continuedBy,omitempty"` // the booking that continues this one
	From        string    `json:"from,omitempty"`        // the booking that it was split from
	Into        string    `json:"into,omitempty"`        // the booking that it was merged into
	// Envelope is the range in which its nodes are not free for others:
	// [Start − Prep, End + Grace + Cleanup), the widest of its pools.
	Envelope Window `json:"envelope"`

	Series   string        `json:"series,omitempty"`   // of which it is an occurrence, if any
	Index    int64         `json:"index,omitempty"`    // in the series
	Shift    time.Duration `json:"shift,omitempty"`    // how much later than the rule ShiftWithin has put it
	Detached bool          `json:"detached,omitempty"` // changed by itself: the series leaves it alone
}
