// SPDX-License-Identifier: Apache-2.0

package reservation

import "github.com/berth-gpu/berth/internal/cow"

func (s *state) waiting(id string) *Waiter {
	return s.waitIDs.Find(id)
}

// swapWaiter replaces an entry of the waiting list; either may be nil.
func (s *state) swapWaiter(tok *cow.Token, old, now *Waiter) {
	if old != nil {
		s.waits.Remove(tok, old)
		s.waitIDs.Remove(tok, old.ID)
		if at, ok := old.lapses(); ok {
			s.due.Remove(tok, due{at: at, kind: dueLapse, id: old.ID})
		}
	}
	if now != nil {
		s.waits.Put(tok, now)
		s.waitIDs.Put(tok, now.ID, now)
		if at, ok := now.lapses(); ok {
			s.due.Put(tok, due{at: at, kind: dueLapse, id: now.ID})
		}
	}
}

// serve takes the entry of a new booking off the waiting list. Those in front of
// it that could have used a part of what it got were passed over.
func (s *state) serve(tok *cow.Token, r *record) {
	served := s.waiting(r.id)
	if served == nil {
		return
	}
	var passed []*Waiter
	for w := range s.waits.All() {
		if w == served {
			break
		}
		for i := range r.lines {
			if l := &r.lines[i]; w.contends(l.pool, l.from, l.to) {
				passed = append(passed, w)
				break
			}
		}
	}
	s.swapWaiter(tok, served, nil)
	for _, w := range passed {
		n := *w
		n.Passed++
		s.waits.Put(tok, &n)
		s.waitIDs.Put(tok, n.ID, &n)
	}
}
