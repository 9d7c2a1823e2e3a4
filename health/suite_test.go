// SPDX-License-Identifier: Apache-2.0

package health_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/health"
	"github.com/berth-gpu/berth/internal/enginetest"
	"github.com/berth-gpu/berth/topology"
)

var (
	someNodes  = []topology.NodeID{"node-1", "node-2", "node-3"}
	someGPUs   = []topology.GPUID{"", "", "GPU-1", "GPU-2"}
	someOwners = []health.Owner{"health/xid-79", "human/oncall", "human/relief", "maintenance"}
)

// longSteps keep the number of slips in a jump of weeks small enough to step through.
func longSteps() *health.Record {
	r, err := health.New(health.Config{Slip: 9 * time.Hour, StepLength: map[health.Step]time.Duration{
		health.StepReset: 5 * time.Hour, health.StepReboot: 7 * time.Hour, health.StepDiag: 11 * time.Hour,
	}})
	if err != nil {
		panic(err)
	}
	return r
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// drawDate draws no date, a good one, one in the past, or one that is not whole seconds.
func drawDate(r *rand.Rand, at time.Time) time.Time {
	hours, kind := time.Duration(1+r.IntN(48))*time.Hour, r.IntN(8)
	switch {
	case kind < 4:
		return time.Time{}
	case kind == 4:
		return at.Add(-hours)
	case kind == 5:
		return at.Truncate(time.Second).Add(hours + time.Millisecond)
	default:
		return at.Truncate(time.Hour).Add(hours)
	}
}

func drawCommand(r *rand.Rand, e *health.Record, at time.Time) (string, error) {
	c := health.Component{Node: pick(r, someNodes), GPU: pick(r, someGPUs)}
	owner, step, date := pick(r, someOwners), health.Step(r.IntN(6)), drawDate(r, at)
	reason, command, bad := pick(r, []string{"", "fan", "bus"}), r.IntN(8), r.IntN(20)
	if bad == 0 {
		owner = "human/"
	}
	switch {
	case command < 4:
		h, err := e.Hold(at, health.HoldRequest{Component: c, Owner: owner, Step: step, Reason: reason, Expected: date})
		return fmt.Sprint(h), err
	case command < 6:
		return "dated", e.Date(at, c, owner, date)
	default:
		return "released", e.Release(at, c, owner)
	}
}

func answers(r *rand.Rand, e *health.Record) string {
	node := pick(r, someNodes)
	c := health.Component{Node: node, GPU: pick(r, someGPUs)}
	var b strings.Builder
	next, some := e.Next()
	until, held := e.Until(node)
	outage, ok := e.Outage(node)
	hold, found := e.Find(c, pick(r, someOwners))
	fmt.Fprintln(&b, next, some, until, held, outage, ok, hold, found, e.Schedulable(node), e.SchedulableGPU(c))
	fmt.Fprintln(&b, slices.Collect(e.Holds("")), slices.Collect(e.Holds(node)), slices.Collect(e.Held()))
	fmt.Fprintln(&b, slices.Collect(e.Outages()), slices.Collect(e.For(someNodes[:2]...)))
	raw, err := e.MarshalJSON()
	fmt.Fprintln(&b, string(raw), err)
	return b.String()
}

// TestSuite runs what every engine must pass: replay (I16, I8), refusal (H6), isolation, determinism, time, codec.
func TestSuite(t *testing.T) {
	enginetest.Run(t, enginetest.Subject[*health.Record, health.Event]{
		New:     longSteps,
		Restore: health.Restore,
		Decode:  health.DecodeEvent,
		Do:      drawCommand,
		Ask:     answers,
		Check:   (*health.Record).Check,
	})
}

func TestTakeEventsForgets(t *testing.T) {
	r := longSteps()
	require.NoError(t, hold(r, monday, "node-1", "human/oncall"))
	require.Len(t, r.Events(), 1)
	require.Len(t, r.TakeEvents(), 1)
	require.Empty(t, r.Events())
	require.Empty(t, r.TakeEvents())
}

// TestWhatStaysAsAskedStays changes one field of a request at a time.
func TestWhatStaysAsAskedStays(t *testing.T) {
	r := longSteps()
	q := health.HoldRequest{Component: health.Component{Node: "n"}, Owner: "human/oncall", Step: health.StepReset}
	asked := monday.Add(50 * time.Hour)
	for _, tt := range []struct {
		name     string
		after    time.Duration
		edit     func()
		want     time.Time
		versions uint64
	}{
		{"first", 0, func() {}, monday.Add(5 * time.Hour), 1},
		{"same again", time.Hour, func() {}, monday.Add(5 * time.Hour), 1},
		{"reason", time.Hour, func() { q.Reason = "bus" }, monday.Add(5 * time.Hour), 2},
		{"step", 2 * time.Hour, func() { q.Step = health.StepReboot }, monday.Add(9 * time.Hour), 3},
		{"date", 2 * time.Hour, func() { q.Expected = asked }, asked, 4},
		{"same after a slip", 51 * time.Hour, func() {}, asked.Add(7 * time.Hour), 5},
		{"reason after a slip", 51 * time.Hour, func() { q.Reason = "fan" }, asked.Add(7 * time.Hour), 6},
		{"no date", 52 * time.Hour, func() { q.Expected = time.Time{} }, monday.Add(59 * time.Hour), 7},
		{"no step", 52 * time.Hour, func() { q.Step = health.StepNone }, time.Time{}, 8},
	} {
		tt.edit()
		h, err := r.Hold(monday.Add(tt.after), q)
		require.NoError(t, err, tt.name)
		require.Equal(t, tt.want, h.Expected, tt.name)
		require.Equal(t, tt.versions, h.Version, "H5: %s", tt.name)
		require.Equal(t, monday, h.Since, tt.name)
	}
}

// hold places an open-ended hold on a whole node.
func hold(r *health.Record, at time.Time, node topology.NodeID, owner health.Owner) error {
	_, err := r.Hold(at, health.HoldRequest{Component: health.Component{Node: node}, Owner: owner})
	return err
}
