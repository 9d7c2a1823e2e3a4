// SPDX-License-Identifier: Apache-2.0

// Package allocator decides which GPUs exactly a piece of work gets: a gang as a whole or not at all, on whole GPUs, parts
// of GPUs, CPU and memory of a topology.Cluster, with the reason when there is no place.
//
// # Model
//
//   - A [Fleet] is the state: who has what on the nodes of one cluster. It is a forkable value, see ARCHITECTURE.md.
//   - A [Request] is a gang of one tenant: groups of equal pods. Its id is its request key.
//   - A [Plan] is a place for every pod; it holds nothing. A [Placement] is a committed plan.
//   - A [Policy] chooses among places; [BestFit] is the one that comes with the package.
//   - A [Cordon] is one owner's reason to keep new work off a node or a GPU.
//   - An [Explanation] says why a request has no place and what would help.
//
// # Usage
//
//	fleet, err := allocator.New(allocator.Config{Cluster: cluster})
//	if err != nil {
//		return err
//	}
//	placed, err := fleet.Place(now, allocator.Request{
//		ID: "train-7", Tenant: "vision",
//		Groups: []allocator.Group{{Name: "worker", Count: 2, Pod: allocator.Pod{GPUs: 8, CPUMilli: 64_000}}},
//	})
//	if e, ok := errors.AsType[*allocator.UnplaceableError](err); ok {
//		fmt.Println(e)
//		return nil
//	}
//	for _, a := range placed.Assignments {
//		fmt.Println(cluster.ID(a.Node), a.GPUs)
//	}
//	return fleet.Release(later, "train-7")
//
// # Invariants
//
// The tests quote these numbers. (The gaps are for what later releases add.)
//
//   - A1. No GPU has more than 1,000 milli in use, and no node more CPU or memory than it has.
//   - A2. Capacity = allocated + free + unavailable, on every node and in the totals, after whatever commands.
//   - A3. Release is the inverse of Commit: the state has the same bytes as before, but for the present.
//   - A4. A plan, a failed plan, a stale plan and every refused command leave the bytes unchanged.
//   - A5. Every pod of a request is placed, or none is; a request that waits holds nothing.
//   - A6. Every placement kept all constraints of its request when it was committed.
//   - A7. For a request of one group, a release, a node more, a pod less or a constraint less never turn yes into no.
//   - A8. A request of one group finds a place whenever there is one, whatever the policy. Groups of different pods are
//     placed one after the other, the largest pods first, so a mix that would fit can be missed.
//   - A13. Same state, instant and request, same plan; Fit, Plan, Explain and Place agree at every instant. Names do not matter; with nodes in another order the answer is the same, and
//     the place of one pod is as good by the policy's score.
//   - A15. The counts of an explanation add up to the number of nodes; never means not even on the empty, healthy fleet;
//     each help by itself makes the request fit.
//
// # Who may lie where
//
// Under [DedicatedNodes] a node with pods of one tenant takes no other tenant's; [Fleet.Reserve] gives a node to a tenant
// also while it is empty. Work inside a booking names its seats in Request.Nodes. Other work goes where the node is free for
// long enough, which the host says by [Fleet.SetFreeUntil]: a request with a declared end must end by then, open-ended work
// needs the node to be free now and leaves with notice. Cordons and failed GPUs bind new work only; what runs stays. A
// placement ends when it is released, not by itself.
//
// The snapshot names nodes by id and holds neither the cluster nor the policy, but the version and [Content] of the cluster:
// the host restores on its own copy of that one, keeps the topology.Change beside [ClusterChanged] in its log, and sets a
// policy other than BestFit by [Fleet.ForkWith].
//
// # Concurrency
//
// A [Fleet] may be read by many goroutines while nobody changes it; Fork is safe whenever reading is. Planning reads.
// Everything else is a value.
//
// # Errors and reasons
//
// Commands give wrapped sentinels: [ErrInvalid], [ErrUnknownNode], [ErrExists], [ErrUnplaceable], [ErrStale], [ErrInUse],
// [ErrCluster], [ErrPolicy], [ErrContradiction], [ErrCorrupt]. A refusal for want of room is an [*UnplaceableError] with an
// [Explanation] of stable [Reason] and [HelpKind] codes; For gives the view of a tenant.
//
// # Complexity
//
// With n nodes, p pods of the request and P placements: Fork O(1); Plan O(n) calls of Policy.Score for each group and
// O(p log n); Commit and Release O(p log P); queries O(log P) or O(1); Explain and a refusal at most eight Plans, and log n more where FreeUntil stands in the way; snapshot
// O(n + pods).
//
// # Limits and non-goals
//
// Amounts are at most 2⁴⁰ per pod and node, a request has at most 2²⁰ pods and names at most 1,024 models. GPU shares are of compute; the memory of a
// GPU is not divided. The package isolates nobody, starts nothing and decides no quota and no window: see packages
// isolation, quota and reservation.
package allocator
