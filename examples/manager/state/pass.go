// SPDX-License-Identifier: Apache-2.0

package state

import (
	"errors"
	"time"

	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/reservation"
)

// ErrNoRoom stands for a refusal that nobody asked to have explained.
var ErrNoRoom = errors.New("no room")

// demand is what a pool was asked for on behalf of a tenant.
type demand struct{ count, milli, cpu, memory int64 }

func demandOf(j *jobs.Job) demand {
	return demand{int64(j.Count), j.GPUs*MilliPerGPU + j.GPUMilli, j.CPUMilli, j.MemoryMiB}
}

// atLeast reports whether d asks for as much as o in every respect.
func (d demand) atLeast(o demand) bool {
	return d.count >= o.count && d.milli >= o.milli && d.cpu >= o.cpu && d.memory >= o.memory
}

// poolTenant also says whether GPUs are asked for: work without them is charged
// under another key, so its refusals say nothing about work with them.
type poolTenant struct {
	pool, tenant string
	gpus         bool
}

func poolTenantOf(e poolEntry, j *jobs.Job) poolTenant {
	return poolTenant{e.name, j.Tenant, j.Milli() > 0}
}

// keptRefusals bounds what a pass remembers per pool and tenant.
const keptRefusals = 16

// BeginPass prepares a scheduling pass: it collects the bookings inside which
// work may be placed now. Refusals in a pass are not explained, and remembered:
// while jobs are only started, room and quota only shrink, so what a pool has
// refused a tenant it refuses again, and all that asks for more.
func (s *State) BeginPass(at time.Time) {
	s.collectActive(at)
	s.refused, s.explain = map[poolTenant][]demand{}, false
}

// BeginExplain prepares to ask why jobs wait: every refusal is explained.
func (s *State) BeginExplain(at time.Time) {
	s.collectActive(at)
	s.refused, s.explain = nil, true
}

func (s *State) collectActive(at time.Time) {
	s.active = map[string][]reservation.Booking{}
	for b := range s.Calendar.Bookings("", reservation.Window{}) {
		if b.Class == reservation.Firm && b.Phase == reservation.Active && b.Window.End.After(at) {
			s.active[b.Owner] = append(s.active[b.Owner], b)
		}
	}
}

// hopeless reports whether the pool has refused the tenant as much or less.
func (s *State) hopeless(e poolEntry, j *jobs.Job) bool {
	d := demandOf(j)
	for _, r := range s.refused[poolTenantOf(e, j)] {
		if d.atLeast(r) {
			return true
		}
	}
	return false
}

func (s *State) noteRefusal(e poolEntry, j *jobs.Job) {
	k := poolTenantOf(e, j)
	if s.refused != nil && len(s.refused[k]) < keptRefusals {
		s.refused[k] = append(s.refused[k], demandOf(j))
	}
}
