// SPDX-License-Identifier: Apache-2.0

package isolation_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/isolation"
	"github.com/berth-gpu/berth/nvmlx"
	"github.com/berth-gpu/berth/topology"
)

// gpuID is "GPU-a", "GPU-b" …
func gpuID(i int) topology.GPUID { return topology.GPUID(fmt.Sprintf("GPU-%c", 'a'+i)) }

// hostOf has one GPU for each minor; index i is GPU i.
func hostOf(minors ...nvmlx.Minor) isolation.Host {
	host := isolation.Host{Node: "node-1", Majors: isolation.Majors{UVM: 508}}
	host.Inventory.Driver, host.Inventory.CUDA = "580.95.05", "13.0"
	for i, minor := range minors {
		host.Inventory.GPUs = append(host.Inventory.GPUs, nvmlx.GPU{
			Index: nvmlx.Index(i), Minor: minor, UUID: gpuID(i), PCI: nvmlx.PCIAddress{Bus: uint8(i + 1)}, Model: "H100", MemoryMiB: 81559,
		})
	}
	return host
}

func genMinors(n int) *rapid.Generator[[]nvmlx.Minor] {
	return rapid.SliceOfNDistinct(rapid.Map(rapid.IntRange(0, int(nvmlx.MaxMinor)), func(i int) nvmlx.Minor { return nvmlx.Minor(i) }), n, n, rapid.ID)
}

// genLease draws a valid lease on GPUs 0 … n-1 of node-1.
func genLease(n int) *rapid.Generator[isolation.Lease] {
	return rapid.Custom(func(t *rapid.T) isolation.Lease {
		lease := isolation.Lease{
			ID:      rapid.StringMatching(`lease-[0-9]{1,2}`).Draw(t, "id"),
			Epoch:   rapid.Uint64Range(1, 3).Draw(t, "epoch"),
			Tenant:  rapid.SampledFrom([]string{"vision", "speech", "lab/α"}).Draw(t, "tenant"),
			Node:    "node-1",
			Trusted: rapid.Bool().Draw(t, "trusted"),
		}
		lease.DedicatedNode = rapid.IntRange(0, 3).Draw(t, "dedicated") == 0
		for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 1, n, rapid.ID).Draw(t, "gpus") {
			if (lease.Trusted || lease.DedicatedNode) && rapid.Bool().Draw(t, "share") {
				lease.Shares = append(lease.Shares, isolation.Share{GPU: gpuID(i), Milli: rapid.SampledFrom([]int64{1, 250, 500, 999}).Draw(t, "milli")})
			} else {
				lease.GPUs = append(lease.GPUs, gpuID(i))
			}
		}
		return lease
	})
}

func planOf(t testing.TB, host isolation.Host, lease isolation.Lease) isolation.Plan {
	t.Helper()
	plan, err := lease.Plan(host)
	require.NoError(t, err)
	return plan
}
