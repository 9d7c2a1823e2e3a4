// SPDX-License-Identifier: Apache-2.0

package topologytest_test

import (
	"testing"

	"github.com/berth-gpu/berth/topology"
	"github.com/berth-gpu/berth/topology/topologytest"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestFixtures(t *testing.T) {
	small, mixed := topologytest.Small(), topologytest.Mixed()
	require.Equal(t, 8, small.Count())
	require.Equal(t, int64(64), small.GPUCount())
	require.Equal(t, 46, mixed.Count())
	require.Equal(t, int64(36*4+4*8+4*2), mixed.GPUCount())
	topologytest.Check(t, small)
	topologytest.Check(t, mixed)
}

func TestGeneratorsAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, err := topology.New(topologytest.Configs().Draw(t, "config"))
		require.NoError(t, err)
		topologytest.Check(t, c)
		next, err := c.Apply(topologytest.Changes(c).Draw(t, "change"))
		require.NoError(t, err)
		topologytest.Check(t, next)
	})
}
