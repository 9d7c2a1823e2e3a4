// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/berth-gpu/berth/topology"
	"github.com/berth-gpu/berth/topology/topologytest"
	"github.com/stretchr/testify/require"
)

// FuzzDecode: T10, and T7 for whatever is accepted.
func FuzzDecode(f *testing.F) {
	c, err := topologytest.Small().Edit().Remove("pod-000-leaf-001-node-000").Build()
	require.NoError(f, err)
	f.Add(encode(f, c))
	f.Add([]byte(`{"version":1,"levels":[],"families":[{"name":"p","levels":["feed"]}],"shapes":[{"name":"s","model":"T4","gpus":2,"links":[["X","NV"],["NV","X"]]}],"nodes":[{"id":"a","shape":"s","path":{"feed":"1"},"gpuIDs":["x","y"]}]}`))
	f.Add([]byte(`{"version":1,"domains":[{"level":"rack","id":"p/r","in":"pod"},{"level":"pod","id":"p"}],"nodes":[{"id":"a","gone":true}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := topology.Decode(data)
		if err != nil {
			require.Nil(t, c)
			return
		}
		first := encode(t, c)
		again, err := topology.Decode(first)
		require.NoError(t, err)
		require.Equal(t, string(first), string(encode(t, again)))
		topologytest.Check(t, c)
		askEverything(c)
	})
}

// FuzzDecodeChange: T10, and a change that is accepted by a cluster leaves it sound.
func FuzzDecodeChange(f *testing.F) {
	f.Add([]byte(`{"shapes":[{"name":"late","model":"T4","gpus":2}],"add":[{"id":"x","shape":"late","path":{"rack":"r0"}}],"remove":["lone-0"],"replace":[{"id":"t4-0","shape":"t4"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		ch, err := topology.DecodeChange(data)
		if err != nil {
			return
		}
		written, err := json.Marshal(ch)
		require.NoError(t, err)
		_, err = topology.DecodeChange(written)
		require.NoError(t, err)
		next, err := topologytest.Mixed().Apply(ch)
		if err == nil {
			topologytest.Check(t, next)
		}
	})
}

// FuzzReadOpenB: T10, and what is accepted builds.
func FuzzReadOpenB(f *testing.F) {
	f.Add([]byte("sn,cpu_milli,memory_mib,gpu,model\na,64000,262144,2,P100\nb,1,2,0,\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, err := topology.ReadOpenB(bytes.NewReader(data))
		if err != nil {
			return
		}
		c, err := topology.New(cfg)
		require.NoError(t, err)
		topologytest.Check(t, c)
	})
}

// FuzzFromLabels reads nodes written as lines "key=value" with an empty line between nodes, by every preset: T10, and what is
// accepted has only the mistakes that span nodes.
func FuzzFromLabels(f *testing.F) {
	f.Add("nvidia.com/gpu.product=NVIDIA-L4\nnvidia.com/gpu.count=2\ntopology.kubernetes.io/zone=a\n\nnode.coreweave.cloud/rack=1", true)
	f.Add("topology.k8s.aws/network-node-layer-1=nn-1\ntopology.k8s.aws/network-node-layer-3=nn-3", false)
	f.Fuzz(func(t *testing.T, text string, allow bool) {
		var nodes []topology.LabelledNode
		for i, block := range strings.Split(text, "\n\n") {
			n := topology.LabelledNode{Name: string(rune('a' + i%26)), Labels: map[string]string{}}
			for _, line := range strings.Split(block, "\n") {
				key, value, _ := strings.Cut(line, "=")
				n.Labels[key] = value
			}
			nodes = append(nodes, n)
		}
		for _, rules := range []topology.LabelRules{topology.RulesNVIDIA(), topology.RulesEC2(), topology.RulesGKE(),
			topology.RulesNebius(), topology.RulesCoreWeave(), topology.RulesKueue("topology.kubernetes.io/zone", text)} {
			rules.AllowUnknownProducts = allow
			cfg, err := topology.FromLabels(nodes, rules)
			if err != nil {
				continue
			}
			c, err := topology.New(cfg)
			if err != nil {
				require.ErrorIs(t, err, topology.ErrConflict)
				continue
			}
			topologytest.Check(t, c)
		}
	})
}
