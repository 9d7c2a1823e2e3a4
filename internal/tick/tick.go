// SPDX-License-Identifier: Apache-2.0

// Package tick converts between time.Time at the border of an engine and the
// int64 ticks it calculates with. A tick is one second since the Unix epoch.
//
// Windows must be aligned to ticks and are refused otherwise, never rounded;
// the present instant is rounded down, since a tick that has begun has begun.
// The range is year 1 to year 9999, so differences never overflow.
package tick

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Forever is the tick after every instant: the end of an open window.
const Forever = math.MaxInt64

const (
	minTick = -62135596800 // 0001-01-01T00:00:00Z
	maxTick = 253402300799 // 9999-12-31T23:59:59Z
)

// ErrUnaligned marks an instant that is not a whole number of seconds.
var ErrUnaligned = errors.New("instant is not aligned to whole seconds")

// ErrRange marks an instant outside the years 1 to 9999.
var ErrRange = errors.New("instant is outside the years 1 to 9999")

// Exact returns the tick of t, which must be aligned and in range.
func Exact(t time.Time) (int64, error) {
	s := t.Unix()
	if s < minTick || s > maxTick {
		return 0, fmt.Errorf("%w: unix second %d", ErrRange, s)
	}
	if t.Nanosecond() != 0 {
		return 0, fmt.Errorf("%w: %s", ErrUnaligned, t.UTC().Format(time.RFC3339Nano))
	}
	return s, nil
}

// Floor returns the tick that has begun at t. An instant out of range is
// clamped to the range.
func Floor(t time.Time) int64 { return min(max(t.Unix(), minTick), maxTick) }

// Time returns the instant of a tick in UTC. Forever, and every tick past the
// range, is the zero time: no end.
func Time(s int64) time.Time {
	if s < minTick || s > maxTick {
		return time.Time{}
	}
	return time.Unix(s, 0).UTC()
}

// InRange reports whether s is a tick that Exact could have returned.
func InRange(s int64) bool { return s >= minTick && s <= maxTick }

// Seconds returns d in whole seconds; d must be aligned and not negative.
func Seconds(d time.Duration) (int64, error) {
	if d < 0 {
		return 0, fmt.Errorf("duration %s is negative", d)
	}
	if d%time.Second != 0 {
		return 0, fmt.Errorf("duration %s is not whole seconds", d)
	}
	return int64(d / time.Second), nil
}
