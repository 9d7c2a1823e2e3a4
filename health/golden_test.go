// SPDX-License-Identifier: Apache-2.0

package health_test

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

	"github.com/berth-gpu/berth/health"
)

var update = flag.Bool("update", false, "write the golden log of this release anew; never after the release")

// life is a day and a half on one node: every kind of event.
func life(t require.TestingT, r *health.Record) {
	node, gpu := health.Component{Node: "node-7"}, health.Component{Node: "node-7", GPU: "GPU-3"}
	xid := health.HoldRequest{Component: gpu, Owner: "health/xid-48", Step: health.StepReset, Reason: "double-bit error"}
	_, err := r.Hold(monday, xid)
	require.NoError(t, err)
	_, err = r.Hold(monday, health.HoldRequest{Component: node, Owner: "human/ann", Reason: "fan is loud"})
	require.NoError(t, err)
	r.Advance(monday.Add(40 * time.Minute)) // slips twice
	xid.Step, xid.Expected = health.StepRMA, monday.AddDate(0, 0, 5)
	_, err = r.Hold(monday.Add(time.Hour), xid)
	require.NoError(t, err)
	require.NoError(t, r.Date(monday.Add(2*time.Hour), node, "human/ann", monday.AddDate(0, 0, 1)))
	r.Advance(monday.AddDate(0, 0, 1)) // a date without a step slips, too
	require.NoError(t, r.Date(monday.AddDate(0, 0, 1).Add(90*time.Minute), gpu, "health/xid-48", time.Time{}))
	require.NoError(t, r.Release(monday.AddDate(0, 0, 1).Add(time.Minute), node, "human/ann")) // a clock that went back
}

// TestI16GoldenLogReplays reads the log that the first release wrote: snapshot, events, snapshot, each as hex and as JSON.
func TestI16GoldenLogReplays(t *testing.T) {
	const name = "testdata/log_v1.txt"
	live, err := health.New(health.Config{})
	require.NoError(t, err)
	var log bytes.Buffer
	line := func(raw []byte, err error, people []byte, err2 error) {
		require.NoError(t, err)
		require.NoError(t, err2)
		fmt.Fprintf(&log, "%x\n%s\n", raw, people)
	}
	snapshot := func() {
		raw, err := live.MarshalBinary()
		people, err2 := live.MarshalJSON()
		line(raw, err, people, err2)
	}
	snapshot()
	life(t, live)
	for _, e := range live.Events() {
		raw, err := e.AppendBinary(nil)
		people, err2 := health.EventJSON(e)
		line(raw, err, people, err2)
	}
	snapshot()
	if *update {
		require.NoError(t, os.WriteFile(name, log.Bytes(), 0o644))
	}
	want, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, string(want), log.String())

	lines := strings.Split(strings.TrimSuffix(string(want), "\n"), "\n")
	unhex := func(i int) []byte {
		raw, err := hex.DecodeString(lines[i])
		require.NoError(t, err)
		return raw
	}
	copied, err := health.Restore(unhex(0))
	require.NoError(t, err)
	for i := 2; i < len(lines)-2; i += 2 {
		e, err := health.DecodeEvent(unhex(i))
		require.NoError(t, err)
		people, err := health.EventJSON(e)
		require.NoError(t, err)
		require.Equal(t, lines[i+1], string(people))
		require.NoError(t, copied.Apply(e))
	}
	got, err := copied.MarshalBinary()
	require.NoError(t, err)
	require.Equal(t, unhex(len(lines)-2), got)
}
