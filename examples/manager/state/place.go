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

// StandbyID returns the id of a tenant's standby claim in a pool.
func StandbyID(tenant, pool string) string { return "standby/" + tenant + "/" + pool }

// RunID names one run of a job: its charge and its placement. A job that was
// preempted runs again under another number, so that both runs stand in the
// books. A caller's id has no "/", so a run is never taken for a booking.
func RunID(j *jobs.Job) string { return fmt.Sprintf("job/%s/%d", j.ID, j.Preemptions+1) }

// JobOf returns the job of a run; false for any other id.
func JobOf(run string) (string, bool) {
	rest, ok := strings.CutPrefix(run, "job/")
	if !ok {
		return "", false
	}
	id, _, ok := strings.Cut(rest, "/")
	return id, ok
}

// ErrWaits is wrapped by the refusals of [State.Place]: the job stays in the queue.
var ErrWaits = errors.New("job waits")

// A WaitError says why a job cannot start now: one reason per booking and pool
// that would do.
type WaitError struct {
	Job     string
	Reasons []WaitReason // none: no pool has nodes that would do, see None
	None    string       // what no pool has
}

// A WaitReason is what one booking or pool lacks.
type WaitReason struct {
	Booking string // "" for a pool
	Pool    string // "" for a booking
	Err     error  // *quota.ExceededError, *allocator.UnplaceableError, *reservation.ConflictError, or [ErrNoRoom]
}

// Error names the booking or pool.
func (r WaitReason) Error() string {
	if r.Booking != "" {
		return fmt.Sprintf("booking %q: %v", r.Booking, r.Err)
	}
	return fmt.Sprintf("pool %q: %v", r.Pool, r.Err)
}

// Unwrap returns the refusal.
func (r WaitReason) Unwrap() error { return r.Err }

// Error lists the reasons.
func (e *WaitError) Error() string {
	if len(e.Reasons) == 0 {
		return fmt.Sprintf("job %q waits: %s", e.Job, e.None)
	}
	return fmt.Sprintf("job %q waits: %v", e.Job, errors.Join(e.Unwrap()...))
}

// Is reports whether target is [ErrWaits].
func (e *WaitError) Is(target error) bool { return target == ErrWaits }

// Unwrap returns the reasons.
func (e *WaitError) Unwrap() []error {
	out := make([]error, len(e.Reasons))
	for i, r := range e.Reasons {
		out[i] = r
	}
	return out
}

// Place starts a queued job: inside an active booking of its tenant if one has
// room, else on standby seats, charged singly. A refusal is a *WaitError, whatever
// its reason, so that no job can end a pass; it leaves the job where it was, and at
// most a standby claim without seats.
func (s *State) Place(at time.Time, j *jobs.Job) error {
	w := &WaitError{Job: j.ID}
	for _, b := range s.active[j.Tenant] {
		switch done, err := s.placeInBooking(at, j, b); {
		case done:
			return nil
		case err != nil && !never(err): // a booking of other hardware has nothing to do with it
			w.Reasons = append(w.Reasons, WaitReason{Booking: b.ID, Err: err})
		}
	}
	for _, e := range s.pools.ordered {
		if !serves(e, j) {
			continue
		}
		if s.hopeless(e, j) {
			w.Reasons = append(w.Reasons, WaitReason{Pool: e.name, Err: ErrNoRoom})
			continue
		}
		reason := s.placeStandby(at, j, e)
		if reason == nil {
			return nil
		}
		s.noteRefusal(e, j)
		w.Reasons = append(w.Reasons, WaitReason{Pool: e.name, Err: reason})
	}
	if len(w.Reasons) == 0 {
		w.None = fmt.Sprintf("no pool has nodes with %d GPUs", max(j.GPUs, 1))
		if len(j.Models) > 0 {
			w.None += " of " + strings.Join(j.Models, " or ")
		}
	}
	return w
}

// never reports whether a refusal says that not even empty nodes would do.
func never(err error) bool {
	e, ok := errors.AsType[*allocator.UnplaceableError](err)
	return ok && e.Never
}

// serves reports whether nodes of a pool could ever carry a pod of the job.
func serves(e poolEntry, j *jobs.Job) bool {
	if j.GPUs == 0 && j.GPUMilli == 0 {
		return true
	}
	if e.gpus < max(j.GPUs, 1) {
		return false
	}
	return len(j.Models) == 0 || slices.Contains(j.Models, e.model)
}

func (s *State) placeInBooking(at time.Time, j *jobs.Job, b reservation.Booking) (bool, error) {
	r := ask(j, b.ID)
	for _, seat := range b.Seats {
		if n, ok := s.Cluster.Index(topology.NodeID(seat.Node)); ok && s.Cluster.Present(n) {
			r.Nodes = append(r.Nodes, topology.NodeID(seat.Node))
		}
	}
	if len(r.Nodes) == 0 {
		return false, nil
	}
	if !s.explain {
		if fits, err := s.Fleet.Fit(at, r); err != nil {
			return false, err
		} else if !fits {
			return false, ErrNoRoom
		}
	}
	if _, err := s.Fleet.Place(at, r); err != nil {
		return false, err
	}
	if _, err := s.Jobs.Start(at, j.ID, b.ID, ""); err != nil {
		return false, errors.Join(err, s.Fleet.Release(at, r.ID))
	}
	return true, nil
}

// placeStandby returns the reason if the pool cannot take the job.
func (s *State) placeStandby(at time.Time, j *jobs.Job, e poolEntry) error {
	charge := quota.Request{ID: RunID(j), Tenant: j.Tenant, Class: quota.Preemptible, Note: e.name,
		Amounts: amounts(j, e), Window: quota.Window{Start: at, End: at.Add(Lease)}}
	if err := s.Ledger.Fits(at, charge); err != nil {
		return err
	}
	r := ask(j, StandbyID(j.Tenant, e.name))
	r.Nodes, r.Models = e.nodes, nil
	if !s.explain {
		if fits, err := s.Fleet.Fit(at, r); err != nil {
			return err
		} else if !fits {
			return ErrNoRoom
		}
	}
	plan, err := s.Fleet.Plan(at, r)
	if err != nil {
		return err
	}
	plan.Request.Nodes = nil // the search was bound to the pool; the placement is bound to what it found
	for _, a := range plan.Assignments {
		plan.Request.Nodes = append(plan.Request.Nodes, s.Cluster.ID(a.Node))
	}
	if err := s.seatStandby(at, j.Tenant, e.name, plan.Assignments); err != nil {
		return err
	}
	if _, err := s.Ledger.Book(at, charge); err != nil {
		return errors.Join(err, s.unseatStandby(at, r.Claim, plan.Assignments))
	}
	if _, err := s.Fleet.Commit(at, plan); err != nil {
		_, rerr := s.Ledger.Release(at, charge.ID)
		return errors.Join(err, rerr, s.unseatStandby(at, r.Claim, plan.Assignments))
	}
	_, err = s.Jobs.Start(at, j.ID, r.Claim, string(charge.Amounts[0].Key))
	return err
}

func ask(j *jobs.Job, claim string) allocator.Request {
	return allocator.Request{ID: RunID(j), Claim: claim, Tenant: j.Tenant, Models: j.Models, Groups: []allocator.Group{{
		Count: j.Count, Pod: allocator.Pod{GPUs: j.GPUs, GPUMilli: j.GPUMilli, CPUMilli: j.CPUMilli, MemoryMiB: j.MemoryMiB}}}}
}

func amounts(j *jobs.Job, e poolEntry) []quota.Amount {
	if m := j.Milli(); m > 0 {
		return []quota.Amount{{Key: e.key, N: m}}
	}
	return []quota.Amount{{Key: CPUKey, N: max(int64(j.Count)*j.CPUMilli, 1)}}
}

// seatStandby adds the nodes of a plan to the seats of the tenant's standby claim.
func (s *State) seatStandby(at time.Time, tenant, pool string, as []allocator.Assignment) error {
	id := StandbyID(tenant, pool)
	b, ok := s.Calendar.Find(id)
	if !ok {
		var err error
		b, err = s.Calendar.Book(at, reservation.Request{ID: id, Owner: tenant, Class: reservation.Standby,
			Window: reservation.Window{Start: at}, Lines: []reservation.Line{{Pool: pool}}})
		if err != nil {
			return err
		}
	}
	have := seatSet(b)
	before := len(have)
	for _, a := range as {
		have[string(s.Cluster.ID(a.Node))] = true
	}
	if len(have) == before {
		return nil
	}
	_, err := s.Calendar.Seat(at, id, sorted(have))
	return err
}

func seatSet(b reservation.Booking) map[string]bool {
	set := make(map[string]bool, len(b.Seats)+1)
	for _, seat := range b.Seats {
		set[seat.Node] = true
	}
	return set
}

func sorted(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for n := range set {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// Vacate takes a running job off its nodes and ends its charge; the caller
// says in the queue what became of the job.
func (s *State) Vacate(at time.Time, j *jobs.Job) error {
	run := RunID(j)
	p, ok := s.Fleet.Placement(run)
	if !ok {
		return fmt.Errorf("job %q runs, but the fleet has no placement %q", j.ID, run)
	}
	if err := s.Fleet.Release(at, run); err != nil {
		return err
	}
	if j.Key == "" {
		return nil // inside a booking: no charge, no seats of its own
	}
	if _, err := s.Ledger.Release(at, run); err != nil {
		return err
	}
	return s.unseatStandby(at, j.Claim, p.Assignments)
}

// unseatStandby gives back the seats on which the claim has no work any more.
func (s *State) unseatStandby(at time.Time, claim string, as []allocator.Assignment) error {
	b, ok := s.Calendar.Find(claim)
	if !ok {
		return nil
	}
	have := seatSet(b)
	before := len(have)
	for _, a := range as {
		busy := false
		for p := range s.Fleet.OnNode(a.Node) {
			busy = busy || p.Request.Claim == claim
		}
		if !busy {
			delete(have, string(s.Cluster.ID(a.Node)))
		}
	}
	if len(have) == before {
		return nil
	}
	_, err := s.Calendar.Seat(at, claim, sorted(have))
	return err
}

// preempt puts a running job back into the queue.
func (s *State) preempt(at time.Time, j *jobs.Job, why string) error {
	if err := s.Vacate(at, j); err != nil {
		return err
	}
	_, err := s.Jobs.Requeue(j.ID, why)
	return err
}
