// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/quota"
)

// drawBound returns a small bound or none.
func drawBound(t *rapid.T, label string) quota.Bound {
	return rapid.SampledFrom([]quota.Bound{{}, quota.AtMost(0), quota.AtMost(1), quota.AtMost(2)}).Draw(t, label)
}

// drawTree returns up to n tenants with limits of every kind but caps.
func drawTree(t *rapid.T, n int) []quota.Tenant {
	var out []quota.Tenant
	for i := range rapid.IntRange(2, n).Draw(t, "tenants") {
		tn := quota.Tenant{Name: fmt.Sprint("t", i), Limits: []quota.Limit{
			limit(rapid.Int64Range(0, 3).Draw(t, "nominal"), drawBound(t, "borrow"), drawBound(t, "lend"))}}
		if i > 0 {
			tn.Parent = out[rapid.IntRange(0, i-1).Draw(t, "parent")].Name
		}
		out = append(out, tn)
	}
	return out
}

// book asks for random charges that overlap now and returns how many got in.
func book(t *rapid.T, l *quota.Ledger, tenants []quota.Tenant, tries int, classes ...quota.Class) (in []quota.Request) {
	for i := range tries {
		q := quota.Request{ID: fmt.Sprint("q", i), Tenant: rapid.SampledFrom(tenants).Draw(t, "tenant").Name, Window: over(0, 60),
			Amounts: some(gpu, rapid.Int64Range(1, 3).Draw(t, "n")), Class: rapid.SampledFrom(classes).Draw(t, "class")}
		if _, err := l.Book(at(0), q); err == nil {
			in = append(in, q)
		}
	}
	return in
}

// flows reports whether some flow serves the uses: f(c) is what c hands to its
// parent, from −borrow to lend, and nobody uses more than its nominal, plus what
// it is handed, less what it hands on. It tries every vector.
func flows(tenants []quota.Tenant, use map[string]int64, f map[string]int64, i int) bool {
	if i == len(tenants) {
		for _, tn := range tenants {
			have := tn.Limits[0].Nominal - f[tn.Name]
			for _, k := range tenants {
				if k.Parent == tn.Name {
					have += f[k.Name]
				}
			}
			if use[tn.Name] > have {
				return false
			}
		}
		return true
	}
	tn := tenants[i]
	lo, hi := -min(most(tn.Limits[0].Borrow), 9), min(most(tn.Limits[0].Lend), 9) // 3 tenants of nominal 3 have 9
	if tn.Parent == "" {
		lo, hi = 0, 0
	}
	for x := lo; x <= hi; x++ {
		if f[tn.Name] = x; flows(tenants, use, f, i+1) {
			return true
		}
	}
	return false
}

// Q3: a charge is admitted exactly if the brute force finds a flow of lent quota.
func TestAdmitsWhatFlows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tenants := drawTree(t, 3)
		l, use := must(t, tenants...), map[string]int64{}
		for i := range 8 {
			name, n := rapid.SampledFrom(tenants).Draw(t, "tenant").Name, rapid.Int64Range(1, 3).Draw(t, "n")
			use[name] += n
			want := flows(tenants, use, map[string]int64{}, 0)
			_, err := l.Book(at(0), quota.Request{ID: fmt.Sprint(i), Tenant: name, Amounts: some(gpu, n), Window: over(0, -1), Class: quota.Preemptible})
			require.Equal(t, want, err == nil, "%v: %v", use, err)
			if !want {
				use[name] -= n
			}
		}
	})
}

// Q4: what has come and gone leaves nothing behind, and order does not matter.
func TestOnlyTheLiveSetCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tenants := company()
		l := must(t, tenants...)
		in := book(t, l, tenants, 12, classes...)
		other := must(t, tenants...)
		for _, q := range rapid.Permutation(in).Draw(t, "order") {
			_, err := other.Book(at(0), q)
			require.NoError(t, err, "every part of what fits together fits, in any order")
		}
		for i := range 5 {
			id := fmt.Sprint("gone", i)
			_, err := other.Book(at(0), quota.Request{ID: id, Tenant: "v2", Amounts: some(gpu, 1), Window: over(30+i, -1), Class: quota.Preemptible})
			if err == nil {
				_, err = other.Release(at(0), id)
				require.NoError(t, err)
			}
		}
		other.Forget(at(0), at(0))
		require.Equal(t, encoded(t, l), encoded(t, other))
	})
}

func encoded(t require.TestingT, l *quota.Ledger) string {
	b, err := l.MarshalBinary()
	require.NoError(t, err)
	return string(b)
}

// Q5: a higher limit or one charge less never turns a yes into a no.
func TestMoreRoomNeverRefuses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tenants := drawTree(t, 5)
		l := must(t, tenants...)
		in := book(t, l, tenants, 8, classes...)
		more := l.Fork()
		if i := rapid.IntRange(-4, len(in)-1).Draw(t, "release"); i >= 0 {
			_, err := more.Release(at(0), in[i].ID)
			require.NoError(t, err)
		} else {
			tn := rapid.SampledFrom(tenants).Draw(t, "tenant")
			tn.Limits = slices.Clone(tn.Limits)
			switch lim := &tn.Limits[0]; i {
			case -1:
				lim.Nominal++
			case -2:
				lim.Borrow = higher(lim.Borrow)
			case -3:
				lim.Lend = higher(lim.Lend)
			case -4:
				lim.Borrow, lim.Lend = unlimited, unlimited
			}
			require.NoError(t, more.SetTenant(at(0), tn))
		}
		for _, tn := range tenants {
			for _, class := range classes {
				require.GreaterOrEqual(t, more.Available(at(0), tn.Name, gpu, class, over(0, 60)), l.Available(at(0), tn.Name, gpu, class, over(0, 60)))
			}
		}
	})
}

func higher(b quota.Bound) quota.Bound {
	if b.Limited {
		b.Max++
	}
	return b
}

// Q6: a tenant that lends nothing always has its own nominal.
func TestLendNothingKeepsNominal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tenants := drawTree(t, 5)
		i := rapid.IntRange(0, len(tenants)-1).Draw(t, "careful")
		tenants[i].Limits[0].Lend = quota.AtMost(0)
		name, others := tenants[i].Name, slices.Delete(slices.Clone(tenants), i, i+1)
		others = slices.DeleteFunc(others, func(tn quota.Tenant) bool { return i == 0 || below(tenants, tn.Name, name) })
		if len(others) == 0 {
			t.Skip("no others")
		}
		l := must(t, tenants...)
		book(t, l, others, 12, classes...)
		require.GreaterOrEqual(t, l.Available(at(0), name, gpu, quota.Guaranteed, over(0, 60)), tenants[i].Limits[0].Nominal)
	})
}

func below(tenants []quota.Tenant, name, top string) bool {
	for name != "" && name != top {
		i := slices.IndexFunc(tenants, func(tn quota.Tenant) bool { return tn.Name == name })
		name = tenants[i].Parent
	}
	return name == top
}

// field is one limit that a blocker names.
type field struct {
	tenant string
	key    quota.Key
	cap    bool
}

// raise lifts the named limits by their deficits, all but skip.
func raise(t require.TestingT, l *quota.Ledger, e *quota.ExceededError, skip field) map[field]int64 {
	by := map[field]int64{}
	for _, b := range e.Blockers {
		f := field{b.Tenant, b.Key, b.Kind == quota.Cap}
		by[f] = max(by[f], b.Deficit)
	}
	for f, n := range by {
		if f == skip {
			continue
		}
		tn, _ := l.Tenant(f.tenant)
		i := slices.IndexFunc(tn.Limits, func(x quota.Limit) bool { return x.Key == f.key })
		if i < 0 {
			i, tn.Limits = len(tn.Limits), append(tn.Limits, quota.Limit{Key: f.key})
		}
		switch {
		case f.cap:
			tn.Limits[i].Cap = quota.AtMost(tn.Limits[i].Cap.Max + n)
		case tn.Parent == "":
			tn.Limits[i].Nominal += n
		default:
			tn.Limits[i].Borrow = quota.AtMost(tn.Limits[i].Borrow.Max + n)
		}
		require.NoError(t, l.SetTenant(at(0), tn))
	}
	return by
}

// Q24: raise every limit that a refusal lists by its deficit, and it is
// admitted; leave any one out, and it is not. Also in debt.
func TestRefusalIsExact(t *testing.T) {
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		l := must(t, company()...)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "history"), 24))
		for range rapid.IntRange(0, 60).Draw(t, "commands") {
			_, _ = command(r, l, at(0))
		}
		var tenants []quota.Tenant
		for tn := range l.Tenants() {
			tenants = append(tenants, tn)
		}
		from := rapid.IntRange(0, 40000).Draw(t, "from")
		q := quota.Request{ID: "asked", Tenant: rapid.SampledFrom(tenants).Draw(t, "tenant").Name, Window: over(from, from+rapid.IntRange(1, 20000).Draw(t, "length")),
			Amounts: append(some(gpu, rapid.Int64Range(1, 30).Draw(t, "gpus")), some(cpu, rapid.Int64Range(1, 120).Draw(t, "cpus"))...),
			Class:   rapid.SampledFrom(classes).Draw(t, "class")}
		err := l.Fits(at(0), q)
		if err == nil {
			return
		}
		refused++
		e := err.(*quota.ExceededError)
		all := l.Fork()
		by := raise(t, all, e, field{})
		require.NoError(t, all.Fits(at(0), q), "all raised: %v", err)
		for f := range by {
			but := l.Fork()
			raise(t, but, e, f)
			require.ErrorIs(t, but.Fits(at(0), q), quota.ErrExceeded, "all raised but %v: %v", f, err)
		}
	})
	require.Positive(t, refused)
}

// Available is the greatest amount that fits, whatever the history.
func TestAvailableIsTheMost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := must(t, company()...)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "history"), 5))
		for range 40 {
			_, _ = command(r, l, at(0))
		}
		from := rapid.IntRange(0, 40000).Draw(t, "from")
		w, class := over(from, from+rapid.IntRange(1, 9000).Draw(t, "length")), rapid.SampledFrom(classes).Draw(t, "class")
		for tn := range l.Tenants() {
			n := l.Available(at(0), tn.Name, gpu, class, w)
			ask := func(n int64) error {
				return l.Fits(at(0), quota.Request{ID: "asked", Tenant: tn.Name, Amounts: some(gpu, n), Window: w, Class: class})
			}
			if n > 0 {
				require.NoError(t, ask(n))
			}
			require.ErrorIs(t, ask(n+1), quota.ErrExceeded)
			u, _ := l.Usage(tn.Name, gpu, at(from))
			require.Equal(t, u.Available, l.Available(at(0), tn.Name, gpu, quota.Preemptible, over(from, from+1)))
		}
	})
}
