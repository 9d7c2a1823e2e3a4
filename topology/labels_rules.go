// SPDX-License-Identifier: Apache-2.0

package topology

// Well-known labels: kubernetes.io, "Well-Known Labels, Annotations and Taints".
func placeRules() []LevelRule {
	return []LevelRule{
		{Level: LevelRegion, Keys: []string{"topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"}},
		{Level: LevelZone, Keys: []string{"topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"}},
	}
}

func blockRule(keys ...string) LevelRule {
	return LevelRule{Level: LevelBlock, Keys: append(keys, labelClique), Unique: true}
}

// RulesNVIDIA reads region, zone and the NVLink clique that GPU Feature Discovery publishes; the clique is the block.
func RulesNVIDIA() LabelRules { return LabelRules{Levels: append(placeRules(), blockRule())} }

// RulesKueue reads the levels of a Kueue Topology object: its spec.levels[].nodeLabel, in that order, coarse to fine. Each
// key becomes a level of the same name, so that the level that a workload asks for in an annotation is found under its own
// name; only the well-known labels of region and zone, and the NVIDIA clique, become [LevelRegion], [LevelZone] and
// [LevelBlock]. kubernetes.io/hostname, which Kueue allows as the last level, is the node itself and is left out.
// Source: Kueue documentation, "Topology Aware Scheduling" (v0.17).
func RulesKueue(keys ...string) LabelRules {
	known := map[string]Level{
		"topology.kubernetes.io/region": LevelRegion,
		"topology.kubernetes.io/zone":   LevelZone,
		labelClique:                     LevelBlock,
	}
	out := LabelRules{}
	for i, key := range keys {
		if key == "kubernetes.io/hostname" && i == len(keys)-1 {
			continue
		}
		level, ok := known[key]
		if !ok {
			level = Level(key)
		}
		out.Levels = append(out.Levels, LevelRule{Level: level, Keys: []string{key}, Unique: key == labelClique})
	}
	return out
}

// RulesEC2 reads the network layers of Amazon EC2, of which layer 1 is the top. Instance types have three or four of them
// (fabric, pod, leaf, and network-node-layer-4 below); an UltraServer, or the NVIDIA clique, is the block.
// Source: EC2 User Guide "Amazon EC2 topology"; labels of cloud-provider-aws; SageMaker HyperPod "Topology-aware scheduling".
func RulesEC2() LabelRules {
	const layer = "topology.k8s.aws/network-node-layer-"
	return LabelRules{Levels: append(placeRules(),
		LevelRule{Level: LevelFabric, Keys: []string{layer + "1"}, Unique: true},
		LevelRule{Level: LevelPod, Keys: []string{layer + "2"}, Unique: true},
		LevelRule{Level: LevelLeaf, Keys: []string{layer + "3"}, Unique: true},
		LevelRule{Level: "network-node-layer-4", Keys: []string{layer + "4"}, Unique: true},
		blockRule("topology.k8s.aws/ultraserver-id"))}
}

// RulesGKE reads the place that Google Compute Engine publishes for densely placed capacity: what Google calls block is the
// pod, a sub-block the leaf, a host a level of its own below the block (the NVIDIA clique). The topology.gke.io keys are the
// older names that the A3 scripts set. cloud.google.com/gke-placement-group is a request, not a place, and stays a label.
// Source: GKE documentation, "Schedule GKE workloads with Topology Aware Scheduling".
func RulesGKE() LabelRules {
	const gce, old = "cloud.google.com/gce-topology-", "topology.gke.io/"
	return LabelRules{Levels: append(placeRules(),
		LevelRule{Level: LevelPod, Keys: []string{gce + "block", old + "cluster"}},
		LevelRule{Level: LevelLeaf, Keys: []string{gce + "subblock", old + "rack"}},
		blockRule(),
		LevelRule{Level: "host", Keys: []string{gce + "host", old + "host"}})}
}

// RulesNebius reads the InfiniBand tiers of Nebius AI Cloud: the GPU cluster is the fabric, tier 2 (spines) the pod, tier 1
// (leaves) the leaf; tier 0, set only where NVLink crosses nodes, or the NVIDIA clique, is the block.
// Source: Nebius documentation, "Topology-aware scheduling for GPU workloads in Managed Service for Kubernetes" (2026).
func RulesNebius() LabelRules {
	const nebius = "topology.nebius.com/"
	return LabelRules{Levels: append(placeRules(),
		LevelRule{Level: LevelFabric, Keys: []string{nebius + "gpu-cluster-id"}, Unique: true},
		LevelRule{Level: LevelPod, Keys: []string{nebius + "tier-2"}},
		LevelRule{Level: LevelLeaf, Keys: []string{nebius + "tier-1"}},
		blockRule(nebius+"tier-0"))}
}

// RulesCoreWeave reads the backend network of CoreWeave: fabric, superpod (the pod), leaf group (the leaf), NVLink domain
// (the block) and rack. The ib.coreweave.cloud keys are the InfiniBand-only names of the same facts.
// Source: CoreWeave documentation, "InfiniBand and RoCE labels" (2026); ds.coreweave.com/nvlink.domain from its Kueue
// topologies.
func RulesCoreWeave() LabelRules {
	const backend, ib = "backend.coreweave.cloud/", "ib.coreweave.cloud/"
	return LabelRules{Levels: append(placeRules(),
		LevelRule{Level: LevelFabric, Keys: []string{backend + "fabric", ib + "fabric"}},
		LevelRule{Level: LevelPod, Keys: []string{backend + "superpod", ib + "superpod"}},
		LevelRule{Level: LevelLeaf, Keys: []string{backend + "leafgroup", ib + "leafgroup"}},
		blockRule("ds.coreweave.com/nvlink.domain"),
		LevelRule{Level: LevelRack, Keys: []string{"node.coreweave.cloud/rack"}})}
}
