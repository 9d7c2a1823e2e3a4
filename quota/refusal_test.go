// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/quota"
)

// All mistakes of a config are reported at once, each with its field and value.
func TestConfigMistakes(t *testing.T) {
	_, err := quota.New(quota.Config{Tenants: []quota.Tenant{
		{Name: "a", Parent: "c"}, {Name: "b", Parent: "a"}, {Name: "c", Parent: "b"},
		{Name: "orphan", Parent: "nobody"}, {Name: "orphan"}, {Name: ""}, {Name: "self", Parent: "self"}, {Name: "bad\n"}, {Name: "wide\xff"},
		{Name: strings.Repeat("x", 257)}, {Name: "nel\u0085"},
		leaf("n", "", -5, quota.Bound{Limited: true, Max: -1}, quota.Bound{Max: 3}, quota.Bound{Limited: true, Max: math.MaxInt64}),
		{Name: "twice", Limits: []quota.Limit{limit(1), limit(2), {Key: ""}, {Key: "big", Nominal: quota.MaxAmount + 1}}},
	}})
	require.ErrorIs(t, err, quota.ErrInvalid)
	for _, want := range []string{
		`the tenants form a cycle`, `Tenants[3].Parent "nobody": no tenant has this name`, `Tenants[4].Name "orphan" is used by Tenants[3]`,
		`Tenants[5].Name "" is empty`, `Tenants[6].Parent "self": a tenant cannot be its own parent`, `Tenants[7].Name "bad\n" has a control character`,
		`Tenants[8].Name "wide\xff" is not valid UTF-8`, `is 257 bytes long: at most 256`, `Tenants[10].Name "nel\u0085" has a control character`,
		`Tenants[11].Limits[0].Nominal -5: must be 0 to 1099511627776`, `Tenants[11].Limits[0].Borrow -1 must be`,
		`Tenants[11].Limits[0].Lend 3 has a maximum but is not limited`, `Tenants[11].Limits[0].Cap 9223372036854775807 must be`,
		`Tenants[12].Limits[1].Key "gpu/h100" is listed twice`, `Tenants[12].Limits[2].Key "" is empty`, `Tenants[12].Limits[3].Nominal 1099511627777`,
	} {
		require.ErrorContains(t, err, want)
	}
	require.Equal(t, 1, strings.Count(err.Error(), "cycle"), "one cycle is one mistake")
}

// Every field of a request, wrong in turn; the ledger stays as it was.
func TestRequestMistakes(t *testing.T) {
	good := quota.Request{ID: "x", Tenant: "v1", Amounts: some(gpu, 1), Window: over(0, 60), Class: quota.Preemptible}
	many := make([]quota.Amount, quota.MaxAmounts+1)
	for name, c := range map[string]struct {
		spoil func(*quota.Request)
		is    error
		says  string
	}{
		"no id":            {func(q *quota.Request) { q.ID = "" }, quota.ErrInvalid, `ID "" is empty`},
		"no tenant":        {func(q *quota.Request) { q.Tenant = "" }, quota.ErrInvalid, `Tenant "" is empty`},
		"unknown tenant":   {func(q *quota.Request) { q.Tenant = "ghost" }, quota.ErrUnknown, `Tenant "ghost"`},
		"no amounts":       {func(q *quota.Request) { q.Amounts = nil }, quota.ErrInvalid, `Amounts has 0 entries`},
		"many amounts":     {func(q *quota.Request) { q.Amounts = many }, quota.ErrInvalid, `Amounts has 65 entries`},
		"bad key":          {func(q *quota.Request) { q.Amounts = some("\t", 1) }, quota.ErrInvalid, `Amounts[0].Key "\t" has a control character`},
		"no units":         {func(q *quota.Request) { q.Amounts = some(gpu, 0) }, quota.ErrInvalid, `Amounts[0].N 0 of key "gpu/h100"`},
		"key twice":        {func(q *quota.Request) { q.Amounts = append(some(gpu, 1), some(gpu, 1)...) }, quota.ErrInvalid, `Amounts[1].Key "gpu/h100" is listed twice`},
		"empty window":     {func(q *quota.Request) { q.Window = over(60, 60) }, quota.ErrInvalid, `is empty: End must be after Start`},
		"window over":      {func(q *quota.Request) { q.Window = over(-60, 0) }, quota.ErrInvalid, `is over at`},
		"half seconds":     {func(q *quota.Request) { q.Window.Start = at(0).Add(1) }, quota.ErrInvalid, `Window.Start: instant is not aligned`},
		"year 10000":       {func(q *quota.Request) { q.Window.End = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, quota.ErrInvalid, `Window.End: instant is outside`},
		"no class":         {func(q *quota.Request) { q.Class = 0 }, quota.ErrInvalid, `Class 0: want one of ["guaranteed" "preemptible" "opportunistic"]`},
		"negative TTL":     {func(q *quota.Request) { q.TTL = -time.Second }, quota.ErrInvalid, `TTL: duration -1s is negative`},
		"TTL of no second": {func(q *quota.Request) { q.TTL = time.Millisecond }, quota.ErrInvalid, `TTL: duration 1ms`},
		"bad note":         {func(q *quota.Request) { q.Note = "\x00" }, quota.ErrInvalid, `Note "\x00" has a control character`},
		"unknown key":      {func(q *quota.Request) { q.Amounts = some("tpu", 1) }, quota.ErrExceeded, `root-quota of "lab" for tpu: limit 0, used 0, need 1`},
	} {
		t.Run(name, func(t *testing.T) {
			l := must(t, company()...)
			l.Advance(at(0))
			_, err := l.Book(at(0), quota.Request{ID: "first", Tenant: "v1", Amounts: some(gpu, 1), Window: over(0, 10), Class: quota.Guaranteed})
			require.NoError(t, err)
			q, before := good, encoded(t, l)
			c.spoil(&q)
			_, err = l.Reserve(at(0), q)
			require.ErrorIs(t, err, c.is)
			require.ErrorContains(t, err, c.says)
			require.True(t, strings.HasPrefix(err.Error(), "quota: "), err.Error())
			require.Equal(t, before, encoded(t, l))
			require.EqualError(t, l.Fits(at(0), q), err.Error())
		})
	}
}

// Commands on charges that do not exist or are in the wrong state.
func TestStateMistakes(t *testing.T) {
	l := must(t, company()...)
	hold := quota.Request{ID: "hold", Tenant: "v1", Amounts: some(gpu, 2), Window: over(0, 600), Class: quota.Preemptible, TTL: time.Minute}
	_, err := l.Reserve(at(0), hold)
	require.NoError(t, err)
	_, err = l.Book(at(0), quota.Request{ID: "done", Tenant: "guest", Amounts: some(gpu, 1), Window: over(0, 30), Class: quota.Preemptible})
	require.NoError(t, err)

	other := hold
	other.Note = "other"
	_, err = l.Reserve(at(1), other)
	require.ErrorIs(t, err, quota.ErrExists)
	_, err = l.Book(at(1), hold)
	require.ErrorIs(t, err, quota.ErrInvalid, "a booking has no TTL")
	_, err = l.Commit(at(1), "hold", some(gpu, 3))
	require.ErrorContains(t, err, `amount 3 of key "gpu/h100": at most the 2 held`)
	_, err = l.Commit(at(1), "hold", some(gpu, -1))
	require.ErrorIs(t, err, quota.ErrInvalid)
	_, err = l.Resize(at(1), "hold", some(gpu, 0), over(5, 5))
	require.ErrorContains(t, err, "is empty")
	require.ErrorContains(t, err, "amounts[0].N 0")
	_, err = l.Resize(at(7), "hold", nil, over(0, 6))
	require.ErrorContains(t, err, "Release the charge instead")
	_, err = l.Resize(at(7), "hold", some(gpu, 4096), quota.Window{})
	require.ErrorIs(t, err, quota.ErrExceeded)

	for id, is := range map[string]error{"none": quota.ErrUnknown, "done": quota.ErrState, "hold": quota.ErrExpired} {
		_, err = l.Commit(at(60), id, nil)
		require.ErrorIs(t, err, is, id)
		_, err = l.Resize(at(60), id, some(gpu, 1), quota.Window{})
		require.ErrorIs(t, err, is, id)
	}
	_, err = l.Release(at(60), "none")
	require.ErrorIs(t, err, quota.ErrUnknown)
	c, err := l.Release(at(60), "hold")
	require.NoError(t, err)
	require.Equal(t, quota.Expired, c.State)
	require.Equal(t, at(60), c.Stopped)
}

// Q22: the same request is the same charge, for ever; expiry is exact.
func TestIdempotence(t *testing.T) {
	l := must(t, company()...)
	q := quota.Request{ID: "x", Tenant: "v1", Amounts: append(some(gpu, 2), some(cpu, 3)...), Window: over(0, 600), Class: quota.Preemptible, TTL: time.Minute}
	first, err := l.Reserve(at(0), q)
	require.NoError(t, err)
	q.Amounts[0], q.Amounts[1] = q.Amounts[1], q.Amounts[0]
	again, err := l.Reserve(at(59), q)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Len(t, l.Events(), 1)

	_, err = l.Commit(at(59), "x", some(gpu, 1))
	require.NoError(t, err)
	require.Len(t, l.Events(), 2)
	_, err = l.Commit(at(61), "x", some(gpu, 1))
	require.NoError(t, err)
	resized, err := l.Resize(at(62), "x", some(gpu, 1), over(0, 300))
	require.NoError(t, err)
	again, err = l.Resize(at(63), "x", nil, over(0, 300))
	require.NoError(t, err)
	require.Equal(t, resized, again)
	again, err = l.Reserve(at(64), q)
	require.NoError(t, err)
	require.Equal(t, resized, again, "the request is remembered as it was asked")
	for range 2 {
		_, err = l.Release(at(65), "x")
		require.NoError(t, err)
	}
	require.Len(t, l.TakeEvents(), 4)
	require.Empty(t, l.Events())
	c, _ := l.Find("x")
	require.Equal(t, []quota.Span{
		{Window: over(0, 59), Amounts: append(some(cpu, 3), some(gpu, 2)...)},
		{Window: over(59, 65), Amounts: some(gpu, 1)},
	}, c.Spans, "the past stays as it was")
	require.Equal(t, uint64(4), c.Version)

	require.Zero(t, l.Forget(at(66), at(64)))
	require.Equal(t, 1, l.Forget(at(66), at(65)))
	_, ok := l.Find("x")
	require.False(t, ok)
}

// Q28: what cannot be done to the tree is refused whole.
func TestTreeMistakes(t *testing.T) {
	l := must(t, company()...)
	_, err := l.Book(at(0), quota.Request{ID: "x", Tenant: "s1", Amounts: some(gpu, 1), Window: over(0, 60), Class: quota.Preemptible})
	require.NoError(t, err)
	before := encoded(t, l)
	for what, c := range map[string]struct{ got, is error }{
		"cycle":          {l.SetTenant(at(0), quota.Tenant{Name: "lab", Parent: "v1"}), quota.ErrInvalid},
		"own parent":     {l.SetTenant(at(0), quota.Tenant{Name: "lab", Parent: "lab"}), quota.ErrInvalid},
		"unknown parent": {l.SetTenant(at(0), quota.Tenant{Name: "new", Parent: "ghost"}), quota.ErrUnknown},
		"bad limit":      {l.SetTenant(at(0), leaf("new", "", -1)), quota.ErrInvalid},
		"unknown":        {l.RemoveTenant(at(0), "ghost"), quota.ErrUnknown},
		"has children":   {l.RemoveTenant(at(0), "speech"), quota.ErrState},
		"has charges":    {l.RemoveTenant(at(0), "s1"), quota.ErrState},
	} {
		require.ErrorIs(t, c.got, c.is, what)
	}
	require.Equal(t, before, encoded(t, l))
	require.NoError(t, l.RemoveTenant(at(60), "s1"), "the charge has ended")
	_, ok := l.Find("x")
	require.False(t, ok, "and is forgotten with its tenant")
	require.NoError(t, l.RemoveTenant(at(60), "speech"))
	u, _ := l.Usage("lab", gpu, at(30))
	require.Zero(t, u.Used)
	require.NoError(t, l.Check())
}

// An event that contradicts the state is an error and changes nothing.
func TestApplyContradictions(t *testing.T) {
	l := must(t, company()...)
	q := quota.Request{ID: "x", Tenant: "s1", Amounts: some(gpu, 2), Window: over(0, 600), Class: quota.Preemptible, TTL: time.Minute}
	_, err := l.Reserve(at(0), q)
	require.NoError(t, err)
	fresh := q
	fresh.ID = "y"
	with := func(f func(*quota.Request)) quota.ReservedEvent {
		e := quota.ReservedEvent{At: at(0), Request: fresh}
		f(&e.Request)
		return e
	}
	before := encoded(t, l)
	for what, ev := range map[string]quota.Event{
		"nil": nil, "nil pointer": (*quota.EndedEvent)(nil), "pointer": &quota.ReleasedEvent{At: at(0), ID: "x"},
		"known id":        quota.ReservedEvent{At: at(0), Request: q},
		"past":            quota.ReleasedEvent{At: at(-1), ID: "x"},
		"not aligned":     quota.ReleasedEvent{At: at(0).Add(1), ID: "x"},
		"skips the due":   quota.ReleasedEvent{At: at(60), ID: "x"},
		"unknown tenant":  with(func(q *quota.Request) { q.Tenant = "ghost" }),
		"bad request":     with(func(q *quota.Request) { q.Class = 9 }),
		"over":            with(func(q *quota.Request) { q.Window = over(-9, 0) }),
		"unsorted":        with(func(q *quota.Request) { q.Amounts = append(some(gpu, 1), some(cpu, 1)...) }),
		"endless TTL":     with(func(q *quota.Request) { q.TTL = math.MaxInt64 }),
		"more than held":  quota.CommittedEvent{At: at(0), ID: "x", Amounts: some(gpu, 3)},
		"nothing held":    quota.CommittedEvent{At: at(0), ID: "x"},
		"unknown charge":  quota.CommittedEvent{At: at(0), ID: "y", Amounts: some(gpu, 1)},
		"same size":       quota.ResizedEvent{At: at(0), ID: "x", Amounts: some(gpu, 2), Window: over(0, 600)},
		"resized to past": quota.ResizedEvent{At: at(5), ID: "x", Amounts: some(gpu, 2), Window: over(0, 5)},
		"empty resize":    quota.ResizedEvent{At: at(0), ID: "x", Amounts: nil, Window: over(5, 5)},
		"too early":       quota.ExpiredEvent{At: at(59), ID: "x"},
		"not the end":     quota.EndedEvent{At: at(60), ID: "x"},
		"tenant as it is": quota.TenantSetEvent{At: at(0), Tenant: quota.Tenant{Name: "s1", Parent: "speech"}},
		"moot limit":      quota.TenantSetEvent{At: at(0), Tenant: leaf("s1", "speech", 0)},
		"cycle":           quota.TenantSetEvent{At: at(0), Tenant: quota.Tenant{Name: "lab", Parent: "v1"}},
		"has children":    quota.TenantRemovedEvent{At: at(0), Name: "lab"},
		"nothing to drop": quota.ForgottenEvent{At: at(0), Before: at(0)},
		"drops tomorrow":  quota.ForgottenEvent{At: at(0), Before: at(9)},
	} {
		require.ErrorIs(t, l.Apply(ev), quota.ErrContradiction, what)
		require.Equal(t, before, encoded(t, l), what)
	}
	require.NoError(t, l.Apply(quota.ExpiredEvent{At: at(60), ID: "x"}))
	for _, ev := range []quota.Event{nil, (*quota.EndedEvent)(nil)} {
		_, err = quota.EventJSON(ev)
		require.ErrorIs(t, err, quota.ErrInvalid)
	}
	for _, ev := range []quota.Event{quota.ReleasedEvent{At: at(0).Add(1)}, quota.ReservedEvent{At: at(0), Request: quota.Request{TTL: -1}},
		quota.ResizedEvent{At: at(0), Window: over(5, 5)}, quota.CommittedEvent{At: at(0).Add(1)}, quota.TenantSetEvent{At: at(0).Add(1)}, quota.ForgottenEvent{At: at(0).Add(1)}} {
		_, err = ev.AppendBinary(nil)
		require.Error(t, err, "%T", ev)
	}
}

// An event belongs to the ledger from Apply on.
func TestApplyOwnsItsLists(t *testing.T) {
	l := must(t, company()...)
	amounts := some(gpu, 1)
	require.NoError(t, l.Apply(quota.ReservedEvent{At: at(0), Request: quota.Request{ID: "x", Tenant: "s1", Amounts: amounts, Window: over(0, 9), Class: quota.Preemptible}}))
	amounts[0].N = 99
	c, _ := l.Find("x")
	require.Equal(t, int64(1), c.Amounts[0].N)
	c.Amounts[0].N = 77
	c.Spans[0].Amounts[0].N = 77
	require.NoError(t, l.Check())
}

// A refused command leaves even what was due undone.
func TestRefusedCommandLeavesTheDue(t *testing.T) {
	l := must(t, company()...)
	_, err := l.Book(at(0), quota.Request{ID: "x", Tenant: "s1", Amounts: some(gpu, 1), Window: over(0, 9), Class: quota.Preemptible})
	require.NoError(t, err)
	before := encoded(t, l)
	_, err = l.Commit(at(100), "nobody", nil)
	require.True(t, errors.Is(err, quota.ErrUnknown))
	require.Equal(t, before, encoded(t, l))
	_, err = l.Release(at(100), "x")
	require.NoError(t, err)
	c, _ := l.Find("x")
	require.Equal(t, quota.Ended, c.State, "it had ended before it could be released")
}
