// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/quota"
)

var zero = quota.AtMost(0)

func leaf(name, parent string, n int64, bounds ...quota.Bound) quota.Tenant {
	return quota.Tenant{Name: name, Parent: parent, Limits: []quota.Limit{limit(n, bounds...)}}
}

// Right answers known from public reports: what is the most that a tenant can
// get while everybody else is idle. The numbers of scenarios only name them.
func TestScenariosOfTheMost(t *testing.T) {
	orgs := []quota.Tenant{
		{Name: "root"}, leaf("org1", "root", 0, zero), leaf("a", "org1", 4), leaf("b", "org1", 4),
		leaf("org2", "root", 0, zero, quota.AtMost(3)), leaf("c", "org2", 6, unlimited, quota.AtMost(2)), leaf("special", "root", 0),
	}
	for name, c := range map[string]struct {
		tenants []quota.Tenant
		want    map[string]int64
	}{
		"1 idle nominal is lent":              {[]quota.Tenant{{Name: "p"}, leaf("a", "p", 9), leaf("b", "p", 12)}, map[string]int64{"a": 21, "b": 21}},
		"2 a borrow limit binds the borrower": {[]quota.Tenant{{Name: "p"}, leaf("a", "p", 9, quota.AtMost(1)), leaf("b", "p", 12)}, map[string]int64{"a": 10, "b": 21}},
		"3 a lend limit binds the lender":     {[]quota.Tenant{{Name: "p"}, leaf("a", "p", 9), leaf("b", "p", 12, unlimited, quota.AtMost(1))}, map[string]int64{"a": 10, "b": 21}},
		"4 limits at every level":             {orgs, map[string]int64{"a": 8, "c": 6, "special": 10}},
	} {
		t.Run(name, func(t *testing.T) {
			l := must(t, c.tenants...)
			for tenant, want := range c.want {
				require.Equal(t, want, l.Available(at(0), tenant, gpu, quota.Preemptible, over(0, -1)), tenant)
				u, _ := l.Usage(tenant, gpu, at(0))
				require.Equal(t, want, u.Available, tenant)
			}
		})
	}
}

// Scenario 3, second half: what b keeps private is no loss for a.
func TestScenario3NominalStays(t *testing.T) {
	l := must(t, quota.Tenant{Name: "p"}, leaf("a", "p", 9), leaf("b", "p", 12, unlimited, quota.AtMost(1)))
	_, err := l.Book(at(0), quota.Request{ID: "b", Tenant: "b", Amounts: some(gpu, 12), Window: over(0, -1), Class: quota.Preemptible})
	require.NoError(t, err)
	require.Equal(t, int64(9), l.Available(at(0), "a", gpu, quota.Preemptible, over(0, -1)))
}

// Scenario 16, Q8: a limit beyond all numbers is no limit, never 0; two amounts
// of the greatest int64 are refused and never wrap.
func TestScenario16Extremes(t *testing.T) {
	require.Equal(t, quota.Bound{}, quota.AtMost(math.MaxInt64))
	require.Equal(t, quota.Bound{Limited: true, Max: 1e18}, quota.AtMost(1e18), "1E")
	l := must(t, quota.Tenant{Name: "p"}, leaf("a", "p", quota.MaxAmount, unlimited, unlimited, quota.AtMost(quota.MaxTotal)))
	for id, n := range map[string]int64{"x": math.MaxInt64, "y": quota.MaxAmount + 1, "z": math.MinInt64, "0": 0} {
		_, err := l.Book(at(0), quota.Request{ID: id, Tenant: "a", Amounts: some(gpu, n), Window: over(0, -1), Class: quota.Preemptible})
		require.ErrorIs(t, err, quota.ErrInvalid, n)
	}
	_, err := l.Book(at(0), quota.Request{ID: "max", Tenant: "a", Amounts: some(gpu, quota.MaxAmount), Window: over(0, -1), Class: quota.Guaranteed})
	require.NoError(t, err)
	u, _ := l.Usage("a", gpu, at(0))
	require.Equal(t, int64(quota.MaxAmount), u.Used)
	require.Zero(t, u.Available)
	require.LessOrEqual(t, int64(quota.MaxTenants)*quota.MaxAmount, int64(quota.MaxTotal), "no sum of nominals can pass MaxTotal")
}

// Q8: many children of the greatest nominal, unlimited on several levels.
func TestManyGreatNominals(t *testing.T) {
	const n = 20_000
	tenants := []quota.Tenant{leaf("root", "", quota.MaxAmount), leaf("mid", "root", quota.MaxAmount)}
	for i := range n {
		tenants = append(tenants, leaf(string(rune('A'+i%26))+time.Duration(i).String(), "mid", quota.MaxAmount))
	}
	l := must(t, tenants...)
	u, _ := l.Usage("root", gpu, at(0))
	require.Equal(t, int64(n+2)*quota.MaxAmount, u.Subtree)
	require.Equal(t, int64(quota.MaxAmount), l.Available(at(0), "mid", gpu, quota.Preemptible, over(0, -1)))
	require.NoError(t, l.Check())
}

// Q8: debts add up far beyond all nominals, and no sum wraps.
func TestSumOfDebts(t *testing.T) {
	l := must(t, leaf("a", "", quota.MaxAmount, unlimited, zero))
	rounds := 300
	for i := range rounds { // each round: a full tenant sinks into debt below a new root
		name := "t" + time.Duration(i).String()
		require.NoError(t, l.SetTenant(at(0), leaf(name, "", quota.MaxAmount)))
		_, err := l.Book(at(0), quota.Request{ID: name, Tenant: name, Amounts: some(gpu, quota.MaxAmount), Window: over(0, -1), Class: quota.Preemptible})
		require.NoError(t, err)
		require.NoError(t, l.SetTenant(at(0), quota.Tenant{Name: name, Parent: "a"}))
	}
	u, _ := l.Usage("a", gpu, at(0))
	require.Equal(t, int64(rounds)*quota.MaxAmount, u.Used)
	require.Equal(t, int64(rounds-1)*quota.MaxAmount, u.Debt)
	require.NoError(t, l.Check())
}

// Scenario 22: tenths are exact, since fractions are whole numbers of a milli-unit.
func TestScenario22Exact(t *testing.T) {
	const milli quota.Key = "gpu-milli/a100"
	l := must(t, quota.Tenant{Name: "q", Limits: []quota.Limit{{Key: milli, Nominal: 300}}})
	for id, n := range map[string]int64{"tenth": 100, "fifth": 200} {
		_, err := l.Book(at(0), quota.Request{ID: id, Tenant: "q", Amounts: some(milli, n), Window: over(0, -1), Class: quota.Guaranteed})
		require.NoError(t, err)
	}
	require.Zero(t, l.Available(at(0), "q", milli, quota.Preemptible, over(0, -1)))
}

// A refusal goes through JSON unchanged.
func TestRefusalJSON(t *testing.T) {
	l := must(t, company()...)
	err := l.Fits(at(0), quota.Request{ID: "x", Tenant: "v1", Amounts: append(some(gpu, 99), some(cpu, 999)...), Window: over(0, 60), Class: quota.Guaranteed})
	e := err.(*quota.ExceededError)
	require.Equal(t, []string{"lab", "vision", "v1"}, e.Path)
	require.Greater(t, len(e.Blockers), 4)
	require.Contains(t, e.Error(), "more; ask for less")
	raw, err := json.Marshal(e)
	require.NoError(t, err)
	var back quota.ExceededError
	require.NoError(t, json.Unmarshal(raw, &back))
	require.Equal(t, *e, back)
	require.Equal(t, e, e.For("lab"))
	require.Equal(t, e, e.For("v1"))
	view := e.For("guest")
	require.Empty(t, view.ID+view.Tenant)
	require.Empty(t, view.Path)
	var sum int64
	for i, b := range view.Blockers {
		require.Empty(t, b.Tenant)
		sum += b.Deficit
		require.False(t, i > 0 && view.Blockers[i-1].Key == b.Key && view.Blockers[i-1].Kind == b.Kind, "one line for each key and kind")
	}
	for _, b := range e.Blockers {
		sum -= b.Deficit
	}
	require.Zero(t, sum)
	require.NotContains(t, view.Error(), "v1")
}
