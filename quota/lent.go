// SPDX-License-Identifier: Apache-2.0

package quota

import "math/bits"

// spare is what account i could hand its parent at t: what it does not use
// itself, up to its lend limit.
func (s *state) spare(i int32, t int64) int64 {
	r := s.rules.Ref(int(i))
	idle := max(0, r.subtree-s.uses.Ref(int(i)).balance.At(t))
	if r.lend.Limited {
		return min(idle, r.lend.Max)
	}
	return idle
}

// lent returns what account i hands its parent at t. Many flows may serve the
// same charges; this is the one of [Usage.Lent]. What the children of one parent
// could hand on is in part still idle at the parent, the rest is lent, and each
// bears its share of that rest by what it could hand on. The shares are whole
// numbers: each is the step from one rounded sum, taken by name, to the next.
func (s *state) lent(i int32, key Key, t int64) int64 {
	parent := s.rules.Ref(int(i)).parent
	own := s.spare(i, t)
	if parent == none || own == 0 {
		return 0
	}
	up := s.rules.Ref(int(parent))
	var all, before int64
	for k := range s.children(up.tenant) {
		if c := s.account(k, key); c != none {
			if c == i {
				before = all
			}
			all += s.spare(c, t)
		}
	}
	idle := max(0, up.subtree-s.uses.Ref(int(parent)).balance.At(t))
	if idle > 0 {
		idle -= s.lent(parent, key, t)
	}
	rest := max(0, all-idle)
	return part(rest, before+own, all) - part(rest, before, all)
}

// part returns n·of/all rounded down, for n and of up to all.
func part(n, of, all int64) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(of))
	q, _ := bits.Div64(hi, lo, uint64(all))
	return int64(q)
}
