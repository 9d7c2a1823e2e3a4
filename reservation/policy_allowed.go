// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"cmp"
	"slices"
)

// starts returns where in c windows of a length may begin in the pool, or the
// rule that leaves none.
func (t *terms) starts(c comb, length int64) (comb, breach) {
	c, ok := c.meet(t.start)
	if !ok {
		return c, breach{"AlignStart", seconds(t.start.every)}
	}
	if c, ok = c.meet(t.end.shift(-length)); !ok {
		return c, breach{"AlignEnd", seconds(t.end.every)}
	}
	return c, breach{}
}

// lengthsNear returns the greatest length up to length and the least from
// length on that obey the rules on length and end of a window from start on; 0
// if there is none.
func (t *terms) lengthsNear(start, length int64) (down, up int64) {
	// The k-th window that ends on the grid has counted length k·cut, of which
	// the first part, short, is cut off. Without CutFirst lengths count as they are.
	counted, short := t.end.shift(-start), int64(0)
	if t.cut > 1 {
		short = mod(-counted.at, t.cut)
		counted = comb{0, t.cut}
	}
	return t.lengthsIn(counted, short, length)
}

// lengthsIn is lengthsNear for lengths that count as themselves plus short, and
// then lie in a comb.
func (t *terms) lengthsIn(counted comb, short, length int64) (down, up int64) {
	for _, s := range t.steps {
		c, ok := counted.meet(comb{0, s.every})
		lo, hi := max(s.over+1, t.minLength, short+1), min(s.upTo, limit(t.maxLength))
		if !ok || lo > hi {
			continue
		}
		if at, ok := c.down(min(hi, length+short)); ok && at >= lo {
			down = max(down, at-short)
		}
		if at, ok := c.up(max(lo, length+short)); ok && at <= hi && (up == 0 || at-short < up) {
			up = at - short
		}
	}
	return down, up
}

// allowed returns windows near [start, end) that the rules of the pool allow
// now: one that ends no later, then one that ends later. It knows nothing of
// what is free.
func (p *pool) allowed(now, start, end int64) []Window {
	length := end - start
	last := end // at which a window may end now; of interest only if there is a horizon
	if p.horizon > 0 {
		last = addTicks(now, p.horizon)
	}
	lo, hi := addTicks(now, max(p.prep, p.lead)), min(addTicks(now, limit(p.maxLead)), lastTick)
	var list [][2]int64
	add := func(from, to int64) {
		if from >= lo && to > from && to <= lastTick && p.ofWindow(now, from, to).none() {
			list = append(list, [2]int64{from, to})
		}
	}
	// around gives f the teeth of c next to at.
	around := func(c comb, at int64, f func(at int64)) {
		if s, ok := c.down(at); ok {
			f(s)
		}
		if s, ok := c.up(at); ok {
			f(s)
		}
	}
	first := min(max(start, lo), hi)
	around(p.start, first, func(s int64) { // a start, and then the nearest ends
		for _, l := range []int64{length, end - s, last - s} {
			down, up := p.lengthsNear(s, l)
			add(s, s+down)
			add(s, s+up)
		}
	})
	around(p.end, min(end, last), func(to int64) { // an end, and then the nearest starts
		down, up := p.lengthsIn(comb{0, p.cut}, 0, max(to-start, 1))
		for _, l := range []int64{down, up} { // l is counted: a start up to a cut later will do, too
			around(p.start, to-l, func(s int64) { add(s, to) })
		}
	})
	down, up := p.lengthsIn(p.between(), 0, length)
	if p.cut > 1 {
		down, up = length, 0
	}
	for _, l := range []int64{down, up} { // a length, and then the nearest starts
		if c, b := p.starts(everySecond(), l); l > 0 && b.none() {
			for _, s := range []int64{start, end - l, last - l} {
				around(c, min(max(s, lo), hi), func(s int64) { add(s, s+l) })
			}
		}
	}
	return nearestWindows(list, start, end)
}

// allowedEnds returns windows near [r.start, end) to which r could now be
// changed: one that ends no later, then one that ends later.
func (p *pool) allowedEnds(now int64, r *record, end int64) []Window {
	most := end
	if end > r.end {
		most = min(end, addTicks(r.end, limit(p.maxExtend)), addTicks(now, limit(p.horizon)))
	}
	var list [][2]int64
	down, up := p.lengthsNear(r.start, most-r.start)
	for _, l := range []int64{down, up} {
		if to := r.start + l; l > 0 && to != r.end && to > now && to <= lastTick && p.ofEnd(now, r, to).none() {
			list = append(list, [2]int64{r.start, to})
		}
	}
	return nearestWindows(list, r.start, end)
}

// nearestWindows returns of the windows in list the one that ends no later than end
// and the one that ends later, each with the least moves of start and end, and
// among equals the least of its start.
func nearestWindows(list [][2]int64, start, end int64) (out []Window) {
	first := func(w [2]int64) int64 { return max(w[0]-start, start-w[0]) }
	moves := func(w [2]int64) int64 { return first(w) + max(w[1]-end, end-w[1]) }
	slices.SortFunc(list, func(a, b [2]int64) int {
		return cmp.Or(cmp.Compare(moves(a), moves(b)), cmp.Compare(first(a), first(b)), slices.Compare(a[:], b[:]))
	})
	for _, later := range []bool{false, true} {
		if i := slices.IndexFunc(list, func(w [2]int64) bool { return (w[1] > end) == later }); i >= 0 {
			out = append(out, windowOf(list[i][0], list[i][1]))
		}
	}
	return out
}

// longest returns the end of the longest window from start on, up to end, that
// all the pools allow now, or start if there is none. Pools whose steps hardly meet
// are given up after a few rounds.
func longest(pools []*pool, now, start, end int64) int64 {
	for _, p := range pools {
		end = min(end, addTicks(now, limit(p.horizon)))
	}
	for range maxTrials {
		was := end
		for _, p := range pools {
			if end > start {
				down, _ := p.lengthsNear(start, end-start)
				end = start + down
			}
		}
		if end == was || end <= start {
			return end
		}
	}
	return start
}

// latestStart returns the greatest start of a window of a length that the leads
// and horizons of the pools allow now.
func latestStart(pools []*pool, now, length int64) int64 {
	at := int64(lastTick)
	for _, p := range pools {
		at = min(at, addTicks(now, limit(p.maxLead)), addTicks(now, limit(p.horizon))-length)
	}
	return at
}

// shortest returns the least length from length on, up to most, that all the
// pools allow, whatever the start, or most if there is none.
func shortest(pools []*pool, length, most int64) int64 {
	for range maxTrials {
		was := length
		for _, p := range pools {
			counted := p.between()
			if p.cut > 1 {
				counted = comb{0, p.cut}
			}
			_, up := p.lengthsIn(counted, 0, length)
			if up == 0 || length > most {
				return most
			}
			length = max(length, up-p.cut+1) // its first part may be cut off
		}
		if length == was {
			return min(length, most)
		}
	}
	return most
}

// anywhere reports whether windows may begin and end at any second.
func (t *terms) anywhere() bool {
	return t.start.every == 1 && t.end.every == 1 && len(t.steps) == 1 && t.steps[0].every == 1
}
