// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"iter"
	"time"

	"github.com/berth-gpu/berth/internal/step"
	"github.com/berth-gpu/berth/internal/tick"
)

// A Usage is how one tenant stands with one key at one instant, in the unit of
// the key. Past charges count until they are forgotten.
//
// A Usage is immutable and safe for concurrent use.
type Usage struct {
	Nominal int64 `json:"nominal"` // the tenant's own share
	Subtree int64 `json:"subtree"` // nominal + what its children offer it
	Used    int64 `json:"used"`    // all charges of the subtree
	// Guaranteed is what Guaranteed charges take of this tenant: its own ones,
	// and of each child what goes beyond the child's nominal.
	Guaranteed int64 `json:"guaranteed"`
	// Borrowed is what the subtree takes from its parent.
	Borrowed int64 `json:"borrowed"`
	// Idle is the part of Subtree that the subtree does not use itself.
	Idle int64 `json:"idle"`
	// Lent is the part of Idle that the subtree hands its parent now, for others
	// to use. Many flows may serve the same charges; this is the one in which a
	// tenant's own nominal serves before what its children lend, and each child
	// lends in proportion to what it could. It is no loss by itself: who lends may
	// still have it all where others could lend instead, as Available says.
	Lent int64 `json:"lent"`
	// Available is the most that a Preemptible charge of this tenant could add
	// at this instant, borrowing included.
	Available int64 `json:"available"`
	// Debt is by how much a limit that was lowered is passed: the cap, the
	// borrow limit or a root's quota, whichever is passed by most.
	Debt int64 `json:"debt"`
}

// Usage reports how a tenant stands with a key at an instant; false if there is
// no such tenant. A key that the tenant has nothing to do with has zero figures.
// It costs O((h+f)·log n) with h tenants up to the root and f siblings of the
// tenant and of those above, which Lent looks at.
func (l *Ledger) Usage(tenant string, key Key, at time.Time) (Usage, bool) {
	s := &l.core.S
	node := s.node(tenant)
	if node == none {
		return Usage{}, false
	}
	t := tick.Floor(at)
	var out Usage
	if i := s.account(node, key); i != none {
		r, u := s.rules.Ref(int(i)), s.uses.Ref(int(i))
		balance := u.balance.At(t)
		out = Usage{
			Nominal: r.nominal, Subtree: r.subtree,
			Used: u.raw.At(t), Guaranteed: u.guaranteed.At(t),
			Borrowed: max(0, balance-r.subtree), Idle: max(0, r.subtree-balance),
		}
		if r.cap.Limited {
			out.Debt = max(0, out.Used-r.cap.Max)
		}
		if top, ok := r.top(); ok {
			out.Debt = max(out.Debt, balance-top)
		}
		out.Lent = s.lent(i, key, t)
	}
	room, open := s.room(s.nearest(node, key), t)
	out.Available = min(room, open)
	return out, true
}

// room returns how much more account i could carry at t by the balances, and
// how much by the caps.
func (s *state) room(i int32, t int64) (room, open int64) {
	if i == none {
		return 0, 0
	}
	r, u := s.rules.Ref(int(i)), s.uses.Ref(int(i))
	room, open = MaxTotal, MaxTotal
	if r.parent != none {
		room, open = s.room(r.parent, t)
	}
	balance := u.balance.At(t)
	room += max(0, r.private-balance) // what never reaches the parent
	if top, ok := r.top(); ok {
		room = min(room, top-balance)
	}
	if r.cap.Limited {
		open = min(open, r.cap.Max-u.raw.At(t))
	}
	return max(0, room), max(0, open)
}

// A Level is a range of time over which a tenant's use of a key is constant.
//
// A Level is immutable and safe for concurrent use.
type Level struct {
	Window
	Used       int64 `json:"used"`
	Guaranteed int64 `json:"guaranteed"`
	Borrowed   int64 `json:"borrowed"`
}

// UsageOver yields the use of a key over w, in order and without gaps, with the
// meanings of [Usage]; neighbours differ. It yields nothing for an unknown
// tenant or an invalid window. It costs O(k) time and memory for k changes of
// level inside w.
func (l *Ledger) UsageOver(tenant string, key Key, w Window) iter.Seq[Level] {
	return func(yield func(Level) bool) {
		s := &l.core.S
		node := s.node(tenant)
		from, to, errs := w.ticks("Window")
		if node == none || errs != nil {
			return
		}
		var r rule
		var u use
		if i := s.account(node, key); i != none {
			r, u = s.rules.At(int(i)), s.uses.At(int(i))
		}
		raw, balance, guaranteed := steps(&u.raw, from, to), steps(&u.balance, from, to), steps(&u.guaranteed, from, to)
		var last Level
		some := false
		for from < to {
			end := min(raw[0].To, balance[0].To, guaranteed[0].To)
			next := Level{Window: window(from, end), Used: raw[0].Level, Guaranteed: guaranteed[0].Level,
				Borrowed: max(0, balance[0].Level-r.subtree)}
			if some && last.Used == next.Used && last.Guaranteed == next.Guaranteed && last.Borrowed == next.Borrowed {
				last.End = next.End
			} else {
				if some && !yield(last) {
					return
				}
				last, some = next, true
			}
			from = end
			raw, balance, guaranteed = after(raw, end), after(balance, end), after(guaranteed, end)
		}
		yield(last)
	}
}

func steps(tr *step.Tree, from, to int64) (out []step.Step) {
	for st := range tr.Steps(from, to) {
		out = append(out, st)
	}
	return out
}

func after(list []step.Step, t int64) []step.Step {
	if list[0].To <= t {
		return list[1:]
	}
	return list
}
