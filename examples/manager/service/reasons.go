// SPDX-License-Identifier: Apache-2.0

package service

import (
	"fmt"
	"time"

	"github.com/berth-gpu/berth/examples/manager/commands"
	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/views"
)

// MaxExplained bounds the different jobs of one answer whose refusals are
// explained, which is slow; all others are told which pools have no room.
const MaxExplained = 100

// A waiter says why jobs wait, as of one published state and one instant.
type waiter struct {
	viewer    string
	at        time.Time
	base      *state.State                // with everything made that is due
	outlook   map[string]commands.Outlook // by job
	alone     map[ask]*views.Refusal      // what each kind of job lacks even if none is ahead; nil: nothing
	explained int
}

// An ask is all that a refusal depends on: jobs of equal ask lack the same.
type ask struct{ tenant, what string }

func askOf(j *jobs.Job) ask {
	return ask{j.Tenant, fmt.Sprintf("%d %d %d %d %d %q", j.Count, j.GPUs, j.GPUMilli, j.CPUMilli, j.MemoryMiB, j.Models)}
}

// reasons returns a function that says why a waiting job of st waits. It
// rehearses the next pass once. What could not start even if it were the only
// one is told what it lacks; what could, who is ahead.
func (s *Service) reasons(st *state.State, viewer string) func(*jobs.Job) *views.Refusal {
	base := st.Fork()
	at, err := base.Begin(state.Header{At: s.Clock.Now(), Command: "reasons"})
	w := &waiter{viewer: viewer, at: at, base: base, alone: map[ask]*views.Refusal{}}
	if err == nil {
		w.outlook, err = commands.Schedule{}.Forecast(base.Fork(), at)
	}
	if err != nil {
		return func(*jobs.Job) *views.Refusal { return Refuse(viewer, err) }
	}
	return w.why
}

func (w *waiter) why(j *jobs.Job) *views.Refusal {
	o := w.outlook[j.ID]
	if o.Starts {
		return &views.Refusal{Code: "next", Title: "starts at the next pass", Detail: "it fits beside all that are ahead of it"}
	}
	lacks, known := w.alone[askOf(j)]
	if !known {
		lacks = w.lacks(j)
		w.alone[askOf(j)] = lacks
	}
	if lacks != nil {
		return lacks
	}
	r := &views.Refusal{Code: "behind", Title: "fits, but others are ahead"}
	if o.Tried {
		r.Detail = fmt.Sprintf("it fits, but %s ahead, start first, and leave too little", areJobs(o.Ahead))
	} else {
		r.Detail = fmt.Sprintf("it fits, but %s ahead, and one pass looks for places for %d", areJobs(o.Ahead), commands.DefaultBudget)
	}
	return r
}

// lacks says what j would lack if it were the only one; nil: nothing.
func (w *waiter) lacks(j *jobs.Job) *views.Refusal {
	try := w.base.Fork()
	if w.explained < MaxExplained {
		try.BeginExplain(w.at)
	} else {
		try.BeginPass(w.at)
	}
	err := try.Place(w.at, j)
	if err == nil {
		return nil
	}
	w.explained++
	return Refuse(w.viewer, err)
}

func areJobs(n int) string {
	if n == 1 {
		return "1 job is"
	}
	return fmt.Sprint(n, " jobs are")
}
