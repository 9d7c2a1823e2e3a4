// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/quota"
)

// Who lends what: the lenders of one parent share by what they could lend, after
// the parent's own nominal, and all they lend is what somebody borrows.
func TestLent(t *testing.T) {
	for name, c := range map[string]struct {
		tenants []quota.Tenant
		use     map[string]int64
		lent    map[string]int64
	}{
		"in proportion to what is idle": {
			[]quota.Tenant{{Name: "org"}, leaf("a", "org", 10), leaf("b", "org", 40), leaf("robotics", "org", 0)},
			map[string]int64{"robotics": 8, "b": 10}, map[string]int64{"a": 2, "b": 6}},
		"whole numbers, by name": {
			[]quota.Tenant{{Name: "org"}, leaf("a", "org", 1), leaf("b", "org", 1), leaf("c", "org", 1), leaf("d", "org", 0)},
			map[string]int64{"d": 2}, map[string]int64{"b": 1, "c": 1}},
		"the parent's own first": {
			[]quota.Tenant{leaf("org", "", 5), leaf("a", "org", 10), leaf("robotics", "org", 0)},
			map[string]int64{"robotics": 8}, map[string]int64{"a": 3}},
		"to the parent itself": {
			[]quota.Tenant{{Name: "org"}, leaf("a", "org", 10)},
			map[string]int64{"org": 4}, map[string]int64{"a": 4}},
		"up to the lend limit": {
			[]quota.Tenant{{Name: "org"}, leaf("a", "org", 10, unlimited, quota.AtMost(1)), leaf("b", "org", 10), leaf("c", "org", 0)},
			map[string]int64{"c": 11}, map[string]int64{"a": 1, "b": 10}},
		"across levels": {
			[]quota.Tenant{{Name: "org"}, {Name: "left", Parent: "org"}, leaf("a", "left", 6), leaf("b", "left", 2), {Name: "right", Parent: "org"}, leaf("c", "right", 0)},
			map[string]int64{"b": 4, "c": 2}, map[string]int64{"left": 2, "a": 4}},
		"nobody borrows": {
			[]quota.Tenant{{Name: "org"}, leaf("a", "org", 10), leaf("b", "org", 10)},
			map[string]int64{"a": 10}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			l := must(t, c.tenants...)
			for tenant, n := range c.use {
				_, err := l.Book(at(0), quota.Request{ID: tenant, Tenant: tenant, Amounts: some(gpu, n), Window: over(0, 60), Class: quota.Preemptible})
				require.NoError(t, err)
			}
			for _, tn := range c.tenants {
				u, _ := l.Usage(tn.Name, gpu, at(0))
				require.Equal(t, c.lent[tn.Name], u.Lent, tn.Name)
				u, _ = l.Usage(tn.Name, gpu, at(60))
				require.Zero(t, u.Lent, "%s, when all have ended", tn.Name)
			}
		})
	}
}

// Q3: what Usage calls lent and borrowed is a flow that serves all charges, and
// nobody hands on what nobody uses.
func TestLentIsAFlow(t *testing.T) {
	lending := 0
	rapid.Check(t, func(t *rapid.T) {
		tenants := drawTree(t, 7)
		l, use := must(t, tenants...), map[string]int64{}
		for _, q := range book(t, l, tenants, 12, classes...) {
			use[q.Tenant] += q.Amounts[0].N
		}
		usage := map[string]quota.Usage{}
		for _, tn := range tenants {
			usage[tn.Name], _ = l.Usage(tn.Name, gpu, at(0))
		}
		for _, tn := range tenants {
			u, lim := usage[tn.Name], tn.Limits[0]
			require.LessOrEqual(t, u.Lent, min(u.Idle, most(lim.Lend)), tn.Name)
			require.LessOrEqual(t, u.Borrowed, most(lim.Borrow), tn.Name)
			require.True(t, tn.Parent != "" || u.Lent == 0 && u.Borrowed == 0, "a root hands nothing on")
			var in, out int64
			for _, k := range tenants {
				if k.Parent == tn.Name {
					in, out = in+usage[k.Name].Lent, out+usage[k.Name].Borrowed
				}
			}
			have, need := lim.Nominal+u.Borrowed+in, use[tn.Name]+u.Lent+out
			require.LessOrEqual(t, need, have, "%s: %+v", tn.Name, u)
			if in > 0 {
				lending++
				require.Equal(t, need, have, "%s is handed what nobody uses", tn.Name)
			}
		}
	})
	require.Positive(t, lending)
}

// Q8: shares of the greatest sums do not wrap, and add up.
func TestLentOfGreatSums(t *testing.T) {
	tenants := []quota.Tenant{{Name: "org"}, leaf("x", "org", 0)}
	for i := range 3000 {
		tenants = append(tenants, leaf(fmt.Sprint("t", i), "org", quota.MaxAmount))
	}
	l := must(t, tenants...)
	for i := range 1001 {
		_, err := l.Book(at(0), quota.Request{ID: fmt.Sprint(i), Tenant: "x", Amounts: some(gpu, quota.MaxAmount), Window: over(0, 60), Class: quota.Preemptible})
		require.NoError(t, err)
	}
	var sum int64
	for i := range 3000 {
		u, _ := l.Usage(fmt.Sprint("t", i), gpu, at(0))
		require.InDelta(t, float64(quota.MaxAmount)*1001/3000, float64(u.Lent), 1)
		sum += u.Lent
	}
	require.Equal(t, int64(1001)*quota.MaxAmount, sum)
}
