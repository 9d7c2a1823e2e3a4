// SPDX-License-Identifier: Apache-2.0

package allocator_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/allocator/allocatortest"
	"github.com/berth-gpu/berth/internal/enginetest"
	"github.com/berth-gpu/berth/topology"
)

// shapes are the hardware of most tests.
var shapes = []topology.ShapeSpec{
	{Name: "cpu", CPUMilli: 32_000, MemoryMiB: 65_536},
	{Name: "t4x2", Model: "T4", GPUs: 2, CPUMilli: 32_000, MemoryMiB: 65_536},
	{Name: "t4x4", Model: "T4", GPUs: 4, CPUMilli: 48_000, MemoryMiB: 131_072},
	{Name: "a10x8", Model: "A10", GPUs: 8, CPUMilli: 96_000, MemoryMiB: 262_144},
}

// cluster builds nodes n0, n1, … of the named shapes.
func cluster(t require.TestingT, names ...string) *topology.Cluster {
	cfg := topology.Config{Shapes: shapes}
	for i, s := range names {
		cfg.Nodes = append(cfg.Nodes, topology.NodeSpec{ID: topology.NodeID(fmt.Sprintf("n%d", i)), Shape: s})
	}
	c, err := topology.New(cfg)
	require.NoError(t, err)
	return c
}

func fleet(t require.TestingT, names ...string) *allocator.Fleet {
	f, err := allocator.New(allocator.Config{Cluster: cluster(t, names...)})
	require.NoError(t, err)
	return f
}

// history is a cluster and what becomes of it: a node joins, one leaves, one is made anew, one comes back.
func history(t require.TestingT) []*topology.Cluster {
	out := []*topology.Cluster{cluster(t, "t4x2", "t4x4", "a10x8", "cpu", "t4x4")}
	for _, ch := range []topology.Change{
		{Add: []topology.NodeSpec{{ID: "n5", Shape: "a10x8"}}},
		{Remove: []topology.NodeID{"n1", "n2"}},
		{Replace: []topology.NodeSpec{{ID: "n4", Shape: "t4x2"}}},
		{Add: []topology.NodeSpec{{ID: "n2", Shape: "t4x4"}, {ID: "n1", Shape: "t4x4"}}},
	} {
		next, err := out[len(out)-1].Apply(ch)
		require.NoError(t, err)
		out = append(out, next)
	}
	return out
}

// host does for a fleet what its host does: it keeps the cluster, in its snapshot and beside its log.
type host struct {
	*allocator.Fleet
	clusters []*topology.Cluster
}

func (h host) Fork() host { return host{h.Fleet.Fork(), h.clusters} }

func (h host) Apply(e allocator.Event) error {
	if c, ok := e.(allocator.ClusterChanged); ok && c.Version > 0 && c.Version <= uint64(len(h.clusters)) {
		e = c.On(h.clusters[c.Version-1])
	}
	return h.Fleet.Apply(e)
}

func (h host) AppendBinary(b []byte) ([]byte, error) {
	return h.Fleet.AppendBinary(binary.AppendUvarint(b, h.Cluster().Version()))
}

func (h host) restore(b []byte) (host, error) {
	if len(b) == 0 || b[0] < 1 || int(b[0]) > len(h.clusters) {
		return host{}, errors.New("no such cluster")
	}
	f, err := allocator.Restore(b[1:], h.clusters[b[0]-1])
	return host{f, h.clusters}, err
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// drawRequest draws a request of which a few are invalid and many find no place.
func drawRequest(r *rand.Rand, at time.Time) allocator.Request {
	q := allocator.Request{ID: fmt.Sprintf("r%d", r.IntN(12)), Claim: "c", Tenant: pick(r, allocatortest.Tenants)}
	for range pick(r, []int{1, 1, 1, 2}) {
		pod := pick(r, []allocator.Pod{
			{GPUs: 1, CPUMilli: 4000, MemoryMiB: 4096}, {GPUs: 2, CPUMilli: 8000}, {GPUs: 8, CPUMilli: 8000},
			{GPUMilli: 500, CPUMilli: 2000}, {GPUMilli: 300}, {CPUMilli: 10_000, MemoryMiB: 16_384},
		})
		if r.IntN(20) == 0 {
			pod = pick(r, []allocator.Pod{{GPUMilli: 1000}, {GPUs: -1}, {}})
		}
		q.Groups = append(q.Groups, allocator.Group{Count: 1 + r.IntN(3), Pod: pod})
	}
	q.Models = pick(r, [][]string{nil, nil, {"T4"}, {"L4", "A10"}})
	q.Nodes = pick(r, [][]topology.NodeID{nil, nil, nil, {"n2", "n0"}, {"n4", "n5"}})
	q.Until = pick(r, []time.Time{{}, {}, at.Truncate(time.Hour).Add(5 * time.Hour), at.Truncate(time.Hour).Add(50 * time.Hour)})
	if r.IntN(20) == 0 {
		q.Until, q.Nodes = q.Until.Add(time.Millisecond), []topology.NodeID{}
	}
	return q
}

func drawCommand(r *rand.Rand, h host, at time.Time) (string, error) {
	q := drawRequest(r, at)
	node := topology.NodeID(fmt.Sprintf("n%d", r.IntN(7)))
	owner, tenant, gpu := pick(r, []string{"health", "human/oncall", ""}), pick(r, allocatortest.Tenants), r.IntN(9)
	until := pick(r, []time.Time{{}, at.Truncate(time.Hour).Add(3 * time.Hour), at.Truncate(time.Hour).Add(-time.Hour)})
	next, stale, reason := pick(r, h.clusters), r.IntN(3) == 0, pick(r, []string{"", "fan"})
	switch command := r.IntN(16); command {
	case 0, 1, 2, 3, 4:
		p, err := h.Place(at, q)
		return fmt.Sprint(p), err
	case 5, 6:
		plan, err := h.Plan(at, q)
		if err != nil {
			return "", err
		}
		if stale && len(plan.Assignments) > 0 {
			plan.Assignments[0].Node++
		}
		p, err := h.Commit(at, plan)
		return fmt.Sprint(p), err
	case 7, 8:
		return "released", h.Release(at, q.ID)
	case 9:
		return "cordoned", h.Cordon(at, node, owner, reason)
	case 10:
		return "uncordoned", h.Uncordon(at, node, owner)
	case 11:
		return "failed", h.FailGPU(at, node, gpu-1, owner)
	case 12:
		return "restored", h.RestoreGPU(at, node, gpu-1, owner)
	case 13:
		return "free until", h.SetFreeUntil(at, node, until)
	case 14:
		if stale {
			return "unreserved", h.Unreserve(at, node, tenant)
		}
		return "reserved", h.Reserve(at, node, tenant)
	default:
		return "cluster", h.SetCluster(at, next)
	}
}

func answers(r *rand.Rand, h host) string {
	var b strings.Builder
	at := enginetest.Start.Add(time.Duration(r.IntN(100)) * time.Hour)
	q := drawRequest(r, enginetest.Start)
	q.ID = "asked"
	plan, err := h.Plan(at, q)
	x, err2 := h.Explain(at, q)
	explained, err3 := json.Marshal(x)
	fmt.Fprintln(&b, plan, err, string(explained), err2, err3, h.Totals())
	for i := range topology.NodeIndex(h.Cluster().Len() + 1) {
		fmt.Fprintln(&b, h.Free(i))
		for p := range h.OnNode(i) {
			fmt.Fprintln(&b, p)
		}
	}
	for c := range h.Cordons() {
		fmt.Fprintln(&b, c)
	}
	for p := range h.Stranded() {
		fmt.Fprintln(&b, p.ID())
	}
	return b.String()
}

func TestSuite(t *testing.T) {
	clusters := history(t)
	for _, tenancy := range []allocator.Tenancy{allocator.DedicatedNodes, allocator.Shared} {
		t.Run(tenancy.String(), func(t *testing.T) {
			enginetest.Run(t, enginetest.Subject[host, allocator.Event]{
				New: func() host {
					f, err := allocator.New(allocator.Config{Cluster: clusters[0], Tenancy: tenancy})
					require.NoError(t, err)
					return host{f, clusters}
				},
				Restore: host{clusters: clusters}.restore,
				Decode:  allocator.DecodeEvent,
				Do:      drawCommand,
				Ask:     answers,
				Check: func(h host) error {
					return errors.Join(h.Check(), allocatortest.Check(h.Fleet))
				},
			})
		})
	}
}
