// SPDX-License-Identifier: Apache-2.0

package health_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/health"
	"github.com/berth-gpu/berth/internal/wire"
)

const firstInstant = -62135596800 // 0001-01-01T00:00:00Z in Unix seconds

// uints encodes numbers, one after the other.
func uints(n ...uint64) []byte {
	var b []byte
	for _, v := range n {
		b = wire.AppendUint(b, v)
	}
	return b
}

func instant(n int64) []byte { return wire.AppendInt(nil, n) }

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// text is a node, the whole of it, and an owner.
func text(node, owner string) []byte {
	return wire.AppendString(wire.AppendString(wire.AppendString(nil, node), ""), owner)
}

func TestCorruptSnapshots(t *testing.T) {
	head := func(now int64, holds uint64) []byte {
		return join(uints(1), instant(now), uints(60, 60, 60, 60, 60, holds))
	}
	// step 0, no reason, as old as given, no date asked, the date, no slip, version 1
	body := func(age, date uint64) []byte { return uints(0, 0, age, 0, date, 0, 1) }
	good := join(head(100, 2), text("a", "x"), body(5, 10), text("b", "x"), body(5, 0))
	_, err := health.Restore(good)
	require.NoError(t, err)
	for _, tt := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"empty", nil, "bad or cut number"},
		{"version", uints(2), "snapshot version 2 is unknown"},
		{"present", join(uints(1), instant(firstInstant-1)), "present -62135596801 is out of range"},
		{"step length", join(uints(1), instant(0), uints(60, 60, 0, 60, 60, 0)), "length of a step"},
		{"count", head(100, 9), "count 9 exceeds"},
		{"twice", join(head(100, 2), text("a", "x"), body(5, 10), text("a", "x"), body(5, 10)), "not in order"},
		{"order", join(head(100, 2), text("b", "x"), body(5, 10), text("a", "x"), body(5, 10)), "not in order"},
		{"start far too early", join(head(100, 1), text("a", "x"), body(1<<41, 0)), "start of a hold is out of range"},
		{"start too early", join(head(firstInstant, 1), text("a", "x"), body(1, 0)), "start of a hold is out of range"},
		{"date too late", join(head(100, 1), text("a", "x"), body(5, 1<<39)), "date is out of range"},
		{"date passed", join(head(100, 1), text("a", "x"), body(5, 4)), "its date has passed"},
		{"no node", join(head(100, 1), text("", "x"), body(5, 10)), "Node"},
		{"left over", append(bytes.Clone(good), 0), "1 bytes left over"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := health.Restore(tt.raw)
			require.Nil(t, r)
			require.ErrorIs(t, err, health.ErrCorrupt)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestCorruptEvents(t *testing.T) {
	asked := func(offset int64) []byte { return join(uints(0, 0, 1), instant(offset)) } // step 0, no reason, a date asked
	for _, tt := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"empty", nil, "bad or cut number"},
		{"kind 0", uints(0), "event kind 0 is unknown"},
		{"kind 6", uints(6), "event kind 6 is unknown"},
		{"kind 257", uints(257), "event kind 257 is unknown"},
		{"instant", join(uints(5), instant(firstInstant-1)), "instant -62135596801 is out of range"},
		{"owner", join(uints(5), instant(0), text("a", "x/")), `Owner "x/" lacks a part`},
		{"asked out of range", join(uints(2), instant(0), text("a", "x"), asked(firstInstant-1), uints(0)), "date is out of range"},
		{"asked far out of range", join(uints(2), instant(0), text("a", "x"), asked(1<<41), uints(0)), "date is out of range"},
		{"asked at the first instant", join(uints(2), instant(0), text("a", "x"), asked(firstInstant), uints(0)), "asked date is the first instant"},
		{"held, not as asked", join(uints(1), instant(0), text("a", "x"), asked(5), uints(6)), "differs from Asked"},
		{"date out of range", join(uints(3), instant(0), text("a", "x"), uints(1<<62)), "date is out of range"},
		{"left over", join(uints(5), instant(0), text("a", "x"), uints(0)), "1 bytes left over"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := health.DecodeEvent(tt.raw)
			require.ErrorIs(t, err, health.ErrCorrupt)
			require.ErrorContains(t, err, tt.want)
		})
	}
}
