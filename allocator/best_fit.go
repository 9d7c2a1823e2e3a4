// SPDX-License-Identifier: Apache-2.0

package allocator

// BestFit keeps large free places whole: a pod goes where the least is left over. It prefers, in this order,
//
//  1. nodes that keep enough CPU for the GPUs left free on them, see KeepCPUMilli,
//  2. for a part of a GPU, the GPU on which the least stays free,
//  3. the node on which the least GPU share stays free,
//  4. the node on which the least CPU stays free,
//
// and then the least ordinal. Whole GPUs are taken from the lowest index up. The zero BestFit is ready for use.
// A BestFit is immutable and safe for concurrent use.
type BestFit struct {
	// KeepCPUMilli is the CPU that a node should keep for each GPU left free, in milli: what work commonly asks for beside
	// a GPU, since a GPU without CPU is as good as lost. Zero means 8,000; a negative value switches the preference off,
	// which is best fit as it is commonly understood. It is a preference only: no request is refused for it.
	KeepCPUMilli int64
}

// defaultKeepCPUMilli is measured on the openb lists by examples/simulate: 6,000 to 10,000 differ little on the default
// list, 12,000 is worse than none.
const defaultKeepCPUMilli = 8000

// Widths of the fields of a score, from the least significant one. 1,024 GPUs of 1,000 milli fit 20 bits.
const (
	cpuBits   = 31
	milliBits = 20
	gpuBits   = 10
)

// Name gives "best-fit".
func (BestFit) Name() string { return "best-fit" }

// Score packs the four preferences into one number.
func (b BestFit) Score(ask Ask, n *NodeState) int64 {
	milli := n.GPUMilli() - ask.Pod.Milli()
	cpu := n.CPUMilli() - ask.Pod.CPUMilli
	var lost, rest int64
	if b.starves(milli, cpu) {
		lost = 1
	}
	if ask.Pod.GPUMilli > 0 {
		_, rest = n.Tightest(ask.Pod.GPUMilli)
	}
	score := lost
	score = score<<gpuBits | rest
	score = score<<milliBits | milli
	return score<<cpuBits | min(cpu, 1<<cpuBits-1)
}

// starves says whether what stays free of CPU is too little for what stays free of the GPUs.
func (b BestFit) starves(milli, cpu int64) bool {
	keep := b.KeepCPUMilli
	if keep == 0 {
		keep = defaultKeepCPUMilli
	}
	return keep > 0 && cpu*gpuMilli < milli*min(keep, MaxAmount) // 2⁵⁰ and 2⁶⁰ at most
}

// Pick takes the tightest GPU for a part of one, and the lowest free ones for whole GPUs.
func (BestFit) Pick(ask Ask, n *NodeState, dst []int) []int {
	if ask.Pod.GPUMilli > 0 {
		if g, _ := n.Tightest(ask.Pod.GPUMilli); g >= 0 {
			dst = append(dst, g)
		}
		return dst
	}
	return n.Lowest(ask.Pod.GPUs, dst)
}
