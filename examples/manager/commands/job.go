// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"errors"
	"fmt"
	"time"

	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/examples/manager/state"
)

// Submit puts a job into the queue.
type Submit struct{ Job jobs.Job }

// Do checks that the tenant exists and queues the job; the scheduler places it.
func (c Submit) Do(s *state.State, at time.Time) (*jobs.Job, error) {
	if _, ok := s.Ledger.Tenant(c.Job.Tenant); !ok {
		return nil, fmt.Errorf("%w: tenant %q is unknown", state.ErrInvalid, c.Job.Tenant)
	}
	return s.Jobs.Submit(at, c.Job)
}

// Finish notes that a running job is done.
type Finish struct{ ID string }

// Do frees what the job had.
func (c Finish) Do(s *state.State, at time.Time) (*jobs.Job, error) {
	j, ok := s.Jobs.Find(c.ID)
	if !ok {
		return nil, fmt.Errorf("%w: job %q", ErrNotFound, c.ID)
	}
	if j.Phase == jobs.Running {
		if err := s.Vacate(at, j); err != nil {
			return nil, err
		}
	}
	return s.Jobs.End(at, c.ID)
}

// Kill gives up a queued or running job.
type Kill struct {
	ID    string
	Owner string // "" for an admin
	Why   string
}

// Do frees what the job had.
func (c Kill) Do(s *state.State, at time.Time) (*jobs.Job, error) {
	j, ok := s.Jobs.Find(c.ID)
	if !ok || c.Owner != "" && j.Tenant != c.Owner {
		return nil, fmt.Errorf("%w: job %q", ErrNotFound, c.ID)
	}
	if j.Phase == jobs.Running {
		if err := s.Vacate(at, j); err != nil {
			return nil, err
		}
	}
	return s.Jobs.Cancel(at, c.ID, c.Why)
}

// Schedule starts waiting jobs, oldest first; one that does not fit does not
// block those behind it. Budget bounds how many are tried.
type Schedule struct{ Budget int }

// DefaultBudget is the number of jobs that one Schedule tries if it says 0.
const DefaultBudget = 256

// Do returns how many jobs were started.
func (c Schedule) Do(s *state.State, at time.Time) (started int, err error) {
	budget := c.Budget
	if budget <= 0 {
		budget = DefaultBudget
	}
	var try []*jobs.Job
	for j := range s.Jobs.Waiting() {
		if len(try) == budget {
			break
		}
		try = append(try, j)
	}
	s.BeginPass(at)
	refused := map[string]bool{} // a shape that did not fit will not fit again in this pass
	for _, j := range try {
		shape := fmt.Sprint(j.Tenant, j.Count, j.GPUs, j.GPUMilli, j.CPUMilli, j.MemoryMiB, j.Models)
		if refused[shape] {
			continue
		}
		switch err := s.Place(at, j); {
		case err == nil:
			started++
		case errors.Is(err, state.ErrWaits):
			refused[shape] = true
		default:
			return started, err
		}
	}
	return started, nil
}
