// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/quota"
)

// Q23: whatever is due by then, Fits is what Reserve at that instant answers, and Available the most of it. Neither changes
// the ledger.
func TestQ23QueriesAnswerAsTheCommandWould(t *testing.T) {
	due := 0
	rapid.Check(t, func(t *rapid.T) {
		l := must(t, company()...)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "history"), 23))
		for i := range rapid.IntRange(0, 60).Draw(t, "commands") {
			_, _ = command(r, l, at(i*100))
		}
		before := encoded(t, l)
		now := at(rapid.IntRange(0, 40000).Draw(t, "at")).Add(time.Millisecond)
		if next, ok := l.Next(); ok && !next.After(now) {
			due++
		}
		from := rapid.IntRange(0, 40000).Draw(t, "from")
		q := quota.Request{ID: fmt.Sprint("c", rapid.IntRange(0, 20).Draw(t, "id")), Tenant: rapid.SampledFrom([]string{"lab", "vision", "v1", "nobody"}).Draw(t, "tenant"),
			Amounts: some(gpu, rapid.Int64Range(1, 12).Draw(t, "gpus")), Class: rapid.SampledFrom(classes).Draw(t, "class"),
			Window: over(from, from+rapid.IntRange(1, 20000).Draw(t, "length"))}
		_, want := l.Fork().Reserve(now, q)
		require.Equal(t, fmt.Sprint(want), fmt.Sprint(l.Fits(now, q)))

		later := l.Fork()
		later.Advance(now)
		have := l.Available(now, q.Tenant, gpu, q.Class, q.Window)
		require.Equal(t, later.Available(now, q.Tenant, gpu, q.Class, q.Window), have)
		q.ID = "asked"
		if q.Amounts = some(gpu, have); have > 0 {
			_, err := l.Fork().Reserve(now, q)
			require.NoError(t, err)
		}
		q.Amounts = some(gpu, have+1)
		_, err := l.Fork().Reserve(now, q)
		require.Error(t, err)
		require.Equal(t, before, encoded(t, l))
	})
	require.Positive(t, due)
}

// Q23: a hold that has run out by then, and a window that is over by then.
func TestQ23WhatIsDueCounts(t *testing.T) {
	l := must(t, quota.Tenant{Name: "a", Limits: []quota.Limit{{Key: gpu, Nominal: 1}}})
	hold := quota.Request{ID: "hold", Tenant: "a", Amounts: some(gpu, 1), Window: over(0, -1), Class: quota.Preemptible, TTL: time.Minute}
	_, err := l.Reserve(at(0), hold)
	require.NoError(t, err)
	q := quota.Request{ID: "asked", Tenant: "a", Amounts: some(gpu, 1), Window: over(0, 600), Class: quota.Preemptible}
	require.ErrorIs(t, l.Fits(at(59), q), quota.ErrExceeded)
	require.Zero(t, l.Available(at(59), "a", gpu, quota.Preemptible, q.Window))
	require.NoError(t, l.Fits(at(60), q))
	require.Equal(t, int64(1), l.Available(at(60), "a", gpu, quota.Preemptible, q.Window))
	require.ErrorIs(t, l.Fits(at(600), q), quota.ErrInvalid, "the window is over")
	require.Zero(t, l.Available(at(600), "a", gpu, quota.Preemptible, q.Window))
	require.ErrorIs(t, l.Fits(at(-600), q), quota.ErrExceeded, "an instant before the present counts as it")
}

// A window without a start is a forgotten field, not the beginning of time.
func TestWindowNeedsAStart(t *testing.T) {
	l := must(t, quota.Tenant{Name: "a", Limits: []quota.Limit{{Key: gpu, Nominal: 4}}})
	q := quota.Request{ID: "x", Tenant: "a", Amounts: some(gpu, 1), Class: quota.Preemptible}
	for _, q.Window = range []quota.Window{{}, {End: at(600)}} {
		_, err := l.Reserve(at(0), q)
		require.ErrorIs(t, err, quota.ErrInvalid)
		require.ErrorContains(t, err, "Window.Start is not set")
		require.Zero(t, l.Available(at(0), "a", gpu, quota.Preemptible, q.Window))
		require.ErrorIs(t, l.Apply(quota.ReservedEvent{At: at(0), Request: q}), quota.ErrContradiction)
	}
	q.Window = over(0, -1)
	_, err := l.Reserve(at(0), q)
	require.NoError(t, err)
	_, err = l.Resize(at(1), "x", nil, quota.Window{End: at(600)})
	require.ErrorContains(t, err, "window.Start is not set")
}

// A tenant has at most MaxLimits limits, and finding one of them takes a few steps.
func TestLimitsOfOneTenantAreBounded(t *testing.T) {
	var limits []quota.Limit
	for i := range quota.MaxLimits {
		limits = append(limits, quota.Limit{Key: quota.Key(fmt.Sprint("key", i)), Nominal: int64(i) + 1})
	}
	l := must(t, quota.Tenant{Name: "a", Limits: limits})
	for i, limit := range limits {
		if i%97 == 0 {
			require.Equal(t, limit.Nominal, l.Available(at(0), "a", limit.Key, quota.Preemptible, over(0, 60)), limit.Key)
		}
	}
	require.Zero(t, l.Available(at(0), "a", "key", quota.Preemptible, over(0, 60)))
	many := quota.Tenant{Name: "b", Limits: append(limits, quota.Limit{Key: "one more", Nominal: 1})}
	err := l.SetTenant(at(0), many)
	require.ErrorIs(t, err, quota.ErrInvalid)
	require.ErrorContains(t, err, "Limits has 4097 entries: at most 4096")
	_, err = quota.New(quota.Config{Tenants: []quota.Tenant{many}})
	require.ErrorContains(t, err, "Tenants[0].Limits has 4097 entries")
}
