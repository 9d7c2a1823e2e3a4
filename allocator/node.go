// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"slices"

	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/topology"
)

// wholeNode is the GPU index of a hold on a whole node.
const wholeNode = -1

// hold is one owner's reason to keep new work off a node, or off one of its GPUs.
type hold struct {
	gpu    int // wholeNode, or the index of a failed GPU
	owner  string
	reason string
}

func (h hold) before(o hold) bool {
	return h.gpu < o.gpu || h.gpu == o.gpu && h.owner < o.owner
}

// node is all that the fleet knows of one ordinal. What a scan reads comes first.
type node struct {
	NodeState
	cordoned  bool
	freeUntil int64  // tick; tick.Forever when nothing is booked
	reserved  string // tenant that alone may use the node; "" when nobody was given it
	tenant    string // under DedicatedNodes the tenant whose pods are here
	pods      int    // pods here
	holds     []hold // by gpu and owner; replaced, never written
}

// newNode gives an empty, healthy node.
func newNode(i topology.NodeIndex, shape *topology.Shape) node {
	n := node{NodeState: NodeState{ordinal: i}, freeUntil: tick.Forever}
	n.setShape(shape)
	return n
}

// setShape gives the node other hardware; nil: the node left. Used amounts stay.
func (n *node) setShape(shape *topology.Shape) {
	n.cpu += shape.CPUMilli() - n.shape.CPUMilli()
	n.memory += shape.MemoryMiB() - n.shape.MemoryMiB()
	n.shape = shape
	if shape != nil {
		used := make([]int16, shape.GPUs())
		copy(used, n.used)
		n.used = used
	}
	n.setFailed()
}

// setFailed derives what the holds say: cordoned, failed GPUs, and the sums over the healthy ones.
func (n *node) setFailed() {
	n.cordoned, n.failed = false, nil
	for _, h := range n.holds {
		switch {
		case h.gpu == wholeNode:
			n.cordoned = true
		case h.gpu < len(n.used):
			if n.failed == nil {
				n.failed = make([]bool, len(n.used))
			}
			n.failed[h.gpu] = true
		}
	}
	n.sum()
}

// sum derives the sums over the healthy GPUs.
func (n *node) sum() {
	n.milli, n.whole, n.widest = 0, 0, 0
	if n.shape == nil {
		return
	}
	for g, used := range n.used {
		if n.broken(g) {
			continue
		}
		free := gpuMilli - int64(used)
		n.milli += free
		n.widest = max(n.widest, free)
		if used == 0 {
			n.whole++
		}
	}
}

// put adds a pod (sign 1) or takes it away (sign -1). The caller has checked that it fits.
func (n *node) put(pod Pod, gpus []int, sign int) {
	n.cpu -= int64(sign) * pod.CPUMilli
	n.memory -= int64(sign) * pod.MemoryMiB
	n.pods += sign
	if len(gpus) == 0 {
		return
	}
	share := int16(gpuMilli)
	if pod.GPUMilli > 0 {
		share = int16(pod.GPUMilli)
	}
	used := make([]int16, max(len(n.used), gpus[len(gpus)-1]+1))
	copy(used, n.used)
	for _, g := range gpus {
		used[g] += int16(sign) * share
	}
	n.used = used
	n.sum()
}

// holdAt finds the hold of an owner.
func (n *node) holdAt(gpu int, owner string) (int, bool) {
	return slices.BinarySearchFunc(n.holds, hold{gpu: gpu, owner: owner}, func(h, want hold) int {
		switch {
		case h.before(want):
			return -1
		case want.before(h):
			return 1
		}
		return 0
	})
}

// setHold adds a hold or replaces that of the same owner.
func (n *node) setHold(h hold) {
	holds := slices.Clone(n.holds)
	if at, ok := n.holdAt(h.gpu, h.owner); ok {
		holds[at] = h
	} else {
		holds = slices.Insert(holds, at, h)
	}
	n.holds = holds
	n.setFailed()
}

// dropHold takes away the hold of an owner.
func (n *node) dropHold(gpu int, owner string) {
	at, ok := n.holdAt(gpu, owner)
	if !ok {
		return
	}
	n.holds = slices.Delete(slices.Clone(n.holds), at, at+1)
	n.setFailed()
}

// plain says whether the node has nothing that a snapshot must keep beside its placements.
func (n *node) plain() bool {
	return len(n.holds) == 0 && n.reserved == "" && n.freeUntil == tick.Forever
}
