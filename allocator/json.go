// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"encoding/json"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/topology"
)

// MarshalJSON gives the snapshot for people, with the totals. There is no reader for it.
func (f *Fleet) MarshalJSON() ([]byte, error) {
	type jsonNode struct {
		ID        topology.NodeID `json:"id"`
		FreeUntil time.Time       `json:"freeUntil,omitzero"`
		Reserved  string          `json:"reserved,omitempty"`
		Cordons   []Cordon        `json:"cordons,omitempty"`
	}
	type jsonPlacement struct {
		At      time.Time `json:"at"`
		Request Request   `json:"request"`
		Seats   []Seat    `json:"seats"`
	}
	s := &f.core.S
	out := struct {
		Version    int             `json:"version"`
		Now        time.Time       `json:"now"`
		Tenancy    string          `json:"tenancy"`
		Cluster    uint64          `json:"clusterVersion"`
		Content    Content         `json:"clusterContent"`
		Totals     Totals          `json:"totals"`
		Nodes      []jsonNode      `json:"nodes"`
		Placements []jsonPlacement `json:"placements"`
	}{snapshotVersion, tick.Time(s.now), s.tenancy.String(), s.cluster.Version(), s.content, s.totals, []jsonNode{}, []jsonPlacement{}}
	for _, i := range s.marked() {
		n := s.at(i)
		j := jsonNode{ID: s.cluster.ID(i), FreeUntil: tick.Time(n.freeUntil), Reserved: n.reserved}
		for _, h := range n.holds {
			j.Cordons = append(j.Cordons, Cordon{Node: j.ID, GPU: h.gpu, Owner: h.owner, Reason: h.reason})
		}
		out.Nodes = append(out.Nodes, j)
	}
	for pl := range s.placed.All() {
		out.Placements = append(out.Placements, jsonPlacement{pl.p.At, pl.p.Request, s.seats(pl.p.Assignments)})
	}
	return json.Marshal(out)
}

// seats gives assignments with node ids in place of ordinals.
func (s *state) seats(as []Assignment) []Seat {
	out := make([]Seat, len(as))
	for k, a := range as {
		out[k] = Seat{Group: a.Group, Pod: a.Pod, Node: s.cluster.ID(a.Node), GPUs: a.GPUs}
	}
	return out
}
