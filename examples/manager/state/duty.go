// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/topology"
)

// duty is what the fleet owes a node because of a firm booking seated on it.
type duty struct {
	cordon string // owner of the cordon that keeps new work off: "booking/<id>"
	tenant string // whom the node is reserved for
}

const bookingPrefix = "booking/"

// dutyOf says what booking b asks of its nodes at an instant: before its
// envelope begins and in cleanup nothing new may land; in between the nodes are
// its owner's.
func dutyOf(b reservation.Booking, at time.Time) (duty, bool) {
	switch {
	case b.Class != reservation.Firm || len(b.Seats) == 0 || !b.Envelope.End.After(at):
		return duty{}, false
	case b.Phase == reservation.Expired || b.Phase == reservation.Cancelled:
		return duty{}, false
	case b.Phase.Live() && !b.Envelope.Start.After(at):
		return duty{tenant: b.Owner}, true
	default:
		return duty{cordon: bookingPrefix + b.ID}, true
	}
}

// nearby yields the firm bookings whose envelope may touch an instant: those
// that begin within the longest lead, and those that ended within the longest
// grace and cleanup.
func (s *State) nearby(at time.Time) iter.Seq[reservation.Booking] {
	lead, tail := s.pools.lead, s.pools.tail
	return func(yield func(reservation.Booking) bool) {
		for b := range s.Calendar.Bookings("", reservation.Window{Start: at.Add(-tail - time.Second), End: at.Add(lead)}) {
			if b.Class == reservation.Firm && !yield(b) {
				return
			}
		}
	}
}

// nextCleanup says when the next node is handed over: the end of the envelope of
// a booking that is over. The answer is kept until the calendar changes.
func (s *State) nextCleanup() (time.Time, bool) {
	if !s.cleanupKnown {
		s.cleanup, s.cleanupKnown = time.Time{}, true
		at := s.Calendar.Present()
		for b := range s.nearby(at) {
			if end := b.Envelope.End; !b.Phase.Live() && end.After(at) && end.After(s.stepped) && (s.cleanup.IsZero() || end.Before(s.cleanup)) {
				s.cleanup = end
			}
		}
	}
	return s.cleanup, !s.cleanup.IsZero() && s.cleanup.After(s.stepped)
}

// ReconcileAfter is Reconcile after a change of one booking: it does nothing if
// the booking neither has seats nor will get them soon, so that booking far ahead
// costs nothing per node.
func (s *State) ReconcileAfter(at time.Time, b reservation.Booking) error {
	lead := s.pools.lead
	if len(b.Seats) == 0 && b.Envelope.Start.After(at.Add(lead)) {
		return nil
	}
	return s.Reconcile(at)
}

// Reconcile seats the bookings that begin soon, makes the fleet's cordons and reservations what the calendar's seats
// ask for, and takes work off nodes whose booking is over. Every command that
// changes bookings ends with it. It costs O(nodes).
func (s *State) Reconcile(at time.Time) error {
	s.cleanupKnown = false
	if err := s.bind(at); err != nil {
		return err
	}
	want := map[string]duty{}
	for b := range s.nearby(at) {
		if d, ok := dutyOf(b, at); ok {
			for _, seat := range b.Seats {
				if want[seat.Node].tenant == "" { // who has the node now goes before who gets it next
					want[seat.Node] = d
				}
			}
		}
	}
	if err := s.drain(at, want); err != nil {
		return err
	}
	had := s.duties()
	for _, n := range slices.Sorted(maps.Keys(had)) {
		have, node := had[n], s.Cluster.ID(n)
		d := want[string(node)]
		if have.cordon != "" && have.cordon != d.cordon {
			if err := s.Fleet.Uncordon(at, node, have.cordon); err != nil {
				return err
			}
		}
		if have.tenant != "" && have.tenant != d.tenant {
			if err := s.Fleet.Unreserve(at, node, have.tenant); err != nil {
				return err
			}
		}
	}
	for _, node := range slices.Sorted(maps.Keys(want)) {
		n, ok := s.Cluster.Index(topology.NodeID(node))
		if !ok || !s.Cluster.Present(n) {
			continue
		}
		d, have := want[node], had[n]
		if d.cordon != "" && have.cordon != d.cordon {
			if err := s.Fleet.Cordon(at, topology.NodeID(node), d.cordon, "kept for a booking"); err != nil {
				return err
			}
		}
		if d.tenant != "" && have.tenant != d.tenant {
			if err := s.Fleet.Reserve(at, topology.NodeID(node), d.tenant); err != nil {
				return err
			}
		}
	}
	return nil
}

// drain puts the work of bookings that are over back into the queue, and takes
// others' work off nodes that are reserved for a booking now.
func (s *State) drain(at time.Time, want map[string]duty) error {
	live := map[string]bool{} // by firm claim
	over := func(claim string) bool {
		if strings.HasPrefix(claim, "standby/") {
			return false
		}
		alive, known := live[claim]
		if !known {
			b, ok := s.Calendar.Find(claim)
			alive = ok && b.Phase.Live()
			live[claim] = alive
		}
		return !alive
	}
	type eviction struct{ node, why string }
	var list []eviction
	for n := range s.Cluster.Nodes() {
		node := string(s.Cluster.ID(n))
		reserved := want[node].tenant != ""
		for p := range s.Fleet.OnNode(n) {
			switch {
			case over(p.Request.Claim):
				list = append(list, eviction{node, fmt.Sprintf("booking %q is over", p.Request.Claim)})
			case reserved && strings.HasPrefix(p.Request.Claim, "standby/"):
				list = append(list, eviction{node, "the node belongs to a booking now"})
			}
		}
	}
	for _, e := range list {
		reserved := want[e.node].tenant != ""
		err := s.evict(at, e.node, func(claim string) bool {
			return over(claim) || reserved && strings.HasPrefix(claim, "standby/")
		}, e.why)
		if err != nil {
			return err
		}
	}
	return nil
}

// duties returns the nodes that carry a booking's cordon or a reservation.
func (s *State) duties() map[topology.NodeIndex]duty {
	out := map[topology.NodeIndex]duty{}
	for c := range s.Fleet.Cordons() {
		if strings.HasPrefix(c.Owner, bookingPrefix) {
			if n, ok := s.Cluster.Index(c.Node); ok {
				out[n] = duty{cordon: c.Owner}
			}
		}
	}
	for n := range s.Cluster.Nodes() {
		if free := s.Fleet.Free(n); free.Reserved {
			d := out[n]
			d.tenant = free.Tenant
			out[n] = d
		}
	}
	return out
}
