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
// O((1 + min(g, r/length)) log n) for g gaps that are too short. A window that
// ends in the leaf it begins in is tried in that leaf, so that a great many
// short gaps cost no more than a look at each.
func (tr *Tree) FirstFit(from, latest, length, limit int64) (int64, bool) {
	switch {
	case length <= 0, latest < from, tr.root == nil && limit < 0:
		return 0, false
	case tr.root == nil:
		return from, true
	}
	s := from
	var p place
	if tr.At(from) > limit {
		p = tr.root.firstFitting(0, from, limit)
		if p.nd == nil {
			return 0, false
		}
		s = p.nd.t[p.i]
	}
	for s <= latest {
		end := s + length
		if end < s {
			end = Forever
		}
		var bad place
		if p.nd != nil && p.nd.t[p.nd.n-1] >= end {
			bad = p.nd.lastAbove(p.base, s, end, limit)
		} else {
			bad = tr.root.lastAbove(0, s, end, limit)
		}
		if bad.nd == nil {
			return s, true
		}
		t := bad.nd.t[bad.i]
		if p = bad.nd.firstFitting(bad.base, t, limit); p.nd == nil {
			if p = tr.root.firstFitting(0, t, limit); p.nd == nil {
				return 0, false
			}
		}
		s = p.nd.t[p.i]
	}
	return 0, false
}

// A place is change i of a leaf, or none.
type place struct {
	nd   *node
	i    int
	base int64 // the level before nd
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
