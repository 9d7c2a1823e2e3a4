// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// A Reason is why the calendar cannot give what was asked.
//
// A Reason is immutable and safe for concurrent use.
type Reason uint8

// Reasons of a [ConflictError]. New ones are added at the end.
const (
	// ReasonCount: at some instant the pool has too few free nodes. This is a proof.
	ReasonCount Reason = iota
	// ReasonSeats: a named node is taken, in outage or a spare.
	ReasonSeats
	// ReasonUnplaced: at each instant enough nodes are free, but no seats were
	// found that last the whole envelope and cost no other booking its own.
	// This is not a proof that there are none.
	ReasonUnplaced
	// ReasonPolicy: a rule of the pool forbids it.
	ReasonPolicy
	// ReasonDomain: the pool has enough free nodes, but no domain of the level that
	// Line.Within names has as many that are free in the whole envelope. This is a
	// proof, as long as the seats of the others stay.
	ReasonDomain
	// ReasonCell: the pool's Regime is Cells, and the owner would pass its cell.
	// This is a proof.
	ReasonCell
)

var reasonNames = []string{"Count", "Seats", "Unplaced", "Policy", "Domain", "Cell"}

// String returns the name of r.
func (r Reason) String() string { return name("Reason", reasonNames, int(r)) }

// MarshalText returns the name of r.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// A Blocking is a booking that is in the way. Those that the reader may not see,
// however many, come as one without ID and Owner.
//
// A Blocking is immutable and safe for concurrent use.
type Blocking struct {
	ID     string `json:"id,omitempty"`
	Owner  string `json:"owner,omitempty"`
	Window Window `json:"window"` // its envelope; without ID, the range that is short
	Count  int64  `json:"count"`  // nodes; without ID, as many as the others would have to give up
}

// A ConflictError says why a request cannot be met, and what would help. It
// describes the first line, by pool, that fails. It Is [ErrConflict].
//
// A ConflictError is immutable and safe for concurrent use.
type ConflictError struct {
	ID     string `json:"id,omitempty"` // of the refused booking
	Pool   string `json:"pool"`
	Reason Reason `json:"reason"`
	// At is the first range of the envelope that is short (Count), in which the
	// node is taken (Seats), or the whole envelope.
	At        Window        `json:"at"`
	Free      int64         `json:"free"`            // nodes free in the whole envelope; may be negative
	Need      int64         `json:"need"`            // nodes asked for
	Shortfall int64         `json:"shortfall"`       // Need − Free if that is positive: with as many more nodes it fits (Count)
	Out       int64         `json:"out,omitempty"`   // nodes that outages take at At.Start
	Nodes     []string      `json:"nodes,omitempty"` // named nodes that cannot be had (Seats)
	Rule      string        `json:"rule,omitempty"`  // field of Policy (Policy)
	Limit     time.Duration `json:"limit,omitempty"` // its value; of a grid or a step its Every; 0 for a ban (Policy)
	// Allowed are windows near the refused one that the rules of this pool allow:
	// one that ends no later and one that ends later, free or not (Policy).
	Allowed []Window `json:"allowed,omitempty"`
	// Blocking is who is in the way at At.Start, by begin and id: as few bookings
	// as together have the nodes that are short there (Count), or who has one of
	// the named nodes (Seats). Of several such sets it is the one with the largest
	// bookings, but for the last, which is the smallest that will do; among equal
	// ones those that begin last, were made last, or have the greater id. It is
	// empty if even all bookings together have too few, and if it is not known
	// who is in the way (Unplaced).
	Blocking []Blocking `json:"blocking,omitempty"`
	Offers   []Offer    `json:"offers,omitempty"` // what could be had instead at that moment
	Within   string     `json:"within,omitempty"` // the level (Domain)
	Domain   []string   `json:"domain,omitempty"` // the path of the domain with the most free nodes, to which Free, Out and Blocking refer (Domain)
	Cell     int64      `json:"cell,omitempty"`   // nodes of the owner's cell (Cell)
	Used     int64      `json:"used,omitempty"`   // nodes that the owner has at At.Start (Cell)
	tried    string
	short    int64 // nodes short at At.Start
}

func nodes(n int64) string {
	if n == 1 {
		return "1 node"
	}
	return fmt.Sprint(n, " nodes")
}

// Is reports whether target is [ErrConflict].
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// Error names no other booking and no other owner.
func (e *ConflictError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: ", ErrConflict)
	if e.ID != "" {
		fmt.Fprintf(&b, "booking %q: ", e.ID)
	}
	fmt.Fprintf(&b, "pool %q: ", e.Pool)
	switch e.Reason {
	case ReasonCount:
		fmt.Fprintf(&b, "%s needed, %d free in %s", nodes(e.Need), e.Free, e.At)
		if e.Out > 0 {
			fmt.Fprintf(&b, ", %d in outage", e.Out)
		}
	case ReasonSeats:
		fmt.Fprintf(&b, "nodes %q are taken, in outage or spare in %s", e.Nodes, e.At)
	case ReasonUnplaced:
		if e.Free < e.Need {
			fmt.Fprintf(&b, "%s were not found from %s on; tried %s", nodes(e.Need), e.At.Start.Format(time.RFC3339), e.tried)
			break
		}
		fmt.Fprintf(&b, "%d free at each instant of %s, but %s for all of it were not found; tried %s", e.Free, e.At, nodes(e.Need), e.tried)
	case ReasonDomain:
		fmt.Fprintf(&b, "%s needed within one %s, at most %d free in all of %s", nodes(e.Need), e.Within, e.Free, e.At)
	case ReasonCell:
		fmt.Fprintf(&b, "%s needed, the cell of its owner has %d, of which %d are in use at %s", nodes(e.Need), e.Cell, e.Used, e.At.Start.Format(time.RFC3339))
	default:
		b.WriteString(e.ruleText())
	}
	for i, o := range e.Offers {
		b.WriteString([]string{"; instead: ", ", "}[min(i, 1)])
		b.WriteString(o.String())
	}
	if len(e.Offers) == 0 && e.Reason != ReasonPolicy {
		b.WriteString("; ask for fewer nodes or another window")
	}
	return b.String()
}

// For returns the refusal as owner may see it. The bookings of all others come
// as one Blocking, whose Window is At and whose Count is what is short beyond
// owner's own bookings. So it tells neither who they are, nor how many, nor when
// or how large: no more than the pool's profile.
func (e *ConflictError) For(owner string) *ConflictError {
	v := *e
	v.Blocking = nil
	short, others := e.short, false
	for _, x := range e.Blocking {
		if x.Owner != owner {
			others = true
			continue
		}
		v.Blocking = append(v.Blocking, x)
		short -= x.Count
	}
	if others {
		v.Blocking = append(v.Blocking, Blocking{Window: e.At, Count: max(1, short)})
	}
	v.Offers, v.Allowed = slices.Clone(e.Offers), slices.Clone(e.Allowed)
	return &v
}

// conflict returns a refusal of line l of r over its envelope.
func (s *state) conflict(r *record, l *line, reason Reason) *ConflictError {
	p := s.pool(l.pool)
	e := &ConflictError{ID: r.id, Pool: l.pool, Reason: reason, At: windowOf(l.from, l.to), Need: l.count}
	e.Free = p.open - p.load.Max(l.from, l.to)
	e.Shortfall = max(0, e.Need-e.Free)
	at := l.from
	if reason == ReasonCount {
		from, to := int64(none), l.to
		for x := range p.load.Steps(l.from, l.to) {
			if p.open-x.Level < l.count && from == none {
				from, e.short = x.From, l.count-(p.open-x.Level)
			} else if p.open-x.Level >= l.count && from != none {
				to = x.From
				break
			}
		}
		at, e.At = from, windowOf(from, to)
		e.Blocking = s.inTheWay(l.pool, "", at, e.short, r.id)
	}
	e.Out = p.lost.At(at)
	return e
}

// seatConflict returns a refusal because of the named nodes that are not free
// in [from, to), or nil. Spares are closed unless they are listed.
func (s *state) seatConflict(r *record, l *line, names []string, from, to int64, spares []string) *ConflictError {
	var taken []string
	first, last := int64(tick.Forever), int64(none)
	var by []slot
	for _, name := range names {
		n, _ := s.node(name)
		bad := n.spare && !slices.Contains(spares, name)
		if bad {
			first, last = min(first, from), max(last, to)
		}
		for _, x := range s.closedRanges(name) {
			if x.from < to && x.to > from {
				bad = true
				first, last = min(first, max(x.from, from)), max(last, min(x.to, to))
			}
		}
		for x := range s.seatSlots(name, from, to) {
			if x.id != r.id {
				bad = true
				first, last = min(first, max(x.from, from)), max(last, min(x.to, to))
				by = append(by, x)
			}
		}
		if bad {
			taken = append(taken, name)
		}
	}
	if len(taken) == 0 {
		return nil
	}
	e := s.conflict(r, l, ReasonSeats)
	e.Nodes, e.At = taken, windowOf(first, last)
	e.Out = s.pool(l.pool).lost.At(first)
	e.Blocking, e.short = s.holders(by, first, l.pool)
	return e
}
