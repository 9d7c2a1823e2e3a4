// SPDX-License-Identifier: Apache-2.0

package service

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berth-gpu/berth/examples/manager/commands"
	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/views"
	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/topology"
)

// others is who other tenants are to a tenant.
const others = "other tenants"

// MaxBins bounds the columns of one availability answer.
const MaxBins = 2000

// Overview returns the head of the page. Its figures are public.
func (s *Service) Overview(viewer string) views.Overview {
	st := s.Cell.Load()
	now := s.now(st)
	o := views.Overview{Now: now, Seq: st.Seq(), Pools: pools(st, now)}
	_, o.Waiting, o.Running = st.Jobs.Counts()
	for _, p := range o.Pools {
		o.Busy += p.Busy
		o.Capacity += p.Capacity
	}
	for range st.Cluster.Nodes() {
		o.Nodes++
	}
	o.GPUs = st.Cluster.GPUCount()
	for range st.Health.Held() {
		o.Held++
	}
	for b := range st.Calendar.Bookings("", reservation.Window{}) {
		if b.Class == reservation.Firm {
			o.Bookings++
		}
	}
	for t := range st.Ledger.Tenants() {
		if t.Parent != "" && (viewer == "" || viewer == t.Name) {
			o.Tenants = append(o.Tenants, t.Name)
		}
	}
	if s.Progress != nil {
		o.Demo = s.Progress()
	}
	return o
}

// now is the clock, but never before the state.
func (s *Service) now(st *state.State) time.Time {
	now := s.Clock.Now().Truncate(time.Second)
	if now.Before(st.At()) {
		return st.At()
	}
	return now
}

// pools returns every pool with its figures at an instant.
func pools(st *state.State, at time.Time) []views.Pool {
	var out []views.Pool
	index := map[string]int{}
	for p := range st.Calendar.Pools() {
		v := views.Pool{Name: p.Name, Model: p.Label, GPUsPerNode: p.GPUsPerUnit}
		for _, u := range p.Units {
			if u.Spare {
				v.Spares++
			}
		}
		open := int64(len(p.Units)) - v.Spares
		for step := range st.Calendar.Profile(p.Name, reservation.Window{Start: at, End: at.Add(time.Second)}) {
			v.Nodes, v.BookedNow, v.FreeNow, v.OutNow = step.Capacity, step.Firm, step.Free, open-step.Capacity
		}
		index[p.Name] = len(out)
		out = append(out, v)
	}
	for n := range st.Cluster.Nodes() {
		name, _ := st.PoolOf(st.Cluster.ID(n))
		i, ok := index[name]
		if !ok {
			continue
		}
		free := st.Fleet.Free(n)
		for _, milli := range free.GPUMilli {
			out[i].Busy += state.MilliPerGPU - milli
			out[i].Capacity += state.MilliPerGPU
		}
	}
	return out
}

func findPool(st *state.State, name string, at time.Time) (views.Pool, error) {
	for _, p := range pools(st, at) {
		if p.Name == name {
			return p, nil
		}
	}
	return views.Pool{}, fmt.Errorf("%w: pool %q", commands.ErrNotFound, name)
}

// Availability returns one pool over time.
func (s *Service) Availability(viewer, pool string, from, to time.Time, bins int) (views.Availability, error) {
	st := s.Cell.Load()
	now := s.now(st)
	from, to = from.UTC().Truncate(time.Second), to.UTC().Truncate(time.Second)
	if bins < 1 || bins > MaxBins {
		return views.Availability{}, Refuse(viewer, fmt.Errorf("%w: bins is %d: must be 1 to %d", state.ErrInvalid, bins, MaxBins))
	}
	if from.Before(st.At()) {
		from = st.At()
	}
	p, err := findPool(st, pool, now)
	if err != nil {
		return views.Availability{}, Refuse(viewer, err)
	}
	w := reservation.Window{Start: from, End: to}
	columns, err := st.Calendar.Bins(pool, w, bins)
	if err != nil {
		return views.Availability{}, Refuse(viewer, err)
	}
	out := views.Availability{Pool: p, From: from, To: to}
	for _, c := range columns {
		out.Bins = append(out.Bins, views.Bin{Start: c.Window.Start, End: c.Window.End, Min: c.Min, Max: c.Max, Capacity: c.Capacity})
	}
	var foreign []views.Booking
	for b := range st.Calendar.Bookings(pool, w) {
		if b.Class != reservation.Firm || !b.Phase.Live() {
			continue
		}
		v := booking(st, b)
		if viewer != "" && v.Owner != viewer {
			foreign = append(foreign, v)
			continue
		}
		out.Bookings = append(out.Bookings, v)
	}
	out.Bookings = append(out.Bookings, summed(foreign)...)
	for o := range st.Calendar.Outages() {
		if !o.Window.Overlaps(w) {
			continue
		}
		v := views.Outage{ID: o.ID, Owner: o.Owner, Reason: o.Reason, Start: o.Window.Start, End: o.Window.End}
		for _, n := range o.Nodes {
			if in, _ := st.PoolOf(topology.NodeID(n)); in == pool {
				v.Nodes = append(v.Nodes, n)
			}
		}
		if viewer != "" {
			v.Owner, v.Reason = kindOf(o.Owner), ""
		}
		if len(v.Nodes) > 0 {
			out.Outages = append(out.Outages, v)
		}
	}
	return out, nil
}

// summed is what a tenant sees of others' bookings in one pool: how many nodes
// they have together, and until when that changes.
func summed(list []views.Booking) []views.Booking {
	type edge struct {
		at          time.Time
		nodes, gpus int64
	}
	var edges []edge
	for _, b := range list {
		edges = append(edges, edge{b.Start, b.Nodes, b.GPUs}, edge{b.End, -b.Nodes, -b.GPUs})
	}
	slices.SortFunc(edges, func(a, b edge) int { return a.at.Compare(b.at) })
	var out []views.Booking
	var nodes, gpus int64
	for i, e := range edges {
		nodes, gpus = nodes+e.nodes, gpus+e.gpus
		if i+1 == len(edges) || edges[i+1].at.Equal(e.at) || nodes == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Nodes == nodes && out[n-1].End.Equal(e.at) {
			out[n-1].End = edges[i+1].at
			continue
		}
		out = append(out, views.Booking{Owner: others, Pool: list[0].Pool, Nodes: nodes, GPUs: gpus, Start: e.at, End: edges[i+1].at, Phase: "confirmed"})
	}
	return out
}

func kindOf(owner string) string { return strings.SplitN(owner, "/", 2)[0] }

// booking returns the view of a firm booking.
func booking(st *state.State, b reservation.Booking) views.Booking {
	v := views.Booking{ID: b.ID, Owner: b.Owner, Start: b.Window.Start, End: b.Window.End, Phase: strings.ToLower(b.Phase.String()),
		Expires: b.Expires, Version: b.Version}
	for _, l := range b.Lines {
		v.Pool = l.Pool
		v.Nodes += l.Count
		if _, gpus, ok := st.PoolFacts(l.Pool); ok {
			v.GPUs += l.Count * gpus
		}
	}
	for _, seat := range b.Seats {
		v.Seats = append(v.Seats, seat.Node)
	}
	for d := range st.Calendar.Degraded() {
		if d.ID == b.ID {
			v.Shortfall = max(v.Shortfall, d.Shortfall)
		}
	}
	return v
}

func offer(o reservation.Offer) views.Offer {
	v := views.Offer{Kind: strings.ToLower(o.Kind.String()), Start: o.Window.Start, End: o.Window.End}
	for _, l := range o.Lines {
		v.Pool = l.Pool
		v.Nodes += l.Count
	}
	return v
}

// Bookings returns the live bookings, a tenant's own only.
func (s *Service) Bookings(viewer string) []views.Booking {
	st := s.Cell.Load()
	out := []views.Booking{}
	for b := range st.Calendar.Bookings("", reservation.Window{}) {
		if b.Class == reservation.Firm && (viewer == "" || viewer == b.Owner) {
			out = append(out, booking(st, b))
		}
	}
	return out
}

// Booking returns one booking, a tenant's own only.
func (s *Service) Booking(viewer, id string) (views.Booking, error) {
	st := s.Cell.Load()
	b, ok := st.Calendar.Find(id)
	if !ok || b.Class != reservation.Firm || viewer != "" && viewer != b.Owner {
		return views.Booking{}, Refuse(viewer, fmt.Errorf("%w: booking %q", commands.ErrNotFound, id))
	}
	return booking(st, b), nil
}

// Quota returns the tree. A tenant sees itself, what is below it, and the nodes above it.
func (s *Service) Quota(viewer string) []views.QuotaNode {
	st := s.Cell.Load()
	now := s.now(st)
	byParent := map[string][]quota.Tenant{}
	parent := map[string]string{}
	for t := range st.Ledger.Tenants() {
		byParent[t.Parent] = append(byParent[t.Parent], t)
		parent[t.Name] = t.Parent
	}
	above := map[string]bool{}
	for t := viewer; t != ""; t = parent[t] {
		above[t] = true
	}
	keys := map[quota.Key]bool{}
	for p := range st.Calendar.Pools() {
		keys[state.GPUKey(p.Label)] = true
	}
	keys[state.CPUKey] = true
	var ordered []quota.Key
	for k := range keys {
		ordered = append(ordered, k)
	}
	slices.Sort(ordered)
	var out []views.QuotaNode
	var walk func(name string, depth int, below bool)
	walk = func(name string, depth int, below bool) {
		for _, t := range byParent[name] {
			own := below || t.Name == viewer
			if viewer != "" && !own && !above[t.Name] {
				continue
			}
			n := views.QuotaNode{Tenant: t.Name, Parent: t.Parent, Depth: depth}
			for _, k := range ordered {
				if u, ok := st.Ledger.Usage(t.Name, k, now); ok && (u.Nominal > 0 || u.Used > 0 || u.Subtree > 0) {
					n.Keys = append(n.Keys, views.QuotaKey{Key: string(k), Nominal: u.Subtree, Used: u.Used, Guaranteed: u.Guaranteed,
						Borrowed: u.Borrowed, Lent: u.Lent, Idle: u.Idle, Available: u.Available})
				}
			}
			out = append(out, n)
			walk(t.Name, depth+1, own)
		}
	}
	walk("", 0, false)
	return out
}

// Queue returns waiting and running work, a tenant's own in full.
func (s *Service) Queue(viewer string, limit int) views.Queue {
	st := s.Cell.Load()
	limit = min(max(limit, 1), 1000)
	q := views.Queue{Waiting: []views.Job{}, Running: []views.Job{}}
	why := s.reasons(st)
	for j := range st.Jobs.Waiting() {
		if viewer != "" && j.Tenant != viewer {
			continue
		}
		q.WaitingTotal++
		if len(q.Waiting) < limit {
			v := job(st, j)
			v.Reason = why(viewer, j)
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

// reasons returns a function that says why a job waits. Jobs of equal shape have
// equal reasons, so each shape is asked once.
func (s *Service) reasons(st *state.State) func(viewer string, j *jobs.Job) *views.Refusal {
	known := map[[2]string]*views.Refusal{}
	now := s.now(st)
	fork := st.Fork()
	return func(viewer string, j *jobs.Job) *views.Refusal {
		shape := [2]string{j.Tenant, fmt.Sprintf("%d %d %d %d %d %q", j.Count, j.GPUs, j.GPUMilli, j.CPUMilli, j.MemoryMiB, j.Models)}
		r, ok := known[shape]
		if !ok && len(known) < 100 {
			try := fork.Fork()
			try.BeginExplain(now)
			if err := try.Place(now, j); err != nil {
				r = Refuse(viewer, err)
			} else {
				r = &views.Refusal{Code: "next", Title: "starts at the next pass", Detail: "it fits now"}
			}
			known[shape] = r
		}
		return r
	}
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
		v.Reason = s.reasons(st)(viewer, j)
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
