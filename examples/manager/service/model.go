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
)

// ModelAvailability returns all pools of one GPU model over time, in GPUs. The
// sums are exact: a bin's least is that of one instant for all pools together,
// not the sum of each pool's own.
func (s *Service) ModelAvailability(viewer, model string, from, to time.Time, bins int) (views.ModelAvailability, error) {
	st := s.Cell.Load()
	w, err := inView(st, from, to, bins)
	if err != nil {
		return views.ModelAvailability{}, Refuse(viewer, err)
	}
	out := views.ModelAvailability{Model: model, From: w.Start, To: w.End}
	for _, p := range pools(st, s.now(st)) {
		if p.Model == model && p.GPUsPerNode > 0 {
			out.Pools = append(out.Pools, p)
			out.GPUs += p.Nodes * p.GPUsPerNode
		}
	}
	if len(out.Pools) == 0 {
		return out, Refuse(viewer, fmt.Errorf("%w: GPU model %q", commands.ErrNotFound, model))
	}
	columns, err := st.Calendar.Bins(out.Pools[0].Name, w, bins)
	if err != nil {
		return out, Refuse(viewer, err)
	}
	levels := together(st, out.Pools, w)
	for _, c := range columns {
		b := views.Bin{Start: c.Window.Start, End: c.Window.End}
		for len(levels) > 1 && !levels[1].at.After(b.Start) {
			levels = levels[1:]
		}
		for i, l := range levels {
			if !l.at.Before(b.End) {
				break
			}
			if i == 0 {
				b.Min, b.Max, b.Capacity = l.free, l.free, l.capacity
			}
			b.Min, b.Max, b.Capacity = min(b.Min, l.free), max(b.Max, l.free), min(b.Capacity, l.capacity)
		}
		out.Bins = append(out.Bins, b)
	}
	return out, nil
}

// A level is how many GPUs there are and are free from an instant on.
type level struct {
	at             time.Time
	free, capacity int64
}

// together adds up the profiles of pools.
func together(st *state.State, pools []views.Pool, w reservation.Window) []level {
	var changes []level
	for _, p := range pools {
		var last level
		for step := range st.Calendar.Profile(p.Name, w) {
			free, capacity := step.Free*p.GPUsPerNode, step.Capacity*p.GPUsPerNode
			changes = append(changes, level{step.Window.Start, free - last.free, capacity - last.capacity})
			last = level{free: free, capacity: capacity}
		}
	}
	slices.SortStableFunc(changes, func(a, b level) int { return a.at.Compare(b.at) })
	var out []level
	var now level
	for _, c := range changes {
		now = level{c.at, now.free + c.free, now.capacity + c.capacity}
		if n := len(out); n > 0 && out[n-1].at.Equal(c.at) {
			out[n-1] = now
			continue
		}
		out = append(out, now)
	}
	return out
}
