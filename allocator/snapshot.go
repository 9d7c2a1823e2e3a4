// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"cmp"
	"slices"

	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/internal/wire"
	"github.com/berth-gpu/berth/topology"
)

// snapshotVersion is the first number of a snapshot. A new layout takes a new number.
const snapshotVersion = 1

// marked gives the ordinals that hold more than their placements say, ordered by node id.
func (s *state) marked() []topology.NodeIndex {
	var out []topology.NodeIndex
	for i, n := range s.nodesRef() {
		if !n.plain() {
			out = append(out, i)
		}
	}
	slices.SortFunc(out, func(a, b topology.NodeIndex) int { return cmp.Compare(s.cluster.ID(a), s.cluster.ID(b)) })
	return out
}

// AppendBinary appends the snapshot: the version and content of the cluster, placements, cordons, failed GPUs, reservations
// and FreeUntil, all by node id. The cluster itself and the policy are the host's and are not in it. Equal fleets give equal
// bytes.
// It costs O(nodes + pods).
func (f *Fleet) AppendBinary(b []byte) ([]byte, error) {
	s := &f.core.S
	b = wire.AppendUint(b, snapshotVersion)
	b = wire.AppendInt(b, s.now)
	b = append(b, byte(s.tenancy))
	b = append(wire.AppendUint(b, s.cluster.Version()), s.content[:]...)
	marked := s.marked()
	b = wire.AppendUint(b, uint64(len(marked)))
	for _, i := range marked {
		n := s.at(i)
		b = wire.AppendString(b, s.cluster.ID(i))
		b = appendTime(b, tick.Time(n.freeUntil))
		b = wire.AppendString(b, n.reserved)
		b = wire.AppendUint(b, uint64(len(n.holds)))
		for _, h := range n.holds {
			b = wire.AppendInt(b, int64(h.gpu))
			b = wire.AppendString(wire.AppendString(b, h.owner), h.reason)
		}
	}
	b = wire.AppendUint(b, uint64(s.placed.Len()))
	for pl := range s.placed.All() {
		b = wire.AppendInt(b, tick.Floor(pl.p.At))
		b = appendRequest(b, &pl.p.Request)
		for _, a := range pl.p.Assignments {
			b = appendInts(wire.AppendString(b, s.cluster.ID(a.Node)), a.GPUs)
		}
	}
	return b, nil
}

// MarshalBinary gives the snapshot, see [Fleet.AppendBinary].
func (f *Fleet) MarshalBinary() ([]byte, error) { return f.AppendBinary(nil) }
