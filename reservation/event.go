// SPDX-License-Identifier: Apache-2.0

package reservation

import "time"

// An Event is a decided fact: what a host stores before it publishes, and what
// [Calendar.Apply] takes over. The set of events is closed; new releases add
// kinds and never change one. Events share their slices with the calendar: do
// not change them.
//
// An Event is immutable and safe for concurrent use.
type Event interface {
	// Kind is the stable name of the event, such as "booked".
	Kind() string
	// AppendBinary appends the event in the form that [DecodeEvent] reads.
	AppendBinary(b []byte) ([]byte, error)

	event()
	when() time.Time
	code(*coder) Event
	prepare(*state) (change, error)
}

// A PoolSet creates a pool or changes its units and rules. Bookings lose the
// seats on units that are gone.
//
// A PoolSet is immutable and safe for concurrent use.
type PoolSet struct {
	At   time.Time `json:"at"`
	Pool Pool      `json:"pool"`
}

// A PoolRemoved takes away a pool without live bookings.
//
// A PoolRemoved is immutable and safe for concurrent use.
type PoolRemoved struct {
	At   time.Time `json:"at"`
	Name string    `json:"name"`
}

// A Span is the envelope of one line, how much of its end is cleanup, and how
// long before it the nodes are chosen of which Standby claims are told.
//
// A Span is immutable and safe for concurrent use.
type Span struct {
	From    time.Time     `json:"from"`
	To      time.Time     `json:"to,omitzero"` // To is zero if the window is open
	Cleanup time.Duration `json:"cleanup"`
	Lead    time.Duration `json:"lead"`
}

// A Booked makes a booking, or a hold if Expires is set. Pinned lines have
// their seats from now on.
//
// A Booked is immutable and safe for concurrent use.
type Booked struct {
	At      time.Time `json:"at"`
	Request Request   `json:"request"`          // lines sorted by pool, nodes sorted, counts filled in
	Expires time.Time `json:"expires,omitzero"` // zero: no hold
	Spans   []Span    `json:"spans"`            // one per line
	// Show is how long after the start somebody has to check in; 0: no rule.
	Show time.Duration `json:"show,omitempty"`
	// Seats are the nodes chosen for the lines with Within, one list per line; nil
	// if there is no such line.
	Seats [][]string `json:"seats,omitempty"`
}

// A HoldConfirmed keeps a hold for good.
//
// A HoldConfirmed is immutable and safe for concurrent use.
type HoldConfirmed struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// A HoldExpired gives back a hold that nobody confirmed in time.
//
// A HoldExpired is immutable and safe for concurrent use.
type HoldExpired struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// A BookingCancelled gives back a booking before it began.
//
// A BookingCancelled is immutable and safe for concurrent use.
type BookingCancelled struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// An Opened begins the envelope of one line and settles its seats. Fewer seats
// than asked mean that the pool had no more.
//
// An Opened is immutable and safe for concurrent use.
type Opened struct {
	At    time.Time `json:"at"`
	ID    string    `json:"id"`
	Pool  string    `json:"pool"`
	Nodes []string  `json:"nodes"`
}

// A Started begins the window of a booking.
//
// A Started is immutable and safe for concurrent use.
type Started struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// A GraceBegan ends the window of a booking; its work may still leave.
//
// A GraceBegan is immutable and safe for concurrent use.
type GraceBegan struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// A BookingEnded ends a booking. Its nodes stay in cleanup to the end of the envelope.
//
// A BookingEnded is immutable and safe for concurrent use.
type BookingEnded struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// A Released ends a booking early. Its nodes are free after the cleanup.
//
// A Released is immutable and safe for concurrent use.
type Released struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// An Extended moves the end of a booking, either way.
//
// An Extended is immutable and safe for concurrent use.
type Extended struct {
	At  time.Time `json:"at"`
	ID  string    `json:"id"`
	End time.Time `json:"end,omitzero"` // zero: open
}

// A Seated gives a booking the seats that the host has proposed: all it has
// from now on.
//
// A Seated is immutable and safe for concurrent use.
type Seated struct {
	At    time.Time `json:"at"`
	ID    string    `json:"id"`
	Nodes []string  `json:"nodes"`
}

// An Unseated takes nodes from a Standby claim because the envelope of the Firm
// booking For begins.
//
// An Unseated is immutable and safe for concurrent use.
type Unseated struct {
	At    time.Time `json:"at"`
	ID    string    `json:"id"`
	Nodes []string  `json:"nodes"`
	For   string    `json:"for"`
}

// A ReclaimNotice tells a Standby claim to leave a node by an instant, because
// the envelope of the Firm booking For begins then.
//
// A ReclaimNotice is immutable and safe for concurrent use.
type ReclaimNotice struct {
	At   time.Time `json:"at"`
	ID   string    `json:"id"`
	Node string    `json:"node"`
	By   time.Time `json:"by"`
	For  string    `json:"for"`
}

// A Plan is the nodes that the calendar keeps for a floating line. It may
// change until the line is seated.
//
// A Plan is immutable and safe for concurrent use.
type Plan struct {
	ID    string   `json:"id"`
	Nodes []string `json:"nodes"`
	Near  bool     `json:"near"` // its envelope begins within the ReclaimLead
}

// A Planned changes the plans of one pool together.
//
// A Planned is immutable and safe for concurrent use.
type Planned struct {
	At    time.Time `json:"at"`
	Pool  string    `json:"pool"`
	Plans []Plan    `json:"plans"` // by id
}

// An OutageSet takes nodes out for a while, or changes such a while.
//
// An OutageSet is immutable and safe for concurrent use.
type OutageSet struct {
	At     time.Time `json:"at"`
	Outage Outage    `json:"outage"`
}

// An OutageEnded gives the nodes of an outage back.
//
// An OutageEnded is immutable and safe for concurrent use.
type OutageEnded struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// A Forgotten removes the records of bookings that were over and cleared by Before.
//
// A Forgotten is immutable and safe for concurrent use.
type Forgotten struct {
	At     time.Time `json:"at"`
	Before time.Time `json:"before"`
	Count  int64     `json:"count"` // how many
}

// A Changed gives a booking another window, other lines or another owner.
//
// A Changed is immutable and safe for concurrent use.
type Changed struct {
	At      time.Time     `json:"at"`
	Request Request       `json:"request"` // as it is from now on
	Spans   []Span        `json:"spans"`   // one per line
	Nodes   []string      `json:"nodes,omitempty"`
	Show    time.Duration `json:"show,omitempty"`
}

// A Split makes two bookings of one.
//
// A Split is immutable and safe for concurrent use.
type Split struct {
	At    time.Time `json:"at"`
	ID    string    `json:"id"`
	Child string    `json:"child"`
	Time  time.Time `json:"time,omitzero"`   // the child has all from then on and continues the parent
	Lines []Line    `json:"lines,omitempty"` // or these in the same window, with the seats that it takes
}

// A Joined merges booking ID into another one, which it continues or whose window
// it has.
//
// A Joined is immutable and safe for concurrent use.
type Joined struct {
	At   time.Time `json:"at"`
	ID   string    `json:"id"`
	Into string    `json:"into"`
}

// A CheckedIn says that somebody uses a booking.
//
// A CheckedIn is immutable and safe for concurrent use.
type CheckedIn struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// A NotShown ends a booking to which nobody has checked in. Its nodes are free
// after the cleanup.
//
// A NotShown is immutable and safe for concurrent use.
type NotShown struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// A BookingRevoked takes a booking back from its owner. Its nodes are free after the
// cleanup, or at once if its envelope has not begun.
//
// A BookingRevoked is immutable and safe for concurrent use.
type BookingRevoked struct {
	At     time.Time `json:"at"`
	ID     string    `json:"id"`
	Reason string    `json:"reason,omitempty"`
}

// A Yielded lets Standby claims use the nodes of a booking until an instant; if
// that is At, no longer.
//
// A Yielded is immutable and safe for concurrent use.
type Yielded struct {
	At    time.Time `json:"at"`
	ID    string    `json:"id"`
	Until time.Time `json:"until"`
}

// Kind returns "pool-set".
func (PoolSet) Kind() string { return "pool-set" }

// Kind returns "pool-removed".
func (PoolRemoved) Kind() string { return "pool-removed" }

// Kind returns "booked", or "held" for a hold.
func (e Booked) Kind() string {
	if e.Expires.IsZero() {
		return "booked"
	}
	return "held"
}

// Kind returns "confirmed".
func (HoldConfirmed) Kind() string { return "confirmed" }

// Kind returns "expired".
func (HoldExpired) Kind() string { return "expired" }

// Kind returns "cancelled".
func (BookingCancelled) Kind() string { return "cancelled" }

// Kind returns "opened".
func (Opened) Kind() string { return "opened" }

// Kind returns "started".
func (Started) Kind() string { return "started" }

// Kind returns "grace".
func (GraceBegan) Kind() string { return "grace" }

// Kind returns "ended".
func (BookingEnded) Kind() string { return "ended" }

// Kind returns "released".
func (Released) Kind() string { return "released" }

// Kind returns "extended".
func (Extended) Kind() string { return "extended" }

// Kind returns "seated".
func (Seated) Kind() string { return "seated" }

// Kind returns "unseated".
func (Unseated) Kind() string { return "unseated" }

// Kind returns "reclaim-notice".
func (ReclaimNotice) Kind() string { return "reclaim-notice" }

// Kind returns "planned".
func (Planned) Kind() string { return "planned" }

// Kind returns "outage-set".
func (OutageSet) Kind() string { return "outage-set" }

// Kind returns "outage-ended".
func (OutageEnded) Kind() string { return "outage-ended" }

// Kind returns "forgotten".
func (Forgotten) Kind() string { return "forgotten" }

// Kind returns "changed".
func (Changed) Kind() string { return "changed" }

// Kind returns "split".
func (Split) Kind() string { return "split" }

// Kind returns "joined".
func (Joined) Kind() string { return "joined" }

// Kind returns "checked-in".
func (CheckedIn) Kind() string { return "checked-in" }

// Kind returns "no-show".
func (NotShown) Kind() string { return "no-show" }

// Kind returns "revoked".
func (BookingRevoked) Kind() string { return "revoked" }

// Kind returns "yielded".
func (Yielded) Kind() string { return "yielded" }
