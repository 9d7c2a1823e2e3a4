// SPDX-License-Identifier: Apache-2.0

package health_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/health"
)

// FuzzRestore: what is accepted passes Check and encodes to the same bytes.
func FuzzRestore(f *testing.F) {
	r, err := health.New(health.Config{})
	require.NoError(f, err)
	empty, err := r.MarshalBinary()
	require.NoError(f, err)
	f.Add(empty)
	require.NoError(f, hold(r, monday, "node-1", "human/oncall"))
	_, err = r.Hold(monday, health.HoldRequest{Component: health.Component{Node: "node-1", GPU: "GPU-3"}, Owner: "health/xid-48",
		Step: health.StepReset, Reason: "double-bit error"})
	require.NoError(f, err)
	r.Advance(monday.AddDate(0, 0, 1))
	full, err := r.MarshalBinary()
	require.NoError(f, err)
	f.Add(full)
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := health.Restore(raw)
		if err != nil {
			require.ErrorIs(t, err, health.ErrCorrupt)
			return
		}
		require.NoError(t, r.Check())
		back, err := r.MarshalBinary()
		require.NoError(t, err)
		require.Equal(t, raw, back)
		_, err = r.MarshalJSON()
		require.NoError(t, err)
	})
}

// FuzzDecodeEvent: what is accepted encodes to the same bytes, and a record takes it whole or not at all.
func FuzzDecodeEvent(f *testing.F) {
	r, err := health.New(health.Config{})
	require.NoError(f, err)
	life(f, r)
	for _, e := range r.Events() {
		raw, err := e.AppendBinary(nil)
		require.NoError(f, err)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := health.DecodeEvent(raw)
		if err != nil {
			require.ErrorIs(t, err, health.ErrCorrupt)
			return
		}
		back, err := e.AppendBinary(nil)
		require.NoError(t, err)
		require.Equal(t, raw, back)
		_, err = health.EventJSON(e)
		require.NoError(t, err)
		r := longSteps()
		require.NoError(t, hold(r, time.Time{}, e.Where().Node, "human/oncall"))
		if err := r.Apply(e); err != nil {
			unchanged(t, r, func() error { return r.Apply(e) })
		}
		require.NoError(t, r.Check())
	})
}

// FuzzStep: what is read as a step has that name.
func FuzzStep(f *testing.F) {
	f.Add([]byte("reboot"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var s health.Step
		if err := s.UnmarshalText(text); err != nil {
			require.ErrorIs(t, err, health.ErrInvalid)
			return
		}
		back, err := s.MarshalText()
		require.NoError(t, err)
		require.Equal(t, text, back)
	})
}
