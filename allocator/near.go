// SPDX-License-Identifier: Apache-2.0

package allocator

import "cmp"

// near finds the node that lacks the least for one more pod of the group that failed, its other pods being in place. Of
// nodes that lack equally the one that nothing else stands against wins, then the least ordinal.
func (q *search) near(failed *failure) *Near {
	pod := q.req.Groups[failed.group].Pod
	var best Near
	var bestAgainst int
	found := false
	for n := range q.nodes() {
		if !q.couldHold(n, pod) {
			continue
		}
		x := q.missing(n, pod)
		against := 0
		if n.cordoned || !q.freeLongEnough(n) || !q.serves(n) {
			against = 1
		}
		if c := x.compare(&best); !found || c < 0 || c == 0 && against < bestAgainst {
			best, bestAgainst, found = x, against, true
		}
	}
	if !found {
		return nil
	}
	return &best
}

// couldHold says whether the hardware of a node would hold the pod beside what this request has put there itself.
func (q *search) couldHold(n *node, pod Pod) bool {
	if (pod.GPUs > 0 || pod.GPUMilli > 0) && q.req.Models != nil && !q.accepts(n.shape) {
		return false
	}
	base := q.s.at(n.ordinal)
	own := func(g int) int64 { return int64(n.used[g] - base.used[g]) }
	whole, share := int64(0), false
	for g := range n.used {
		if own(g) == 0 {
			whole++
		}
		share = share || gpuMilli-own(g) >= pod.GPUMilli
	}
	return whole >= pod.GPUs && (share || pod.GPUMilli == 0) &&
		n.shape.CPUMilli()-(base.cpu-n.cpu) >= pod.CPUMilli && n.shape.MemoryMiB()-(base.memory-n.memory) >= pod.MemoryMiB
}

// missing gives what a node lacks for a pod.
func (q *search) missing(n *node, pod Pod) Near {
	x := Near{
		Node:      q.s.cluster.ID(n.ordinal),
		Tenant:    n.owner(),
		GPUs:      max(pod.GPUs-int64(n.whole), 0),
		GPUMilli:  max(pod.GPUMilli-n.widest, 0),
		CPUMilli:  max(pod.CPUMilli-n.cpu, 0),
		MemoryMiB: max(pod.MemoryMiB-n.memory, 0),
	}
	for _, f := range n.failed {
		if f {
			x.FailedGPUs++
		}
	}
	return x
}

// compare orders by what is missing: GPUs first, since they are what is scarce.
func (x *Near) compare(o *Near) int {
	return cmp.Or(cmp.Compare(x.GPUs, o.GPUs), cmp.Compare(x.GPUMilli, o.GPUMilli),
		cmp.Compare(x.CPUMilli, o.CPUMilli), cmp.Compare(x.MemoryMiB, o.MemoryMiB))
}
