// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"iter"
	"slices"
)

// Find returns the charge of an id. O(log n).
func (l *Ledger) Find(id string) (Charge, bool) {
	r := l.core.S.record(id)
	if r == nil {
		return Charge{}, false
	}
	return l.core.S.charge(r), true
}

// Charges yields the charges of a tenant and of all below it, live and past, by
// tenant name and then by id; "" means everybody's. It yields nothing for an
// unknown tenant.
func (l *Ledger) Charges(tenant string) iter.Seq[Charge] {
	return func(yield func(Charge) bool) {
		s := &l.core.S
		for t := range s.names.All() {
			if tenant != "" {
				break
			}
			if !s.yieldOwned(t.node, yield) {
				return
			}
		}
		if n := s.node(tenant); n != none {
			for _, t := range s.subtree(n) {
				if !s.yieldOwned(t.node, yield) {
					return
				}
			}
		}
	}
}

func (s *state) yieldOwned(node int32, yield func(Charge) bool) bool {
	for r := range s.owned(node) {
		if !yield(s.charge(r)) {
			return false
		}
	}
	return true
}

// Tenants yields all tenants by name, each as [Ledger.Tenant] returns it.
func (l *Ledger) Tenants() iter.Seq[Tenant] {
	return func(yield func(Tenant) bool) {
		for t := range l.core.S.names.All() {
			if !yield(l.core.S.tenant(t.node)) {
				return
			}
		}
	}
}

// Tenant returns a tenant with its limits sorted by key, without those that say
// nothing (nominal 0, no bounds).
func (l *Ledger) Tenant(name string) (Tenant, bool) {
	n := l.core.S.node(name)
	if n == none {
		return Tenant{}, false
	}
	return l.core.S.tenant(n), true
}

func (s *state) tenant(n int32) Tenant {
	t := s.tenants.Ref(int(n))
	return Tenant{Name: t.name, Parent: s.parentName(n), Limits: slices.Clone(t.limits)}
}
