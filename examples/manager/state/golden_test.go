// SPDX-License-Identifier: Apache-2.0

package state_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/manager/commands"
	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/store"
	"github.com/berth-gpu/berth/health"
	"github.com/berth-gpu/berth/topology"
)

var update = flag.Bool("update", false, "write the golden journal anew; never after it has been released")

// W7: the journal of every release replays, to the same bytes. v1 is a day with
// a hold that expires, one that is confirmed, bookings that begin and end, jobs
// that move for them, a node that breaks and comes back, and a fleet that changes.
func TestGoldenJournal(t *testing.T) {
	dir := filepath.Join("testdata", "v1")
	if *update {
		writeGolden(t, dir)
	}
	first, err := os.ReadFile(filepath.Join(dir, "first.snapshot"))
	require.NoError(t, err)
	journal, err := os.ReadFile(filepath.Join(dir, "journal"))
	require.NoError(t, err)
	last, err := os.ReadFile(filepath.Join(dir, "last.snapshot"))
	require.NoError(t, err)
	s, err := state.Restore(0, first)
	require.NoError(t, err)
	kinds := map[string]bool{}
	cut, err := store.ReadJournal(bytes.NewReader(journal), 1, func(r store.Record) error {
		d, err := state.Describe(r.Seq, r.Payload)
		require.NoError(t, err)
		kinds[d.Header.Command] = true
		return s.Apply(r.Seq, r.Payload)
	})
	require.NoError(t, err)
	require.Nil(t, cut)
	require.NoError(t, s.Check())
	require.Len(t, kinds, 10)
	require.Equal(t, string(last), string(snapshot(t, s)))
}

func writeGolden(t *testing.T, dir string) {
	require.NoError(t, os.MkdirAll(dir, 0o755))
	s := small(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "first.snapshot"), snapshot(t, s), 0o644))
	var journal []byte
	do := func(minutes int, name string, f func(*state.State, time.Time) error) {
		fork := s.Fork()
		at, err := fork.Begin(state.Header{At: start.Add(time.Duration(minutes) * time.Minute), Command: name, Actor: "a", Key: name, Digest: "d"})
		require.NoError(t, err)
		require.NoError(t, f(fork, at), name)
		require.NoError(t, fork.Answer(name))
		require.NoError(t, fork.Check())
		rec, err := fork.Record()
		require.NoError(t, err)
		fork.Sealed(s.Seq() + 1)
		s = fork
		journal, err = store.AppendFrame(journal, store.Record{Seq: s.Seq(), Payload: rec})
		require.NoError(t, err)
	}
	book := func(id, owner, pool string, nodes int64, from, to int, hold time.Duration) func(*state.State, time.Time) error {
		return func(s *state.State, at time.Time) error {
			_, err := commands.Book{ID: id, Owner: owner, Pool: pool, Nodes: nodes, Hold: hold,
				Start: start.Add(time.Duration(from) * time.Minute), End: start.Add(time.Duration(to) * time.Minute)}.Do(s, at)
			return err
		}
	}
	schedule := func(s *state.State, at time.Time) error { _, err := commands.Schedule{}.Do(s, at); return err }
	do(0, "book", book("b1", "a", "T4-x2", 2, 60, 180, 0))
	do(1, "hold", book("b2", "b", "T4-x2", 1, 60, 120, 5*time.Minute))
	do(2, "hold", book("b3", "b", "G2-x8", 1, 90, 150, 5*time.Minute))
	do(3, "confirm", func(s *state.State, at time.Time) error { _, err := commands.Confirm{ID: "b3"}.Do(s, at); return err })
	for i, j := range []jobs.Job{{ID: "j1", Tenant: "a", Count: 1, GPUs: 2, CPUMilli: 4000}, {ID: "j2", Tenant: "b", Count: 2, GPUMilli: 500, CPUMilli: 1000}, {ID: "j3", Tenant: "a", Count: 1, GPUs: 8}} {
		do(4+i, "submit", func(s *state.State, at time.Time) error { _, err := commands.Submit{Job: j}.Do(s, at); return err })
	}
	do(8, "schedule", schedule)
	do(20, "cordon", func(s *state.State, at time.Time) error {
		_, err := commands.Cordon{Node: "t4", Owner: "human/oncall", Step: health.StepReboot, Reason: "fan"}.Do(s, at)
		return err
	})
	do(70, "schedule", schedule)
	do(100, "extend", func(s *state.State, at time.Time) error {
		_, err := commands.Extend{ID: "b1", End: start.Add(170 * time.Minute)}.Do(s, at)
		return err
	})
	do(110, "fleet", func(s *state.State, at time.Time) error {
		spec, _ := s.Cluster.Spec(0)
		spec.ID = "t9"
		return s.SetCluster(at, topology.Change{Add: []topology.NodeSpec{spec}})
	})
	do(150, "schedule", schedule)
	do(200, "finish", func(s *state.State, at time.Time) error {
		for j := range s.Jobs.Running() {
			_, err := commands.Finish{ID: j.ID}.Do(s, at)
			return err
		}
		return nil
	})
	do(210, "uncordon", func(s *state.State, at time.Time) error {
		return commands.Uncordon{Node: "t4", Owner: "human/oncall"}.Do(s, at)
	})
	do(600, "schedule", schedule)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "journal"), journal, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "last.snapshot"), snapshot(t, s), 0o644))
}
