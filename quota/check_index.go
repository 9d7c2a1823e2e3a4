// SPDX-License-Identifier: Apache-2.0

package quota

import "fmt"

// checkTree compares the tenants with their indexes by name and by parent.
func (s *state) checkTree() error {
	for t := range s.names.All() {
		if have := s.tenants.Ref(int(t.node)).name; have != t.name {
			return fmt.Errorf("quota: check: Q28: name %q leads to tenant %q", t.name, have)
		}
	}
	for k := range s.kids.All() {
		if t := s.tenants.Ref(int(k.node)); t.parent != k.parent || t.name != k.name {
			return fmt.Errorf("quota: check: Q28: tenant %q hangs below another than its parent, or as %q", t.name, k.name)
		}
	}
	if n := s.kids.Len(); n != s.names.Len() {
		return fmt.Errorf("quota: check: Q28: %d tenants have a place below their parent, not %d", n, s.names.Len())
	}
	return nil
}

// checkOwners compares the charges with their indexes by id and by tenant.
func (s *state) checkOwners() error {
	for ref := range s.records.All() {
		if ref.id != ref.rec.id {
			return fmt.Errorf("quota: check: Q4: charge %q lies under id %q", ref.rec.id, ref.id)
		}
		if _, ok := s.owners.Find(ownerRef{ref.rec.node, ref.id}); !ok {
			return fmt.Errorf("quota: check: Q4: charge %q is missing from the index by tenant", ref.id)
		}
	}
	if n := s.owners.Len(); n != s.records.Len() {
		return fmt.Errorf("quota: check: Q4: the index by tenant has %d charges, not %d", n, s.records.Len())
	}
	return nil
}

// checkSpare compares the accounts in use and the spare ones with all there are.
func (s *state) checkSpare(used int) error {
	spare := 0
	for i := s.spareAccount; i != none && spare <= s.rules.Len(); i = s.rules.Ref(int(i)).parent {
		spare++
	}
	if used+spare != s.rules.Len() || s.rules.Len() != s.uses.Len() {
		return fmt.Errorf("quota: check: Q4: %d accounts are in use and %d spare, of %d rules and %d uses", used, spare, s.rules.Len(), s.uses.Len())
	}
	return nil
}

// checkAgenda compares what is due with the live charges.
func (s *state) checkAgenda() error {
	n := 0
	for ref := range s.records.All() {
		d, ok := ref.rec.due()
		if !ok {
			continue
		}
		n++
		if _, found := s.agenda.Find(d); !found {
			return fmt.Errorf("quota: check: Q22: charge %q is not on the agenda", ref.id)
		}
	}
	if n != s.agenda.Len() {
		return fmt.Errorf("quota: check: Q22: %d charges are due some day, the agenda has %d", n, s.agenda.Len())
	}
	return nil
}
