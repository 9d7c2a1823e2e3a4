// SPDX-License-Identifier: Apache-2.0

package state

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/topology"
)

// Check verifies every engine by itself and W1–W6 of the contract between them:
//
//	W1 a firm claim has the same id and window in ledger and calendar, and is charged
//	   for all GPUs of its nodes; every standby job lies on a seat of its tenant's
//	   claim, and no such seat is without a job.
//	W2 placements lie on seats of the claim they name.
//	W3 firm envelopes, outages and spares fit the installed capacity at every instant,
//	   or as many nodes as are short then are listed as degraded for that time. (A node
//	   that is in outage while a booking that is over is being cleaned off it counts
//	   twice, to nobody's harm.)
//	W4 every held node has its cordon now and its outage, of that node alone, from the
//	   first hold's begin to the last one's expected end; no cordon or outage of that
//	   kind is without its hold.
//	W5 leases exist for running work only: every placement belongs to a running job.
//	W6 no node serves two tenants.
//
// It recounts everything: for tests, simulations, and on demand.
func (s *State) Check() error {
	return errors.Join(
		wrap("ledger", s.Ledger.Check()), wrap("calendar", s.Calendar.Check()), wrap("fleet", s.Fleet.Check()), wrap("health", s.Health.Check()),
		wrap("W1", s.checkFirm()), wrap("W1", s.checkStandby()), wrap("W2", s.checkPlacements()), wrap("W3", s.checkCapacity()),
		wrap("W4", s.checkHolds()), wrap("W5", s.checkJobs()), wrap("W6", s.checkTenants()))
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

func (s *State) checkFirm() error {
	for b := range s.Calendar.Bookings("", reservation.Window{}) {
		if b.Class != reservation.Firm || b.Phase == reservation.Grace {
			continue // in grace the window is over and the charge with it
		}
		c, ok := s.Ledger.Find(b.ID)
		if !ok {
			return fmt.Errorf("booking %q has no charge", b.ID)
		}
		var key quota.Key
		var want int64
		for _, l := range b.Lines {
			k, perNode, _ := s.PoolPrice(l.Pool)
			key, want = k, want+l.Count*perNode
		}
		switch {
		case !c.State.Live():
			return fmt.Errorf("booking %q is %s, its charge is %s", b.ID, b.Phase, c.State)
		case (c.State == quota.Held) != (b.Phase == reservation.Held):
			return fmt.Errorf("booking %q is %s, its charge is %s", b.ID, b.Phase, c.State)
		case len(c.Amounts) != 1 || c.Amounts[0] != quota.Amount{Key: key, N: want}:
			return fmt.Errorf("booking %q is charged %v, want %d of %s", b.ID, c.Amounts, want, key)
		case c.Tenant != b.Owner:
			return fmt.Errorf("booking %q is of %q, its charge of %q", b.ID, b.Owner, c.Tenant)
		case !c.Window.Start.Equal(b.Window.Start) || !c.Window.End.Equal(b.Window.End):
			return fmt.Errorf("booking %q has window %s, its charge %s", b.ID, b.Window, c.Window)
		}
	}
	return nil
}

func (s *State) checkStandby() error {
	busy := map[string]bool{} // claim and node with work
	for p := range s.Fleet.Placements() {
		for _, a := range p.Assignments {
			busy[p.Request.Claim+" "+string(s.Cluster.ID(a.Node))] = true
		}
	}
	for b := range s.Calendar.Bookings("", reservation.Window{}) {
		if b.Class != reservation.Standby {
			continue
		}
		for _, seat := range b.Seats {
			if !busy[b.ID+" "+seat.Node] {
				return fmt.Errorf("seat %s of claim %q is without a job", seat.Node, b.ID)
			}
		}
	}
	return nil
}

func (s *State) checkPlacements() error {
	for p := range s.Fleet.Placements() {
		b, ok := s.Calendar.Find(p.Request.Claim)
		if !ok || !b.Phase.Live() {
			return fmt.Errorf("placement %q names claim %q, which is not live", p.Request.ID, p.Request.Claim)
		}
		if b.Owner != p.Request.Tenant {
			return fmt.Errorf("placement %q of tenant %q lies in a claim of %q", p.Request.ID, p.Request.Tenant, b.Owner)
		}
		seats := seatSet(b)
		for _, a := range p.Assignments {
			if n := string(s.Cluster.ID(a.Node)); !seats[n] {
				return fmt.Errorf("placement %q lies on node %q, which is no seat of claim %q", p.Request.ID, n, b.ID)
			}
		}
		if b.Class == reservation.Standby {
			c, ok := s.Ledger.Find(p.Request.ID)
			if !ok || !c.State.Live() {
				return fmt.Errorf("standby placement %q is not charged", p.Request.ID)
			}
		}
	}
	return nil
}

func (s *State) checkCapacity() error {
	return s.shortfalls(slices.Collect(s.Calendar.Degraded()))
}

// shortfalls compares what is short with what is listed as such.
func (s *State) shortfalls(list []reservation.Degradation) error {
	degraded := map[string][]reservation.Degradation{}
	for _, d := range list {
		degraded[d.Pool] = append(degraded[d.Pool], d)
	}
	for p := range s.Calendar.Pools() {
		for step := range s.Calendar.Profile(p.Name, reservation.Window{Start: s.Calendar.Present(), End: s.Calendar.Present().AddDate(1, 0, 0)}) {
			if step.Capacity-step.Firm != step.Free {
				return fmt.Errorf("pool %q: %d nodes less %d booked is not %d free", p.Name, step.Capacity, step.Firm, step.Free)
			}
			if step.Free >= 0 {
				continue
			}
			for _, at := range edges(step.Window, degraded[p.Name]) {
				listed := s.inCleanup(p.Name, at)
				for _, d := range degraded[p.Name] {
					if contains(d.Window, at) {
						listed += d.Shortfall
					}
				}
				if -step.Free > listed {
					return fmt.Errorf("pool %q lacks %d nodes at %s, and %d are listed as degraded", p.Name, -step.Free, at.Format(time.RFC3339), listed)
				}
			}
		}
	}
	return nil
}

// edges are the instants inside w at which what is listed may change: its start,
// and where degradations begin or end.
func edges(w reservation.Window, list []reservation.Degradation) []time.Time {
	out := []time.Time{w.Start}
	for _, d := range list {
		for _, at := range []time.Time{d.Window.Start, d.Window.End} {
			if at.After(w.Start) && contains(w, at) {
				out = append(out, at)
			}
		}
	}
	return out
}

func contains(w reservation.Window, at time.Time) bool {
	return !at.Before(w.Start) && (w.End.IsZero() || at.Before(w.End))
}

// inCleanup counts the nodes of a pool that bookings which are over still occupy
// at an instant. If such a node is in outage as well, both count against the
// pool, and nobody is short of it.
func (s *State) inCleanup(pool string, at time.Time) (nodes int64) {
	for b := range s.nearby(s.Calendar.Present()) {
		if b.Phase.Live() || !b.Envelope.End.After(at) {
			continue
		}
		for _, l := range b.Lines {
			if l.Pool == pool {
				nodes += l.Count
			}
		}
	}
	return nodes
}

func (s *State) checkHolds() error {
	held := map[string]bool{}
	outages := map[string]reservation.Outage{}
	for o := range s.Calendar.Outages() {
		outages[o.ID] = o
	}
	cordons := map[topology.NodeID]bool{}
	for c := range s.Fleet.Cordons() {
		if c.Owner == holdOwner {
			cordons[c.Node] = true
		}
	}
	for o := range s.Health.Outages() {
		id := "hold/" + string(o.Node)
		held[id] = true
		mirror, ok := outages[id]
		switch {
		case !ok:
			return fmt.Errorf("node %q is held but in no outage", o.Node)
		case !slices.Equal(mirror.Nodes, []string{string(o.Node)}):
			return fmt.Errorf("node %q is held, its outage is of %q", o.Node, mirror.Nodes)
		case !mirror.Window.Start.Equal(o.Start) || !mirror.Window.End.Equal(o.End):
			return fmt.Errorf("node %q is held from %s to %s, its outage is %v", o.Node, o.Start, o.End, mirror.Window)
		case mirror.Owner != string(o.Owners[0]):
			return fmt.Errorf("node %q is held by %q, its outage is of %q", o.Node, o.Owners, mirror.Owner)
		}
		if !cordons[o.Node] {
			return fmt.Errorf("node %q is held but not cordoned", o.Node)
		}
		delete(cordons, o.Node)
	}
	for id := range outages {
		if strings.HasPrefix(id, "hold/") && !held[id] {
			return fmt.Errorf("outage %q is without a hold", id)
		}
	}
	for n := range cordons {
		return fmt.Errorf("node %q is cordoned for health without a hold", n)
	}
	return nil
}

func (s *State) checkJobs() error {
	placed := map[string]allocator.Placement{}
	for p := range s.Fleet.Placements() {
		placed[p.Request.ID] = p
	}
	for j := range s.Jobs.All() {
		run := RunID(j)
		p, ok := placed[run]
		switch {
		case j.Phase == jobs.Running && !ok:
			return fmt.Errorf("job %q runs without a placement", j.ID)
		case j.Phase != jobs.Running && ok:
			return fmt.Errorf("job %q is %s but holds a placement", j.ID, j.Phase)
		case ok && p.Request.Claim != j.Claim:
			return fmt.Errorf("job %q lies in claim %q, its placement in %q", j.ID, j.Claim, p.Request.Claim)
		}
		delete(placed, run)
	}
	for id := range placed {
		return fmt.Errorf("placement %q belongs to no job", id)
	}
	for c := range s.Ledger.Charges("") {
		if !c.State.Live() {
			continue
		}
		if c.Class == quota.Guaranteed {
			if b, ok := s.Calendar.Find(c.ID); !ok || !b.Phase.Live() {
				return fmt.Errorf("charge %q belongs to no live booking", c.ID)
			}
			continue
		}
		id, _ := JobOf(c.ID)
		j, ok := s.Jobs.Find(id)
		if !ok || j.Phase != jobs.Running || RunID(j) != c.ID {
			return fmt.Errorf("charge %q belongs to no running job", c.ID)
		}
	}
	return nil
}

func (s *State) checkTenants() error {
	for n := range s.Cluster.Nodes() {
		tenant := ""
		if free := s.Fleet.Free(n); free.Reserved {
			tenant = free.Tenant
		}
		for p := range s.Fleet.OnNode(n) {
			if tenant != "" && p.Request.Tenant != tenant {
				return fmt.Errorf("node %q serves %q and %q", s.Cluster.ID(n), tenant, p.Request.Tenant)
			}
			tenant = p.Request.Tenant
		}
	}
	return nil
}
