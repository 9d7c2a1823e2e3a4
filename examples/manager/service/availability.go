// SPDX-License-Identifier: Apache-2.0

package service

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berth-gpu/berth/examples/manager/commands"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/views"
	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/topology"
)

// MaxBins bounds the columns of one availability answer.
const MaxBins = 2000

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
	w, err := inView(st, from, to, bins)
	if err != nil {
		return views.Availability{}, Refuse(viewer, err)
	}
	p, err := findPool(st, pool, s.now(st))
	if err != nil {
		return views.Availability{}, Refuse(viewer, err)
	}
	columns, err := st.Calendar.Bins(pool, w, bins)
	if err != nil {
		return views.Availability{}, Refuse(viewer, err)
	}
	out := views.Availability{Pool: p, From: w.Start, To: w.End}
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

// inView is the window of a chart, from the present on.
func inView(st *state.State, from, to time.Time, bins int) (reservation.Window, error) {
	w := reservation.Window{Start: from.UTC().Truncate(time.Second), End: to.UTC().Truncate(time.Second)}
	if w.Start.Before(st.At()) {
		w.Start = st.At()
	}
	if bins < 1 || bins > MaxBins {
		return w, fmt.Errorf("%w: bins is %d: must be 1 to %d", state.ErrInvalid, bins, MaxBins)
	}
	return w, nil
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
