// SPDX-License-Identifier: Apache-2.0

package service

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-gpu/berth/examples/manager/commands"
	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/views"
)

// MaxRows bounds the waiting and the running jobs of one answer.
const MaxRows = 1000

// Queue returns waiting and running work, a tenant's own in full.
func (s *Service) Queue(viewer string, limit int) views.Queue {
	st := s.Cell.Load()
	limit = min(max(limit, 1), MaxRows)
	q := views.Queue{Waiting: []views.Job{}, Running: []views.Job{}}
	why := s.reasons(st, viewer)
	for j := range st.Jobs.Waiting() {
		if viewer != "" && j.Tenant != viewer {
			continue
		}
		q.WaitingTotal++
		if len(q.Waiting) < limit {
			v := job(st, j)
			v.Reason = why(j)
			q.Waiting = append(q.Waiting, v)
		}
	}
	var running []*jobs.Job
	for j := range st.Jobs.Running() {
		if viewer == "" || j.Tenant == viewer {
			running = append(running, j)
		}
	}
	q.RunningTotal = len(running)
	slices.SortFunc(running, func(a, b *jobs.Job) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(a.ID, b.ID))
	})
	for _, j := range running[:min(limit, len(running))] {
		q.Running = append(q.Running, job(st, j))
	}
	return q
}

// Job returns one job, a tenant's own only.
func (s *Service) Job(viewer, id string) (views.Job, error) {
	st := s.Cell.Load()
	j, ok := st.Jobs.Find(id)
	if !ok || viewer != "" && viewer != j.Tenant {
		return views.Job{}, Refuse(viewer, fmt.Errorf("%w: job %q", commands.ErrNotFound, id))
	}
	v := job(st, j)
	if j.Phase == jobs.Queued {
		v.Reason = s.reasons(st, viewer)(j)
	}
	return v, nil
}

func job(st *state.State, j *jobs.Job) views.Job {
	v := views.Job{ID: j.ID, Tenant: j.Tenant, Ask: askText(j), Milli: j.Milli(), Phase: string(j.Phase), Submitted: j.Submitted,
		Started: j.Started, Ended: j.Ended, Claim: j.Claim, Preemptions: j.Preemptions}
	if j.Phase == jobs.Running {
		if p, ok := st.Fleet.Placement(state.RunID(j)); ok {
			seen := map[string]bool{}
			for _, a := range p.Assignments {
				seen[string(st.Cluster.ID(a.Node))] = true
			}
			for n := range seen {
				v.Nodes = append(v.Nodes, n)
			}
			slices.Sort(v.Nodes)
		}
	}
	return v
}

func askText(j *jobs.Job) string {
	var b strings.Builder
	if j.Count > 1 {
		fmt.Fprintf(&b, "%d × ", j.Count)
	}
	switch {
	case j.GPUs == 1:
		b.WriteString("1 GPU")
	case j.GPUs > 1:
		fmt.Fprintf(&b, "%d GPUs", j.GPUs)
	case j.GPUMilli > 0:
		fmt.Fprintf(&b, "%.3g GPU", float64(j.GPUMilli)/state.MilliPerGPU)
	default:
		fmt.Fprintf(&b, "%.3g CPU", float64(j.CPUMilli)/1000)
	}
	if len(j.Models) > 0 {
		fmt.Fprintf(&b, " of %s", strings.Join(j.Models, " or "))
	}
	return b.String()
}
