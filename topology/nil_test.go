// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"encoding/json"
	"testing"

	"github.com/berth-gpu/berth/topology"
	"github.com/berth-gpu/berth/topology/topologytest"
	"github.com/stretchr/testify/require"
)

// T10: a nil cluster and the zero one answer alike: with nothing, and with the default levels.
func TestNilClusterT10(t *testing.T) {
	for name, c := range map[string]*topology.Cluster{"nil": nil, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			askEverything(c)
			topologytest.Check(t, &topology.Cluster{})
			require.Zero(t, c.Count()+c.Len()+c.DomainLen()+int(c.GPUCount())+int(c.Version()))
			require.Equal(t, topology.DefaultLevels(), c.Levels("")[:7])
			require.Empty(t, c.Config().Nodes)
			require.Equal(t, topology.DistanceUnknown, c.Distance(topology.GPURef{}, topology.GPURef{}))
			require.Equal(t, topology.NoDomain, c.Ancestor(0, 0))
			_, known := c.Index("a")
			require.False(t, known)
			_, known = c.FindGPU("a/0")
			require.False(t, known)
			_, known = c.DomainByID(topology.LevelRack, "r")
			require.False(t, known)
			for range c.Nodes() {
				t.Fail()
			}
			for range c.Labels(0) {
				t.Fail()
			}
			for range c.Shapes() {
				t.Fail()
			}
			data, err := c.MarshalJSON()
			require.NoError(t, err)
			require.True(t, json.Valid(data))
			same, err := c.Apply(topology.Change{})
			require.NoError(t, err)
			require.Zero(t, same.Count())
			grown, err := c.Edit().AddShape(topology.DGXH100()).Add(topology.NodeSpec{ID: "a", Shape: "DGX-H100"}).Build()
			require.NoError(t, err)
			require.Equal(t, int64(8), grown.GPUCount())
			topologytest.Check(t, grown)
		})
	}
}

// T10: the zero Editor edits the empty cluster.
func TestZeroEditorT10(t *testing.T) {
	var e topology.Editor
	c, err := e.AddShape(topology.ShapeSpec{Name: "cpu"}).Add(topology.NodeSpec{ID: "a", Shape: "cpu"}).Build()
	require.NoError(t, err)
	require.Equal(t, 1, c.Count())
	_, err = new(topology.Editor).Remove("a").Build()
	require.ErrorIs(t, err, topology.ErrUnknown)
	_, err = topology.NewBuilder().Build()
	require.NoError(t, err)
}
