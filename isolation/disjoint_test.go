// SPDX-License-Identifier: Apache-2.0

package isolation_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/isolation"
	"github.com/berth-gpu/berth/topology"
)

// milliOf is what a lease holds of a GPU.
func milliOf(lease isolation.Lease, gpu topology.GPUID) (milli int64) {
	for _, id := range lease.GPUs {
		if id == gpu {
			return 1000
		}
	}
	for _, share := range lease.Shares {
		if share.GPU == gpu {
			return share.Milli
		}
	}
	return 0
}

// mayStandTogether says H3 in the plainest way: every pair of leases, and the sum on every GPU.
func mayStandTogether(leases []isolation.Lease, gpus int) bool {
	for g := range gpus {
		sum := int64(0)
		for _, lease := range leases {
			sum += milliOf(lease, gpuID(g))
		}
		if sum > 1000 {
			return false
		}
	}
	for i, a := range leases {
		for _, b := range leases[:i] {
			if a.ID == b.ID || a.Tenant != b.Tenant && (a.DedicatedNode || b.DedicatedNode) {
				return false
			}
			for g := range gpus {
				both := milliOf(a, gpuID(g)) > 0 && milliOf(b, gpuID(g)) > 0
				if both && a.Tenant != b.Tenant && !(a.Trusted && b.Trusted) {
					return false
				}
			}
		}
	}
	return true
}

// H3: Disjoint agrees with the naive model, and the order of plans changes no byte of its answer.
func TestDisjointH3(t *testing.T) {
	accepted, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "gpus")
		host := hostOf(genMinors(n).Draw(t, "minors")...)
		leases := rapid.SliceOfN(genLease(n), 0, 5).Draw(t, "leases")
		var plans []isolation.Plan
		for i := range leases {
			if rapid.IntRange(0, 4).Draw(t, "few") > 0 { // mostly one GPU each, so that many sets are fine
				leases[i].GPUs = leases[i].GPUs[:min(len(leases[i].GPUs), 1)]
				leases[i].Shares = leases[i].Shares[:min(len(leases[i].Shares), 1)]
			}
			plan, err := leases[i].Plan(host)
			require.NoError(t, err)
			plans = append(plans, plan)
		}
		err := isolation.Disjoint(plans)
		require.Equal(t, mayStandTogether(leases, n), err == nil, "%v", err)
		if err == nil {
			accepted++
			return
		}
		refused++
		require.ErrorIs(t, err, isolation.ErrOverlap)
		shuffled := isolation.Disjoint(rapid.Permutation(plans).Draw(t, "order"))
		require.ErrorIs(t, shuffled, isolation.ErrOverlap)
	})
	require.Positive(t, accepted)
	require.Positive(t, refused)
}

func TestDisjointReasons(t *testing.T) {
	lease := func(id, tenant string, change func(*isolation.Lease)) isolation.Lease {
		l := isolation.Lease{ID: id, Epoch: 1, Tenant: tenant, Node: "node-1"}
		change(&l)
		return l
	}
	whole := func(gpus ...int) func(*isolation.Lease) {
		return func(l *isolation.Lease) {
			for _, i := range gpus {
				l.GPUs = append(l.GPUs, gpuID(i))
			}
		}
	}
	share := func(milli int64, trusted bool) func(*isolation.Lease) {
		return func(l *isolation.Lease) {
			l.Shares = []isolation.Share{{GPU: gpuID(0), Milli: milli}}
			l.Trusted, l.DedicatedNode = trusted, !trusted
		}
	}
	dedicated := func(l *isolation.Lease) { whole(1)(l); l.DedicatedNode = true }
	second := func(l *isolation.Lease) { whole(1)(l); l.Epoch = 2 }
	for name, c := range map[string]struct {
		leases []isolation.Lease
		reason isolation.OverlapReason
		text   string
	}{
		"lease twice":     {[]isolation.Lease{lease("a", "t", whole(0)), lease("a", "t", second)}, isolation.OverlapLease, "drop the plan of the older epoch"},
		"dedicated":       {[]isolation.Lease{lease("b", "t", whole(0)), lease("a", "u", dedicated)}, isolation.OverlapNode, `leases "a" and "b" on node "node-1"`},
		"gpu twice":       {[]isolation.Lease{lease("b", "t", whole(0, 1)), lease("a", "t", whole(1))}, isolation.OverlapGPU, `GPU "GPU-b"`},
		"whole and share": {[]isolation.Lease{lease("a", "t", whole(0)), lease("b", "t", share(1, true))}, isolation.OverlapGPU, `GPU "GPU-a"`},
		"above a whole":   {[]isolation.Lease{lease("a", "t", share(600, true)), lease("b", "u", share(500, true))}, isolation.OverlapMilli, "lower a share"},
		"three above a whole": {[]isolation.Lease{
			lease("a", "t", share(400, true)), lease("b", "u", share(400, true)), lease("c", "v", share(400, true)),
		}, isolation.OverlapMilli, `leases "a" and "c"`},
		"untrusted comes last": {[]isolation.Lease{
			lease("a", "t", share(1, true)), lease("b", "u", share(1, true)), lease("c", "t", share(1, false)),
		}, isolation.OverlapTenant, `leases "b" and "c"`},
		"behind two others": {[]isolation.Lease{
			lease("a", "t", share(1, false)), lease("b", "u", share(1, true)), lease("c", "v", share(1, false)), lease("d", "t", share(1, true)),
		}, isolation.OverlapTenant, `leases "c" and "d"`},
		"behind another owner": {[]isolation.Lease{
			lease("a", "t", dedicated), lease("b", "u", func(l *isolation.Lease) { whole(0)(l); l.DedicatedNode = true }), lease("c", "t", share(1, true)),
		}, isolation.OverlapNode, `leases "b" and "c"`},
		"a whole in the middle": {[]isolation.Lease{
			lease("a", "t", share(1, true)), lease("b", "t", whole(0)), lease("c", "t", share(1, true)),
		}, isolation.OverlapGPU, `leases "b" and "c"`},
		"hidden among trusted": {[]isolation.Lease{
			lease("a", "t", share(1, true)), lease("b", "t", share(1, false)), lease("c", "t", share(1, true)), lease("d", "u", share(1, true)),
		}, isolation.OverlapTenant, `leases "b" and "d"`},
	} {
		t.Run(name, func(t *testing.T) {
			var plans []isolation.Plan
			for _, l := range c.leases {
				plans = append(plans, planOf(t, hostOf(4, 2), l))
			}
			err := isolation.Disjoint(plans)
			require.ErrorIs(t, err, isolation.ErrOverlap)
			require.ErrorContains(t, err, string(c.reason)+": leases")
			require.Regexp(t, string(c.reason)+".*"+c.text, err.Error())
		})
	}
}

// H3: a minor that moved between two plans gives one device file to two GPUs; the ids alone would not show it.
func TestDisjointFindsMovedMinorH3(t *testing.T) {
	lease := func(id string, gpu int) isolation.Lease {
		return isolation.Lease{ID: id, Epoch: 1, Tenant: id, Node: "node-1", GPUs: []topology.GPUID{gpuID(gpu)}}
	}
	before, after := planOf(t, hostOf(0, 1), lease("a", 0)), planOf(t, hostOf(1, 0), lease("b", 1))
	err := isolation.Disjoint([]isolation.Plan{before, after})
	var overlap *isolation.OverlapError
	require.ErrorAs(t, err, &overlap)
	require.Equal(t, &isolation.OverlapError{
		Reason: isolation.OverlapDevice, Node: "node-1", Leases: [2]string{"a", "b"}, GPU: "GPU-b", Path: "/dev/nvidia0",
	}, overlap)
	data, err := json.Marshal(overlap)
	require.NoError(t, err)
	require.JSONEq(t, `{"reason":"device-twice","node":"node-1","leases":["a","b"],"gpu":"GPU-b","path":"/dev/nvidia0"}`, string(data))

	elsewhere, host := lease("b", 1), hostOf(1, 0) // the same numbers on another node are another file
	elsewhere.Node, host.Node = "node-2", "node-2"
	after = planOf(t, host, elsewhere)
	require.NoError(t, isolation.Disjoint([]isolation.Plan{before, after}))
	require.ErrorIs(t, isolation.Disjoint([]isolation.Plan{{}}), isolation.ErrInvalidLease)
	require.NoError(t, isolation.Disjoint(nil))
}

// H3: one GPU under two minors, or on two nodes, is as wrong as two GPUs under one; the third of three finds the one it collides with.
func TestDisjointFindsTwoFilesOfAGPUH3(t *testing.T) {
	lease := func(id string, gpu int) isolation.Lease {
		return isolation.Lease{ID: id, Epoch: 1, Tenant: "t", Node: "node-1", Trusted: true, Shares: []isolation.Share{{GPU: gpuID(gpu), Milli: 10}}}
	}
	device := func(a, b string, gpu topology.GPUID, path string) string {
		return (&isolation.OverlapError{Reason: isolation.OverlapDevice, Node: "node-1", Leases: [2]string{a, b}, GPU: gpu, Path: path}).Error()
	}
	err := isolation.Disjoint([]isolation.Plan{planOf(t, hostOf(0), lease("a", 0)), planOf(t, hostOf(1), lease("b", 0))})
	require.EqualError(t, err, device("a", "b", "GPU-a", "/dev/nvidia1"))
	err = isolation.Disjoint([]isolation.Plan{
		planOf(t, hostOf(0, 1), lease("a", 0)), planOf(t, hostOf(1, 0), lease("b", 1)), planOf(t, hostOf(0, 1), lease("c", 0)),
	})
	require.EqualError(t, err, device("a", "b", "GPU-b", "/dev/nvidia0")+"\n"+device("b", "c", "GPU-a", "/dev/nvidia0"))
	elsewhere, host := lease("b", 0), hostOf(0)
	elsewhere.Node, host.Node = "node-2", "node-2"
	err = isolation.Disjoint([]isolation.Plan{planOf(t, hostOf(0), lease("a", 0)), planOf(t, host, elsewhere)})
	require.ErrorContains(t, err, "device-twice")
}
