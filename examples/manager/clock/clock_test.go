// SPDX-License-Identifier: Apache-2.0

package clock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/manager/clock"
)

func TestFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		c := clock.NewFast(start, 600)
		time.Sleep(2 * time.Second)
		require.Equal(t, start.Add(20*time.Minute), c.Now())
		c.SetSpeed(1)
		require.Equal(t, start.Add(20*time.Minute), c.Now(), "no jump when the speed changes")
		time.Sleep(3 * time.Second)
		require.Equal(t, start.Add(20*time.Minute+3*time.Second), c.Now())
		c.SetSpeed(10)
		time.Sleep(time.Second)
		require.Equal(t, start.Add(20*time.Minute+13*time.Second), c.Now())
		require.InDelta(t, 10, c.Speed(), 0)
	})
}
