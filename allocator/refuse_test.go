// SPDX-License-Identifier: Apache-2.0

package allocator_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/topology"
)

func TestNewReportsAllMistakes(t *testing.T) {
	_, err := allocator.New(allocator.Config{Tenancy: 9})
	require.ErrorIs(t, err, allocator.ErrInvalid)
	require.ErrorContains(t, err, "Tenancy is tenancy(9)")
	require.ErrorContains(t, err, "Cluster is")
	huge, err := topology.New(topology.Config{Shapes: []topology.ShapeSpec{{Name: "huge", CPUMilli: math.MaxInt64, MemoryMiB: math.MaxInt64}},
		Nodes: []topology.NodeSpec{{ID: "n", Shape: "huge"}}})
	require.NoError(t, err)
	_, err = allocator.New(allocator.Config{Cluster: huge})
	require.ErrorContains(t, err, `CPUMilli of node "n"`)
	require.ErrorContains(t, err, `MemoryMiB of node "n"`)
}

func TestRequestsThatAreRefused(t *testing.T) {
	long, pod := strings.Repeat("x", 257), allocator.Pod{GPUs: 1}
	group := func(count int, p allocator.Pod) []allocator.Group { return []allocator.Group{{Count: count, Pod: p}} }
	for _, c := range []struct {
		name string
		r    allocator.Request
		err  error
		says []string
	}{
		{"nothing", allocator.Request{}, allocator.ErrInvalid, []string{`ID is ""`, `Tenant is ""`, "Groups"}},
		{"texts", allocator.Request{ID: long, Tenant: "a\x00", Claim: "\xff", Groups: group(1, pod)}, allocator.ErrInvalid, []string{"257 bytes", "control", "UTF-8"}},
		{"no pods", allocator.Request{ID: "r", Tenant: "a", Groups: group(0, pod)}, allocator.ErrInvalid, []string{"Groups[0].Count is 0"}},
		{"many pods", allocator.Request{ID: "r", Tenant: "a", Groups: append(group(1<<20, pod), group(1, pod)...)}, allocator.ErrInvalid, []string{"Groups[1].Count"}},
		{"count overflows", allocator.Request{ID: "r", Tenant: "a", Groups: group(math.MaxInt, pod)}, allocator.ErrInvalid, []string{"Groups[0].Count"}},
		{"both kinds", allocator.Request{ID: "r", Tenant: "a", Groups: group(1, allocator.Pod{GPUs: 1, GPUMilli: 5})}, allocator.ErrInvalid, []string{"not both"}},
		{"a whole as milli", allocator.Request{ID: "r", Tenant: "a", Groups: group(1, allocator.Pod{GPUMilli: 1000})}, allocator.ErrInvalid, []string{"GPUMilli is 1000"}},
		{"negative", allocator.Request{ID: "r", Tenant: "a", Groups: group(1, allocator.Pod{GPUs: -1, CPUMilli: -2, MemoryMiB: math.MinInt64})}, allocator.ErrInvalid, []string{"GPUs is -1", "CPUMilli is -2", "MemoryMiB is -9223372036854775808"}},
		{"overflow", allocator.Request{ID: "r", Tenant: "a", Groups: group(1, allocator.Pod{CPUMilli: math.MaxInt64})}, allocator.ErrInvalid, []string{"CPUMilli is 9223372036854775807"}},
		{"asks for nothing", allocator.Request{ID: "r", Tenant: "a", Groups: group(1, allocator.Pod{})}, allocator.ErrInvalid, []string{"Groups[0].Pod is"}},
		{"empty lists", allocator.Request{ID: "r", Tenant: "a", Groups: group(1, pod), Models: []string{}, Nodes: []topology.NodeID{}}, allocator.ErrInvalid, []string{"Models", "Nodes"}},
		{"half a second", allocator.Request{ID: "r", Tenant: "a", Groups: group(1, pod), Until: start.Add(time.Hour + 1)}, allocator.ErrInvalid, []string{"Until"}},
		{"ends before it begins", allocator.Request{ID: "r", Tenant: "a", Groups: group(1, pod), Until: start}, allocator.ErrInvalid, []string{"Until"}},
		{"unknown node", allocator.Request{ID: "r", Tenant: "a", Groups: group(1, pod), Nodes: []topology.NodeID{"n0", "nx"}}, allocator.ErrUnknownNode, []string{`Nodes[1] is "nx"`}},
		{"used id", allocator.Request{ID: "used", Tenant: "a", Groups: group(2, pod)}, allocator.ErrExists, []string{`"used"`}},
		{"larger than any node", allocator.Request{ID: "r", Tenant: "a", Groups: group(1, allocator.Pod{GPUs: 1 << 40})}, allocator.ErrUnplaceable, []string{"never fits"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := fleet(t, "t4x4", "cpu")
			place(t, f, ask("used", 1, pod))
			before := encoded(t, f)
			_, err := f.Place(start, c.r)
			require.ErrorIs(t, err, c.err)
			for _, s := range c.says {
				require.ErrorContains(t, err, s)
			}
			require.Equal(t, before, encoded(t, f), "A4")
		})
	}
}

func TestCommandsThatAreRefused(t *testing.T) {
	f := fleet(t, "t4x4", "t4x2")
	place(t, f, ask("p", 1, allocator.Pod{GPUs: 3}))
	require.NoError(t, f.Reserve(start, "n1", "bees"))
	before, events := encoded(t, f), len(f.Events())
	for name, c := range map[string]struct{ got, want error }{
		"cordon nowhere":           {f.Cordon(start, "nx", "human/oncall", ""), allocator.ErrUnknownNode},
		"cordon by nobody":         {f.Cordon(start, "n0", "", ""), allocator.ErrInvalid},
		"uncordon by nobody":       {f.Uncordon(start, "n0", ""), allocator.ErrInvalid},
		"uncordon nowhere":         {f.Uncordon(start, "nx", "human/oncall"), allocator.ErrUnknownNode},
		"fail no GPU":              {f.FailGPU(start, "n0", 4, "human/oncall"), allocator.ErrInvalid},
		"fail a negative GPU":      {f.FailGPU(start, "n0", -1, "human/oncall"), allocator.ErrInvalid},
		"restore a negative GPU":   {f.RestoreGPU(start, "n0", -1, "human/oncall"), allocator.ErrInvalid},
		"free until nowhere":       {f.SetFreeUntil(start, "nx", time.Time{}), allocator.ErrUnknownNode},
		"free until half a second": {f.SetFreeUntil(start, "n0", start.Add(1)), allocator.ErrInvalid},
		"reserve for nobody":       {f.Reserve(start, "n0", ""), allocator.ErrInvalid},
		"reserve another's node":   {f.Reserve(start, "n1", "ants"), allocator.ErrInUse},
		"reserve a node in use":    {f.Reserve(start, "n0", "bees"), allocator.ErrInUse},
		"unreserve for nobody":     {f.Unreserve(start, "n1", ""), allocator.ErrInvalid},
		"release nothing":          {f.Release(start, ""), allocator.ErrInvalid},
		"apply nothing":            {f.Apply(nil), allocator.ErrInvalid},
		"apply the past":           {f.Apply(allocator.Released{At: start.Add(-time.Hour), ID: "p"}), allocator.ErrContradiction},
		"apply a release of none":  {f.Apply(allocator.Released{At: start, ID: "q"}), allocator.ErrContradiction},
		"apply an empty hold":      {f.Apply(allocator.Uncordoned{At: start, Node: "n0", Owner: "human/oncall"}), allocator.ErrContradiction},
		"apply a taken GPU": {f.Apply(allocator.Placed{At: start, Request: ask("q", 1, allocator.Pod{GPUs: 1}),
			Seats: []allocator.Seat{{Node: "n0", GPUs: []int{0}}}}), allocator.ErrStale},
	} {
		require.ErrorIs(t, c.got, c.want, name)
	}
	require.Equal(t, before, encoded(t, f))
	require.Len(t, f.Events(), events)
}

// What is repeated, or has nothing to end, is no error and no event.
func TestRepeatedCommandsDecideNothing(t *testing.T) {
	f := fleet(t, "t4x4")
	r := ask("p", 1, allocator.Pod{GPUs: 1})
	r.Models = []string{"T4", "A10"}
	p := place(t, f, r)
	require.NoError(t, f.Cordon(start, "n0", "human/oncall", "fan"))
	require.NoError(t, f.FailGPU(start, "n0", 3, "health"))
	require.NoError(t, f.Reserve(start, "n0", "ants"))
	require.NoError(t, f.SetFreeUntil(start, "n0", start.Add(time.Hour)))
	before, events := encoded(t, f), len(f.Events())
	again := r
	again.Models = []string{"A10", "T4", "A10"}
	got, err := f.Place(start.Add(time.Hour), again)
	require.NoError(t, err)
	require.Equal(t, p, got, "same id and same body: answered as before")
	plan, err := f.Plan(start, again)
	require.NoError(t, err)
	got, err = f.Commit(start, plan)
	require.NoError(t, err)
	require.Equal(t, p, got)
	require.NoError(t, f.Cordon(start, "n0", "human/oncall", "fan"))
	require.NoError(t, f.FailGPU(start, "n0", 3, "health"))
	require.NoError(t, f.Reserve(start, "n0", "ants"))
	require.NoError(t, f.SetFreeUntil(start, "n0", start.Add(time.Hour)))
	require.NoError(t, f.Uncordon(start, "n0", "human/relief"))
	require.NoError(t, f.RestoreGPU(start, "n0", 3, "human/relief"))
	require.NoError(t, f.Unreserve(start, "n0", "bees"))
	require.NoError(t, f.Release(start, "never placed"))
	require.Equal(t, before, encoded(t, f))
	require.Len(t, f.Events(), events)
}

// Open-ended work is a rolling lease: it may lie where a booking comes later, not where one is now. Work with a declared
// end must end by then. Work inside a booking names its nodes and is not bound.
func TestFreeUntilBindsWorkOutsideBookings(t *testing.T) {
	for _, c := range []struct {
		name        string
		free, until time.Duration
		listed, ok  bool
	}{
		{name: "open-ended before a booking", free: time.Hour, ok: true},
		{name: "open-ended inside one", free: 0},
		{name: "ends in time", free: time.Hour, until: time.Hour, ok: true},
		{name: "ends too late", free: time.Hour, until: time.Hour + time.Second},
		{name: "on its seats", free: 0, until: time.Hour, listed: true, ok: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := fleet(t, "t4x2")
			require.NoError(t, f.SetFreeUntil(start, "n0", start.Add(c.free)))
			r := ask("r", 1, allocator.Pod{GPUs: 1})
			if c.until != 0 {
				r.Until = start.Add(c.until)
			}
			if c.listed {
				r.Nodes = []topology.NodeID{"n0"}
			}
			_, err := f.Place(start, r)
			require.Equal(t, c.ok, err == nil, "%v", err)
		})
	}
}

func TestTenancy(t *testing.T) {
	bees := ask("b", 1, allocator.Pod{GPUMilli: 100})
	bees.Tenant = "bees"
	f := fleet(t, "t4x2")
	place(t, f, ask("a", 1, allocator.Pod{GPUMilli: 100}))
	_, err := f.Plan(start, bees)
	require.Equal(t, []allocator.Help{{Kind: allocator.HelpTenants, Nodes: 1}, {Kind: allocator.HelpRelease}}, unplaceable(t, err).Explanation.Help)
	require.NoError(t, f.Release(start, "a"))
	place(t, f, bees)
	require.NoError(t, f.Release(start, "b"))
	require.NoError(t, f.Reserve(start, "n0", "ants"))
	_, err = f.Plan(start, bees)
	require.ErrorIs(t, err, allocator.ErrUnplaceable, "reserved, although empty")

	f, err = allocator.New(allocator.Config{Cluster: cluster(t, "t4x2"), Tenancy: allocator.Shared})
	require.NoError(t, err)
	place(t, f, ask("a", 1, allocator.Pod{GPUMilli: 100}))
	place(t, f, bees)
	require.ErrorIs(t, f.Reserve(start, "n0", "ants"), allocator.ErrInUse)
}

// A pointer to an event has the methods of one. It is refused, nil or not.
func TestPointersToEventsAreRefused(t *testing.T) {
	f := fleet(t, "t4x2")
	before := encoded(t, f)
	for _, e := range []allocator.Event{nil, (*allocator.Placed)(nil), (*allocator.Released)(nil), (*allocator.Cordoned)(nil),
		(*allocator.Uncordoned)(nil), (*allocator.GPUFailed)(nil), (*allocator.GPURestored)(nil), (*allocator.FreeUntilSet)(nil),
		(*allocator.Reserved)(nil), (*allocator.Unreserved)(nil), (*allocator.ClusterChanged)(nil),
		&allocator.Cordoned{At: start, Node: "n0", Owner: "human/oncall"}} {
		require.ErrorIs(t, f.Apply(e), allocator.ErrInvalid, "%T", e)
		require.ErrorContains(t, f.Apply(e), fmt.Sprintf("event is a %T", e))
		_, err := allocator.EventJSON(e)
		require.ErrorIs(t, err, allocator.ErrInvalid, "%T", e)
	}
	require.Equal(t, before, encoded(t, f))
}

// A policy that is a nil *BestFit is no policy.
func TestNilPolicyIsBestFit(t *testing.T) {
	var none *allocator.BestFit
	f, err := allocator.New(allocator.Config{Cluster: cluster(t, "t4x2"), Policy: none})
	require.NoError(t, err)
	place(t, f, ask("a", 1, allocator.Pod{GPUs: 1}))
	place(t, f.ForkWith(none), ask("b", 1, allocator.Pod{GPUs: 1}))
}

// An ordinal that the cluster never had is named; nothing is stale about it.
func TestOrdinalsOutOfRange(t *testing.T) {
	f := fleet(t, "t4x2")
	for _, i := range []topology.NodeIndex{-5, -1, 1, math.MaxInt32} {
		_, err := f.Commit(start, allocator.Plan{Request: ask("a", 1, allocator.Pod{GPUs: 1}), Assignments: []allocator.Assignment{{Node: i, GPUs: []int{0}}}})
		require.ErrorIs(t, err, allocator.ErrUnknownNode)
		require.NotErrorIs(t, err, allocator.ErrStale)
		require.ErrorContains(t, err, fmt.Sprintf("Assignments[0].Node is %d: the cluster has 1 ordinals", i))
	}
}

// Every mistake of a command on a node is reported, and the node is named.
func TestMistakesOnANodeAreJoined(t *testing.T) {
	f := fleet(t, "t4x2")
	odd := start.Add(time.Nanosecond)
	for name, c := range map[string]struct {
		err  error
		says []string
	}{
		"free until":         {f.SetFreeUntil(start, "nope", odd), []string{`node is "nope"`, `until of node "nope"`}},
		"free until, known":  {f.SetFreeUntil(start, "n0", odd), []string{`until of node "n0"`}},
		"free until, event":  {f.Apply(allocator.FreeUntilSet{At: start, Node: "nope", Until: odd}), []string{`node is "nope"`, `until of node "nope"`}},
		"failed GPU":         {f.FailGPU(start, "nope", -1, ""), []string{`node is "nope"`, "gpu is -1", `owner is ""`}},
		"restored GPU":       {f.RestoreGPU(start, "nope", -1, ""), []string{`node is "nope"`, "gpu is -1", `owner is ""`}},
		"restored GPU, high": {f.RestoreGPU(start, "n0", topology.MaxGPUsPerNode, "human/oncall"), []string{fmt.Sprint("gpu is ", topology.MaxGPUsPerNode)}},
	} {
		for _, says := range c.says {
			require.ErrorContains(t, c.err, says, name)
		}
	}
}

// Models are names like any other, and there are not too many of them.
func TestModelsAreChecked(t *testing.T) {
	f := fleet(t, "t4x2")
	r := ask("a", 1, allocator.Pod{GPUs: 1})
	for _, bad := range []string{"", "\xff", "T4\n", strings.Repeat("x", allocator.MaxIDBytes+1)} {
		r.Models = []string{"T4", bad}
		_, err := f.Place(start, r)
		require.ErrorIs(t, err, allocator.ErrInvalid, "%q", bad)
		require.ErrorContains(t, err, "Models[1]")
	}
	r.Models = make([]string, allocator.MaxModels+1)
	_, err := f.Place(start, r)
	require.ErrorIs(t, err, allocator.ErrInvalid)
	require.ErrorContains(t, err, "Models is \"a list of 1025\": give at most 1024")
	r.Models = r.Models[:allocator.MaxModels]
	for i := range r.Models {
		r.Models[i] = fmt.Sprint("model", i)
	}
	r.Models[7] = "T4"
	place(t, f, r)
}
