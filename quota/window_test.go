// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/quota"
)

// Q26: a window fits exactly if each of its seconds fits, however often the use
// below it crosses what is lent, and its deficits are the greatest of theirs.
func TestWindowIsItsInstants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const seconds = 40
		small := rapid.Int64Range(0, 4)
		var tenants []quota.Tenant
		for i := range 4 { // a chain: every level keeps something private
			tn := leaf(fmt.Sprint("t", i), "", small.Draw(t, "nominal"), quota.AtMost(small.Draw(t, "borrow")), quota.AtMost(small.Draw(t, "lend")))
			if i > 0 {
				tn.Parent = tenants[i-1].Name
			}
			tenants = append(tenants, tn)
		}
		l := must(t, tenants...)
		for i := range 25 {
			from := rapid.IntRange(0, seconds-2).Draw(t, "from")
			_, _ = l.Book(at(0), quota.Request{ID: fmt.Sprint(i), Tenant: rapid.SampledFrom(tenants).Draw(t, "tenant").Name, Amounts: some(gpu, rapid.Int64Range(1, 3).Draw(t, "n")),
				Window: over(from, from+rapid.IntRange(1, 4).Draw(t, "length")), Class: rapid.SampledFrom(classes).Draw(t, "class")})
		}
		for _, class := range classes[:2] {
			q := quota.Request{ID: "long", Tenant: "t3", Amounts: some(gpu, rapid.Int64Range(1, 5).Draw(t, "n")), Class: class}
			deficits := func(w quota.Window) map[string]int64 {
				q.Window = w
				out := map[string]int64{}
				if e, ok := errors.AsType[*quota.ExceededError](l.Fits(at(0), q)); ok {
					for _, b := range e.Blockers {
						out[b.Tenant+b.Kind.String()] = b.Deficit
					}
				}
				return out
			}
			want := map[string]int64{}
			for sec := range seconds {
				for limit, d := range deficits(over(sec, sec+1)) {
					want[limit] = max(want[limit], d)
				}
			}
			require.Equal(t, want, deficits(over(0, seconds)))
		}
	})
}

// A charge counts where and when it is: windows that adjoin share units, and a
// window is refused for its worst instant alone.
func TestWindows(t *testing.T) {
	l := must(t, leaf("a", "", 4))
	book := func(id string, n int64, w quota.Window) error {
		_, err := l.Book(at(0), quota.Request{ID: id, Tenant: "a", Amounts: some(gpu, n), Window: w, Class: quota.Guaranteed})
		return err
	}
	require.NoError(t, book("1", 3, over(50, 100)))
	require.NoError(t, book("2", 4, over(100, 200)))
	require.NoError(t, book("3", 3, over(200, 300)))
	require.NoError(t, book("4", 4, over(300, 400)))
	require.NoError(t, book("5", 4, over(500, 600)))
	require.Equal(t, int64(1), l.Available(at(0), "a", gpu, quota.Guaranteed, over(200, 300)))
	e := l.Fits(at(0), quota.Request{ID: "6", Tenant: "a", Amounts: some(gpu, 2), Window: over(0, -1), Class: quota.Preemptible}).(*quota.ExceededError)
	require.Equal(t, []quota.Blocker{{Tenant: "a", Key: gpu, Kind: quota.RootQuota, At: over(50, 400),
		Peak: at(100), Limit: 4, Used: 4, Need: 2, Deficit: 2}}, e.Blockers)
	require.Contains(t, e.Error(), `root-quota of "a" for gpu/h100: limit 4, used 4, need 2, 2 too many in 2026-03-01T08:00:50Z/2026-03-01T08:06:40Z`)
}

// A window that has begun is charged, and checked, from the present on.
func TestBegunWindow(t *testing.T) {
	l := must(t, leaf("a", "", 4))
	_, err := l.Book(at(0), quota.Request{ID: "before", Tenant: "a", Amounts: some(gpu, 4), Window: over(0, 100), Class: quota.Guaranteed})
	require.NoError(t, err)
	_, err = l.Release(at(50), "before")
	require.NoError(t, err)
	q := quota.Request{ID: "after", Tenant: "a", Amounts: some(gpu, 4), Window: over(0, 200), Class: quota.Guaranteed}
	require.NoError(t, l.Fits(at(0), q))
	c, err := l.Book(at(60), q)
	require.NoError(t, err)
	require.Equal(t, over(0, 200), c.Window, "the window is as asked")
	require.Equal(t, []quota.Span{{Window: over(60, 200), Amounts: some(gpu, 4)}}, c.Spans, "what counts is what is ahead")
	var levels []quota.Level
	for v := range l.UsageOver("a", gpu, over(0, -1)) {
		levels = append(levels, v)
	}
	require.Equal(t, []quota.Level{
		{Window: over(0, 50), Used: 4, Guaranteed: 4}, {Window: over(50, 60)},
		{Window: over(60, 200), Used: 4, Guaranteed: 4}, {Window: over(200, -1)},
	}, levels)
}
