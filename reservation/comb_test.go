// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A comb, two combs together and their shifts, against the definition.
func TestCombAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) comb {
			every := rapid.Int64Range(1, 40).Draw(t, name)
			return combOf(rapid.Int64Range(-50, 50).Draw(t, name+" at"), every)
		}
		a, b, d := draw("a"), draw("b"), rapid.Int64Range(-100, 100).Draw(t, "shift")
		both, ok := a.meet(b)
		moved := a.shift(d)
		found := false
		for x := int64(-1700); x <= 1700; x++ {
			in := (x-a.at)%a.every == 0
			require.Equal(t, in, a.has(x))
			require.Equal(t, in, moved.has(x+d))
			in = in && (x-b.at)%b.every == 0
			found = found || in
			require.Equal(t, in, ok && both.has(x), "%d in %v and %v", x, a, b)
		}
		require.Equal(t, found, ok, "two lcms of at most 1560 were looked at")
		x := rapid.Int64Range(-1000, 1000).Draw(t, "x")
		up, ok := a.up(x)
		require.True(t, ok && a.has(up) && up >= x && up < x+a.every)
		down, ok := a.down(x)
		require.True(t, ok && a.has(down) && down <= x && down > x-a.every)
	})
}

// Combs so wide that they have at most one tick in the range of time.
func TestCombBeyondTime(t *testing.T) {
	for name, x := range map[string]struct {
		at    int64
		inAge bool
	}{
		"now": {1_800_000_000, true}, "first": {firstTick, true}, "last": {lastTick, true}, "year 0": {firstTick - 1, false}, "year 10000": {lastTick + 1, false},
	} {
		c, ok := combOf(x.at, 9_000_000_011).meet(combOf(x.at, maxEvery))
		require.Equal(t, x.inAge, ok, name)
		if !ok {
			continue
		}
		require.Equal(t, comb{x.at, 0}, c, name)
		require.Equal(t, comb{x.at + 5, 0}, c.shift(5), name)
		_, after := c.up(x.at + 1)
		_, before := c.down(x.at - 1)
		require.False(t, after || before, name)
		again, ok := c.meet(combOf(x.at, 7))
		require.True(t, ok && again == c, name)
		_, ok = c.meet(combOf(x.at+1, 7))
		require.False(t, ok, name)
	}
	_, ok := everySecond().up(lastTick + 1)
	require.False(t, ok)
	_, ok = combOf(0, maxEvery).up(lastTick)
	require.False(t, ok)
	_, ok = combOf(0, maxEvery).down(firstTick)
	require.False(t, ok)
}
