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
)

var reasonNames = []string{"Count", "Seats", "Unplaced", "Policy"}

// String returns the name of r.
func (r Reason) String() string { return name("Reason", reasonNames, int(r)) }

// MarshalText returns the name of r.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// A Blocking is a booking that is in the way. Several bookings that the reader
// may not see come as one without ID and Owner.
//
// A Blocking is immutable and safe for concurrent use.
type Blocking struct {
	ID     string `json:"id,omitempty"`
	Owner  string `json:"owner,omitempty"`
	Window Window `json:"window"` // its envelope; of several, the whole range they cover
	Count  int64  `json:"count"`  // nodes
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
	Allowed  []Window   `json:"allowed,omitempty"`
	Blocking []Blocking `json:"blocking,omitempty"` // who has nodes at At.Start, by begin and id
	Offers   []Offer    `json:"offers,omitempty"`   // what could be had instead at that moment
	tried    string
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
		fmt.Fprintf(&b, "%d free at each instant of %s, but %s for all of it were not found; tried %s", e.Free, e.At, nodes(e.Need), e.tried)
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

// For returns the refusal as owner may see it: the bookings of all others are
// summed.
func (e *ConflictError) For(owner string) *ConflictError {
	v := *e
	v.Blocking = nil
	var rest Blocking
	for _, x := range e.Blocking {
		if x.Owner == owner {
			v.Blocking = append(v.Blocking, x)
			continue
		}
		if rest.Count == 0 {
			rest.Window = x.Window
		}
		rest.Count += x.Count
		if x.Window.Start.Before(rest.Window.Start) {
			rest.Window.Start = x.Window.Start
		}
		if x.Window.End.After(rest.Window.End) {
			rest.Window.End = x.Window.End
		}
	}
	if rest.Count > 0 {
		v.Blocking = append(v.Blocking, rest)
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
				from = x.From
			} else if p.open-x.Level >= l.count && from != none {
				to = x.From
				break
			}
		}
		at, e.At = from, windowOf(from, to)
	}
	e.Out = p.lost.At(at)
	e.Blocking = s.blocking(l.pool, at, at+1, r.id)
	return e
}

// blocking returns the Firm bookings other than self that have nodes of a pool
// in [from, to).
func (s *state) blocking(pool string, from, to int64, self string) []Blocking {
	var recs []*record
	for x := range s.touching(pool, from, to) {
		if r := s.rec(x.id); r.class == Firm && r.id != self {
			recs = append(recs, r)
		}
	}
	slices.SortFunc(recs, byStart)
	var out []Blocking
	for _, r := range recs {
		l := r.line(pool)
		out = append(out, Blocking{r.id, r.owner, windowOf(l.from, l.to), l.count})
	}
	return out
}

// seatConflict returns a refusal because of the named nodes that are not free
// in [from, to), or nil.
func (s *state) seatConflict(r *record, l *line, names []string, from, to int64) *ConflictError {
	var taken []string
	first, last := int64(tick.Forever), int64(none)
	var by []*record
	for _, name := range names {
		n, _ := s.node(name)
		bad := n.spare
		if bad {
			first, last = min(first, from), max(last, to)
		}
		for _, x := range s.outUnion(name) {
			if x.from < to && x.to > from {
				bad = true
				first, last = min(first, max(x.from, from)), max(last, min(x.to, to))
			}
		}
		if id, busy := s.otherSeat(name, from, to, r.id); busy {
			bad = true
			o := s.rec(id)
			x := o.lineNear(l.pool)
			first, last = min(first, max(x.from, from)), max(last, min(x.to, to))
			if !slices.Contains(by, o) {
				by = append(by, o)
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
	e.Nodes, e.At, e.Blocking = taken, windowOf(first, last), nil
	e.Out = s.pool(l.pool).lost.At(first)
	slices.SortFunc(by, byStart)
	for _, o := range by {
		x := o.lineNear(l.pool)
		e.Blocking = append(e.Blocking, Blocking{o.id, o.owner, windowOf(x.from, x.to), x.count})
	}
	return e
}
