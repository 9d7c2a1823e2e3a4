// SPDX-License-Identifier: Apache-2.0

package demo_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/manager/cell"
	"github.com/berth-gpu/berth/examples/manager/clock"
	"github.com/berth-gpu/berth/examples/manager/demo"
	"github.com/berth-gpu/berth/examples/manager/service"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/views"
	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/topology"
)

// tape is a log that keeps its records, to replay them.
type tape struct{ records [][]byte }

func (t *tape) Append(_ uint64, payloads [][]byte) error {
	t.records = append(t.records, payloads...)
	return nil
}

// Two days of the demo on a part of the fleet: the contract between the engines
// holds after every command, the fleet is busy, work moves for bookings and
// comes back, and the records replay to the same bytes.
func TestTwoDays(t *testing.T) {
	hours := 48
	if testing.Short() {
		hours = 6
	}
	synctest.Test(t, func(t *testing.T) {
		fleet, err := demo.Fleet()
		require.NoError(t, err)
		fleet.Nodes = append(fleet.Nodes[300:310:310], fleet.Nodes[700:705]...) // some of two pools or more
		cluster, err := topology.New(fleet)
		require.NoError(t, err)
		pools := func(c *topology.Cluster) []reservation.Pool { return state.PoolsByModel(c, demo.Policy) }
		st, err := state.New(state.Config{Fleet: fleet, Tenants: demo.Tenants(pools(cluster)), Pools: pools})
		require.NoError(t, err)
		base, err := st.Snapshot()
		require.NoError(t, err)
		log := &tape{}
		fast := clock.NewFast(demo.Start, 600)
		s := &service.Service{Clock: fast, CheckAll: true}
		s.Cell = cell.New(st, 0, log, func(int) { s.Published() })
		trace, err := demo.Trace()
		require.NoError(t, err)
		d := demo.New(s, fast, trace, cluster.GPUCount(), demo.Config{Speed: 600, Load: 0.9, Seed: 3})
		s.Progress = d.Progress
		ctx, stop := context.WithCancel(t.Context())
		var run sync.WaitGroup
		run.Go(func() { require.NoError(t, s.Cell.Run(ctx)) })
		require.NoError(t, d.Prefill(ctx, 0.7))
		run.Go(func() { require.NoError(t, d.Run(ctx)) })
		time.Sleep(time.Duration(hours) * time.Hour / 600) // of the bubble's clock
		stop()
		run.Wait()

		o := s.Overview("")
		require.Greater(t, float64(o.Busy), 0.5*float64(o.Capacity))
		require.Positive(t, o.Bookings)
		require.Positive(t, o.Running)
		final := s.Cell.Load()
		preempted := 0
		for j := range final.Jobs.All() {
			preempted += j.Preemptions
		}
		if hours >= 48 {
			require.Positive(t, preempted, "no booking ever needed a node that worked")
		}
		replayed, err := state.Restore(0, base)
		require.NoError(t, err)
		for i, r := range log.records {
			require.NoError(t, replayed.Apply(uint64(i+1), r))
		}
		want, err := final.Snapshot()
		require.NoError(t, err)
		got, err := replayed.Snapshot()
		require.NoError(t, err)
		require.Equal(t, len(want), len(got))
		require.True(t, string(want) == string(got), "replay differs")
		t.Logf("%d records, %d jobs running, %d waiting, %d preemptions, %.0f %% busy", len(log.records), o.Running, o.Waiting, preempted,
			100*float64(o.Busy)/float64(o.Capacity))
	})
}

// While a person holds an offer the clock runs at wall speed, or the offer would
// expire in half a second; confirmed or given back, it runs fast again.
func TestWallSpeedWhileHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fleet, err := demo.Fleet()
		require.NoError(t, err)
		fleet.Nodes = fleet.Nodes[300:310]
		cluster, err := topology.New(fleet)
		require.NoError(t, err)
		pools := func(c *topology.Cluster) []reservation.Pool { return state.PoolsByModel(c, demo.Policy) }
		st, err := state.New(state.Config{Fleet: fleet, Tenants: demo.Tenants(pools(cluster)), Pools: pools})
		require.NoError(t, err)
		fast := clock.NewFast(demo.Start, 600)
		s := &service.Service{Clock: fast}
		s.Cell = cell.New(st, 0, &tape{}, nil)
		trace, err := demo.Trace()
		require.NoError(t, err)
		d := demo.New(s, fast, trace[:50], cluster.GPUCount(), demo.Config{Speed: 600, Load: 0.01})
		ctx, stop := context.WithCancel(t.Context())
		var run sync.WaitGroup
		run.Go(func() { require.NoError(t, s.Cell.Run(ctx)) })
		run.Go(func() { require.NoError(t, d.Run(ctx)) })
		defer run.Wait()
		defer stop()
		time.Sleep(time.Second)
		require.InDelta(t, 600, fast.Speed(), 0)
		pool := s.Overview("").Pools[0]
		start := fast.Now().Add(20 * 24 * time.Hour).Truncate(time.Hour)
		_, err = s.Book(ctx, "vision", views.BookRequest{ID: "mine", Owner: "vision", Pool: pool.Name, Nodes: 1, Start: start, End: start.Add(time.Hour), HoldS: 300}, false)
		require.NoError(t, err)
		time.Sleep(time.Second)
		require.InDelta(t, 1, fast.Speed(), 0)
		require.True(t, d.Progress().Paused)
		time.Sleep(100 * time.Second)
		b, err := s.Confirm(ctx, "vision", "mine")
		require.NoError(t, err, "100 s of the wall later it is still held")
		require.Equal(t, "confirmed", b.Phase)
		time.Sleep(time.Second)
		require.InDelta(t, 600, fast.Speed(), 0)
	})
}

func TestTrace(t *testing.T) {
	trace, err := demo.Trace()
	require.NoError(t, err)
	require.Len(t, trace, 8152)
	gpus := int64(0)
	for i, j := range trace {
		gpus += j.Job.Milli()
		if i > 0 {
			require.LessOrEqual(t, trace[i-1].Created, j.Created)
		}
	}
	require.Equal(t, int64(6087), (gpus+500)/1000, "the demand of the paper's trace")
}

func TestTraceMistakes(t *testing.T) {
	const head = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
	for in, want := range map[string]string{
		"":                                    "header",
		"a,b\n":                               "columns",
		head + "p,x,1,1,1000,,LS,R,0,1,0\n":   `line 2: cpu_milli is "x"`,
		head + "p,1,-5,1,1000,,LS,R,0,1,0\n":  `memory_mib is "-5"`,
		head + ",1,1,1,1000,,LS,R,0,1,0\n":    "name is empty",
		head + "p,1,1,1,1000,,LS,R,0,1\n":     "wrong number of fields",
		head + "p,1,1,99999999999999,1,,,,,,": "num_gpu",
	} {
		_, err := demo.ReadTrace(strings.NewReader(in))
		require.ErrorContains(t, err, want)
	}
}

func FuzzReadTrace(f *testing.F) {
	f.Add("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\np,1,1,1,460,T4|P100,LS,R,5,9,6\n")
	f.Fuzz(func(t *testing.T, in string) {
		jobs, err := demo.ReadTrace(strings.NewReader(in))
		if err == nil {
			for _, j := range jobs {
				require.GreaterOrEqual(t, j.Length, time.Minute)
			}
		}
	})
}
