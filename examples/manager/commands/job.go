// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
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

// Finish notes that a running job is done. It is for the node's agent, not for
// tenants.
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

// Schedule starts waiting jobs. Tenants take turns, each with its oldest jobs
// first, so no tenant's queue stands in front of another's; and a job that does
// not fit does not block those behind it.
type Schedule struct{ Budget int }

// DefaultBudget is the number of jobs that one Schedule looks for a place for, if
// it says 0. Jobs that ask for as much as one that was just refused cost nothing.
const DefaultBudget = 256

// shape is all that a refusal depends on inside one pass.
type shape struct {
	tenant, models           string
	count                    int
	gpus, milli, cpu, memory int64
}

func shapeOf(j *jobs.Job) shape {
	return shape{j.Tenant, strings.Join(j.Models, "\x00"), j.Count, j.GPUs, j.GPUMilli, j.CPUMilli, j.MemoryMiB}
}

// Do returns how many jobs were started.
func (c Schedule) Do(s *state.State, at time.Time) (started int, err error) {
	err = c.run(s, at, func(_ *jobs.Job, starts bool) {
		if starts {
			started++
		}
	})
	return started, err
}

// An Outlook is what the next pass does with a waiting job.
type Outlook struct {
	Starts bool
	Tried  bool // a place was looked for; false: the pass has no time for it
	Ahead  int  // jobs that start before it; those looked at before it, if it is not tried
}

// Forecast does what Do would, and tells for every waiting job what becomes of
// it. It is for a fork that is dropped.
func (c Schedule) Forecast(s *state.State, at time.Time) (map[string]Outlook, error) {
	var waiting []string
	for j := range s.Jobs.Waiting() {
		waiting = append(waiting, j.ID)
	}
	out := make(map[string]Outlook, len(waiting))
	started := 0
	err := c.run(s, at, func(j *jobs.Job, starts bool) {
		out[j.ID] = Outlook{Starts: starts, Tried: true, Ahead: started}
		if starts {
			started++
		}
	})
	tried := len(out)
	for _, id := range waiting {
		if _, ok := out[id]; !ok {
			out[id] = Outlook{Ahead: tried}
		}
	}
	return out, err
}

// run tries the waiting jobs in their order and tells of each whether it starts.
func (c Schedule) run(s *state.State, at time.Time, tell func(j *jobs.Job, starts bool)) error {
	budget := c.Budget
	if budget <= 0 {
		budget = DefaultBudget
	}
	queues, order := byTenant(s)
	s.BeginPass(at)
	refused := map[shape]bool{}
	for budget > 0 && len(order) > 0 {
		left := order[:0]
		for _, tenant := range order {
			q := queues[tenant]
			for len(q) > 0 && refused[shapeOf(q[0])] {
				tell(q[0], false)
				q = q[1:]
			}
			queues[tenant] = q
			if len(q) == 0 || budget == 0 {
				continue
			}
			budget--
			err := s.Place(at, q[0])
			if err != nil && !errors.Is(err, state.ErrWaits) {
				return err
			}
			refused[shapeOf(q[0])] = err != nil
			tell(q[0], err == nil)
			queues[tenant] = q[1:]
			left = append(left, tenant)
		}
		order = left
	}
	return nil
}

// headStart is how many of its oldest jobs a tenant always has tried first; the
// rest is begun at another place in every pass, so that none waits behind jobs
// that never fit.
const headStart = 32

// byTenant returns the waiting jobs of each tenant in the order in which they
// are tried, and the tenants by name.
func byTenant(s *state.State) (map[string][]*jobs.Job, []string) {
	queues := map[string][]*jobs.Job{}
	for j := range s.Jobs.Waiting() {
		queues[j.Tenant] = append(queues[j.Tenant], j)
	}
	for tenant, q := range queues {
		if len(q) > headStart {
			rest := q[headStart:]
			turn := int(s.Seq() * headStart % uint64(len(rest)))
			queues[tenant] = slices.Concat(q[:headStart], rest[turn:], rest[:turn])
		}
	}
	return queues, slices.Sorted(maps.Keys(queues))
}
