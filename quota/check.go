// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/berth-gpu/berth/internal/step"
	"github.com/berth-gpu/berth/internal/tick"
)

// Check recounts every level, sum and index from the charges and the limits,
// by the definitions of the package doc rather than step by step, and reports
// the first difference under the number of the invariant that it breaks: the
// quotas and levels (Q1), the indexes of charges and accounts (Q4), the bounds
// of amounts and sums (Q8), what a charge may be at the present and what is due
// (Q22), and the tree (Q28). It costs O(c·h·log c) for c charges and h levels of
// tenants. A debt left by a lowered limit is no fault.
func (l *Ledger) Check() error {
	s := &l.core.S
	if err := errors.Join(s.checkTree(), s.checkOwners()); err != nil {
		return err
	}
	seen, accounts := 0, 0
	var walk func(node int32) (map[Key]*recount, error)
	walk = func(node int32) (map[Key]*recount, error) {
		seen++
		accounts += len(s.tenants.Ref(int(node)).slots)
		own := map[Key]*recount{}
		for r := range s.owned(node) {
			if why := r.flaw(s.now); why != "" {
				return nil, fmt.Errorf("quota: check: Q22: charge %q %s", r.id, why)
			}
			if err := countRecord(own, r); err != nil {
				return nil, err
			}
		}
		for k := range s.children(node) {
			below, err := walk(k)
			if err != nil {
				return nil, err
			}
			for key, c := range below {
				entry(own, key).addChild(c)
			}
		}
		return own, s.compare(node, own)
	}
	for n := range s.children(none) {
		if _, err := walk(n); err != nil {
			return err
		}
	}
	if seen != s.names.Len() {
		return fmt.Errorf("quota: check: Q28: %d tenants hang in the tree, not %d", seen, s.names.Len())
	}
	if err := s.checkSpare(accounts); err != nil {
		return err
	}
	return s.checkAgenda()
}

// A recount holds one account by definition: changes of level by instant.
type recount struct {
	rule                     rule
	raw, balance, guaranteed map[int64]int64
	gross                    int64
}

func entry(m map[Key]*recount, key Key) *recount {
	c := m[key]
	if c == nil {
		c = &recount{raw: map[int64]int64{}, balance: map[int64]int64{}, guaranteed: map[int64]int64{}}
		m[key] = c
	}
	return c
}

func countRecord(own map[Key]*recount, r *record) error {
	uses := map[Key]int64{}
	for _, sp := range r.spans {
		for _, a := range sp.amounts {
			if a.N < 1 || a.N > MaxAmount {
				return fmt.Errorf("quota: check: Q8: charge %q uses %d of key %q, not 1 to %d", r.id, a.N, a.Key, int64(MaxAmount))
			}
			c := entry(own, a.Key)
			raise(c.raw, sp.from, sp.to, a.N)
			raise(c.balance, sp.from, sp.to, a.N)
			if r.class == Guaranteed {
				raise(c.guaranteed, sp.from, sp.to, a.N)
			}
			uses[a.Key] = max(uses[a.Key], a.N)
		}
	}
	for k, n := range uses {
		entry(own, k).gross += n
	}
	return nil
}

func raise(m map[int64]int64, from, to, n int64) {
	m[from] += n
	if to != tick.Forever {
		m[to] -= n
	}
}

// addChild adds what child c hands on.
func (c *recount) addChild(d *recount) {
	for t, n := range d.raw {
		c.raw[t] += n
	}
	above(c.balance, d.balance, d.rule.private)
	above(c.guaranteed, d.guaranteed, d.rule.nominal)
	c.gross += d.gross
	c.rule.subtree += d.rule.offer()
}

// above adds the part of from above floor to sum.
func above(sum, from map[int64]int64, floor int64) {
	var level int64
	for _, t := range slices.Sorted(maps.Keys(from)) {
		was := max(0, level-floor)
		level += from[t]
		sum[t] += max(0, level-floor) - was
	}
}

// compare completes the recount of one tenant with its limits and compares it.
func (s *state) compare(node int32, own map[Key]*recount) error {
	t := s.tenants.Ref(int(node))
	for _, l := range t.limits {
		r := &entry(own, l.Key).rule
		r.nominal, r.borrow, r.lend, r.cap = l.Nominal, l.Borrow, l.Lend, l.Cap
	}
	for _, sl := range t.slots {
		entry(own, sl.key)
	}
	for _, key := range slices.Sorted(maps.Keys(own)) {
		c := own[key]
		c.rule.subtree += c.rule.nominal
		c.rule.settle()
		c.rule.tenant, c.rule.parent = node, none
		if t.parent != none {
			c.rule.parent = s.account(t.parent, key)
		}
		if c.gross < 0 || c.gross > MaxTotal {
			return fmt.Errorf("quota: check: Q8: tenant %q key %q: the charges sum to %d, more than %d", t.name, key, c.gross, int64(MaxTotal))
		}
		have, u := rule{tenant: node, parent: none}, use{}
		if i := s.account(node, key); i != none {
			have, u = s.rules.At(int(i)), s.uses.At(int(i))
		}
		if have != c.rule {
			return fmt.Errorf("quota: check: Q1: tenant %q key %q: rule %+v, recounted %+v", t.name, key, have, c.rule)
		}
		if u.gross != c.gross || !sameLevels(&u.raw, c.raw) || !sameLevels(&u.balance, c.balance) || !sameLevels(&u.guaranteed, c.guaranteed) {
			return fmt.Errorf("quota: check: Q1: tenant %q key %q: levels differ from the recount", t.name, key)
		}
	}
	return nil
}

func sameLevels(tr *step.Tree, want map[int64]int64) bool {
	n := 0
	for t, d := range tr.Changes() {
		if n++; want[t] != d {
			return false
		}
	}
	for _, d := range want {
		if d != 0 {
			n--
		}
	}
	return n == 0
}
