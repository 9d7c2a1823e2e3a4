// SPDX-License-Identifier: Apache-2.0

package health

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/internal/tick"
)

// TestCheckFinds breaks a sound record in each way that Check must see.
func TestCheckFinds(t *testing.T) {
	start := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name  string
		want  string
		spoil func(r *Record, h *hold)
	}{
		{"date missing in the index", "not in the index", func(r *Record, h *hold) { r.core.S.due.Remove(r.core.Token(), h) }},
		{"date too many in the index", "2 dates in the index for 1 dated holds", func(r *Record, h *hold) {
			c := *h
			c.expected++
			r.core.S.due.Put(r.core.Token(), &c)
		}},
		{"open-ended in the index", "1 dates in the index for 0 dated holds", func(_ *Record, h *hold) { h.expected = tick.Forever }},
		{"start in the future", "starts in the future", func(r *Record, h *hold) { h.since = r.core.S.now + 1 }},
		{"date passed", "its date has passed", func(r *Record, h *hold) { r.core.S.now = h.expected + 1 }},
		{"date before start", "not after its start", func(_ *Record, h *hold) { h.asked = h.since }},
		{"more slips than versions", "version 1 with 1 slips", func(_ *Record, h *hold) { h.slips = 1 }},
		{"no owner", "Owner", func(_ *Record, h *hold) { h.owner = "" }},
		{"unknown step", "Step 9", func(_ *Record, h *hold) { h.step = 9 }},
		{"step without length", "step length", func(r *Record, _ *hold) { r.core.S.lengths[StepRMA] = 0 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := New(Config{})
			require.NoError(t, err)
			c := Component{Node: "n"}
			_, err = r.Hold(start, HoldRequest{Component: c, Owner: "human/oncall", Step: StepReset})
			require.NoError(t, err)
			require.NoError(t, r.Check())
			h, _ := r.find(key{c, "human/oncall"})
			tt.spoil(r, h)
			require.ErrorContains(t, r.Check(), tt.want)
		})
	}
}

// TestCountersStop holds at the greatest version that a snapshot may carry and goes on from there.
func TestCountersStop(t *testing.T) {
	r, err := New(Config{})
	require.NoError(t, err)
	c, start := Component{Node: "n"}, time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	_, err = r.Hold(start, HoldRequest{Component: c, Owner: "human/oncall", Step: StepReset})
	require.NoError(t, err)
	h, _ := r.find(key{c, "human/oncall"})
	h.version, h.slips = maxCount, maxCount-1
	raw, err := r.MarshalBinary()
	require.NoError(t, err)
	again, err := Restore(raw)
	require.NoError(t, err)
	again.Advance(start.AddDate(0, 0, 1))
	require.NoError(t, again.Check())
	got, _ := again.Find(c, "human/oncall")
	require.EqualValues(t, maxCount, got.Version)
	require.Equal(t, maxCount-1, got.Slips)
}
