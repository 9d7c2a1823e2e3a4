// SPDX-License-Identifier: Apache-2.0

package health_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/health"
)

// TestContradictingEventsAreRefused applies events that no record in this state could have decided (I16, H6).
func TestContradictingEventsAreRefused(t *testing.T) {
	node, due := health.Component{Node: "n"}, monday.Add(5*time.Hour)
	r := longSteps()
	_, err := r.Hold(monday, health.HoldRequest{Component: node, Owner: "human/oncall", Step: health.StepReset})
	require.NoError(t, err)
	for _, tt := range []struct {
		name  string
		event health.Event
		want  error
		text  string
	}{
		{"before the present", health.Released{At: monday.Add(-time.Second), Component: node, Owner: "human/oncall"}, health.ErrEvent, "before the present"},
		{"held twice", health.Held{At: monday, Component: node, Owner: "human/oncall"}, health.ErrEvent, "the hold exists since"},
		{"release of nothing", health.Released{At: monday, Component: node, Owner: "human/relief"}, health.ErrEvent, "no such hold"},
		{"date of nothing", health.Dated{At: monday, Component: node, Owner: "human/relief"}, health.ErrEvent, "no such hold"},
		{"asked before the start", health.Changed{At: monday, Component: node, Owner: "human/oncall", Asked: monday}, health.ErrEvent, "Asked"},
		{"slip too early", health.Slipped{At: due.Add(-time.Second), Component: node, Owner: "human/oncall"}, health.ErrEvent, "not the date of the hold"},
		{"slip too late", health.Slipped{At: due.Add(time.Second), Component: node, Owner: "human/oncall"}, health.ErrEvent, "not the date of the hold"},
		{"slip forgotten", health.Held{At: due, Component: node, Owner: "human/relief"}, health.ErrEvent, "should have slipped"},
		{"date not after the event", health.Dated{At: monday, Component: node, Owner: "human/oncall", Expected: monday}, health.ErrInvalid, "not after its At"},
		{"asked one date, got another", health.Held{At: monday, Component: node, Owner: "human/relief", Asked: due}, health.ErrInvalid, "differs from Asked"},
		{"bad text", health.Released{At: monday, Owner: "x"}, health.ErrInvalid, "Node"},
		{"bad step", health.Held{At: monday, Component: node, Owner: "human/relief", Step: 77}, health.ErrInvalid, "Step 77"},
		{"bad instant", health.Released{At: monday.Add(1), Component: node, Owner: "human/oncall"}, health.ErrInvalid, "At: instant is not aligned"},
		{"pointer", (*health.Released)(nil), health.ErrInvalid, "*health.Released"},
		{"nothing", nil, health.ErrInvalid, "<nil>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := unchanged(t, r, func() error { return r.Apply(tt.event) })
			require.ErrorIs(t, err, tt.want)
			require.ErrorContains(t, err, tt.text)
		})
	}
	_, err = health.EventJSON(nil)
	require.ErrorIs(t, err, health.ErrInvalid)
	_, err = health.Held{}.AppendBinary(nil)
	require.ErrorIs(t, err, health.ErrInvalid)
}

// TestAppliedEventsAreNotPending: who applies an event has it already.
func TestAppliedEventsAreNotPending(t *testing.T) {
	r := longSteps()
	require.NoError(t, r.Apply(health.Held{At: monday, Component: health.Component{Node: "n"}, Owner: "human/oncall"}))
	require.Empty(t, r.Events())
	require.False(t, r.Schedulable("n"))
}
