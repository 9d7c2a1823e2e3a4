// SPDX-License-Identifier: Apache-2.0

package step

// FirstFit returns the earliest start s with from ≤ s ≤ latest such that the
// level does not pass limit on [s, s+length).
//
// It tries a start s and looks at [s, s+length) from its far end. The last
// level that is too high rules out every start up to it, so the next start to
// try is the first one behind it that fits, however many short gaps lie before:
//
//	level  ▓▓    ▓  ▓ ▓▓▓       ▓▓
//	limit ─▓▓────▓──▓─▓▓▓───────▓▓──────
//	         s───────────)              last too high in the window: the ▓▓▓
//	                     s───────────)  …: the ▓▓ in this one
//
// The part of the first window behind the ▓▓▓ is known to fit, so the second
// window's last too high level lies behind the first window: two tries move on
// by length or more. With r = the time between from and the answer, the cost is
// O((1 + min(g, r/length)) log n) for g gaps that are too short.
//
// Two things make a try cheap. A window that ends in the leaf it begins in is
// tried in that leaf alone, so that a great many short gaps cost no more than a
// look at each. A longer one is tried first by what inner nodes know of whole
// leaves (leap), so that few leaves are read: they are what the caches miss.
func (tr *Tree) FirstFit(from, latest, length, limit int64) (int64, bool) {
	switch {
	case length <= 0, latest < from, tr.root == nil && limit < 0:
		return 0, false
	case tr.root == nil:
		return from, true
	}
	s, p := from, tr.find(from)
	if p.level() > limit {
		if p = tr.next(p, from, limit); p.nd == nil {
			return 0, false
		}
		s = p.nd.t[p.i]
	}
	for s <= latest {
		end := plus(s, length)
		in := place{nd: tr.root}
		near := end <= p.nd.t[p.nd.n-1]
		if near {
			in = p
		}
		p = in.nd.lastAbove(in.base, s, end, limit)
		if p.nd == nil {
			return s, true
		}
		s = p.nd.t[p.i]
		if t := s; !near {
			if s = tr.leap(s, latest, length, limit); s > t {
				p = tr.find(s)
			}
		}
		if p = tr.next(p, s, limit); p.nd == nil {
			return 0, false
		}
		s = p.nd.t[p.i]
	}
	return 0, false
}

// leap returns a later instant up to which every start is ruled out, given that
// those before s are, or s. It looks at whole leaves only, so it reads none.
func (tr *Tree) leap(s, latest, length, limit int64) int64 {
	for s <= latest && !tr.root.leaf() {
		t, ok := tr.root.lastHigh(0, Forever, s, plus(s, length), limit)
		if !ok {
			break
		}
		s = t
	}
	return s
}

// plus returns the end of a range that may reach Forever.
func plus(s, length int64) int64 {
	if end := s + length; end > s {
		return end
	}
	return Forever
}

// lastHigh returns the begin of the last leaf below an inner node nd that lies
// in (from, to) as a whole and has a level above limit. What follows nd begins
// at end.
func (nd *node) lastHigh(base, end, from, to, limit int64) (int64, bool) {
	i := nd.upto(to-1) - 1
	if i+1 < nd.n {
		end = nd.t[i+1]
	}
	for ; i >= 0; i-- {
		begin := nd.t[i]
		if base+nd.level[i]+nd.in.max[i] > limit {
			if !nd.in.low {
				if t, ok := nd.in.kids[i].lastHigh(base+nd.level[i], end, from, to, limit); ok {
					return t, true
				}
			} else if begin > from && end <= to {
				return begin, true
			}
		}
		if end = begin; begin <= from {
			break
		}
	}
	return 0, false
}

// next returns the first change after t with a level up to limit. It looks into
// the leaf of p first, which holds t.
func (tr *Tree) next(p place, t, limit int64) place {
	if near := p.nd.firstFitting(p.base, t, limit); near.nd != nil {
		return near
	}
	return tr.root.firstFitting(0, p.nd.t[p.nd.n-1], limit)
}

// firstFitting returns the first change after t with a level up to limit.
func (nd *node) firstFitting(base, t, limit int64) place {
	i := nd.upto(t)
	limit -= base
	if nd.leaf() {
		for ; i < nd.n; i++ {
			if nd.level[i] <= limit {
				return place{nd, i, base}
			}
		}
		return place{}
	}
	for i = max(i-1, 0); i < nd.n; i++ {
		if nd.level[i]+nd.in.min[i] > limit {
			continue
		}
		if p := nd.in.kids[i].firstFitting(base+nd.level[i], t, limit+base); p.nd != nil {
			return p
		}
	}
	return place{}
}

// lastAbove returns the last change in (from, to) with a level above limit.
func (nd *node) lastAbove(base, from, to, limit int64) place {
	i := nd.upto(to-1) - 1
	limit -= base
	if nd.leaf() {
		for ; i >= 0 && nd.t[i] > from; i-- {
			if nd.level[i] > limit {
				return place{nd, i, base}
			}
		}
		return place{}
	}
	for ; i >= 0; i-- {
		if nd.level[i]+nd.in.max[i] > limit {
			if p := nd.in.kids[i].lastAbove(base+nd.level[i], from, to, limit+base); p.nd != nil {
				return p
			}
		}
		if nd.t[i] <= from {
			break
		}
	}
	return place{}
}
