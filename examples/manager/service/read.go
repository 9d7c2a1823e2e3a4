// SPDX-License-Identifier: Apache-2.0

package service

import (
	"fmt"
	"time"

	"github.com/berth-gpu/berth/examples/manager/commands"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/views"
	"github.com/berth-gpu/berth/reservation"
)

// others is who other tenants are to a tenant.
const others = "other tenants"

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
	o.Tenants = owners(st, viewer)
	if s.Progress != nil {
		o.Demo = s.Progress()
	}
	return o
}

// owners returns the tenants that may own bookings and jobs: those with a quota
// of their own, and those with nobody below them. A tenant sees itself.
func owners(st *state.State, viewer string) []string {
	parents := map[string]bool{}
	for t := range st.Ledger.Tenants() {
		parents[t.Parent] = true
	}
	var out []string
	for t := range st.Ledger.Tenants() {
		if (len(t.Limits) > 0 || !parents[t.Name]) && (viewer == "" || viewer == t.Name) {
			out = append(out, t.Name)
		}
	}
	return out
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
		v := views.Pool{Name: p.Name}
		v.Model, v.GPUsPerNode, _ = st.PoolFacts(p.Name)
		if key, perNode := state.NodePrice(p); key == state.CPUKey {
			v.CPUMilliPerNode = perNode
		}
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
