// SPDX-License-Identifier: Apache-2.0

package tick_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/internal/tick"
)

func TestExact(t *testing.T) {
	zone := time.FixedZone("", 5*3600+1800)
	for _, s := range []string{"0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2040-02-29T12:00:01Z", "9999-12-31T23:59:59Z"} {
		at, err := time.Parse(time.RFC3339, s)
		require.NoError(t, err)
		n, err := tick.Exact(at.In(zone))
		require.NoError(t, err)
		require.Equal(t, s, tick.Time(n).Format(time.RFC3339))
	}
	_, err := tick.Exact(time.Unix(1, 1))
	require.ErrorIs(t, err, tick.ErrUnaligned)
	for _, at := range []time.Time{{}, time.Unix(math.MaxInt64, 0), time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(math.MinInt64, 0)} {
		if at.IsZero() { // the zero time is year 1 and in range
			continue
		}
		_, err := tick.Exact(at)
		require.ErrorIs(t, err, tick.ErrRange, "%v", at)
		require.True(t, tick.InRange(tick.Floor(at)), "floor stays in range")
	}
	require.Equal(t, int64(1), tick.Floor(time.Unix(1, 999_999_999)))
	require.Equal(t, int64(-2), tick.Floor(time.Unix(-2, 1)), "rounded down, not towards zero")
	require.True(t, tick.Time(tick.Forever).IsZero())
}

func TestSeconds(t *testing.T) {
	n, err := tick.Seconds(90 * time.Minute)
	require.NoError(t, err)
	require.Equal(t, int64(5400), n)
	_, err = tick.Seconds(time.Millisecond)
	require.Error(t, err)
	_, err = tick.Seconds(-time.Second)
	require.Error(t, err)
}
