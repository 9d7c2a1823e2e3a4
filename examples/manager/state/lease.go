// SPDX-License-Identifier: Apache-2.0

package state

import (
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/quota"
)

// An open-ended job has a rolling lease: it is charged until its lease ends, and
// the lease is renewed while nothing else is promised the quota. So open-ended
// work never stands in the way of a booking further ahead than Lease, and it has
// at least LeaseNotice between a renewal that failed and the end.
const (
	Lease       = 2 * time.Hour
	LeaseNotice = Lease / 2
	leaseSlot   = 5 * time.Minute // jobs renew in turn, a slot each
)

// slotOf spreads jobs over the slots of half a lease.
func slotOf(job string) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(job))
	return time.Duration(h.Sum32()%uint32(LeaseNotice/leaseSlot)) * leaseSlot
}

// nextRenewal says when the next slot begins.
func (s *State) nextRenewal() (time.Time, bool) {
	if _, _, running := s.Jobs.Counts(); running == 0 {
		return time.Time{}, false
	}
	from := s.at
	if s.stepped.After(from) {
		from = s.stepped
	}
	return from.Truncate(leaseSlot).Add(leaseSlot), true
}

// renew extends the leases whose slot begins at an instant. One that cannot be
// extended runs out at the end it has. After downtime, when time will go on to a
// later instant at once, a lease is extended over all of it in one piece.
func (s *State) renew(at, to time.Time) error {
	if !at.Equal(at.Truncate(leaseSlot)) {
		return nil
	}
	for j := range s.Jobs.Running() {
		slot := slotOf(j.ID)
		if j.Key == "" || !at.Add(-slot).Equal(at.Add(-slot).Truncate(LeaseNotice)) {
			continue
		}
		run := RunID(j)
		c, ok := s.Ledger.Find(run)
		if !ok {
			return fmt.Errorf("job %q runs without a charge", j.ID)
		}
		if !c.Window.End.After(at) {
			continue // over: it leaves in this step
		}
		last := to.Add(-slot).Truncate(LeaseNotice).Add(slot) // the newest slot that time will reach
		for _, from := range []time.Time{last, at} {
			end := from.Add(Lease)
			if from.Before(at) || !end.After(c.Window.End) {
				break // it has as much already
			}
			_, err := s.Ledger.Resize(at, run, nil, quota.Window{Start: c.Window.Start, End: end})
			if err == nil {
				break
			}
			if !errors.Is(err, quota.ErrExceeded) {
				return err
			}
		}
	}
	return nil
}

// lapse advances the ledger and puts jobs whose lease has run out back into the
// queue. from is how many of the ledger's events are older than this step: a
// command of an earlier phase may have made charges end already.
func (s *State) lapse(at time.Time, from int) error {
	s.Ledger.Advance(at)
	for _, e := range s.Ledger.Events()[from:] {
		ended, ok := e.(quota.EndedEvent)
		if !ok {
			continue
		}
		id, ok := JobOf(ended.ID)
		if !ok {
			continue // a booking
		}
		j, ok := s.Jobs.Find(id)
		if !ok || j.Phase != jobs.Running || RunID(j) != ended.ID {
			continue // over already
		}
		if err := s.preempt(at, j, "its lease could not be renewed: the quota is promised to others"); err != nil {
			return err
		}
	}
	return nil
}
