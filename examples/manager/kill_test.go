// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/manager/clock"
	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/views"
	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/topology"
)

const (
	kills    = 200
	childEnv = "BERTH_KILL_CHILD"
)

// smallFleet is eight nodes of four GPUs, two tenants.
func smallFleet() (*state.State, error) {
	var csv strings.Builder
	csv.WriteString("sn,cpu_milli,memory_mib,gpu,model\n")
	for n := range 8 {
		fmt.Fprintf(&csv, "n%d,64000,262144,4,T4\n", n)
	}
	fleet, err := topology.ReadOpenB(strings.NewReader(csv.String()))
	if err != nil {
		return nil, err
	}
	limit := []quota.Limit{{Key: state.GPUKey("T4"), Nominal: 16_000}, {Key: state.CPUKey, Nominal: 64_000}}
	return state.New(state.Config{Fleet: fleet, Tenants: []quota.Tenant{{Name: "org"}, {Name: "a", Parent: "org", Limits: limit}, {Name: "b", Parent: "org", Limits: limit}},
		Pools: func(c *topology.Cluster) []reservation.Pool {
			return state.PoolsByModel(c, reservation.Policy{Grace: 5 * time.Minute, Cleanup: 5 * time.Minute})
		}})
}

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		child(path)
		return
	}
	if os.Getenv(cliEnv) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// child works on the store as fast as it can and prints what was answered,
// until it is killed.
func child(path string) {
	start := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	d, err := openDaemon(path, func(at time.Time) clock.Clock {
		if at.Before(start) {
			at = start
		}
		return clock.NewFast(at, 20_000)
	}, smallFleet)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	ctx := context.Background()
	go func() { fmt.Println("error", d.cell.Run(ctx)) }()
	var out sync.Mutex
	say := func(format string, args ...any) {
		out.Lock()
		defer out.Unlock()
		_, _ = fmt.Printf(format+"\n", args...)
	}
	pid := os.Getpid()
	for g := range 3 {
		go func() {
			r := rand.New(rand.NewPCG(uint64(pid), uint64(g)))
			for i := 0; ; i++ {
				id := fmt.Sprintf("%d-%d-%d", pid, g, i)
				tenant := []string{"a", "b"}[r.IntN(2)]
				switch r.IntN(4) {
				case 0:
					now := d.service.Overview("").Now
					b, err := d.service.Book(ctx, tenant, views.BookRequest{ID: id, Owner: tenant, Pool: "T4-x4", Nodes: 1 + r.Int64N(2),
						Start: now.Add(time.Hour).Truncate(time.Minute), End: now.Add(3 * time.Hour).Truncate(time.Minute)}, false)
					if err == nil {
						say("booking %s", b.ID)
					}
				case 1:
					if _, err := d.service.Schedule(ctx, 0); err != nil {
						say("error schedule %v", err)
					}
					for j := range d.cell.Load().Jobs.Running() {
						if err := d.service.Finish(ctx, j.ID); err == nil {
							say("finished %s", j.ID)
						}
						break
					}
				default:
					if _, err := d.service.Submit(ctx, tenant, jobs.Job{ID: id, Tenant: tenant, Count: 1, GPUs: 1 + r.Int64N(2), CPUMilli: 100}, false); err == nil {
						say("job %s", id)
					}
				}
			}
		}()
	}
	select {}
}

// kill -9 at a random moment, 200 times on one store: what was answered is
// there, the books agree, and the next process goes on. (The page cache
// survives a kill; power cuts are simulated in package store.)
func TestKill9(t *testing.T) {
	rounds := kills
	if testing.Short() {
		rounds = 10
	}
	path := filepath.Join(t.TempDir(), "berth.db")
	r := rand.New(rand.NewPCG(3, 3))
	answered := 0
	for round := range rounds {
		lines := killOne(t, path, time.Duration(1+r.IntN(25))*time.Millisecond)
		began := time.Now()
		d, err := openDaemon(path, func(at time.Time) clock.Clock { return clock.NewFast(at, 1) }, smallFleet)
		require.NoError(t, err, "round %d", round)
		recovery := time.Since(began)
		s := d.cell.Load()
		require.NoError(t, s.Check(), "round %d", round)
		for _, line := range lines {
			kind, id, _ := strings.Cut(line, " ")
			switch kind {
			case "job", "finished":
				j, ok := s.Jobs.Find(id)
				require.True(t, ok, "round %d: answered %s is lost", round, line)
				if kind == "finished" {
					require.Equal(t, jobs.Ended, j.Phase, "round %d: %s", round, line)
				}
			case "booking":
				_, ok := s.Calendar.Find(id)
				require.True(t, ok, "round %d: answered %s is lost", round, line)
			case "":
			default:
				t.Fatalf("round %d: child says %q", round, line)
			}
			answered++
		}
		if round%50 == 49 {
			t.Logf("round %d: %d records, recovery %s", round+1, d.journal.Last(), recovery.Round(time.Millisecond))
			require.NoError(t, d.snapshot())
		}
		require.NoError(t, d.journal.Close())
	}
	require.Greater(t, answered, rounds, "the children hardly got to work")
}

// killOne runs a child, kills it some time after its first answer, and returns
// the complete lines it printed.
func killOne(t *testing.T, path string, after time.Duration) []string {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	in := bufio.NewReader(pipe)
	first, err := in.ReadString('\n')
	require.NoError(t, err)
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	rest, _ := io.ReadAll(in) // ends when the child is dead
	timer.Stop()
	_ = cmd.Wait()
	all := first + string(rest)
	all = all[:strings.LastIndexByte(all, '\n')+1] // the last line may be cut
	return strings.Split(strings.TrimSuffix(all, "\n"), "\n")
}
