// SPDX-License-Identifier: Apache-2.0

package state_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/examples/manager/commands"
	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/health"
	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/topology"
)

var start = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

var policy = reservation.Policy{Grace: 5 * time.Minute, Cleanup: 10 * time.Minute}

// small is a fleet of five T4 nodes with two GPUs and three G2 nodes with eight,
// and two teams that may borrow from one another.
func small(t require.TestingT) *state.State { return smallUnder(t, policy) }

func smallUnder(t require.TestingT, p reservation.Policy) *state.State {
	csv := "sn,cpu_milli,memory_mib,gpu,model\n"
	for n := range 5 {
		csv += fmt.Sprintf("t%d,64000,262144,2,T4\n", n)
	}
	for n := range 3 {
		csv += fmt.Sprintf("g%d,96000,393216,8,G2\n", n)
	}
	fleet, err := topology.ReadOpenB(strings.NewReader(csv))
	require.NoError(t, err)
	limits := func(t4, g2 int64) []quota.Limit {
		return []quota.Limit{{Key: state.GPUKey("T4"), Nominal: t4 * 1000}, {Key: state.GPUKey("G2"), Nominal: g2 * 1000}, {Key: state.CPUKey, Nominal: 200_000}}
	}
	s, err := state.New(state.Config{Fleet: fleet,
		Tenants: []quota.Tenant{{Name: "org"}, {Name: "a", Parent: "org", Limits: limits(6, 16)}, {Name: "b", Parent: "org", Limits: limits(4, 8)}},
		Pools:   func(c *topology.Cluster) []reservation.Pool { return state.PoolsByModel(c, p) }})
	require.NoError(t, err)
	return s
}

// command is one thing that somebody may ask, drawn by rapid.
type command struct {
	name string
	do   func(*state.State, time.Time) error
}

func draw(t *rapid.T, now time.Time) command {
	tenant := rapid.SampledFrom([]string{"a", "b", "nobody"}).Draw(t, "tenant")
	id := fmt.Sprintf("x%d", rapid.IntRange(0, 14).Draw(t, "id"))
	node := rapid.SampledFrom([]string{"t0", "t1", "t2", "g0", "g1", "gone"}).Draw(t, "node")
	window := func() (time.Time, time.Time) {
		s := now.Truncate(time.Minute).Add(time.Duration(rapid.IntRange(-10, 600).Draw(t, "start")) * time.Minute)
		return s, s.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "length")) * time.Minute)
	}
	switch rapid.IntRange(0, 11).Draw(t, "command") {
	case 0, 1:
		s, e := window()
		c := commands.Book{ID: "b" + id, Owner: tenant, Pool: rapid.SampledFrom([]string{"T4-x2", "G2-x8", "none"}).Draw(t, "pool"),
			Nodes: rapid.Int64Range(-1, 6).Draw(t, "nodes"), Start: s, End: e}
		if rapid.Bool().Draw(t, "hold") {
			c.Hold = time.Duration(rapid.IntRange(1, 20).Draw(t, "ttl")) * time.Minute
		}
		return command{"book", func(s *state.State, at time.Time) error { _, err := c.Do(s, at); return err }}
	case 2:
		return command{"confirm", func(s *state.State, at time.Time) error {
			_, err := commands.Confirm{ID: "b" + id}.Do(s, at)
			return err
		}}
	case 3:
		return command{"cancel", func(s *state.State, at time.Time) error {
			_, err := commands.Cancel{ID: "b" + id, Owner: tenant}.Do(s, at)
			return err
		}}
	case 4:
		_, e := window()
		return command{"extend", func(s *state.State, at time.Time) error {
			_, err := commands.Extend{ID: "b" + id, End: e}.Do(s, at)
			return err
		}}
	case 5, 6, 7:
		j := jobs.Job{ID: id, Tenant: tenant, Count: rapid.IntRange(0, 3).Draw(t, "count"), CPUMilli: rapid.Int64Range(0, 30_000).Draw(t, "cpu")}
		switch rapid.IntRange(0, 2).Draw(t, "shape") {
		case 0:
			j.GPUs = rapid.Int64Range(1, 9).Draw(t, "gpus")
		case 1:
			j.GPUMilli = rapid.Int64Range(1, 1000).Draw(t, "milli")
		}
		return command{"submit", func(s *state.State, at time.Time) error { _, err := commands.Submit{Job: j}.Do(s, at); return err }}
	case 8:
		return command{"finish", func(s *state.State, at time.Time) error { _, err := commands.Finish{ID: id}.Do(s, at); return err }}
	case 9:
		step := health.Step(rapid.IntRange(0, 4).Draw(t, "step"))
		return command{"cordon", func(s *state.State, at time.Time) error {
			_, err := commands.Cordon{Node: node, Owner: "human/oncall", Step: step, Reason: "test"}.Do(s, at)
			return err
		}}
	case 10:
		return command{"uncordon", func(s *state.State, at time.Time) error {
			return commands.Uncordon{Node: node, Owner: "human/oncall"}.Do(s, at)
		}}
	default:
		return command{"schedule", func(s *state.State, at time.Time) error { _, err := commands.Schedule{}.Do(s, at); return err }}
	}
}

func snapshot(t require.TestingT, s *state.State) []byte {
	b, err := s.Snapshot()
	require.NoError(t, err)
	return b
}

// W1–W6 hold after every command; a refused command leaves nothing behind;
// replay of the records equals the live state, from any snapshot (W7 in small).
func TestContract(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := small(t)
		base := snapshot(t, s)
		replayed, err := state.Restore(0, base)
		require.NoError(t, err)
		require.Equal(t, base, snapshot(t, replayed))
		now := start
		for range rapid.IntRange(5, 40).Draw(t, "commands") {
			now = now.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "minutes")) * time.Minute)
			c := draw(t, now)
			fork := s.Fork()
			at, err := fork.Begin(state.Header{At: now, Command: c.name})
			require.NoError(t, err)
			require.NoError(t, fork.Check(), "after what was due")
			if err := c.do(fork, at); err != nil {
				continue // dropped
			}
			require.NoError(t, fork.Check(), "after %s", c.name)
			rec, err := fork.Record()
			require.NoError(t, err)
			if rec == nil {
				continue
			}
			fork.Sealed(s.Seq() + 1)
			s = fork
			require.NoError(t, replayed.Apply(s.Seq(), rec))
			require.Equal(t, string(snapshot(t, s)), string(snapshot(t, replayed)), "replay of %s differs", c.name)
			if rapid.IntRange(0, 9).Draw(t, "restart") == 0 {
				replayed, err = state.Restore(s.Seq(), snapshot(t, s))
				require.NoError(t, err)
			}
			_, err = state.Describe(s.Seq(), rec)
			require.NoError(t, err)
		}
	})
}

// A node that joins, one that leaves, one that comes back: one command over
// topology, calendar and fleet, and replay follows.
func TestFleetChanges(t *testing.T) {
	s := small(t)
	base := snapshot(t, s)
	replayed, err := state.Restore(0, base)
	require.NoError(t, err)
	step := func(c topology.Change) error {
		fork := s.Fork()
		at, err := fork.Begin(state.Header{At: start, Command: "fleet"})
		require.NoError(t, err)
		if err := fork.SetCluster(at, c); err != nil {
			return err
		}
		require.NoError(t, fork.Check())
		rec, err := fork.Record()
		require.NoError(t, err)
		fork.Sealed(s.Seq() + 1)
		s = fork
		require.NoError(t, replayed.Apply(s.Seq(), rec))
		require.Equal(t, string(snapshot(t, s)), string(snapshot(t, replayed)))
		return nil
	}
	cfg := s.Cluster.Config()
	spec := cfg.Nodes[0]
	require.NoError(t, step(topology.Change{Remove: []topology.NodeID{spec.ID}}))
	p, _ := s.Calendar.Pool("T4-x2")
	require.Len(t, p.Units, 4)
	require.NoError(t, step(topology.Change{Add: []topology.NodeSpec{spec}}))
	p, _ = s.Calendar.Pool("T4-x2")
	require.Len(t, p.Units, 5)
	require.Equal(t, policy.Grace, p.Policy.Grace, "the pool kept its rules")
	require.NoError(t, step(topology.Change{}), "nothing to do")
	spec.Shape = "unknown"
	require.Error(t, step(topology.Change{Add: []topology.NodeSpec{spec}}))
	require.Equal(t, string(snapshot(t, s)), string(snapshot(t, replayed)))
}

// Damaged snapshots and records are errors, never panics.
func FuzzRestore(f *testing.F) {
	f.Add(snapshot(f, small(f)))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := state.Restore(1, b)
		if err == nil {
			_ = s.Check()
			_, _ = s.Snapshot()
		}
	})
}

func FuzzApply(f *testing.F) {
	s := small(f)
	base := snapshot(f, s)
	at, err := s.Begin(state.Header{At: start, Command: "book"})
	require.NoError(f, err)
	_, err = commands.Book{ID: "x", Owner: "a", Pool: "T4-x2", Nodes: 2, Start: start.Add(time.Hour), End: start.Add(2 * time.Hour)}.Do(s, at)
	require.NoError(f, err)
	rec, err := s.Record()
	require.NoError(f, err)
	f.Add(rec)
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := state.Restore(0, base)
		require.NoError(t, err)
		_ = s.Apply(1, b)
		_, _ = state.Describe(1, b)
	})
}
