// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/tick"
)

// SetTenant makes a tenant or replaces one of the same name: its limits, and
// its place in the tree with everything below it. It never evicts: charges that
// no longer fit stay, their balances show a Debt, and nothing may make a debt
// worse. Past use is counted under the present tree and limits. What is so
// already decides nothing.
//
// Possible errors: [ErrUnknown] parent, [ErrInvalid], which a cycle is too.
//
// Cost: O(k·h·log n) for k changed keys and h tenants up to the root; a changed
// lend limit or a move adds the number of changes of level of the subtree.
func (l *Ledger) SetTenant(at time.Time, t Tenant) error {
	if err := invalid(t.problems("")); err != nil {
		return err
	}
	t = t.normal()
	return l.command(at, func(now int64) error {
		s := &l.core.S
		if s.hasTenant(&t) {
			return nil
		}
		if err := s.settable(&t); err != nil {
			return err
		}
		l.decide(TenantSetEvent{At: tick.Time(now), Tenant: t})
		return nil
	})
}

// RemoveTenant removes a tenant that has neither children nor live charges, and
// forgets its past ones. Its nominal is withdrawn from the tenants above.
// Possible errors: [ErrUnknown] tenant, [ErrState].
func (l *Ledger) RemoveTenant(at time.Time, name string) error {
	return l.command(at, func(now int64) error {
		if err := l.core.S.removable(name); err != nil {
			return err
		}
		l.decide(TenantRemovedEvent{At: tick.Time(now), Name: name})
		return nil
	})
}

// hasTenant reports whether t, which is normal, is in the tree just so.
func (s *state) hasTenant(t *Tenant) bool {
	n := s.node(t.Name)
	return n != none && s.parentName(n) == t.Parent && slices.Equal(s.tenants.Ref(int(n)).limits, t.Limits)
}

func (s *state) parentName(n int32) string {
	if p := s.tenants.Ref(int(n)).parent; p != none {
		return s.tenants.Ref(int(p)).name
	}
	return ""
}

// settable reports why t cannot be set.
func (s *state) settable(t *Tenant) error {
	if err := invalid(t.problems("")); err != nil {
		return err
	}
	n, parent := s.node(t.Name), int32(none)
	if t.Parent != "" {
		if parent = s.node(t.Parent); parent == none {
			return fmt.Errorf("%w: Parent %q of tenant %q: add it first", ErrUnknown, t.Parent, t.Name)
		}
	}
	if n == none {
		if s.names.Len() >= MaxTenants {
			return fmt.Errorf("%w: tenant %q would be one more than %d", ErrInvalid, t.Name, MaxTenants)
		}
		return nil
	}
	if s.under(parent, n) {
		return fmt.Errorf("%w: Parent %q lies below tenant %q: that would be a cycle", ErrInvalid, t.Parent, t.Name)
	}
	if parent == none || s.under(n, s.root(parent)) {
		return nil // the sums at the root do not grow
	}
	for _, sl := range s.tenants.Ref(int(n)).slots {
		if err := s.overflow(parent, sl.key, s.uses.Ref(int(sl.account)).gross); err != nil {
			return err
		}
	}
	return nil
}

// removable reports why a tenant cannot be removed.
func (s *state) removable(name string) error {
	n := s.node(name)
	if n == none {
		return fmt.Errorf("%w: tenant %q", ErrUnknown, name)
	}
	for k := range s.children(n) {
		return fmt.Errorf("%w: tenant %q has the child %q; move or remove it first", ErrState, name, s.tenants.Ref(int(k)).name)
	}
	for r := range s.owned(n) {
		if r.state.Live() {
			return fmt.Errorf("%w: tenant %q has the %s charge %q; Release it first", ErrState, name, r.state, r.id)
		}
	}
	return nil
}

// root returns the tenant at the top of the tree of n.
func (s *state) root(n int32) int32 {
	for p := n; p != none; p = s.tenants.Ref(int(p)).parent {
		n = p
	}
	return n
}

// setTenant makes or changes a tenant; t is normal and settable.
func (s *state) setTenant(tok *cow.Token, t Tenant) {
	n, parent := s.node(t.Name), int32(none)
	if t.Parent != "" {
		parent = s.node(t.Parent)
	}
	if n == none {
		n = s.addTenant(tok, tenant{name: t.Name, parent: parent})
	} else if s.tenants.Ref(int(n)).parent != parent {
		s.move(tok, n, parent)
	}
	was := s.tenants.Ref(int(n)).limits
	for _, l := range was {
		if _, ok := searchKey(t.Limits, l.Key); !ok {
			s.regrade(tok, s.ensure(tok, n, l.Key), Limit{})
		}
	}
	for _, l := range t.Limits {
		if i, ok := searchKey(was, l.Key); !ok || was[i] != l {
			s.regrade(tok, s.ensure(tok, n, l.Key), l)
		}
	}
	s.tenants.Edit(tok, int(n)).limits = t.Limits
}

// searchKey finds the limit of a key in a normal list.
func searchKey(limits []Limit, key Key) (int, bool) {
	return slices.BinarySearchFunc(limits, key, func(l Limit, key Key) int { return cmp.Compare(l.Key, key) })
}

func (s *state) addTenant(tok *cow.Token, t tenant) int32 {
	n := s.spareTenant
	if n != none {
		s.spareTenant = s.tenants.Ref(int(n)).parent
		s.tenants.Set(tok, int(n), t)
	} else {
		n = int32(s.tenants.Append(tok, t))
	}
	s.names.Put(tok, nameRef{t.name, n})
	s.kids.Put(tok, kidRef{t.parent, t.name, n})
	return n
}

func (s *state) removeTenant(tok *cow.Token, n int32) {
	var past []*record
	for r := range s.owned(n) {
		past = append(past, r)
	}
	for _, r := range past {
		s.replace(tok, r, nil)
	}
	t := s.tenants.At(int(n))
	for _, sl := range t.slots { // all levels are 0 now
		r := s.rules.At(int(sl.account))
		s.climb(tok, r.parent, flow{offer: -r.offer()})
		s.drop(tok, sl.account)
	}
	s.names.Remove(tok, nameRef{name: t.name})
	s.kids.Remove(tok, kidRef{parent: t.parent, name: t.name})
	s.tenants.Set(tok, int(n), tenant{parent: s.spareTenant})
	s.spareTenant = n
}

// regrade gives an account another limit.
func (s *state) regrade(tok *cow.Token, i int32, l Limit) {
	was := s.rules.At(int(i))
	now := was
	now.nominal, now.borrow, now.lend, now.cap = l.Nominal, l.Borrow, l.Lend, l.Cap
	now.subtree += now.nominal - was.nominal
	now.settle()
	s.rules.Set(tok, int(i), now)
	if was.parent == none {
		return
	}
	u := s.uses.Ref(int(i))
	s.climb(tok, was.parent, flow{
		balance:    respill(&u.balance, was.private, now.private, nil),
		guaranteed: respill(&u.guaranteed, was.nominal, now.nominal, nil),
		offer:      now.offer() - was.offer(),
	})
}

// move takes a tenant and what is below it to another parent.
func (s *state) move(tok *cow.Token, n, parent int32) {
	t := s.tenants.Edit(tok, int(n))
	s.kids.Remove(tok, kidRef{parent: t.parent, name: t.name})
	s.kids.Put(tok, kidRef{parent, t.name, n})
	t.parent = parent
	for _, sl := range t.slots {
		r, u := s.rules.At(int(sl.account)), s.uses.Ref(int(sl.account))
		f := flow{
			raw: over(&u.raw, 0), balance: over(&u.balance, r.private), guaranteed: over(&u.guaranteed, r.nominal),
			offer: r.offer(), gross: u.gross,
		}
		s.climb(tok, r.parent, flow{negative(f.raw), negative(f.balance), negative(f.guaranteed), -f.offer, -f.gross})
		r.parent = none
		if parent != none {
			r.parent = s.ensure(tok, parent, sl.key)
		}
		s.rules.Set(tok, int(sl.account), r)
		s.climb(tok, r.parent, f)
	}
}
