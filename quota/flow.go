// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/step"
)

// A flow is what a change below an account does to it: to its levels over time
// and to the quota it is offered.
type flow struct {
	raw, balance, guaranteed []segment
	offer                    int64
	gross                    int64
}

func (f *flow) empty() bool {
	return len(f.raw) == 0 && len(f.balance) == 0 && len(f.guaranteed) == 0 && f.offer == 0 && f.gross == 0
}

// climb applies f to account i and what follows from it to the accounts above.
// It is the only place where levels change.
func (s *state) climb(tok *cow.Token, i int32, f flow) {
	for i != none && !f.empty() {
		was := s.rules.At(int(i))
		now := was
		if f.offer != 0 {
			now.subtree += f.offer
			now.settle()
			s.rules.Set(tok, int(i), now)
		}
		u := s.uses.Edit(tok, int(i))
		up := flow{
			raw:        f.raw,
			balance:    respill(&u.balance, was.private, now.private, f.balance),
			guaranteed: spill(nil, &u.guaranteed, now.nominal, f.guaranteed),
			offer:      now.offer() - was.offer(),
			gross:      f.gross,
		}
		pour(tok, &u.raw, f.raw)
		pour(tok, &u.balance, f.balance)
		pour(tok, &u.guaranteed, f.guaranteed)
		u.gross += f.gross
		i, f = was.parent, up
	}
}

// A check collects every limit that a change of charges would pass.
type check struct {
	s     *state
	class Class
	quick bool // stop at the first, without details
	hit   bool
	found []Blocker
}

// walk checks the change in of one key from node up to the root. Only what
// grows can be blocked, so a balance that a cut limit has left in debt may stay
// as it is and may shrink. It does not allocate if nothing is found and no
// account hands on more than eight segments.
func (c *check) walk(node int32, key Key, in []segment) {
	var space [4][8]segment // two for each list, so that none is overwritten while it is read
	var b, g int
	balance, guaranteed := in, in
	if c.class != Guaranteed {
		guaranteed = nil
	}
	i := c.s.nearest(node, key)
	if i == none {
		c.unknownKey(node, key, in)
		return
	}
	for i != none && !(c.quick && c.hit) {
		r, u := c.s.rules.Ref(int(i)), c.s.uses.Ref(int(i))
		if r.cap.Limited {
			c.limit(r, key, Cap, &u.raw, in, r.cap.Max)
		}
		if top, ok := r.top(); ok && len(balance) > 0 {
			kind := BorrowLimit
			if r.parent == none {
				kind = RootQuota
			}
			c.limit(r, key, kind, &u.balance, balance, top)
		}
		if top, ok := r.guaranteedTop(); ok && len(guaranteed) > 0 {
			c.limit(r, key, GuaranteedOverNominal, &u.guaranteed, guaranteed, top)
		}
		if r.private != 0 {
			balance = spill(space[b][:0], &u.balance, r.private, balance)
			b ^= 1
		}
		if r.nominal != 0 {
			guaranteed = spill(space[2+g][:0], &u.guaranteed, r.nominal, guaranteed)
			g ^= 1
		}
		i = r.parent
	}
}

// unknownKey refuses a key that nobody from node up has an account of: the
// root's quota of it is 0.
func (c *check) unknownKey(node int32, key Key, in []segment) {
	root := node
	for p := root; p != none; p = c.s.tenants.Ref(int(p)).parent {
		root = p
	}
	r, u := rule{tenant: root, parent: none}, use{}
	c.limit(&r, key, RootQuota, &u.balance, in, 0)
	if c.class == Guaranteed {
		c.limit(&r, key, GuaranteedOverNominal, &u.guaranteed, in, 0)
	}
}

// limit notes a blocker if adding in to tr passes most where in grows.
func (c *check) limit(r *rule, key Key, kind Kind, tr *step.Tree, in []segment, most int64) {
	for _, g := range in {
		if g.d > 0 && tr.Max(g.from, g.to)+g.d > most {
			c.hit = true
			if !c.quick {
				b := short(tr, in, most)
				b.Tenant, b.Key, b.Kind = c.s.tenants.Ref(int(r.tenant)).name, key, kind
				c.found = append(c.found, b)
			}
			return
		}
	}
}

// refusal returns what was found as an error, or nil.
func (c *check) refusal(id string, node int32) error {
	if len(c.found) == 0 {
		return nil
	}
	slices.SortStableFunc(c.found, func(a, b Blocker) int { return cmp.Compare(a.Key, b.Key) })
	path := c.s.path(node)
	return &ExceededError{ID: id, Tenant: path[len(path)-1], Path: path, Blockers: c.found}
}

// overflow refuses amounts whose sum over a whole tree would pass MaxTotal.
func (s *state) overflow(node int32, key Key, more int64) error {
	i := s.nearest(node, key)
	for i != none {
		r := s.rules.Ref(int(i))
		if r.parent == none {
			if have := s.uses.Ref(int(i)).gross; more > MaxTotal-have {
				return fmt.Errorf("%w: the amounts of key %q would sum to more than %d (%d now, %d more); Forget what has ended",
					ErrInvalid, key, int64(MaxTotal), have, more)
			}
		}
		i = r.parent
	}
	return nil
}
