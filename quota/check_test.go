// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sound returns a ledger with two levels of tenants, a charge held, one
// committed for ever, one that ended, and a tenant that was removed.
func sound(t *testing.T) *Ledger {
	const key Key = "gpu"
	l, err := New(Config{Tenants: []Tenant{
		{Name: "lab", Limits: []Limit{{Key: key, Nominal: 4}}},
		{Name: "vision", Parent: "lab", Limits: []Limit{{Key: key, Nominal: 6, Lend: AtMost(2), Borrow: AtMost(5), Cap: AtMost(20)}}},
		{Name: "speech", Parent: "lab", Limits: []Limit{{Key: key, Nominal: 8}}},
		{Name: "gone", Parent: "lab", Limits: []Limit{{Key: "cpu", Nominal: 1}}},
	}})
	require.NoError(t, err)
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	ask := func(id, tenant string, n int64, class Class, hours int) Request {
		w := Window{Start: now.Add(time.Hour)}
		if hours > 0 {
			w.End = w.Start.Add(time.Duration(hours) * time.Hour)
		}
		return Request{ID: id, Tenant: tenant, Class: class, Amounts: []Amount{{key, n}}, Window: w}
	}
	_, err = l.Book(now, ask("ended", "vision", 2, Preemptible, 1))
	require.NoError(t, err)
	_, err = l.Book(now, ask("open", "vision", 7, Preemptible, 0))
	require.NoError(t, err)
	held := ask("held", "speech", 5, Guaranteed, 8)
	held.TTL = 6 * time.Hour
	_, err = l.Reserve(now, held)
	require.NoError(t, err)
	require.NoError(t, l.RemoveTenant(now, "gone"))
	l.Advance(now.Add(3 * time.Hour))
	require.NoError(t, l.Check())
	return l
}

// TestCheckFinds breaks a sound ledger in each way that Check must see, and
// expects the number of the invariant.
func TestCheckFinds(t *testing.T) {
	use := func(l *Ledger, tenant string) *use {
		s := &l.core.S
		return s.uses.Edit(l.core.Token(), int(s.account(s.node(tenant), "gpu")))
	}
	rule := func(l *Ledger, tenant string) *rule {
		s := &l.core.S
		return s.rules.Edit(l.core.Token(), int(s.account(s.node(tenant), "gpu")))
	}
	for name, tt := range map[string]struct {
		want  string
		spoil func(l *Ledger, s *state)
	}{
		"raw level":        {`Q1: tenant "vision" key "gpu": levels`, func(l *Ledger, _ *state) { u := use(l, "vision"); u.raw.Add(l.core.Token(), 5, 6, 1) }},
		"balance":          {`Q1: tenant "lab" key "gpu": levels`, func(l *Ledger, _ *state) { u := use(l, "lab"); u.balance.Add(l.core.Token(), 5, 6, 1) }},
		"guaranteed":       {`Q1: tenant "lab" key "gpu": levels`, func(l *Ledger, _ *state) { u := use(l, "lab"); u.guaranteed.Add(l.core.Token(), 5, 6, 1) }},
		"level missing":    {`Q1: tenant "vision" key "gpu": levels`, func(l *Ledger, s *state) { use(l, "vision").balance = use(l, "speech").guaranteed }},
		"gross":            {`Q1: tenant "speech" key "gpu": levels`, func(l *Ledger, _ *state) { use(l, "speech").gross++ }},
		"subtree quota":    {`Q1: tenant "lab" key "gpu": rule`, func(l *Ledger, _ *state) { rule(l, "lab").subtree++ }},
		"private part":     {`Q1: tenant "vision" key "gpu": rule`, func(l *Ledger, _ *state) { rule(l, "vision").private-- }},
		"nominal":          {`Q1: tenant "vision" key "gpu": rule`, func(l *Ledger, _ *state) { rule(l, "vision").nominal++ }},
		"cap":              {`Q1: tenant "vision" key "gpu": rule`, func(l *Ledger, _ *state) { rule(l, "vision").cap = Bound{} }},
		"limit":            {`Q1: tenant "speech" key "gpu": rule`, func(l *Ledger, s *state) { s.tenants.Edit(l.core.Token(), int(s.node("speech"))).limits = nil }},
		"account's parent": {`Q1: tenant "speech" key "gpu": rule`, func(l *Ledger, _ *state) { rule(l, "speech").parent = none }},

		"other id":             {`Q4: charge "open" lies under id "other"`, func(l *Ledger, s *state) { s.records.Put(l.core.Token(), recordRef{"other", s.record("open")}) }},
		"owner lacks a charge": {`Q4: charge "held" is missing`, func(l *Ledger, s *state) { s.owners.Remove(l.core.Token(), ownerRef{s.node("speech"), "held"}) }},
		"owner too much":       {"Q4: the index by tenant has 4 charges, not 3", func(l *Ledger, s *state) { s.owners.Put(l.core.Token(), ownerRef{s.node("lab"), "lost"}) }},
		"account lost":         {"Q4: 4 accounts are in use and 0 spare, of 5", func(_ *Ledger, s *state) { s.spareAccount = none }},

		"amount":    {`Q8: charge "open" uses 1099511627777`, func(_ *Ledger, s *state) { s.record("open").spans[0].amounts[0].N = MaxAmount + 1 }},
		"no amount": {`Q8: charge "open" uses 0`, func(_ *Ledger, s *state) { s.record("open").spans[0].amounts[0].N = 0 }},

		"live after its end": {`Q22: charge "held" is live after its end`, func(_ *Ledger, s *state) { s.now = s.record("held").expires + 1 }},
		"ended early":        {`Q22: charge "ended" ended before its end`, func(_ *Ledger, s *state) { s.record("ended").stopped++ }},
		"committed, expires": {`Q22: charge "open" is live after its end`, func(_ *Ledger, s *state) { s.record("open").expires = 0 }},
		"uses something else": {`Q22: charge "held" does not use what it says`, func(_ *Ledger, s *state) {
			r := s.record("held")
			r.spans = []span{{r.spans[0].from, r.spans[0].to, []Amount{{"gpu", 4}}}}
		}},
		"not due":      {`Q22: charge "held" is not on the agenda`, func(l *Ledger, s *state) { d, _ := s.record("held").due(); s.agenda.Remove(l.core.Token(), d) }},
		"due too much": {"Q22: 1 charges are due some day, the agenda has 2", func(l *Ledger, s *state) { s.agenda.Put(l.core.Token(), due{s.now + 1, dueEnd, "open"}) }},

		"name": {`Q28: name "speech" leads to tenant "vision"`, func(l *Ledger, s *state) { s.names.Put(l.core.Token(), nameRef{"speech", s.node("vision")}) }},
		"parent": {`Q28: tenant "speech" hangs below another`, func(l *Ledger, s *state) {
			s.tenants.Edit(l.core.Token(), int(s.node("speech"))).parent = s.node("vision")
		}},
		"out of the tree":  {"Q28: 2 tenants have a place below their parent, not 3", func(l *Ledger, s *state) { s.kids.Remove(l.core.Token(), kidRef{s.node("lab"), "speech", 0}) }},
		"cycle of tenants": {"Q28: 0 tenants hang in the tree, not 3", cycle},
		"below two parents": {`Q28: tenant "speech" hangs below another`, func(l *Ledger, s *state) {
			s.kids.Put(l.core.Token(), kidRef{s.node("vision"), "speech", s.node("speech")})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			l := sound(t)
			tt.spoil(l, &l.core.S)
			require.ErrorContains(t, l.Check(), "quota: check: "+tt.want)
		})
	}
}

// cycle hangs the root below its own child.
func cycle(l *Ledger, s *state) {
	lab, vision := s.node("lab"), s.node("vision")
	s.kids.Remove(l.core.Token(), kidRef{none, "lab", lab})
	s.kids.Put(l.core.Token(), kidRef{vision, "lab", lab})
	s.tenants.Edit(l.core.Token(), int(lab)).parent = vision
}

// Q8: the sum over a tree is bounded, however many charges there are.
func TestCheckFindsTooGreatASum(t *testing.T) {
	l := sound(t)
	s := &l.core.S
	require.Nil(t, s.compare(s.node("speech"), map[Key]*recount{"gpu": counted(s, "speech")}))
	c := counted(s, "speech")
	c.gross = MaxTotal + 1
	require.ErrorContains(t, s.compare(s.node("speech"), map[Key]*recount{"gpu": c}), "Q8: tenant \"speech\" key \"gpu\": the charges sum to 4611686018427387905")
}

// counted recounts the charges of one tenant without children.
func counted(s *state, tenant string) *recount {
	own := map[Key]*recount{}
	for r := range s.owned(s.node(tenant)) {
		_ = countRecord(own, r)
	}
	return own["gpu"]
}
