// SPDX-License-Identifier: Apache-2.0

package allocator_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/allocator/allocatortest"
)

func FuzzRestore(f *testing.F) {
	told := story(f)
	f.Add(encoded(f, told))
	f.Add(encoded(f, fleet(f, "t4x4", "a10x8", "cpu")))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := allocator.Restore(b, told.Cluster())
		if err != nil {
			require.True(t, errors.Is(err, allocator.ErrCorrupt) || errors.Is(err, allocator.ErrCluster), "%v", err)
			return
		}
		require.Equal(t, b, encoded(t, got))
		require.NoError(t, got.Check())
		require.NoError(t, allocatortest.Check(got))
		_, _ = got.Place(start, ask("fuzz", 2, allocator.Pod{GPUMilli: 500}))
		require.NoError(t, got.Check())
	})
}

func FuzzDecodeEvent(f *testing.F) {
	told := story(f)
	for _, e := range told.Events() {
		b, err := e.AppendBinary(nil)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := allocator.DecodeEvent(b)
		if err != nil {
			require.ErrorIs(t, err, allocator.ErrCorrupt)
			return
		}
		back, err := e.AppendBinary(nil)
		require.NoError(t, err)
		require.Equal(t, b, back)
		_, err = allocator.EventJSON(e)
		require.NoError(t, err)
		g := told.Fork()
		before := encoded(t, g)
		if g.Apply(e) != nil {
			require.Equal(t, before, encoded(t, g))
		}
		require.NoError(t, g.Check())
	})
}
