// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/quota"
)

// horizon is how many seconds the model knows; the last one stands for ever after.
const horizon = 30

// model is the ledger by definition: an array of use per charge and second, and
// what a tenant has left, T = nominal − own use + Σ min(lend, T of the child),
// which must be at least −borrow, and 0 at a root.
type model struct {
	tenants map[string]*mTenant
	charges map[string]*mCharge
	now     int
}

type mTenant struct {
	parent string
	limit  quota.Limit
}

type mCharge struct {
	tenant       string
	class        quota.Class
	state        quota.State
	n            int64
	end, expires int
	use          [horizon]int64
}

func most(b quota.Bound) int64 {
	if b.Limited {
		return b.Max
	}
	return 1 << 50
}

// left returns T of a tenant at a second: what its quota leaves, and of Guaranteed
// charges alone when nobody lends; raw is the use of the subtree.
func (m *model) left(name string, sec int) (left, sure, raw int64) {
	t := m.tenants[name]
	left, sure = t.limit.Nominal, t.limit.Nominal
	for _, c := range m.charges {
		if c.tenant == name {
			left, raw = left-c.use[sec], raw+c.use[sec]
			if c.class == quota.Guaranteed {
				sure -= c.use[sec]
			}
		}
	}
	for kid, k := range m.tenants {
		if k.parent == name {
			l, s, r := m.left(kid, sec)
			left, sure, raw = left+min(most(k.limit.Lend), l), sure+min(0, s), raw+r
		}
	}
	return left, sure, raw
}

// lack lists by how much each limit of each tenant is passed, per second.
func (m *model) lack() map[string][horizon]int64 {
	out := map[string][horizon]int64{}
	for name, t := range m.tenants {
		var balance, sure, room [horizon]int64
		kind, may := "borrow-limit", most(t.limit.Borrow)
		if t.parent == "" {
			kind, may = "root-quota", 0
		}
		for sec := range horizon {
			l, s, raw := m.left(name, sec)
			balance[sec], sure[sec], room[sec] = -l-may, -s-may, raw-most(t.limit.Cap)
		}
		out[name+" "+kind], out[name+" guaranteed-over-nominal"], out[name+" cap"] = balance, sure, room
	}
	return out
}

// try changes a charge's use from now on; if that makes any limit worse than it
// was and passed, it is undone, and the deficits are returned.
func (m *model) try(id string, c *mCharge, from, to int, n int64) []string {
	before, old := m.lack(), m.charges[id]
	changed := *c
	for sec := m.now; sec < horizon; sec++ {
		changed.use[sec] = 0
		if sec >= from && sec < to {
			changed.use[sec] = n
		}
	}
	changed.n, changed.end = n, to
	m.charges[id] = &changed
	var short []string
	for limit, after := range m.lack() {
		var deficit int64
		for sec := range horizon {
			if after[sec] > before[limit][sec] {
				deficit = max(deficit, after[sec])
			}
		}
		if deficit > 0 {
			short = append(short, fmt.Sprint(limit, " ", deficit))
		}
	}
	if slices.Sort(short); short != nil {
		if m.charges[id] = old; old == nil {
			delete(m.charges, id)
		}
	}
	return short
}

// tick makes due what is due up to sec.
func (m *model) tick(sec int) {
	m.now = max(m.now, sec)
	for _, c := range m.charges {
		if c.state.Live() && min(c.expires, c.end) <= m.now {
			as := quota.Ended
			if c.expires <= c.end {
				as = quota.Expired
			}
			c.stop(as, min(c.expires, c.end))
		}
	}
}

func (c *mCharge) stop(s quota.State, sec int) {
	c.state, c.expires = s, horizon*2
	for ; sec < horizon; sec++ {
		c.use[sec] = 0
	}
}

// shortage turns a refusal into the model's words.
func shortage(t require.TestingT, err error) []string {
	e, ok := errors.AsType[*quota.ExceededError](err)
	require.True(t, ok, "%v", err)
	var out []string
	for _, b := range e.Blockers {
		require.Equal(t, b.Deficit, b.Used+b.Need-b.Limit)
		require.Positive(t, b.Deficit)
		out = append(out, fmt.Sprint(b.Tenant, " ", b.Kind, " ", b.Deficit))
	}
	slices.Sort(out)
	return out
}

// Q1, Q2, Q22 and Q26: the ledger admits exactly what the definition admits, at
// every instant of the window, names exactly the limits that fall short, and
// shows the same use, whatever commands and limit cuts came before.
func TestAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := must(t)
		m := &model{tenants: map[string]*mTenant{}, charges: map[string]*mCharge{}}
		names := []string{"a", "b", "c", "d"}
		bound := func(label string) quota.Bound {
			return rapid.SampledFrom([]quota.Bound{{}, quota.AtMost(0), quota.AtMost(1), quota.AtMost(3)}).Draw(t, label)
		}
		set := func(t *rapid.T) {
			tn := &mTenant{limit: limit(rapid.Int64Range(0, 4).Draw(t, "nominal"), bound("borrow"), bound("lend"), bound("cap"))}
			i := rapid.IntRange(0, 3).Draw(t, "tenant")
			if i > 0 { // a parent comes before its child: no cycles here
				tn.parent = rapid.SampledFrom(append(names[:i:i], "")).Draw(t, "parent")
			}
			if _, ok := m.tenants[tn.parent]; !ok {
				tn.parent = ""
			}
			m.tenants[names[i]] = tn
			require.NoError(t, l.SetTenant(at(m.now), quota.Tenant{Name: names[i], Parent: tn.parent, Limits: []quota.Limit{tn.limit}}))
		}
		set(t)
		span := func(t *rapid.T) (int, int, quota.Window) {
			from := rapid.IntRange(m.now, horizon-3).Draw(t, "from")
			if rapid.IntRange(0, 4).Draw(t, "open") == 0 {
				return from, horizon, over(from, -1) // never ends: no time gets that far
			}
			to := rapid.IntRange(from+1, horizon-2).Draw(t, "to")
			return from, to, over(from, to)
		}
		live := func(t *rapid.T) string {
			var ids []string
			for id, c := range m.charges {
				if c.state.Live() {
					ids = append(ids, id)
				}
			}
			if len(ids) == 0 {
				t.Skip("no live charge")
			}
			slices.Sort(ids)
			return rapid.SampledFrom(ids).Draw(t, "id")
		}
		reserve := func(t *rapid.T) {
			from, to, w := span(t)
			var have []string
			for _, n := range names {
				if m.tenants[n] != nil {
					have = append(have, n)
				}
			}
			c := &mCharge{tenant: rapid.SampledFrom(have).Draw(t, "tenant"), state: quota.Held, expires: horizon * 2,
				class: rapid.SampledFrom(classes).Draw(t, "class")}
			n, ttl := rapid.Int64Range(1, 4).Draw(t, "n"), rapid.IntRange(0, 6).Draw(t, "ttl")
			if ttl > 0 {
				c.expires = m.now + ttl
			}
			id := fmt.Sprint("c", len(m.charges))
			q := quota.Request{ID: id, Tenant: c.tenant, Amounts: some(gpu, n), Window: w, Class: c.class, TTL: time.Duration(ttl) * time.Second}
			ask := l.Fits(at(m.now), q)
			_, err := l.Reserve(at(m.now), q)
			require.Equal(t, fmt.Sprint(ask), fmt.Sprint(err), "Q23: Fits is the real result")
			if short := m.try(id, c, from, to, n); short != nil {
				require.Equal(t, short, shortage(t, err))
			} else {
				require.NoError(t, err)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"set": set, "reserve": reserve, "reserve again": reserve,
			"resize": func(t *rapid.T) {
				id := live(t)
				from, to, w := span(t)
				n := rapid.Int64Range(1, 4).Draw(t, "n")
				_, err := l.Resize(at(m.now), id, some(gpu, n), w)
				if short := m.try(id, m.charges[id], from, to, n); short != nil {
					require.Equal(t, short, shortage(t, err))
				} else {
					require.NoError(t, err)
				}
			},
			"release": func(t *rapid.T) {
				id := live(t)
				m.charges[id].stop(quota.Released, m.now)
				_, err := l.Release(at(m.now), id)
				require.NoError(t, err)
			},
			"commit": func(t *rapid.T) {
				id := live(t)
				c := m.charges[id]
				if c.state == quota.Committed {
					t.Skip("committed")
				}
				n := rapid.Int64Range(1, c.n).Draw(t, "n")
				for sec := m.now; sec < horizon; sec++ {
					c.use[sec] = min(c.use[sec], n)
				}
				c.state, c.n, c.expires = quota.Committed, n, horizon*2
				_, err := l.Commit(at(m.now), id, some(gpu, n))
				require.NoError(t, err)
			},
			"time": func(t *rapid.T) {
				m.tick(rapid.IntRange(m.now, min(m.now+3, horizon-3)).Draw(t, "now"))
				l.Advance(at(m.now))
			},
			"": func(t *rapid.T) {
				for name, tn := range m.tenants {
					for _, sec := range []int{m.now, (m.now + horizon) / 2, horizon - 1, 0} {
						left, _, raw := m.left(name, sec)
						u, _ := l.Usage(name, gpu, at(sec))
						require.Equal(t, raw, u.Used, "Q1: %s at %d", name, sec)
						require.Equal(t, left, u.Idle-u.Borrowed, "Q1: %s at %d", name, sec)
						if tn.parent == "" {
							require.GreaterOrEqual(t, u.Debt, -left, "Q2: a passed limit shows")
						}
					}
				}
				for id, c := range m.charges {
					got, ok := l.Find(id)
					require.True(t, ok)
					require.Equal(t, c.state, got.State, id)
				}
				require.NoError(t, l.Check())
			},
		})
	})
}
