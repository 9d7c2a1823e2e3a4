// SPDX-License-Identifier: Apache-2.0

package allocatortest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/topology"
)

// TestPolicy checks the contract of allocator.Policy on small worlds: the fleet accepts every pick, plans are right and are
// found wherever places exist, nothing is changed by asking, the same question has the same answer, under other names too,
// and many goroutines may ask at once.
func TestPolicy(t *testing.T, p allocator.Policy) {
	require.NotEmpty(t, p.Name(), "a policy has a name for people")
	t.Run("picks fit and repeat", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { picksFit(t, p) }) })
	t.Run("names do not matter", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { namesDoNotMatter(t, p) }) })
	t.Run("many may ask at once", func(t *testing.T) { manyMayAsk(t, p) })
}

// world draws a fleet with some placements under the policy.
func world(t *rapid.T, c *topology.Cluster, p allocator.Policy) *allocator.Fleet {
	f, err := allocator.New(allocator.Config{Cluster: c, Policy: p})
	require.NoError(t, err)
	for k := range rapid.IntRange(0, 10).Draw(t, "placed") {
		_, err := f.Place(Start, Requests(c, fmt.Sprintf("r%d", k)).Draw(t, "request"))
		require.NotErrorIs(t, err, allocator.ErrPolicy)
	}
	require.NoError(t, Check(f))
	return f
}

func picksFit(t *rapid.T, p allocator.Policy) {
	c := Clusters().Draw(t, "cluster")
	f := world(t, c, p)
	r := Requests(c, "asked").Draw(t, "asked")
	before, err := f.MarshalBinary()
	require.NoError(t, err)
	plan, err := f.Plan(Start, r)
	require.NotErrorIs(t, err, allocator.ErrPolicy)
	if err == nil {
		require.NoError(t, CheckPlan(f, plan))
	} else if len(r.Groups) == 1 {
		_, other := f.ForkWith(allocator.BestFit{}).Plan(Start, r)
		require.Error(t, other, "whether a gang of equal pods fits does not depend on the policy")
	}
	again, err2 := f.Fork().Plan(Start, r)
	require.Equal(t, plan, again, "the same question has the same answer")
	require.Equal(t, err == nil, err2 == nil)
	after, err := f.MarshalBinary()
	require.NoError(t, err)
	require.Equal(t, before, after, "asking changes nothing")
}

func namesDoNotMatter(t *rapid.T, p allocator.Policy) {
	c := Clusters().Draw(t, "cluster")
	cfg := c.Config()
	rename := map[topology.NodeID]topology.NodeID{}
	for i := range cfg.Nodes {
		name := topology.NodeID(fmt.Sprintf("other-%d", len(cfg.Nodes)-i))
		rename[cfg.Nodes[i].ID], cfg.Nodes[i].ID = name, name
	}
	renamed, err := topology.New(cfg)
	require.NoError(t, err)
	a, err := allocator.New(allocator.Config{Cluster: c, Policy: p})
	require.NoError(t, err)
	b, err := allocator.New(allocator.Config{Cluster: renamed, Policy: p})
	require.NoError(t, err)
	for k := range rapid.IntRange(1, 12).Draw(t, "requests") {
		r := Requests(c, fmt.Sprintf("r%d", k)).Draw(t, "request")
		s := r
		s.ID, s.Claim, s.Tenant, s.Nodes = fmt.Sprintf("z%d", 99-k), "", "x"+r.Tenant, nil
		for _, id := range r.Nodes {
			s.Nodes = append(s.Nodes, rename[id])
		}
		pa, errA := a.Place(Start, r)
		pb, errB := b.Place(Start, s)
		require.Equal(t, errA == nil, errB == nil)
		require.Equal(t, pa.Assignments, pb.Assignments)
	}
}

func manyMayAsk(t *testing.T, p allocator.Policy) {
	c := Clusters().Example(1)
	f, err := allocator.New(allocator.Config{Cluster: c, Policy: p})
	require.NoError(t, err)
	r := allocator.Request{ID: "asked", Tenant: "ants", Groups: []allocator.Group{{Count: 2, Pod: allocator.Pod{CPUMilli: 1000}}}}
	want, err := f.Plan(Start, r)
	require.NoError(t, err)
	plans := make([]allocator.Plan, 8)
	var wg sync.WaitGroup
	for g := range plans {
		wg.Go(func() { plans[g], _ = f.Fork().Plan(Start, r) })
	}
	wg.Wait()
	for _, got := range plans {
		require.Equal(t, want, got)
	}
}
