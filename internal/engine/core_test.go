// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/engine"
)

type state struct {
	list cow.Array[string]
	n    int
}

func add(c *engine.Core[state, string], v string) {
	c.S.list.Append(c.Token(), v)
	c.S.n++
	c.Record(v)
}

func TestTryPutsEverythingBack(t *testing.T) {
	var c engine.Core[state, string]
	add(&c, "a")
	fork := c.Fork()
	boom := errors.New("boom")
	require.ErrorIs(t, c.Try(func() error {
		c.S.list.Set(c.Token(), 0, "z")
		add(&c, "b")
		return boom
	}), boom)
	require.Equal(t, 1, c.S.n)
	require.Equal(t, "a", c.S.list.At(0))
	require.Equal(t, []string{"a"}, c.Events())

	require.NoError(t, c.Try(func() error { add(&c, "c"); return nil }))
	require.Equal(t, []string{"a", "c"}, c.Events())
	require.Equal(t, "c", c.S.list.At(1))
	require.Equal(t, 1, fork.S.list.Len(), "the fork saw nothing of it")
	require.Empty(t, fork.Events())

	// Events handed out are not overwritten by later ones.
	seen := c.Events()
	require.Error(t, c.Try(func() error { add(&c, "d"); return boom }))
	add(&c, "e")
	require.Equal(t, []string{"a", "c"}, seen)
	require.Equal(t, []string{"a", "c", "e"}, c.TakeEvents())
	require.Empty(t, c.Events())
}
