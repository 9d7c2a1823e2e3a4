// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"strings"
	"testing"

	"github.com/berth-gpu/berth/topology"
	"github.com/stretchr/testify/require"
)

func h100(more map[string]string) map[string]string {
	out := map[string]string{"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.count": "8", "nvidia.com/gpu.memory": "81559"}
	for k, v := range more {
		out[k] = v
	}
	return out
}

// TestFromLabelsPlaces reads one node by each preset; the keys are written out here as the providers document them.
func TestFromLabelsPlaces(t *testing.T) {
	const clique = "7b968a6d-c8aa-45e1-9e07-e1e51be99c31.1"
	tests := []struct {
		name   string
		rules  topology.LabelRules
		labels map[string]string
		path   map[topology.Level]string
	}{
		{"nvidia", topology.RulesNVIDIA(),
			map[string]string{"topology.kubernetes.io/region": "eu", "topology.kubernetes.io/zone": "eu-1", "nvidia.com/gpu.clique": clique},
			map[topology.Level]string{"region": "eu", "zone": "eu-1", "block": clique}},
		{"no fabric", topology.RulesNVIDIA(),
			map[string]string{"nvidia.com/gpu.clique": "00000000-0000-0000-0000-000000000000.0"}, nil},
		{"kueue", topology.RulesKueue("topology.kubernetes.io/zone", "cloud.provider.com/topology-block", "cloud.provider.com/topology-rack", "kubernetes.io/hostname"),
			map[string]string{"topology.kubernetes.io/zone": "z", "cloud.provider.com/topology-block": "b", "cloud.provider.com/topology-rack": "r", "kubernetes.io/hostname": "n"},
			map[topology.Level]string{"zone": "z", "cloud.provider.com/topology-block": "b", "cloud.provider.com/topology-rack": "r"}},
		{"ec2", topology.RulesEC2(),
			map[string]string{"topology.k8s.aws/network-node-layer-1": "nn-1", "topology.k8s.aws/network-node-layer-2": "nn-2", "topology.k8s.aws/network-node-layer-3": "nn-3", "topology.k8s.aws/ultraserver-id": "us-1"},
			map[topology.Level]string{"fabric": "nn-1", "pod": "nn-2", "leaf": "nn-3", "block": "us-1"}},
		{"gke", topology.RulesGKE(),
			map[string]string{"cloud.google.com/gce-topology-block": "b", "cloud.google.com/gce-topology-subblock": "s", "cloud.google.com/gce-topology-host": "h"},
			map[topology.Level]string{"pod": "b", "leaf": "s", "host": "h"}},
		{"gke, older keys", topology.RulesGKE(),
			map[string]string{"topology.gke.io/cluster": "b", "topology.gke.io/rack": "s", "topology.gke.io/host": "h"},
			map[topology.Level]string{"pod": "b", "leaf": "s", "host": "h"}},
		{"nebius", topology.RulesNebius(),
			map[string]string{"topology.nebius.com/gpu-cluster-id": "c", "topology.nebius.com/tier-2": "t2", "topology.nebius.com/tier-1": "t1", "topology.nebius.com/tier-0": "t0"},
			map[topology.Level]string{"fabric": "c", "pod": "t2", "leaf": "t1", "block": "t0"}},
		{"coreweave", topology.RulesCoreWeave(),
			map[string]string{"backend.coreweave.cloud/fabric": "f", "ib.coreweave.cloud/superpod": "2", "backend.coreweave.cloud/leafgroup": "5", "ds.coreweave.com/nvlink.domain": "d", "node.coreweave.cloud/rack": "17"},
			map[topology.Level]string{"fabric": "f", "pod": "2", "leaf": "5", "block": "d", "rack": "17"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg, err := topology.FromLabels([]topology.LabelledNode{{Name: "n", Labels: h100(tt.labels)}}, tt.rules)
			require.NoError(t, err)
			require.Equal(t, tt.path, cfg.Nodes[0].Path)
			c, err := topology.New(cfg)
			require.NoError(t, err)
			require.Equal(t, "H100-SXM5-80GB", c.Shape(0).Model().Name)
			require.Equal(t, [][]int{{0, 1, 2, 3, 4, 5, 6, 7}}, c.Shape(0).NVLinkGroups())
			got, _ := c.Spec(0)
			require.Equal(t, h100(tt.labels), got.Labels)
		})
	}
}

func TestFromLabelsNodes(t *testing.T) {
	rules := topology.RulesNVIDIA()
	rules.AllowUnknownProducts = true
	rules.Keep = []string{"pool"}
	rules.Families = []topology.FamilyRule{{Name: "power", Levels: []topology.LevelRule{{Level: "feed", Keys: []string{"dc/feed"}}}}}
	cfg, err := topology.FromLabels([]topology.LabelledNode{
		{Name: "cpu", CPUMilli: 1000, MemoryMiB: 2000, Labels: map[string]string{"dc/feed": "A"}},
		{Name: "odd", Labels: map[string]string{"nvidia.com/gpu.product": "Future-GPU-SHARED", "nvidia.com/gpu.count": "2", "nvidia.com/gpu.memory": "1000", "pool": "x", "other": "y"}},
		{Name: "odd2", Labels: map[string]string{"nvidia.com/gpu.product": "Future-GPU", "nvidia.com/gpu.count": "2", "nvidia.com/cuda.driver-version.full": "580.95.05", "nvidia.com/cuda.runtime.major": "13", "nvidia.com/cuda.runtime.minor": "0"}},
		{Name: "pcie", Labels: map[string]string{"nvidia.com/gpu.product": "NVIDIA-H100-NVL", "nvidia.com/gpu.count": "2", "nvidia.com/cuda.driver.major": "550", "nvidia.com/cuda.driver.minor": "107"}},
	}, rules)
	require.NoError(t, err)
	c, err := topology.New(cfg)
	require.NoError(t, err)
	require.Equal(t, int64(6), c.GPUCount())
	require.Zero(t, c.Shape(0).GPUs())
	require.Equal(t, int64(1000), c.Shape(0).CPUMilli())
	require.Equal(t, topology.GPUModel{Name: "Future-GPU", MemoryMiB: 1000, Source: "node label nvidia.com/gpu.product"}, c.Shape(1).Model())
	require.Same(t, c.Shape(1), c.Shape(2))
	require.Equal(t, "580.95.05", c.Driver(2))
	require.Equal(t, "13.0", c.CUDA(2))
	require.Equal(t, "550.107", c.Driver(3))
	require.Empty(t, c.Shape(3).NVLinkGroups(), "a bridge is optional, so it is not assumed")
	spec, _ := c.Spec(1)
	require.Equal(t, map[string]string{"pool": "x"}, spec.Labels)
	feed, ok := c.DomainByID("feed", "A")
	require.True(t, ok)
	require.Equal(t, topology.Family("power"), c.Domain(feed).Family)
}

func TestFromLabelsMistakes(t *testing.T) {
	rules := topology.RulesCoreWeave()
	rules.Levels = append(rules.Levels, topology.LevelRule{Level: topology.LevelGPU}, topology.LevelRule{Level: topology.LevelRack})
	cfg, err := topology.FromLabels([]topology.LabelledNode{
		{Name: "a", Labels: h100(map[string]string{"backend.coreweave.cloud/leafgroup": "1", "ds.coreweave.com/nvlink.domain": "d"})},
		{Name: "b", Labels: h100(map[string]string{"backend.coreweave.cloud/leafgroup": "2", "ds.coreweave.com/nvlink.domain": "d"})},
		{Name: "b", Labels: nil},
		{Name: "x/y", CPUMilli: -1},
		{Name: "c", Labels: map[string]string{"nvidia.com/gpu.product": "Mystery", "nvidia.com/gpu.count": "1"}},
		{Name: "d", Labels: map[string]string{"nvidia.com/gpu.product": "NVIDIA-L4"}},
		{Name: "e", Labels: map[string]string{"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", "nvidia.com/gpu.count": "56", "nvidia.com/mig.strategy": "single"}},
		{Name: "f", Labels: map[string]string{"node.coreweave.cloud/rack": "1/2"}},
	}, rules)
	require.Empty(t, cfg.Nodes)
	for _, want := range []string{
		`levels="gpu"`, `levels[8]="rack"`,
		`conflict: nodes[1] b.ds.coreweave.com/nvlink.domain="d"`, `duplicate: nodes[2] b.name="b"`,
		`nodes[3] x/y.name="x/y"`, `nodes[3] x/y.cpuMilli, memoryMiB="-1, 0"`,
		`unknown name: nodes[4] c.nvidia.com/gpu.product="Mystery"`, `nodes[5] d.nvidia.com/gpu.count=""`,
		`nodes[6] e.nvidia.com/gpu.product="NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"`, `nodes[7] f.node.coreweave.cloud/rack="1/2"`,
	} {
		require.ErrorContains(t, err, want)
	}
}

// One product has one memory, whoever comes first: nodes that agree, or do not say, give one model; others are a mistake.
func TestFromLabelsUnknownProductMemory(t *testing.T) {
	rules := topology.RulesNVIDIA()
	rules.AllowUnknownProducts = true
	node := func(name, memory string) topology.LabelledNode {
		labels := map[string]string{"nvidia.com/gpu.product": "Future", "nvidia.com/gpu.count": "2"}
		if memory != "" {
			labels["nvidia.com/gpu.memory"] = memory
		}
		return topology.LabelledNode{Name: name, Labels: labels}
	}
	tests := []struct {
		name   string
		nodes  []topology.LabelledNode
		memory int64 // 0: refused
	}{
		{"agree", []topology.LabelledNode{node("a", "1000"), node("b", "1000")}, 1000},
		{"one does not say", []topology.LabelledNode{node("a", ""), node("b", "1000"), node("c", "0")}, 1000},
		{"disagree", []topology.LabelledNode{node("a", "1000"), node("b", "2000")}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range tt.nodes { // every rotation
				tt.nodes = append(tt.nodes[1:], tt.nodes[0])
				cfg, err := topology.FromLabels(tt.nodes, rules)
				if tt.memory == 0 {
					require.ErrorIs(t, err, topology.ErrConflict)
					require.ErrorContains(t, err, "nodes[1] "+tt.nodes[1].Name+".nvidia.com/gpu.memory=")
					require.ErrorContains(t, err, "nodes[0] "+tt.nodes[0].Name+" has")
					continue
				}
				require.NoError(t, err)
				require.Equal(t, []topology.GPUModel{{Name: "Future", MemoryMiB: tt.memory, Source: "node label nvidia.com/gpu.product"}}, cfg.Models)
				_, err = topology.New(cfg)
				require.NoError(t, err)
			}
		})
	}
}

// What FromLabels accepts, New accepts: models that contradict one another and names that are too long are refused where they are.
func TestFromLabelsModelMistakes(t *testing.T) {
	product := func(p string) []topology.LabelledNode {
		return []topology.LabelledNode{{Name: "n", Labels: map[string]string{"nvidia.com/gpu.product": p, "nvidia.com/gpu.count": "4"}}}
	}
	tests := []struct {
		name   string
		models []topology.GPUModel
		nodes  []topology.LabelledNode
		want   string
	}{
		{"twice", []topology.GPUModel{{Name: "M", MemoryMiB: 1}, {Name: "M", MemoryMiB: 2}}, nil, `conflict: models[1].name="M"`},
		{"catalogue", []topology.GPUModel{{Name: "T4", MemoryMiB: 1}}, nil, `conflict: models[0].name="T4"`},
		{"long", nil, product(strings.Repeat("x", 513)), `invalid value: nodes[0] n.nvidia.com/gpu.product="xxx`},
		{"long with the shape", nil, product(strings.Repeat("x", 510)), `invalid value: nodes[0] n.nvidia.com/gpu.product="xxx`},
		{"a slash", nil, product("a/b"), `invalid value: nodes[0] n.nvidia.com/gpu.product="a/b"`},
		{"no such model", []topology.GPUModel{{Name: "M"}}, nil, `unknown name: products.P="N"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rules := topology.RulesNVIDIA()
			rules.AllowUnknownProducts, rules.Models = true, tt.models
			if tt.name == "no such model" {
				rules.Products = map[string]string{"P": "N", "Q": "M", "R": "T4"}
			}
			_, err := topology.FromLabels(tt.nodes, rules)
			require.ErrorContains(t, err, tt.want)
		})
	}
	rules := topology.RulesNVIDIA()
	t4, _ := topology.ModelByName("T4")
	rules.Models = []topology.GPUModel{t4, {Name: "M"}, {Name: "M"}}
	cfg, err := topology.FromLabels(nil, rules)
	require.NoError(t, err, "to repeat a model unchanged is no mistake")
	require.Equal(t, []topology.GPUModel{{Name: "M"}}, cfg.Models)
}
