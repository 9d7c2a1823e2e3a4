// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/topology"
)

// healthy gives a fleet with two gangs, a node reserved, one cordoned, one with a failed GPU, and one that left.
func healthy(t *testing.T) *Fleet {
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	cfg := topology.Config{Shapes: []topology.ShapeSpec{{Name: "s", Model: "T4", GPUs: 4, CPUMilli: 64_000, MemoryMiB: 1 << 16}}}
	for _, id := range []topology.NodeID{"n0", "n1", "n2", "n3", "n4"} {
		cfg.Nodes = append(cfg.Nodes, topology.NodeSpec{ID: id, Shape: "s"})
	}
	c, err := topology.New(cfg)
	require.NoError(t, err)
	f, err := New(Config{Cluster: c})
	require.NoError(t, err)
	gang := func(id, tenant string, cpuMilli int64, nodes ...topology.NodeID) {
		_, err := f.Place(at, Request{ID: id, Tenant: tenant, Nodes: nodes, Groups: []Group{{Count: 2, Pod: Pod{GPUs: 2, CPUMilli: cpuMilli, MemoryMiB: 1024}}}})
		require.NoError(t, err)
	}
	gang("a", "ants", 8_000, "n0")
	gang("b", "bees", 40_000, "n1", "n4") // one pod on each
	require.NoError(t, f.Reserve(at, "n0", "ants"))
	require.NoError(t, f.Cordon(at, "n2", "human/oncall", ""))
	require.NoError(t, f.FailGPU(at, "n3", 1, "health"))
	next, err := c.Edit().Remove("n4").Build()
	require.NoError(t, err)
	require.NoError(t, f.SetCluster(at, next))
	require.NoError(t, f.Check())
	return f
}

// TestCheckFinds breaks a sound fleet in each way that Check must see, and expects the invariant's number.
func TestCheckFinds(t *testing.T) {
	on := func(s *state, id string) *Placement {
		pl, _ := s.placed.Find(placed{id: id})
		return pl.p
	}
	edit := func(f *Fleet, i int) *node { return f.core.S.nodes.Edit(f.core.Token(), i) }
	for name, tt := range map[string]struct {
		want  string
		spoil func(f *Fleet, s *state)
	}{
		"GPU given twice":       {`A1: node "n0" has less`, func(_ *Fleet, s *state) { on(s, "a").Assignments[1].GPUs = []int{1, 2} }},
		"GPU that is not there": {`A1: node "n0" has less`, func(_ *Fleet, s *state) { on(s, "a").Assignments[1].GPUs = []int{3, 4} }},
		"CPU given twice":       {`A1: node "n0" has less`, func(_ *Fleet, s *state) { on(s, "a").Request.Groups[0].Pod.CPUMilli = 32_001 }},
		"memory given twice":    {`A1: node "n1" has less`, func(_ *Fleet, s *state) { on(s, "b").Request.Groups[0].Pod.MemoryMiB = 1<<16 + 1 }},

		"free CPU":              {`A2: node "n0"`, func(f *Fleet, _ *state) { edit(f, 0).cpu-- }},
		"free memory":           {`A2: node "n0"`, func(f *Fleet, _ *state) { edit(f, 0).memory++ }},
		"GPU in use":            {`A2: node "n3": GPU 0`, func(f *Fleet, _ *state) { edit(f, 3).used = []int16{5, 0, 0, 0} }},
		"GPU in use, left node": {`A2: node "n4"`, func(f *Fleet, _ *state) { edit(f, 4).used = []int16{0, 0, 0, 1000} }},
		"free milli":            {`A2: node "n3"`, func(f *Fleet, _ *state) { edit(f, 3).milli -= 1000 }},
		"whole GPUs":            {`A2: node "n3"`, func(f *Fleet, _ *state) { edit(f, 3).whole = 4 }},
		"widest GPU":            {`A2: node "n0"`, func(f *Fleet, _ *state) { edit(f, 0).widest = 1 }},
		"pods":                  {`A2: node "n1"`, func(f *Fleet, _ *state) { edit(f, 1).pods++ }},
		"tenant forgotten":      {`A2: node "n1"`, func(f *Fleet, _ *state) { edit(f, 1).tenant = "" }},
		"cordon forgotten":      {`A2: node "n2"`, func(f *Fleet, _ *state) { edit(f, 2).cordoned = false }},
		"failure forgotten":     {`A2: node "n3"`, func(f *Fleet, _ *state) { edit(f, 3).failed = nil }},
		"other GPU failed":      {`A2: node "n3"`, func(f *Fleet, _ *state) { edit(f, 3).failed = []bool{true, false, false, false} }},
		"shape":                 {`A2: node "n2"`, func(f *Fleet, _ *state) { edit(f, 2).shape = nil }},
		"ordinal":               {`A2: node "n2"`, func(f *Fleet, _ *state) { edit(f, 2).ordinal = 3 }},
		"node records":          {"A2: 6 node records for 5 ordinals", func(f *Fleet, s *state) { s.nodes.Append(f.core.Token(), newNode(5, nil)) }},
		"total":                 {"A2: totals are", func(_ *Fleet, s *state) { s.totals.StrandedMilli++ }},
		"conservation":          {"A2: capacity is not allocated + free + unavailable", func(_ *Fleet, s *state) { s.totals.FreeMilli-- }},
		"other id":              {`A2: placement "a" lies under id "c"`, func(f *Fleet, s *state) { s.placed.Put(f.core.Token(), placed{"c", on(s, "a")}) }},
		"index lacks a node":    {`A2: placement "b" is missing from the index of node "n4"`, func(f *Fleet, s *state) { s.onNode.Remove(f.core.Token(), spot{4, "b"}) }},
		"index has too much":    {"A2: the index by node has 4 entries, the placements 3", func(f *Fleet, s *state) { s.onNode.Put(f.core.Token(), spot{2, "a"}) }},
		"other content":         {"A2: the content", func(_ *Fleet, s *state) { s.content[0]++ }},

		"pod missing": {`A5: placement "a"`, func(_ *Fleet, s *state) { on(s, "a").Assignments = on(s, "a").Assignments[:1] }},
		"pod twice":   {`A5: placement "a"`, func(_ *Fleet, s *state) { on(s, "a").Assignments[1].Pod = 0 }},
		"GPU missing": {`A5: placement "a"`, func(_ *Fleet, s *state) { on(s, "a").Assignments[0].GPUs = []int{0} }},

		"two tenants":     {`A6: node "n1" serves tenants "ants" and "bees"`, func(_ *Fleet, s *state) { on(s, "a").Assignments[1].Node = 1 }},
		"reserved":        {`A6: node "n1" is reserved for "ants" and serves "bees"`, func(f *Fleet, _ *state) { edit(f, 1).reserved = "ants" }},
		"not listed":      {`A6: placement "a" lies on node "n3", which it does not list`, func(_ *Fleet, s *state) { on(s, "a").Assignments[0].Node = 3 }},
		"no such ordinal": {`A6: placement "a" lies on node ordinal 9 of 5`, func(_ *Fleet, s *state) { on(s, "a").Assignments[0].Node = 9 }},
	} {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			tt.spoil(f, &f.core.S)
			require.ErrorContains(t, f.Check(), tt.want)
		})
	}
}
