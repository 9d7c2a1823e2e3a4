// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/internal/need"
	"github.com/berth-gpu/berth/examples/manager/store"
	"github.com/berth-gpu/berth/examples/manager/store/powercut"
)

const (
	cuts     = 300
	childEnv = "BERTH_STORE_CHILD"
)

func TestMain(m *testing.M) {
	if path, ok := strings.CutPrefix(os.Getenv(childEnv), "sync:"); ok {
		child(path, store.Open)
	} else if path, ok := strings.CutPrefix(os.Getenv(childEnv), "nosync:"); ok {
		child(path, store.OpenWithoutSync)
	}
	os.Exit(m.Run())
}

// child appends batches and now and then a snapshot, until it is killed; it says
// what it is about to append, and what it has appended.
func child(path string, open func(string) (*store.Bolt, error)) {
	b, err := open(path)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	r := rand.New(rand.NewPCG(9, 9))
	for n := 1; ; n++ {
		var batch []store.Record
		for range 1 + r.IntN(8) {
			batch = append(batch, record(b.Last()+1+uint64(len(batch))))
		}
		fmt.Println("ask", batch[len(batch)-1].Seq)
		if err := b.Append(batch...); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println("answered", b.Last())
		if n%20 == 0 {
			if err := b.SaveSnapshot(b.Last(), payload(b.Last())); err != nil {
				fmt.Println("error", err)
				os.Exit(1)
			}
		}
	}
}

// cutStore opens what a power cut has left and says what is wrong with it. S1, S2:
// everything answered is there, a batch in flight whole or not at all, and the
// store goes on from there.
func cutStore(image []byte, said []string) (last, answered uint64, err error) {
	dir, err := os.MkdirTemp("", "cut-")
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ends := map[uint64]bool{0: true} // of batches
	for _, line := range said {
		var n uint64
		switch kind, rest, _ := strings.Cut(line, " "); kind {
		case "":
		case "ask", "answered":
			if _, err := fmt.Sscan(rest, &n); err != nil {
				return 0, 0, err
			}
			ends[n] = true
			if kind == "answered" {
				answered = n
			}
		default:
			return 0, 0, fmt.Errorf("the program says %q", line)
		}
	}
	path := filepath.Join(dir, "berth.db")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		return 0, 0, err
	}
	b, err := store.Open(path)
	if err != nil {
		return 0, answered, err
	}
	defer func() { _ = b.Close() }()
	check := func(seq uint64, p []byte) error {
		if string(p) != string(payload(seq)) {
			return fmt.Errorf("record or snapshot %d is not what was written", seq)
		}
		last = seq
		return nil
	}
	err = b.Load(check, func(r store.Record) error { return check(r.Seq, r.Payload) })
	switch {
	case err != nil:
		return last, answered, err
	case last < answered:
		return last, answered, fmt.Errorf("record %d was answered, %d is the last", answered, last)
	case !ends[last]:
		return last, answered, fmt.Errorf("record %d is the last: a part of its batch", last)
	}
	return last, answered, b.Append(record(last + 1))
}

func recordChild(t *testing.T, mode string, lines int) powercut.Trace {
	path := filepath.Join(t.TempDir(), "berth.db")
	trace, err := powercut.Record(path, []string{os.Args[0]}, append(os.Environ(), childEnv+"="+mode+":"+path), lines)
	if errors.Is(err, powercut.ErrNotAllowed) {
		need.Missing(t, err.Error())
	}
	require.NoError(t, err)
	return trace
}

// The power fails at any point of a run that was recorded; see [powercut.Trace.Cut]
// for what may be on the disk then.
func TestPowerCuts(t *testing.T) {
	trace := recordChild(t, "sync", 240)
	require.Greater(t, trace.Syncs(), 200, "two for each batch")
	r := rand.New(rand.NewPCG(42, 42))
	inFlight, settled := 0, 0
	for n := range cuts {
		at := 1 + r.IntN(len(trace)-1)
		last, answered, err := cutStore(trace.Cut(r, at), trace.Said(at))
		if answered == 0 && errors.Is(err, store.ErrDamaged) {
			continue // cut while the file was made: nothing is lost
		}
		require.NoError(t, err, "cut %d before operation %d of %d", n, at, len(trace))
		if last > answered {
			inFlight++
		} else {
			settled++
		}
	}
	require.Greater(t, inFlight, 10, "hardly a cut ever came between the second sync and the answer")
	require.Greater(t, settled, 100)
}

// The test is one: a journal that does not sync fails it.
func TestPowerCutsNoticeAMissingSync(t *testing.T) {
	trace := recordChild(t, "nosync", 120)
	r := rand.New(rand.NewPCG(42, 42))
	failed := 0
	for range 60 {
		at := len(trace)/2 + r.IntN(len(trace)/2)
		if _, _, err := cutStore(trace.Cut(r, at), trace.Said(at)); err != nil {
			failed++
		}
	}
	require.Greater(t, failed, 30)
}
