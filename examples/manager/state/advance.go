// SPDX-License-Identifier: Apache-2.0

package state

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/health"
	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/topology"
)

// advance makes everything happen that is due up to at, in time order, the
// engines in the order health, calendar, quota, fleet at each instant, and then
// the host's own part.
func (s *State) advance(at time.Time) error {
	for {
		next, ok := s.next()
		if !ok || next.After(at) {
			return nil
		}
		if err := s.step(next, at); err != nil {
			return fmt.Errorf("at %s: %w", next.Format(time.RFC3339), err)
		}
	}
}

// step makes happen what is due at an instant; to is how far time will go on.
func (s *State) step(at, to time.Time) error {
	s.stepped = at
	slips, charges := len(s.Health.Events()), len(s.Ledger.Events())
	s.Health.Advance(at)
	for _, e := range s.Health.Events()[slips:] {
		if slipped, ok := e.(health.Slipped); ok {
			if err := s.MirrorHolds(at, slipped.Node); err != nil {
				return err
			}
		}
	}
	if err := s.evictReclaimed(at, func() { s.Calendar.Advance(at) }); err != nil {
		return err
	}
	if err := s.lapse(at, charges); err != nil {
		return err
	}
	if err := s.renew(at, to); err != nil {
		return err
	}
	s.Fleet.Advance(at)
	return s.Reconcile(at)
}

// evictReclaimed runs f, a change of the calendar, and takes standby work off
// every node that the calendar has taken from its claim meanwhile.
func (s *State) evictReclaimed(at time.Time, f func()) error {
	from := len(s.Calendar.Events())
	f()
	for _, e := range s.Calendar.Events()[from:] {
		u, ok := e.(reservation.Unseated)
		if !ok {
			continue
		}
		for _, node := range u.Nodes {
			why := fmt.Sprintf("node %s was needed for booking %q at %s", node, u.For, at.Format(time.RFC3339))
			if err := s.evict(at, node, func(claim string) bool { return claim == u.ID }, why); err != nil {
				return err
			}
		}
	}
	return nil
}

// evict puts the jobs on a node whose claim is meant back into the queue.
func (s *State) evict(at time.Time, node string, meant func(claim string) bool, why string) error {
	n, ok := s.Cluster.Index(topology.NodeID(node))
	if !ok {
		return nil
	}
	var ids []string
	for p := range s.Fleet.OnNode(n) {
		if id, ok := JobOf(p.Request.ID); ok && meant(p.Request.Claim) {
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		j, ok := s.Jobs.Find(id)
		if !ok || j.Phase != jobs.Running {
			return fmt.Errorf("placement of job %q on node %q, but the job does not run", id, node)
		}
		if err := s.preempt(at, j, why); err != nil {
			return err
		}
	}
	return nil
}

// nextBinding says when bookings should be seated by the host.
func (s *State) nextBinding() (time.Time, bool) {
	t, ok := s.Calendar.NextBinding()
	if !ok || !t.After(s.stepped) {
		return time.Time{}, false
	}
	return t, true
}

// bind seats the bookings that begin soon: on idle nodes first, then on those
// where the owner itself works, then where the least work must leave. If the
// calendar refuses, it seats them itself when they begin.
func (s *State) bind(at time.Time) error {
	var due []reservation.Booking
	for b := range s.Calendar.Binding(at) {
		due = append(due, b)
	}
	for _, b := range due {
		var chosen []string
		for _, l := range b.Lines {
			free, err := s.Calendar.FreeNodes(l.Pool, b.Window)
			if err != nil {
				return err
			}
			if int64(len(free)) < l.Count {
				chosen = nil
				break
			}
			slices.SortStableFunc(free, func(x, y string) int { return cmp.Compare(s.burden(x, b.Owner), s.burden(y, b.Owner)) })
			chosen = append(chosen, free[:l.Count]...)
		}
		if len(chosen) == 0 {
			continue
		}
		slices.Sort(chosen)
		if _, err := s.Calendar.Seat(at, b.ID, chosen); err != nil && !errors.Is(err, reservation.ErrConflict) {
			return err
		}
	}
	return nil
}

// burden is the GPU work in thousandths that would have to leave a node.
func (s *State) burden(node, owner string) int64 {
	n, ok := s.Cluster.Index(topology.NodeID(node))
	if !ok {
		return 1 << 40
	}
	free := s.Fleet.Free(n)
	var busy int64
	for _, milli := range free.GPUMilli {
		busy += MilliPerGPU - milli
	}
	switch free.Tenant {
	case "":
		return 0
	case owner:
		return 1 + busy
	default:
		return 1<<20 + busy
	}
}

// MirrorHolds makes calendar and fleet agree with the holds on a node: an outage
// to the expected end, and a cordon.
func (s *State) MirrorHolds(at time.Time, node topology.NodeID) error {
	id := "hold/" + string(node)
	if n, ok := s.Cluster.Index(node); !ok || !s.Cluster.Present(n) {
		return nil // it has left; LetGo has settled its holds
	}
	o, held := s.Health.Outage(node)
	if !held {
		if err := s.Calendar.EndOutage(at, id); err != nil && !errors.Is(err, reservation.ErrUnknown) {
			return err
		}
		return s.Fleet.Uncordon(at, node, holdOwner)
	}
	reason := ""
	for h := range s.Health.Holds(node) {
		if reason != "" {
			reason += "; "
		}
		reason += string(h.Owner) + ": " + h.Reason
	}
	for len(reason) > maxReason {
		_, last := utf8.DecodeLastRuneInString(reason)
		reason = reason[:len(reason)-last]
	}
	var err error
	if e := s.evictReclaimed(at, func() {
		_, err = s.Calendar.SetOutage(at, reservation.Outage{ID: id, Owner: string(o.Owners[0]), Reason: reason,
			Nodes: []string{string(node)}, Window: reservation.Window{Start: o.Start, End: o.End}})
	}); e != nil || err != nil {
		return errors.Join(err, e)
	}
	return s.Fleet.Cordon(at, node, holdOwner, reason)
}

// maxReason is what calendar and fleet both take, in bytes.
const maxReason = 256

// holdOwner owns the fleet's cordons that mirror health holds.
const holdOwner = "health"
