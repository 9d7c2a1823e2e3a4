// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"slices"

	"github.com/berth-gpu/berth/internal/tick"
)

// A stretch is a range of window time.
type stretch struct{ from, to int64 }

// gaps returns the ranges in which a window may lie anywhere, as far as the
// count and the named nodes say: a window that fits lies in one of them. They
// are those of each line, less its own envelope, and all lines together. It ends
// at the budget and then returns false.
func (s *state) gaps(lines []Line, lo, hi int64) ([]stretch, bool) {
	grace := s.graceOf(lines)
	var out []stretch
	budget, whole := maxSteps, true
	for i, l := range lines {
		p := s.pool(l.Pool)
		before, after := p.prep, grace+p.cleanup
		from, to := lo-before, min(hi, lastTick-after)+after
		var busy []slot
		for x := range p.load.Steps(from, to) {
			if budget--; budget < 0 {
				to, whole = min(to, x.From), false
				break
			}
			if x.Level > p.open-l.Count {
				busy = append(busy, slot{from: x.From, to: x.To})
			}
		}
		for _, n := range l.Nodes {
			if nd, _ := s.node(n); nd.spare {
				return nil, whole
			}
			for x := range s.seatSlots(n, from, to) {
				if budget--; budget < 0 {
					to, whole = min(to, x.from), false
					break
				}
				busy = append(busy, x)
			}
			busy = append(busy, s.closedRanges(n)...)
		}
		var free []stretch
		add := func(a, b int64) {
			if a+before < b-after {
				free = append(free, stretch{a + before, b - after})
			}
		}
		for _, x := range union(busy) {
			if x.to <= from || x.from >= to {
				continue
			}
			add(from, x.from)
			from = x.to
		}
		add(from, to)
		if i == 0 {
			out = free
		} else {
			out = meet(out, free)
		}
	}
	return out, whole
}

// meet returns what lies in a stretch of both lists, which are in order.
func meet(a, b []stretch) []stretch {
	var out []stretch
	for len(a) > 0 && len(b) > 0 {
		if x := (stretch{max(a[0].from, b[0].from), min(a[0].to, b[0].to)}); x.from < x.to {
			out = append(out, x)
		}
		if a[0].to <= b[0].to {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return out
}

// layout is a search for pieces.
type layout struct {
	least, most int64 // of one piece
	length      int64 // of all
	pieces      int   // at most
	turn        int64 // between two pieces in one gap, or in gaps that touch
	align       int64
	latest      int64 // of the first start
}

// laidOut is the best way to have some pieces in the gaps so far.
type laidOut struct {
	prev  *laidOut
	list  []stretch // the pieces in the last gap that has some
	total int64
}

// earliest returns pieces in the gaps that end as early as possible, and are as
// few as that allows. In each gap it asks whether the pieces can be completed
// there: before it, the most that k pieces can have is known for each k. That
// is enough since pieces can be cut.
//
//	gaps     ▁▁▁▁▁    ▁▁▁▁▁▁▁▁      ▁▁▁      ▁▁▁▁▁▁▁▁▁▁▁▁
//	k = 1    5        8             8        here it ends: with one piece
//	k = 2             13            13       before it 3 are missing, with two
//	k = 3                           16       none
//
// At a gap it costs k² steps. With one piece for each gap, which is enough if
// most is at least length, the answer is exact.
func (y layout) earliest(gaps []stretch) []stretch {
	y.pieces = min(y.pieces, int(min(y.length/y.least, maxPieces)))
	most := 1 // pieces in one gap
	if y.most < y.length {
		most = y.pieces
	}
	best := make([]*laidOut, y.pieces+1)
	best[0] = &laidOut{}
	last := int64(none)
	for _, g := range gaps {
		if last != none && g.from < last+y.turn {
			g.from = last + y.turn
		}
		first, ok := aligned(g.from, y.align)
		if !ok || first >= g.to {
			continue
		}
		last = g.to
		begins := func(k int) bool { return k > 0 || first <= y.latest }
		var done []stretch
		end := int64(tick.Forever)
		for n := 1; n <= y.pieces; n++ {
			for j := 1; j <= min(n, most); j++ {
				b := best[n-j]
				if b == nil || !begins(n-j) {
					continue
				}
				list := y.in(g, j, max(y.length-b.total, int64(j)*y.least))
				if list != nil && total(list)+b.total >= y.length && list[j-1].to < end {
					end, done = list[j-1].to, append(b.all(), list...)
				}
			}
		}
		if done != nil {
			return y.cut(done, len(done))
		}
		for n := y.pieces; n >= 1; n-- {
			for j := 1; j <= min(n, most); j++ {
				b := best[n-j]
				if b == nil || !begins(n-j) {
					continue
				}
				list := y.in(g, j, y.length)
				if list != nil && (best[n] == nil || b.total+total(list) > best[n].total) {
					best[n] = &laidOut{b, list, b.total + total(list)}
				}
			}
		}
	}
	return nil
}

func total(list []stretch) int64 {
	var n int64
	for _, x := range list {
		n += x.to - x.from
	}
	return n
}

// all returns the pieces of b, in order.
func (b *laidOut) all() []stretch {
	if b.prev == nil {
		return nil
	}
	return append(b.prev.all(), b.list...)
}

// in returns j pieces in a gap, one behind the other, of together up to n.
func (y layout) in(g stretch, j int, n int64) []stretch {
	out := make([]stretch, 0, j)
	for at := g.from; j > 0; j-- {
		from, ok := aligned(at, y.align)
		length := min(y.most, n-int64(j-1)*y.least, g.to-from)
		if !ok || from >= g.to || length < y.least {
			return nil
		}
		out = append(out, stretch{from, from + length})
		at, n = from+length+y.turn, n-length
	}
	return out
}

// cut makes all pieces together as long as asked: the last ones of those before
// the very last are made shorter.
func (y layout) cut(list []stretch, n int) []stretch {
	over := total(list) - y.length
	for i := n - 2; i >= 0 && over > 0; i-- {
		less := min(over, list[i].to-list[i].from-y.least)
		list[i].to -= less
		over -= less
	}
	return list
}

// maxLayouts bounds how often pieces are laid anew, with a gap in which a trial had
// no nodes cut or left out.
const maxLayouts = 16

// segments returns the earliest answer in pieces, or in one if that will do.
func (c *Calendar) segments(a *asked) (Offer, error) {
	s := &c.core.S
	y := layout{least: a.minLength, most: a.length, length: a.length, pieces: a.pieces, align: a.align, latest: a.hi}
	lo, hi, grace := a.lo, a.deadline, s.graceOf(a.lines)
	proof, free, turn := true, true, int64(none) // free: pieces may lie anywhere
	for _, l := range a.lines {
		p := s.pool(l.Pool)
		if err := s.namesKnown(l); err != nil {
			return Offer{}, err
		}
		free = free && p.anywhere()
		y.least = max(y.least, p.minLength)
		if p.maxLength > 0 {
			y.most = min(y.most, p.maxLength)
		}
		lo = max(lo, s.now+max(p.prep, p.lead))
		hi = min(hi, lastTick-grace-p.cleanup)
		if p.horizon > 0 {
			hi = min(hi, s.now+p.horizon)
		}
		t := p.prep + grace + p.cleanup
		proof = proof && (turn == none || t == turn)
		turn = max(turn, t)
	}
	y.turn = turn
	proof = proof && y.most >= y.length && free
	if y.least > y.most {
		_, err := c.earliest(s.now, a.lines, min(y.least, a.length), lo, a.hi, a.align, a.owner)
		if err == nil {
			err = fmt.Errorf("%w: Query.MinLength %s is longer than the pools allow", ErrInvalid, windowOf(0, y.least).Length())
		}
		return Offer{}, err
	}
	first, ok := aligned(lo, a.align)
	if !ok || first > a.hi || hi-first < y.length {
		return Offer{}, fmt.Errorf("%w: no start that the pools, Align and Deadline allow lies between %s and %s", ErrHorizon, until(lo), until(min(a.hi, hi)))
	}
	var bad []stretch    // pieces for which a trial had no nodes; their gaps are left out
	var cuts []int64     // or cut here
	span := 8 * y.length // pieces that end within it end before all others
	for n := 1; ; n++ {
		var list []stretch
		whole := true
		for {
			var gaps []stretch
			end := min(hi, addTicks(lo, span))
			gaps, whole = s.gaps(a.lines, lo, end)
			gaps = cutAt(gaps, cuts)
			gaps = slices.DeleteFunc(gaps, func(g stretch) bool {
				return slices.ContainsFunc(bad, func(x stretch) bool { return g.from <= x.from && x.to <= g.to })
			})
			if list = y.earliest(gaps); list != nil || !whole || end == hi {
				break
			}
			span *= 2 // at most 2³⁸ · 8 before end is hi
		}
		if list == nil {
			if whole && proof && n == 1 {
				return Offer{}, s.noPieces(a, first, y)
			}
			tried := fmt.Sprintf("%d ways to lay up to %d pieces into the gaps", n-1, y.pieces)
			if !whole {
				tried += fmt.Sprintf(", up to the %dth gap", maxSteps)
			}
			return Offer{}, s.unplaced(a, first, a.minLength, tried)
		}
		i := c.tryPieces(a, list)
		if i < 0 {
			o := a.offer(list[0].from, list[len(list)-1].to-list[0].from, a.lines)
			if len(list) > 1 {
				o.Kind = Segments
				for _, x := range list {
					o.Segments = append(o.Segments, windowOf(x.from, x.to))
				}
			}
			return o, nil
		}
		if n == maxLayouts {
			return Offer{}, s.unplaced(a, first, a.minLength, fmt.Sprintf("%d ways to lay up to %d pieces into the gaps, which is as many as are tried", n, y.pieces))
		}
		if at, ok := s.cutIn(a.lines, list[i]); ok {
			cuts = append(cuts, at)
		} else {
			bad = append(bad, list[i])
		}
	}
}

// cutIn returns where a piece for which no nodes were found may be cut: before
// the first seat or outage that begins in its envelope. What was free before may
// not be free then, and something else may.
func (s *state) cutIn(lines []Line, x stretch) (int64, bool) {
	cut, grace := x.to, s.graceOf(lines)
	for _, l := range lines {
		p := s.pool(l.Pool)
		for f := range s.fixed.From(fix{pool: l.Pool, from: x.from - p.prep + 1}) {
			if f.pool == l.Pool {
				cut = min(cut, max(x.from+1, f.from-grace-p.cleanup))
			}
			break
		}
	}
	return cut, cut < x.to
}

// cutAt splits stretches at some instants.
func cutAt(list []stretch, cuts []int64) []stretch {
	for _, at := range cuts {
		if i := slices.IndexFunc(list, func(x stretch) bool { return x.from < at && at < x.to }); i >= 0 {
			list = slices.Insert(list, i+1, stretch{at, list[i].to})
			list[i].to = at
		}
	}
	return list
}

// namesKnown checks that the named nodes of a line are in its pool.
func (s *state) namesKnown(l Line) error {
	for _, n := range l.Nodes {
		if nd, ok := s.node(n); !ok || nd.pool != l.Pool {
			return fmt.Errorf("%w node %q in Lines[pool %q].Nodes", ErrUnknown, n, l.Pool)
		}
	}
	return nil
}

// tryPieces books all pieces on a fork and returns the first that cannot be
// booked beside those before it, or −1.
func (c *Calendar) tryPieces(a *asked, list []stretch) int {
	trial := c.Fork()
	now := trial.core.S.now
	for i, x := range list {
		q := a.request(x.from, x.to-x.from, a.lines)
		for n := 0; trial.core.S.rec(q.ID) != nil; n++ {
			q.ID = fmt.Sprint("query ", i, " ", n)
		}
		if trial.place(now, q, 0) != nil {
			return i
		}
	}
	return -1
}

// noPieces is the proof that the count allows no pieces: it names the first
// instant at which a line falls short.
func (s *state) noPieces(a *asked, first int64, y layout) *ConflictError {
	x := search{s: s, lines: a.lines, length: max(y.least, min(a.length, a.deadline-first)), starts: comb{0, a.align}, owner: a.owner, grace: s.graceOf(a.lines)}
	for _, l := range a.lines {
		x.pools = append(x.pools, s.pool(l.Pool))
	}
	return x.none(first, 0)
}

// unplaced is a refusal that is not a proof.
func (s *state) unplaced(a *asked, start, length int64, tried string) *ConflictError {
	l := a.lines[0]
	p := s.pool(l.Pool)
	probe := &line{pool: p.Name, count: l.Count, from: start - p.prep, to: start + length + s.graceOf(a.lines) + p.cleanup}
	e := s.conflict(&record{class: Firm}, probe, ReasonUnplaced)
	e.Shortfall, e.tried = 0, tried
	return e
}
