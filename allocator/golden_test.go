// SPDX-License-Identifier: Apache-2.0

package allocator_test

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/topology"
)

var update = flag.Bool("update", false, "write the golden files of a new layout; never change those of a released one")

// story makes one event of every kind.
func story(t require.TestingT) *allocator.Fleet {
	f := fleet(t, "t4x4", "a10x8", "cpu")
	r := allocator.Request{ID: "train", Claim: "booking-7", Tenant: "ants", Models: []string{"A10", "T4"}, Until: start.Add(6 * time.Hour), Groups: []allocator.Group{
		{Name: "leader", Count: 1, Pod: allocator.Pod{CPUMilli: 4000, MemoryMiB: 8192}},
		{Name: "worker", Count: 3, Pod: allocator.Pod{GPUs: 2, CPUMilli: 8000}},
	}}
	_, err := f.Place(start, r)
	require.NoError(t, err)
	small := ask("small", 2, allocator.Pod{GPUMilli: 333})
	small.Nodes = []topology.NodeID{"n1", "n0"}
	_, err = f.Place(start.Add(time.Minute), small)
	require.NoError(t, err)
	require.NoError(t, f.Cordon(start.Add(2*time.Minute), "n2", "ann", "fan"))
	require.NoError(t, f.Cordon(start.Add(2*time.Minute), "n2", "bob", ""))
	require.NoError(t, f.Uncordon(start.Add(3*time.Minute), "n2", "bob"))
	require.NoError(t, f.FailGPU(start.Add(4*time.Minute), "n1", 7, "health"))
	require.NoError(t, f.FailGPU(start.Add(4*time.Minute), "n1", 6, "health"))
	require.NoError(t, f.RestoreGPU(start.Add(5*time.Minute), "n1", 6, "health"))
	require.NoError(t, f.SetFreeUntil(start.Add(6*time.Minute), "n1", start.Add(24*time.Hour)))
	require.NoError(t, f.Reserve(start.Add(7*time.Minute), "n2", "bees"))
	require.NoError(t, f.Unreserve(start.Add(8*time.Minute), "n2", "bees"))
	require.NoError(t, f.Reserve(start.Add(9*time.Minute), "n0", "ants"))
	require.NoError(t, f.SetCluster(start.Add(10*time.Minute), storyCluster(t, f.Cluster())))
	require.NoError(t, f.Release(start.Add(11*time.Minute), "small"))
	return f
}

func storyCluster(t require.TestingT, c *topology.Cluster) *topology.Cluster {
	return edited(t, c, topology.Change{Add: []topology.NodeSpec{{ID: "n3", Shape: "cpu"}}})
}

// The log of every release replays, and its snapshot is read.
func TestGoldenLog(t *testing.T) {
	const file = "testdata/log-v1.txt"
	f := story(t)
	if *update {
		var b bytes.Buffer
		for _, e := range f.Events() {
			raw, err := e.AppendBinary(nil)
			require.NoError(t, err)
			fmt.Fprintf(&b, "%s %x\n", e.Kind(), raw)
		}
		fmt.Fprintf(&b, "snapshot %x\n", encoded(t, f))
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, b.Bytes(), 0o644))
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	replayed := fleet(t, "t4x4", "a10x8", "cpu")
	next := storyCluster(t, replayed.Cluster())
	kinds := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		kind, digits, _ := strings.Cut(strings.TrimSpace(line), " ")
		raw, err := hex.DecodeString(digits)
		require.NoError(t, err)
		if kind == "snapshot" {
			require.Equal(t, raw, encoded(t, replayed))
			restored, err := allocator.Restore(raw, next)
			require.NoError(t, err)
			require.NoError(t, restored.Check())
			break
		}
		e, err := allocator.DecodeEvent(raw)
		require.NoError(t, err)
		require.Equal(t, kind, e.Kind())
		kinds[kind] = true
		if c, ok := e.(allocator.ClusterChanged); ok {
			e = c.On(next)
		}
		require.NoError(t, replayed.Apply(e), line)
	}
	require.Len(t, kinds, 10, "the log has an event of every kind")
}

func TestJSONForPeople(t *testing.T) {
	const file = "testdata/story.json.txt"
	f := story(t)
	var b bytes.Buffer
	for _, e := range f.Events() {
		text, err := allocator.EventJSON(e)
		require.NoError(t, err)
		b.Write(append(text, '\n'))
	}
	text, err := f.MarshalJSON()
	require.NoError(t, err)
	b.Write(append(text, '\n'))
	if *update {
		require.NoError(t, os.WriteFile(file, b.Bytes(), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
	_, err = allocator.EventJSON(nil)
	require.ErrorIs(t, err, allocator.ErrInvalid)
}
