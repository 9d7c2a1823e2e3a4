// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"github.com/berth-gpu/berth/topology"
)

// An Ask is what a policy may know of the pod it judges a node for. Names are not part of it.
// An Ask is immutable and safe for concurrent use.
type Ask struct {
	Pod Pod
	// Placed is how many placements the fleet holds: the same for all pods of one request, another one for the next
	// request. A policy that spreads at random mixes it with a seed of its own.
	Placed int
}

// A Policy chooses among the places that are possible; which ones are is never its business.
//
// The fleet calls Score for every node that has room for the pod, and takes the node with the least score; among equals the
// one of least ordinal. It then calls Pick for that node.
//
// The contract, which allocatortest.TestPolicy checks:
//
//  1. Pure: an answer depends on the arguments and on the policy's own constants, never on earlier calls, time or chance.
//  2. Pick appends to dst exactly Pod.GPUs GPUs that are entirely free, or the one GPU that has at least Pod.GPUMilli free,
//     or nothing, without repetition and in ascending order. Anything else is [ErrPolicy].
//  3. Neither method keeps or changes what it is given.
//
// A Policy is safe for concurrent use by multiple goroutines.
type Policy interface {
	// Name is for people; it is not part of any state.
	Name() string
	// Score says how well the pod lies on the node; the least score wins.
	Score(ask Ask, n *NodeState) int64
	// Pick appends the GPUs that the pod gets on the node.
	Pick(ask Ask, n *NodeState, dst []int) []int
}

// A NodeState is what a policy sees of one node: what it is made of and what is free on it.
// A NodeState may be read by many goroutines while nobody changes it.
type NodeState struct {
	ordinal topology.NodeIndex
	shape   *topology.Shape // nil: the node left the cluster
	cpu     int64           // free, milli
	memory  int64           // free, MiB
	milli   int64           // Σ free of the GPUs
	whole   int             // GPUs entirely free
	widest  int64           // most that is free on one GPU
	used    []int16         // milli in use, per GPU; replaced, never written, when shared
	failed  []bool          // per GPU; nil when all are healthy
}

// Node gives the ordinal of the node.
func (n *NodeState) Node() topology.NodeIndex { return n.ordinal }

// Shape gives what the node is made of.
func (n *NodeState) Shape() *topology.Shape { return n.shape }

// CPUMilli gives the free CPU in thousandths of a logical CPU.
func (n *NodeState) CPUMilli() int64 { return n.cpu }

// MemoryMiB gives the free host memory.
func (n *NodeState) MemoryMiB() int64 { return n.memory }

// GPUMilli gives the free share of all GPUs of the node together, in thousandths of a GPU.
func (n *NodeState) GPUMilli() int64 { return n.milli }

// WholeGPUs gives the number of GPUs that are entirely free.
func (n *NodeState) WholeGPUs() int { return n.whole }

// GPUs gives the number of GPUs of the node.
func (n *NodeState) GPUs() int { return len(n.used) }

// Free gives the free share of one GPU in thousandths; 0 for a failed GPU and for a number that is not one of the node's.
func (n *NodeState) Free(gpu int) int64 {
	if uint(gpu) >= uint(len(n.used)) || n.broken(gpu) {
		return 0
	}
	return gpuMilli - int64(n.used[gpu])
}

func (n *NodeState) broken(gpu int) bool { return n.failed != nil && n.failed[gpu] }

// Lowest appends the count lowest GPUs that are entirely free, fewer when there are fewer.
func (n *NodeState) Lowest(count int64, dst []int) []int {
	for g := 0; g < len(n.used) && count > 0; g++ {
		if n.used[g] == 0 && !n.broken(g) {
			dst = append(dst, g)
			count--
		}
	}
	return dst
}

// Tightest gives the GPU on which the least stays free after a share of milli, the lowest among equals, and what stays
// free there; -1 when no GPU has the share.
func (n *NodeState) Tightest(milli int64) (gpu int, rest int64) {
	gpu = -1
	for g, used := range n.used {
		left := gpuMilli - int64(used) - milli
		if left >= 0 && (gpu < 0 || left < rest) && !n.broken(g) {
			gpu, rest = g, left
		}
	}
	return gpu, rest
}
