// SPDX-License-Identifier: Apache-2.0

package allocatortest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/allocator/allocatortest"
)

func TestBestFitKeepsTheContract(t *testing.T) {
	for _, keep := range []int64{0, -1, 1 << 40} {
		allocatortest.TestPolicy(t, allocator.BestFit{KeepCPUMilli: keep})
	}
}

// spread is a policy of a user: the emptiest node, the emptiest GPU.
type spread struct{}

func (spread) Name() string                                        { return "spread" }
func (spread) Score(_ allocator.Ask, n *allocator.NodeState) int64 { return -n.GPUMilli() }
func (spread) Pick(a allocator.Ask, n *allocator.NodeState, dst []int) []int {
	if a.Pod.GPUMilli == 0 {
		return n.Lowest(a.Pod.GPUs, dst)
	}
	best := 0
	for g := range n.GPUs() {
		if n.Free(g) > n.Free(best) {
			best = g
		}
	}
	return append(dst, best)
}

func TestPolicyOfAUserKeepsTheContract(t *testing.T) { allocatortest.TestPolicy(t, spread{}) }

// greedy breaks the contract: it always picks GPU 0.
type greedy struct{ spread }

func (greedy) Pick(a allocator.Ask, _ *allocator.NodeState, dst []int) []int {
	for range a.Pod.GPUs {
		dst = append(dst, 0)
	}
	return dst
}

func TestBrokenPolicyIsFoundOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, err := allocator.New(allocator.Config{Cluster: allocatortest.Clusters().Draw(t, "cluster"), Policy: greedy{}})
		require.NoError(t, err)
		r := allocator.Request{ID: "a", Tenant: "ants", Groups: []allocator.Group{{Count: 1, Pod: allocator.Pod{GPUs: 2}}}}
		if _, err = f.ForkWith(spread{}).Plan(allocatortest.Start, r); err == nil {
			_, err = f.Plan(allocatortest.Start, r)
			require.ErrorIs(t, err, allocator.ErrPolicy)
		}
	})
}
