// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"slices"
	"strings"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/step"
)

// An account is one tenant's side of one key: a rule and a use under the same
// index. A tenant that says nothing and uses nothing of a key may have none,
// and if it has none, nobody below it has one. A missing account answers like
// one of nominal 0 without bounds and without use.

// A rule is what an account is allowed: its limit and what follows from the
// limits below it.
type rule struct {
	tenant, parent    int32 // parent is an account, none at a root
	nominal           int64
	borrow, lend, cap Bound
	subtree           int64 // S: nominal + what the children offer
	private           int64 // G: the part of S that is never lent
}

// A use is what an account has used, uses and will use, over time.
type use struct {
	raw        step.Tree // R: the charges of the subtree
	balance    step.Tree // U: own charges + what the children take beyond their private part
	guaranteed step.Tree // U of Guaranteed charges alone, with every lend limit 0
	gross      int64     // sum over the charges of the subtree of the most each ever uses: bounds every level
}

// settle derives private from subtree.
func (r *rule) settle() {
	r.private = 0
	if r.lend.Limited {
		r.private = max(0, r.subtree-r.lend.Max)
	}
}

// offer is what the account adds to its parent's subtree quota.
func (r *rule) offer() int64 { return r.subtree - r.private }

// top is the greatest balance allowed, and whether there is one.
func (r *rule) top() (int64, bool) {
	if r.parent == none {
		return r.subtree, true
	}
	return r.subtree + r.borrow.Max, r.borrow.Limited
}

// guaranteedTop is top for Guaranteed charges, when nobody lends.
func (r *rule) guaranteedTop() (int64, bool) {
	if r.parent == none {
		return r.nominal, true
	}
	return r.nominal + r.borrow.Max, r.borrow.Limited
}

// account returns the account of a tenant for a key, or none, in O(log keys).
func (s *state) account(node int32, key Key) int32 {
	slots := s.tenants.Ref(int(node)).slots
	for len(slots) > 0 {
		switch mid := len(slots) / 2; {
		case slots[mid].key == key:
			return slots[mid].account
		case slots[mid].key < key:
			slots = slots[mid+1:]
		default:
			slots = slots[:mid]
		}
	}
	return none
}

// nearest returns the account of the lowest tenant from node up that has one.
func (s *state) nearest(node int32, key Key) int32 {
	for node != none {
		if i := s.account(node, key); i != none {
			return i
		}
		node = s.tenants.Ref(int(node)).parent
	}
	return none
}

// ensure returns the account of node for key and makes it, and those above it,
// if missing.
func (s *state) ensure(tok *cow.Token, node int32, key Key) int32 {
	if i := s.account(node, key); i != none {
		return i
	}
	r := rule{tenant: node, parent: none}
	if parent := s.tenants.Ref(int(node)).parent; parent != none {
		r.parent = s.ensure(tok, parent, key)
	}
	i := s.spareAccount
	if i != none {
		s.spareAccount = s.rules.Ref(int(i)).parent
		s.rules.Set(tok, int(i), r)
	} else {
		i = int32(s.rules.Append(tok, r))
		s.uses.Append(tok, use{})
	}
	t := s.tenants.Edit(tok, int(node))
	k, _ := slices.BinarySearchFunc(t.slots, key, func(a slot, key Key) int { return strings.Compare(string(a.key), string(key)) })
	t.slots = slices.Insert(slices.Clip(t.slots), k, slot{key, i})
	return i
}

// drop gives the slot of an account back.
func (s *state) drop(tok *cow.Token, i int32) {
	s.rules.Set(tok, int(i), rule{parent: s.spareAccount})
	s.uses.Set(tok, int(i), use{})
	s.spareAccount = i
}
