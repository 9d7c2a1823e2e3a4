// SPDX-License-Identifier: Apache-2.0

// Package topology says what the hardware is: nodes, the GPUs inside them, and the racks, network pods and NVLink domains
// that they are in.
//
// # Model
//
//   - A [Cluster] is the hardware at one moment, an immutable value; [Cluster.Edit] gives the next one.
//   - A node is one machine. Its [Shape] says what it is made of: GPUs of one [GPUModel], their links, NUMA nodes, rails, CPU
//     and memory. Nodes made alike share one shape.
//   - A [Level] is a kind of place, coarse to fine: region, zone, fabric, pod, leaf, block, rack, and then node, numa,
//     nvswitch, gpu, mig. [Config] may list other levels above the node.
//   - A [Domain] is one such place with its nodes. It is named by its level and the path of names down to it, so rack 7 of
//     pod a and rack 7 of pod b are two domains. A node that lacks a level is in no domain of it.
//   - A [Family] is an overlay, another tree over the same nodes that cuts across the first, such as power feeds.
//   - An ordinal ([NodeIndex], [DomainIndex], [LevelIndex]) is a small number that stands for a name in arrays; it outlives
//     edits.
//
// A cluster comes from a [Config] through [New] or [NewBuilder]; from JSON ([Decode]), the openb trace ([ReadOpenB]) or
// Kubernetes labels ([FromLabels]); or from the plans of [FatTree], [NVL72] and the DGX and HGX functions.
//
// # Usage
//
//	cfg, err := topology.FatTree{Pods: 2, LeavesPerPod: 4, NodesPerLeaf: 8, Shape: topology.DGXH100()}.Config()
//	if err != nil {
//		return err
//	}
//	c, err := topology.New(cfg)
//	if err != nil {
//		return err // every mistake at once, each with its field and value
//	}
//	a, _ := c.Index("pod-000-leaf-000-node-000")
//	b, _ := c.Index("pod-000-leaf-003-node-007")
//	leaf, _ := c.LevelIndex(topology.LevelLeaf)
//	common, _ := c.Lowest(a, b)
//	fmt.Println(c.Count(), "nodes,", c.GPUCount(), "GPUs")
//	fmt.Println(c.Domain(c.Ancestor(a, leaf)).ID, "and", c.Domain(c.Ancestor(b, leaf)).ID, "meet at", c.Levels("")[common])
//
//	next, err := c.Edit().Remove("pod-000-leaf-000-node-000").Build()
//	if err != nil {
//		return err
//	}
//	fmt.Println(next.Count(), "nodes,", next.Len(), "ordinals, version", next.Version())
//
// # Invariants
//
//   - T1. An edit never changes the ordinal of a node or of a domain; what left keeps its ordinal and is not present.
//   - T2. An ordinal is never given to another name; a node that joins again under its old id gets its old ordinal.
//   - T3. A domain holds exactly the present nodes whose path leads to it; a node lies in at most one domain of a level, and
//     in none of a level that it lacks; the parent of a domain is the domain of its nodes at the next coarser level they have.
//   - T4. Membership depends on paths alone, not on the order in which nodes are listed.
//   - T5. Lowest is the finest level of the primary family, and LowestIn of any family, at which the ancestors of two nodes
//     are one domain.
//   - T6. A mistake yields an error and no cluster, and leaves the cluster that was edited as it was; all mistakes are
//     reported together.
//   - T7. Decode of an encoded cluster has the same ordinals, the same answers and the same bytes; equal input gives equal
//     bytes.
//   - T8. An edit that changes nothing gives back the same cluster; any other raises Version by one.
//   - T9. Ids are unique: of nodes, of the GPUs of present nodes, of the domains of a level.
//   - T10. No query and no reader panics, whatever it is given: a nil [Cluster], a nil [Shape] and a zero [Editor] included.
//
// # Concurrency
//
// A [Cluster] and a [Shape] are immutable and safe for concurrent use. Builders, editors and plain data may be read by many
// goroutines while nobody changes them. The package starts no goroutine, reads no clock and does no input or output of its own.
//
// # Errors and reasons
//
// Every mistake is a [FieldError]: the line or field, the value, what to do, and as its reason one of [ErrInvalid],
// [ErrUnknown], [ErrDuplicate], [ErrConflict], [ErrSyntax], [ErrTooLarge]. Mistakes arrive joined; [errors.Is] finds the
// reasons and [errors.AsType] the first FieldError. Readers list the first 100 and count the rest. Queries have no errors.
//
// # Complexity
//
// With n nodes, g GPUs that have ids, l levels and k changed nodes: New O(n·l + g·log g); Edit O(n·l + g) in plain memory
// moves, plus O(k·l) work and, for each domain that changes, O(its nodes); Ancestor O(1); Lowest, LowestIn and Distance O(l); Index O(1);
// FindGPU O(log g). Ancestor, Lowest, LowestIn, Distance and the iterators over domains allocate nothing per element.
//
// # Limits and non-goals
//
// A node has up to [MaxGPUsPerNode] GPUs of one model; a cluster has up to [MaxNodes] node ordinals, departed ones included,
// and [MaxLevels] levels, fixed when it is built. Names have up to [MaxNameBytes] bytes. Torus and ring fabrics are not
// modelled. What is free, broken or reserved is not hardware: see packages allocator, health and reservation. What slices a
// GPU can be cut into is not said here, only whether it can.
package topology
