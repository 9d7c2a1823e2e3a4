// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"iter"
	"slices"
	"strings"

	"github.com/berth-gpu/berth/internal/cow"
)

// none is the index of no tenant and of no account.
const none = -1

// state is the whole of a ledger: heads of copy-on-write containers and
// scalars, so that a copy by value is a fork.
//
// Tenants and accounts live in dense arrays; a removed one leaves a slot that
// the next one takes. No answer depends on which slot that is.
type state struct {
	now     int64 // the present: tick of the last event
	tenants cow.Array[tenant]
	rules   cow.Array[rule] // account → what is allowed
	uses    cow.Array[use]  // account → what is used; same index as rules

	spareTenant, spareAccount int32 // first unused slot, linked by parent

	names   cow.Sorted[nameRef]   // every tenant, by name
	kids    cow.Sorted[kidRef]    // every tenant, by parent and name
	records cow.Sorted[recordRef] // every charge, by id
	owners  cow.Sorted[ownerRef]  // every charge, by tenant and id
	agenda  cow.Sorted[due]       // every live charge that will change by itself
}

type tenant struct {
	name   string
	parent int32
	limits []Limit // normal; never changed in place
	slots  []slot  // by key; never changed in place
}

// A slot says which account a tenant has for a key.
type slot struct {
	key     Key
	account int32
}

type (
	nameRef struct {
		name string
		node int32
	}
	kidRef struct {
		parent int32
		name   string
		node   int32
	}
	recordRef struct {
		id  string
		rec *record
	}
	ownerRef struct {
		node int32
		id   string
	}
	due struct {
		at   int64
		what uint8 // dueExpiry before dueEnd at one instant
		id   string
	}
)

const (
	dueExpiry = iota
	dueEnd
)

func newState(now int64) state {
	return state{
		now: now, spareTenant: none, spareAccount: none,
		names: cow.NewSorted(func(a, b nameRef) bool { return a.name < b.name }),
		kids: cow.NewSorted(func(a, b kidRef) bool {
			return a.parent < b.parent || a.parent == b.parent && a.name < b.name
		}),
		records: cow.NewSorted(func(a, b recordRef) bool { return a.id < b.id }),
		owners: cow.NewSorted(func(a, b ownerRef) bool {
			return a.node < b.node || a.node == b.node && a.id < b.id
		}),
		agenda: cow.NewSorted(func(a, b due) bool {
			if a.at != b.at {
				return a.at < b.at
			}
			if a.what != b.what {
				return a.what < b.what
			}
			return a.id < b.id
		}),
	}
}

// node returns the index of a tenant, or none.
func (s *state) node(name string) int32 {
	if ref, ok := s.names.Find(nameRef{name: name}); ok {
		return ref.node
	}
	return none
}

// record returns the charge of an id, or nil.
func (s *state) record(id string) *record {
	ref, _ := s.records.Find(recordRef{id: id})
	return ref.rec
}

// children yields the tenants right below node, by name; none stands above the roots.
func (s *state) children(node int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for k := range s.kids.From(kidRef{parent: node}) {
			if k.parent != node || !yield(k.node) {
				return
			}
		}
	}
}

// owned yields the charges of one tenant, by id.
func (s *state) owned(node int32) iter.Seq[*record] {
	return func(yield func(*record) bool) {
		for o := range s.owners.From(ownerRef{node: node}) {
			if o.node != node || !yield(s.record(o.id)) {
				return
			}
		}
	}
}

// subtree returns node and everything below it, by name.
func (s *state) subtree(node int32) []nameRef {
	out := []nameRef{{s.tenants.Ref(int(node)).name, node}}
	for i := 0; i < len(out); i++ {
		for k := range s.children(out[i].node) {
			out = append(out, nameRef{s.tenants.Ref(int(k)).name, k})
		}
	}
	slices.SortFunc(out, func(a, b nameRef) int { return strings.Compare(a.name, b.name) })
	return out
}

// under reports whether node lies in the subtree of top.
func (s *state) under(node, top int32) bool {
	for node != none && node != top {
		node = s.tenants.Ref(int(node)).parent
	}
	return node == top
}

// path returns the names from the root down to node.
func (s *state) path(node int32) []string {
	var out []string
	for ; node != none; node = s.tenants.Ref(int(node)).parent {
		out = append(out, s.tenants.Ref(int(node)).name)
	}
	slices.Reverse(out)
	return out
}
