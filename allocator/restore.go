// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"fmt"

	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/internal/wire"
	"github.com/berth-gpu/berth/topology"
)

// Restore reads a snapshot onto the cluster on which it was made, by version and [ContentOf]. Another one is refused, also
// one that continues it: [Fleet.SetCluster] leads there. The policy is [BestFit]; [Fleet.ForkWith] gives another. Only the bytes that AppendBinary writes are accepted, and only
// a state that keeps the invariants. It costs O(nodes + pods × log placements).
//
// Possible errors: [ErrInvalid] and [ErrCluster] for the cluster, [ErrCorrupt] with the reason inside, for example [ErrUnknownNode].
func Restore(b []byte, c *topology.Cluster) (*Fleet, error) {
	r := wire.NewReader(b)
	if v := r.Uint(); r.Err() == nil && v != snapshotVersion {
		r.Fail("version is %d; this release reads version %d", v, snapshotVersion)
	}
	now := tick.Floor(readTick(r))
	tenancy := Tenancy(r.Byte())
	if r.Err() == nil && tenancy > Shared {
		r.Fail("tenancy is %d", uint8(tenancy))
	}
	version, content := r.Uint(), readContent(r)
	if err := r.Err(); err != nil {
		return nil, corrupt("snapshot", err)
	}
	f, err := New(Config{Cluster: c, Tenancy: tenancy})
	if err != nil {
		return nil, err
	}
	if err := matches(c, version, content); err != nil {
		return nil, err
	}
	f.core.S.now = now
	if err := f.readMarks(r); err != nil {
		return nil, corrupt("snapshot", err)
	}
	if err := f.readPlacements(r); err != nil {
		return nil, corrupt("snapshot", err)
	}
	if err := r.Done(); err != nil {
		return nil, corrupt("snapshot", err)
	}
	return f, nil
}

func (f *Fleet) readMarks(r *wire.Reader) error {
	s, tok := &f.core.S, f.core.Token()
	var last topology.NodeID
	for k := range r.Count(4) {
		id := topology.NodeID(r.String())
		until, reserved := readTime(r), r.String()
		var holds []hold
		for range r.Count(3) {
			holds = append(holds, hold{readInt(r), r.String(), r.String()})
		}
		if err := r.Err(); err != nil {
			return err
		}
		i, n, err := s.byID(id)
		if err != nil {
			return err
		}
		if k > 0 && id <= last {
			return refuse(ErrInvalid, "node", string(id), "nodes are sorted and listed once")
		}
		last = id
		if err := badText("tenant", reserved, true); err != nil {
			return err
		}
		if len(holds) == 0 && reserved == "" && until.IsZero() {
			return refuse(ErrInvalid, "node", string(id), "a node with nothing to keep is not listed")
		}
		if err := s.goodHolds(n, holds); err != nil {
			return err
		}
		s.edit(tok, i, func(n *node) {
			n.freeUntil, n.reserved, n.holds = tick.Forever, reserved, holds
			if !until.IsZero() {
				n.freeUntil = tick.Floor(until)
			}
			n.setFailed()
		})
	}
	return r.Err()
}

func (s *state) goodHolds(n *node, holds []hold) error {
	for k, h := range holds {
		field := fmt.Sprintf("hold %d of node %.80q", k, s.cluster.ID(n.ordinal))
		if h.gpu < wholeNode || h.gpu >= s.gpusOf(n) {
			return refuse(ErrInvalid, field, h.gpu, "the node has no such GPU")
		}
		if k > 0 && !holds[k-1].before(h) {
			return refuse(ErrInvalid, field, h.owner, "holds are sorted and listed once")
		}
		if err := badText(field, h.owner, false); err != nil {
			return err
		}
		if err := badText(field, h.reason, true); err != nil {
			return err
		}
		if h.gpu != wholeNode && h.reason != "" {
			return refuse(ErrInvalid, field, h.reason, "the hold of a GPU has no reason")
		}
	}
	return nil
}

func (f *Fleet) readPlacements(r *wire.Reader) error {
	s, tok := &f.core.S, f.core.Token()
	last := ""
	for k := range r.Count(8) {
		at, q := readTick(r), readRequest(r)
		if err := r.Err(); err != nil {
			return err
		}
		if err := q.check(); err != nil {
			return err
		}
		if k > 0 && q.ID <= last {
			return refuse(ErrInvalid, "ID", q.ID, "placements are sorted and listed once")
		}
		last = q.ID
		if !q.equal(q.canonical()) || tick.Floor(at) > s.now {
			return refuse(ErrInvalid, "placement", q.ID, "its lists are sorted and unique, and it began by the present")
		}
		p := &Placement{Request: q, At: at}
		for g, group := range q.Groups {
			for pod := range group.Count {
				id, gpus := topology.NodeID(r.String()), readInts(r)
				if err := r.Err(); err != nil {
					return err
				}
				i, _, err := s.byID(id)
				if err != nil {
					return err
				}
				p.Assignments = append(p.Assignments, Assignment{Group: g, Pod: pod, Node: i, GPUs: gpus})
			}
		}
		if err := s.readable(p); err != nil {
			return err
		}
		s.add(tok, p)
	}
	return r.Err()
}

// readable checks that a stored placement keeps the invariants beside those already read. What was true when it was placed
// and may have changed since (cordons, failures, FreeUntil, the model of the node) is not asked.
func (s *state) readable(p *Placement) error {
	q := &p.Request
	if err := s.known(q); err != nil {
		return err
	}
	if err := q.complete(p.Assignments); err != nil {
		return err
	}
	if q.until() <= tick.Floor(p.At) {
		return refuse(ErrInvalid, "Until", q.Until, "it is not after the beginning")
	}
	c := constraints{s: s, req: q}
	tentative := map[topology.NodeIndex]*node{}
	for k := range p.Assignments {
		a := &p.Assignments[k]
		n := tentative[a.Node]
		if n == nil {
			copied := *s.at(a.Node)
			n = &copied
			tentative[a.Node] = n
		}
		pod := q.Groups[a.Group].Pod
		if q.Nodes != nil && !c.lists(a.Node) {
			return s.stale(a, "the request does not list it")
		}
		if n.tenant != "" && n.tenant != q.Tenant || n.reserved != "" && n.reserved != q.Tenant {
			return s.stale(a, "it serves another tenant")
		}
		if !n.bearsPod(pod, a.GPUs) {
			return s.stale(a, "it has less than is placed on it")
		}
		n.put(pod, a.GPUs, 1)
	}
	return nil
}

// bearsPod says whether the hardware bears one more pod, failed or not. A node that left is bounded by what any node has.
func (n *node) bearsPod(pod Pod, gpus []int) bool {
	cpu, memory, limit := n.cpu, n.memory, len(n.used)
	if n.shape == nil {
		cpu, memory, limit = MaxAmount+cpu, MaxAmount+memory, topology.MaxGPUsPerNode
	}
	share := pod.GPUMilli
	if share == 0 {
		share = gpuMilli
	}
	for _, g := range gpus {
		if g >= limit || g < len(n.used) && int64(n.used[g])+share > gpuMilli {
			return false
		}
	}
	return cpu >= pod.CPUMilli && memory >= pod.MemoryMiB
}
