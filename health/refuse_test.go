// SPDX-License-Identifier: Apache-2.0

package health_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/health"
	"github.com/berth-gpu/berth/topology"
)

// unchanged runs a command that must be refused and checks that nothing has changed (H6), dates that were due included.
func unchanged(t *testing.T, r *health.Record, command func() error) error {
	t.Helper()
	before, err := r.MarshalBinary()
	require.NoError(t, err)
	events := len(r.Events())
	refusal := command()
	require.Error(t, refusal)
	after, err := r.MarshalBinary()
	require.NoError(t, err)
	require.Equal(t, before, after, "H6")
	require.Len(t, r.Events(), events, "H6")
	return refusal
}

func TestH6BadRequestsAreRefused(t *testing.T) {
	long := strings.Repeat("x", 2000)
	good := health.HoldRequest{Component: health.Component{Node: "n"}, Owner: "human/oncall"}
	for _, tt := range []struct {
		name string
		edit func(*health.HoldRequest)
		want string
	}{
		{"no node", func(q *health.HoldRequest) { q.Node = "" }, `Node "" is empty`},
		{"long node", func(q *health.HoldRequest) { q.Node = topology.NodeID(long) }, `has 2000 bytes: use at most 512`},
		{"node with a line break", func(q *health.HoldRequest) { q.Node = "a\nb" }, `Node "a\nb" contains a control character`},
		{"node not UTF-8", func(q *health.HoldRequest) { q.Node = "a\xff" }, `Node "a\xff" is not UTF-8`},
		{"long GPU", func(q *health.HoldRequest) { q.GPU = topology.GPUID(long) }, `use at most 1024`},
		{"no owner", func(q *health.HoldRequest) { q.Owner = "" }, `Owner "" is empty`},
		{"long owner", func(q *health.HoldRequest) { q.Owner = health.Owner(long) }, `use at most 256`},
		{"owner without name", func(q *health.HoldRequest) { q.Owner = "human/" }, `Owner "human/" lacks a part: write kind/name, such as "human/oncall"`},
		{"owner without kind", func(q *health.HoldRequest) { q.Owner = "/oncall" }, `Owner "/oncall" lacks a part`},
		{"unknown step", func(q *health.HoldRequest) { q.Step = 5 }, `Step 5 is unknown`},
		{"long reason", func(q *health.HoldRequest) { q.Reason = long }, `use at most 1024`},
		{"reason with a control character", func(q *health.HoldRequest) { q.Reason = "a\x00" }, `Reason "a\x00" contains`},
		{"part of a second", func(q *health.HoldRequest) { q.Expected = monday.Add(time.Hour + 1) }, `Expected: instant is not aligned`},
		{"year 10000", func(q *health.HoldRequest) { q.Expected = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, `Expected: instant is outside`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := good
			tt.edit(&q)
			r := longSteps()
			err := unchanged(t, r, func() error { _, err := r.Hold(monday, q); return err })
			require.ErrorIs(t, err, health.ErrInvalid)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestAllMistakesAtOnce(t *testing.T) {
	r := longSteps()
	_, err := r.Hold(monday, health.HoldRequest{Step: 9, Reason: "\x00", Expected: monday.Add(1)})
	for _, field := range []string{"Node", "Owner", "Step", "Reason", "Expected"} {
		require.ErrorContains(t, err, field)
	}
	require.ErrorIs(t, r.Date(monday, health.Component{}, "", monday.Add(1)), health.ErrInvalid)
	require.ErrorContains(t, r.Date(monday, health.Component{}, "", monday.Add(1)), "expected: instant is not aligned")
	require.ErrorIs(t, r.Release(monday, health.Component{}, ""), health.ErrInvalid)
}

func TestConfigMistakes(t *testing.T) {
	step := func(s health.Step, d time.Duration) health.Config {
		return health.Config{StepLength: map[health.Step]time.Duration{s: d}}
	}
	for _, tt := range []struct {
		config health.Config
		want   string
	}{
		{step(health.StepReboot, 0), "StepLength[reboot] is 0s"},
		{step(health.StepRMA, -time.Hour), "StepLength[rma] is -1h0m0s"},
		{step(health.StepDiag, 1500*time.Millisecond), "StepLength[diag] is 1.5s"},
		{step(health.StepDiag, health.MaxStepLength+time.Second), "StepLength[diag] is 87600h0m1s"},
		{step(health.StepNone, time.Hour), `StepLength has an entry for "none"`},
		{step(7, time.Hour), "StepLength: health: invalid argument: Step 7 is unknown"},
		{health.Config{Slip: -time.Second}, "Slip is -1s"},
	} {
		r, err := health.New(tt.config)
		require.Nil(t, r)
		require.ErrorIs(t, err, health.ErrInvalid)
		require.ErrorContains(t, err, tt.want)
	}
}

func TestH6PastDatesAreRefused(t *testing.T) {
	r := longSteps()
	node := health.Component{Node: "n"}
	_, err := r.Hold(monday, health.HoldRequest{Component: node, Owner: "human/oncall", Expected: monday.Add(time.Hour)})
	require.NoError(t, err)
	later := monday.Add(3 * time.Hour) // the date is due: a refusal must not make it slip
	for _, command := range []func() error{
		func() error { return r.Date(later, node, "human/oncall", later) },
		func() error {
			_, err := r.Hold(later, health.HoldRequest{Component: node, Owner: "human/relief", Expected: later})
			return err
		},
		func() error {
			_, err := r.Hold(later, health.HoldRequest{Component: node, Owner: "human/oncall", Step: health.StepDiag, Expected: monday})
			return err
		},
	} {
		err := unchanged(t, r, command)
		require.ErrorIs(t, err, health.ErrPast)
		require.NotErrorIs(t, err, health.ErrUnknown)
		require.ErrorContains(t, err, "give an instant after 2026-03-02T12:00:00Z")
	}
}

func TestUnknownHoldSaysWhoHolds(t *testing.T) {
	r := longSteps()
	require.NoError(t, hold(r, monday, "n", "maintenance"))
	require.NoError(t, hold(r, monday, "n", "external"))
	err := unchanged(t, r, func() error { return r.Date(monday, health.Component{Node: "n"}, "human/oncall", time.Time{}) })
	var refused *health.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, []health.Owner{"external", "maintenance"}, refused.Owners)
	raw, err := json.Marshal(refused)
	require.NoError(t, err)
	require.JSONEq(t, `{"reason":"unknown-hold","node":"n","owner":"human/oncall","owners":["external","maintenance"]}`, string(raw))
	err = r.Date(monday, health.Component{Node: "n", GPU: "g"}, "human/oncall", time.Time{})
	require.ErrorContains(t, err, `GPU "g" of node "n": it is held by nobody; place the hold first`)
	require.NoError(t, r.Release(monday, health.Component{Node: "n"}, "human/oncall"), "nothing to release is no error")
}

func TestEmptyNodeIsNoWildcard(t *testing.T) {
	r := longSteps()
	require.NoError(t, hold(r, monday, "n", "maintenance"))
	_, ok := r.Outage("")
	require.False(t, ok)
	_, ok = r.Until("")
	require.False(t, ok)
	require.Zero(t, first(r.For("")))
	require.True(t, r.Schedulable(""))
	require.True(t, r.SchedulableGPU(health.Component{}))
}

// TestEndOfTime slips and dates beyond the last instant that can be written: the hold becomes open-ended.
func TestEndOfTime(t *testing.T) {
	r := longSteps()
	last := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	node := health.Component{Node: "n"}
	_, err := r.Hold(monday, health.HoldRequest{Component: node, Owner: "human/oncall", Expected: last})
	require.NoError(t, err)
	_, err = r.Hold(last.Add(-time.Second), health.HoldRequest{Component: node, Owner: "human/relief", Step: health.StepRMA})
	require.NoError(t, err)
	r.Advance(last.AddDate(1000, 0, 0))
	until, held := r.Until("n")
	require.True(t, held)
	require.Zero(t, until)
	_, ok := r.Next()
	require.False(t, ok)
	require.NoError(t, r.Check())
}

// TestBeginningOfTime uses the zero time as the present, which is also how a date says none.
func TestBeginningOfTime(t *testing.T) {
	r := longSteps()
	_, err := r.Hold(time.Time{}, health.HoldRequest{Component: health.Component{Node: "n"}, Owner: "human/oncall", Step: health.StepReset})
	require.NoError(t, err)
	raw, err := r.Events()[0].AppendBinary(nil)
	require.NoError(t, err)
	back, err := health.DecodeEvent(raw)
	require.NoError(t, err)
	require.Equal(t, r.Events()[0], back)
}

func TestStepText(t *testing.T) {
	for s := health.StepNone; s <= health.StepRMA; s++ {
		text, err := s.MarshalText()
		require.NoError(t, err)
		var back health.Step
		require.NoError(t, back.UnmarshalText(text))
		require.Equal(t, s, back)
		require.Equal(t, string(text), s.String())
	}
	require.Equal(t, "step(9)", health.Step(9).String())
	_, err := health.Step(9).MarshalText()
	require.ErrorIs(t, err, health.ErrInvalid)
	var s health.Step
	require.ErrorContains(t, s.UnmarshalText([]byte("Reboot")), `Step "Reboot" is unknown: use one of none, reset, reboot, diag, rma`)
	require.Zero(t, longSteps().StepLength(health.StepNone))
	require.Zero(t, longSteps().StepLength(9))
}
