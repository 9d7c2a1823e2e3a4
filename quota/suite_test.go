// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/internal/enginetest"
	"github.com/berth-gpu/berth/quota"
)

const gpu, cpu quota.Key = "gpu/h100", "cpu-milli/h100"

func at(s int) time.Time { return enginetest.Start.Add(time.Duration(s) * time.Second) }

// over is the window [from, to) in seconds after the start; to < 0 is open.
func over(from, to int) quota.Window {
	if to < 0 {
		return quota.Window{Start: at(from)}
	}
	return quota.Window{Start: at(from), End: at(to)}
}

func some(key quota.Key, n int64) []quota.Amount { return []quota.Amount{{Key: key, N: n}} }

func limit(nominal int64, bounds ...quota.Bound) quota.Limit {
	l := quota.Limit{Key: gpu, Nominal: nominal}
	for i, b := range bounds {
		*[]*quota.Bound{&l.Borrow, &l.Lend, &l.Cap}[i] = b
	}
	return l
}

var unlimited = quota.Bound{}

func must(t require.TestingT, tenants ...quota.Tenant) *quota.Ledger {
	l, err := quota.New(quota.Config{Tenants: tenants})
	require.NoError(t, err)
	return l
}

// company is the tree most tests use: limits of every kind on three levels.
func company() []quota.Tenant {
	return []quota.Tenant{
		{Name: "lab", Limits: []quota.Limit{limit(4), {Key: cpu, Nominal: 40, Cap: quota.AtMost(90)}}},
		{Name: "vision", Parent: "lab", Limits: []quota.Limit{limit(6, quota.AtMost(5), quota.AtMost(3)), {Key: cpu, Nominal: 20}}},
		{Name: "speech", Parent: "lab", Limits: []quota.Limit{limit(5, unlimited, quota.AtMost(0), quota.AtMost(9))}},
		{Name: "v1", Parent: "vision", Limits: []quota.Limit{limit(3, quota.AtMost(2), quota.AtMost(2))}},
		{Name: "v2", Parent: "vision", Limits: []quota.Limit{limit(2, unlimited, quota.AtMost(1)), {Key: cpu, Nominal: 15, Lend: quota.AtMost(5)}}},
		{Name: "s1", Parent: "speech"},
		{Name: "guest", Limits: []quota.Limit{limit(2)}},
	}
}

var classes = []quota.Class{quota.Guaranteed, quota.Preemptible, quota.Opportunistic}

// command draws one command and runs it; one in three or so is refused.
func command(r *rand.Rand, l *quota.Ledger, now time.Time) (string, error) {
	names := []string{"lab", "vision", "speech", "v1", "v2", "s1", "guest", "late"}
	pick := func() string { return names[r.IntN(len(names))] }
	id := fmt.Sprintf("c%02d", r.IntN(20))
	amounts := []quota.Amount{{Key: gpu, N: int64(r.IntN(13)+2) / 3}} // sometimes 0
	if r.IntN(2) == 0 {
		amounts = append(amounts, quota.Amount{Key: cpu, N: 1 + int64(r.IntN(30))})
	}
	r.Shuffle(len(amounts), func(i, j int) { amounts[i], amounts[j] = amounts[j], amounts[i] })
	w := quota.Window{Start: now.Truncate(15 * time.Minute).Add(time.Duration(r.IntN(24)-2) * 15 * time.Minute)}
	length := time.Duration(r.IntN(30)) * 10 * time.Minute
	if r.IntN(4) > 0 {
		w.End = w.Start.Add(length)
	}
	ttl := time.Duration(r.IntN(3)*4000) * time.Second
	class, kind, n, keep := classes[r.IntN(3)], r.IntN(24), int64(r.IntN(12)), r.IntN(3)
	name, parent := pick(), pick()
	answer := func(c quota.Charge, err error) (string, error) { b, _ := json.Marshal(c); return string(b), err }
	switch {
	case kind < 8:
		return answer(l.Reserve(now, quota.Request{ID: id, Tenant: name, Amounts: amounts, Window: w, Class: class, TTL: ttl, Note: "pool"}))
	case kind < 11:
		return answer(l.Book(now, quota.Request{ID: id, Tenant: name, Amounts: amounts, Window: w, Class: class}))
	case kind < 14 || kind > 21:
		if keep < 2 {
			amounts = nil
		}
		return answer(l.Commit(now, id, amounts))
	case kind == 14:
		return answer(l.Release(now, id))
	case kind < 18:
		if keep == 0 {
			amounts = nil
		} else if keep == 1 {
			w = quota.Window{}
		}
		return answer(l.Resize(now, id, amounts, w))
	case kind < 20:
		if keep == 0 {
			parent = ""
		}
		return "", l.SetTenant(now, quota.Tenant{Name: name, Parent: parent, Limits: []quota.Limit{
			{Key: gpu, Nominal: n, Lend: quota.AtMost(n / 2), Cap: quota.AtMost(3 * n)}, {Key: cpu, Nominal: 3 * n, Borrow: quota.AtMost(n)}}})
	case kind == 20:
		return "", l.RemoveTenant(now, name)
	default:
		return fmt.Sprint(l.Forget(now, now.Add(-time.Duration(n)*time.Hour))), nil
	}
}

// ask puts every kind of question.
func ask(r *rand.Rand, l *quota.Ledger) string {
	from := r.IntN(40000)
	w := over(from, from+1+r.IntN(20000))
	n, class := 1+int64(r.IntN(6)), classes[r.IntN(3)]
	var out []any
	for t := range l.Tenants() {
		for _, key := range []quota.Key{gpu, cpu} {
			u, _ := l.Usage(t.Name, key, at(from))
			out = append(out, t, u, l.Available(at(from-600), t.Name, key, class, w),
				l.Fits(at(from-600), quota.Request{ID: "new", Tenant: t.Name, Amounts: some(key, n), Window: w, Class: class}))
			for v := range l.UsageOver(t.Name, key, w) {
				out = append(out, v)
			}
		}
	}
	for c := range l.Charges("vision") {
		out = append(out, c.ID, c.State, c.Version)
	}
	c, ok := l.Find(fmt.Sprintf("c%02d", r.IntN(20)))
	next, due := l.Next()
	return fmt.Sprint(append(out, c, ok, next, due)...)
}

// E1–E7, and with them Q7, Q22, Q23 and Q25.
func TestSuite(t *testing.T) {
	enginetest.Run(t, enginetest.Subject[*quota.Ledger, quota.Event]{
		New:     func() *quota.Ledger { return must(t, company()...) },
		Restore: quota.Restore, Decode: quota.DecodeEvent,
		Do: command, Ask: ask, Check: (*quota.Ledger).Check,
	})
}
