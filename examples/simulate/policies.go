// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/berth-gpu/berth/allocator"

// SimBestFit is the policy "BestFit" of the USENIX ATC 2023 simulator, by its published definition: a node's score is
// 100 × (1 - ½ CPU left / 128 cores - ½ GPU left / 8 GPUs), cut to whole numbers, the highest wins, and among equals the
// first of a random order of the nodes, which here the seed gives. The pod then gets the GPU with the least left.
//
// Cut to whole numbers, 100 × (1 - ½ c/128000 - ½ m/8000) is 100 less (c + 16 m) / 2560 rounded up.
// A SimBestFit is immutable and safe for concurrent use.
type SimBestFit struct{ Seed int64 }

// Name gives "sim-best-fit".
func (SimBestFit) Name() string { return "sim-best-fit" }

// Score gives the rounded part first, then the random order.
func (s SimBestFit) Score(ask allocator.Ask, n *allocator.NodeState) int64 {
	left := n.CPUMilli() - ask.Pod.CPUMilli + 16*(n.GPUMilli()-ask.Pod.Milli())
	order := mix(uint64(s.Seed), uint64(n.Node())) >> 33
	return (left+2559)/2560<<31 | int64(order)
}

// Pick takes the tightest GPU, or the first whole ones.
func (SimBestFit) Pick(ask allocator.Ask, n *allocator.NodeState, dst []int) []int {
	if ask.Pod.GPUMilli == 0 {
		return n.Lowest(ask.Pod.GPUs, dst)
	}
	if g, _ := n.Tightest(ask.Pod.GPUMilli); g >= 0 {
		dst = append(dst, g)
	}
	return dst
}

// Random puts a pod on any node that takes it, and a part of a GPU on any GPU that has it. The seed, and how many
// placements there are, give the choice. A Random is immutable and safe for concurrent use.
type Random struct{ Seed int64 }

// Name gives "random".
func (Random) Name() string { return "random" }

// Score is a number without meaning, another one for the next placement.
func (p Random) Score(ask allocator.Ask, n *allocator.NodeState) int64 {
	return int64(mix(uint64(p.Seed), uint64(ask.Placed), uint64(n.Node())) >> 1)
}

// Pick takes any GPU.
func (p Random) Pick(ask allocator.Ask, n *allocator.NodeState, dst []int) []int {
	if ask.Pod.GPUMilli == 0 {
		return n.Lowest(ask.Pod.GPUs, dst)
	}
	best, gpu := uint64(0), -1
	for g := range n.GPUs() {
		if n.Free(g) < ask.Pod.GPUMilli {
			continue
		}
		if h := mix(uint64(p.Seed), uint64(ask.Placed), uint64(n.Node()), uint64(g)+1); gpu < 0 || h < best {
			best, gpu = h, g
		}
	}
	if gpu >= 0 {
		dst = append(dst, gpu)
	}
	return dst
}

// mix hashes numbers with the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
func mix(v ...uint64) uint64 {
	var h uint64
	for _, x := range v {
		h += x + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}
