// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/manager/state"
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
		worker(path)
		return
	}
	if os.Getenv(cliEnv) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestKill9 kills a worker at a random moment, 200 times on one store: what was
// answered is there, what was stored but not answered is shown and its request key
// returns it, the books agree, and the next process goes on. (The page cache
// survives a kill; for power cuts see TestPowerCutsOfManager.)
func TestKill9(t *testing.T) {
	rounds := kills
	if testing.Short() {
		rounds = 10
	}
	path := filepath.Join(t.TempDir(), "berth.db")
	r := rand.New(rand.NewPCG(3, 3))
	var all tally
	var last uint64
	for round := range rounds {
		lines := killOne(t, path, time.Duration(1+r.IntN(25))*time.Millisecond)
		d, err := openDaemon(path, stands, smallFleet)
		require.NoError(t, err, "round %d", round)
		found, err := verify(t.Context(), d, lines, last)
		require.NoError(t, err, "round %d", round)
		all.add(found)
		if round%50 == 49 {
			t.Logf("round %d: %d records, recovery %s", round+1, d.journal.Last(), d.took.Round(time.Millisecond))
			require.NoError(t, d.snapshot())
		}
		last = d.journal.Last()
		require.NoError(t, d.journal.Close())
	}
	t.Logf("%+v", all)
	require.Greater(t, all.Answered, rounds, "the children hardly got to work")
	if rounds == kills {
		require.Greater(t, all.Stored, 10, "hardly a kill came between the append and the answer")
		require.Positive(t, all.Keyed, "none of them had a key")
	}
}

// killOne runs a worker, kills it some time after its first answer, and returns
// the complete lines it printed.
func killOne(t *testing.T, path string, after time.Duration) []string {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	in := bufio.NewReader(pipe)
	first := ""
	for !strings.Contains(first, "answered") {
		line, err := in.ReadString('\n')
		require.NoError(t, err, first)
		first += line
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	rest, _ := io.ReadAll(in) // ends when the child is dead
	timer.Stop()
	_ = cmd.Wait()
	all := first + string(rest)
	all = all[:strings.LastIndexByte(all, '\n')+1] // the last line may be cut
	return strings.Split(strings.TrimSuffix(all, "\n"), "\n")
}
