// SPDX-License-Identifier: Apache-2.0

package service

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-gpu/berth/examples/manager/commands"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/views"
	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/topology"
)

// Fleet returns every node, grouped by pool.
func (s *Service) Fleet(viewer, pool string) (views.FleetMap, error) {
	st := s.Cell.Load()
	var m views.FleetMap
	index := map[string]int{}
	now := s.now(st)
	for _, p := range pools(st, now) {
		if pool == "" || p.Name == pool {
			index[p.Name] = len(m.Pools)
			m.Pools = append(m.Pools, views.FleetPool{Pool: p})
		}
	}
	if pool != "" && len(m.Pools) == 0 {
		return m, Refuse(viewer, fmt.Errorf("%w: pool %q", commands.ErrNotFound, pool))
	}
	booked := seats(st, now)
	for n := range st.Cluster.Nodes() {
		name, _ := st.PoolOf(st.Cluster.ID(n))
		if i, ok := index[name]; ok {
			m.Pools[i].Nodes = append(m.Pools[i].Nodes, node(st, n, viewer, name, booked))
		}
	}
	return m, nil
}

// Node returns one node.
func (s *Service) Node(viewer, id string) (views.Node, error) {
	st := s.Cell.Load()
	n, ok := st.Cluster.Index(topology.NodeID(id))
	if !ok || !st.Cluster.Present(n) {
		return views.Node{}, Refuse(viewer, fmt.Errorf("%w: node %q", commands.ErrNotFound, id))
	}
	pool, _ := st.PoolOf(topology.NodeID(id))
	return node(st, n, viewer, pool, seats(st, s.now(st))), nil
}

// seats returns which firm booking has which node now.
func seats(st *state.State, at time.Time) map[string]reservation.Booking {
	out := map[string]reservation.Booking{}
	for b := range st.Calendar.Bookings("", reservation.Window{}) {
		if b.Class == reservation.Firm && !b.Envelope.Start.After(at) {
			for _, seat := range b.Seats {
				out[seat.Node] = b
			}
		}
	}
	return out
}

func node(st *state.State, n topology.NodeIndex, viewer, pool string, booked map[string]reservation.Booking) views.Node {
	id := st.Cluster.ID(n)
	free := st.Fleet.Free(n)
	v := views.Node{ID: string(id), Pool: pool, Model: st.Cluster.Shape(n).Model().Name, Tenant: free.Tenant,
		CPU: st.Cluster.Shape(n).CPUMilli(), CPUFree: free.CPUMilli, MemFree: free.MemoryMiB, GPUs: make([]int64, 0, len(free.GPUMilli))}
	for _, milli := range free.GPUMilli {
		v.GPUs = append(v.GPUs, state.MilliPerGPU-milli)
	}
	if b, ok := booked[string(id)]; ok {
		v.Booking = b.ID
		if v.Tenant == "" {
			v.Tenant = b.Owner
		}
	}
	for h := range st.Health.Holds(id) {
		hold := views.Hold{Owner: string(h.Owner), Step: h.Step.String(), Reason: h.Reason, Since: h.Since, Expected: h.Expected}
		if viewer != "" {
			hold.Owner, hold.Reason = h.Owner.Kind(), ""
		}
		v.Holds = append(v.Holds, hold)
	}
	if viewer != "" {
		if b, ok := booked[string(id)]; ok && b.Owner != viewer {
			v.Booking = ""
		}
		if v.Tenant != "" && v.Tenant != viewer { // that it is taken, and no more
			v.Tenant, v.Booking, v.CPUFree, v.MemFree = others, "", 0, 0
			for g := range v.GPUs {
				v.GPUs[g] = state.MilliPerGPU
			}
			return v
		}
	}
	for p := range st.Fleet.OnNode(n) {
		if job, ok := state.JobOf(p.Request.ID); ok {
			v.Jobs = append(v.Jobs, job)
		}
	}
	slices.Sort(v.Jobs)
	return v
}
