// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/internal/need"
	"github.com/berth-gpu/berth/examples/manager/store"
	"github.com/berth-gpu/berth/examples/manager/store/powercut"
)

const powerCuts = 200

// The power fails at any point of a recorded run of the whole manager, its three
// callers and the batches of its writer: what was answered is there, what is
// stored is shown and its request key returns it, and the books agree (W1–W6). The
// first cut of all is before there is a store, and costs nothing.
func TestPowerCutsOfManager(t *testing.T) {
	cuts, lines := powerCuts, 400
	if testing.Short() {
		cuts, lines = 20, 80
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "berth.db")
	trace, err := powercut.Record(path, []string{os.Args[0]}, append(os.Environ(), childEnv+"="+path), lines)
	if errors.Is(err, powercut.ErrNotAllowed) {
		need.Missing(t, err.Error())
	}
	require.NoError(t, err)
	require.Greater(t, trace.Syncs(), lines/10)
	r := rand.New(rand.NewPCG(4, 4))
	var all tally
	var longest time.Duration
	for n := range cuts {
		at := 1 + r.IntN(len(trace)-1)
		cut := filepath.Join(dir, fmt.Sprintf("cut-%d.db", n))
		require.NoError(t, os.WriteFile(cut, trace.Cut(r, at), 0o600))
		d, err := openDaemon(cut, stands, smallFleet)
		said := trace.Said(at)
		if len(said) == 1 && said[0] == "" && errors.Is(err, store.ErrDamaged) {
			continue // while the store was made
		}
		require.NoError(t, err, "cut %d before operation %d of %d", n, at, len(trace))
		found, err := verify(t.Context(), d, said, 0)
		require.NoError(t, err, "cut %d before operation %d of %d", n, at, len(trace))
		all.add(found)
		longest = max(longest, d.took)
		require.NoError(t, d.journal.Close())
		require.NoError(t, os.Remove(cut))
	}
	t.Logf("%d operations, %d syncs, %+v, recovery at most %s", len(trace), trace.Syncs(), all, longest.Round(time.Millisecond))
	require.Greater(t, all.Answered, cuts)
	require.Greater(t, all.Lost, cuts/10, "hardly a cut ever came before the sync")
	if !testing.Short() {
		require.Greater(t, all.Stored, 5, "hardly a cut ever came between the sync and the answer")
	}
}
