// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"cmp"
	"slices"

	"github.com/berth-gpu/berth/internal/tick"
)

// Lines and nodes are matched by augmenting paths: a vacancy takes the best node
// that nobody has, or one whose holder finds another one. Two vacancies may have
// one node if their envelopes do not meet.

// move is one step of a matching, with what was there before.
type move struct {
	v   *vacancy
	was string
}

// rank sets which open nodes the vacancies of w like, and which spares. It returns
// in how many ways: nodes in the plan of another booking as the others, or last.
func (w *want) rank() int {
	for i, v := range w.vacancies {
		if i > 0 && slices.Equal(v.path, w.vacancies[i-1].path) {
			v.open, v.spares = w.vacancies[i-1].open, w.vacancies[i-1].spares
			continue
		}
		v.open = [2][]string{nearest(w.open, v.path, false), nearest(w.open, v.path, true)}
		v.spares = nearest(w.spares, v.path, false)
	}
	if slices.ContainsFunc(w.open, func(n idleNode) bool { return n.planned }) {
		return 2
	}
	return 1
}

// nearest returns the names of nodes: first those that share the most domains
// with a path, else in their order.
func nearest(list []idleNode, path []string, avoid bool) []string {
	out := make([]string, 0, len(list))
	for _, last := range []bool{false, true} {
		for depth := len(path); depth >= 0; depth-- {
			for _, n := range list {
				if shared(n.path, path) == depth && (n.planned && avoid) == last {
					out = append(out, n.name)
				}
			}
		}
	}
	return out
}

// shared returns how many domains two paths share, from the coarsest on.
func shared(a, b []string) int {
	k := 0
	for k < len(a) && k < len(b) && a[k] == b[k] {
		k++
	}
	return k
}

// assign gives every vacancy of w a node, of which so many are spares, or returns
// false. The moves, also those of a failure, are undone by undo.
func (m *mender) assign(w *want, spares, way int) (log []move, ok bool) {
	for i, v := range w.vacancies {
		v.spare, v.way = i >= len(w.vacancies)-spares, way
		if !m.place(v, map[string]bool{}, &log) {
			return log, false
		}
	}
	return log, true
}

// place gives v a node. Those that were seen have no way out.
func (m *mender) place(v *vacancy, seen map[string]bool, log *[]move) bool {
	var lists [2][]string
	if !v.spare {
		lists[0] = v.open[v.way]
	}
	if v.spare || v.w.done { // an earlier line may also change to a spare
		lists[1] = v.spares
	}
	for _, list := range lists {
		for _, name := range list {
			if len(m.holders(name, v.w)) == 0 {
				m.set(v, name, log)
				return true
			}
		}
	}
	for _, list := range lists {
		for _, name := range list {
			by := m.holders(name, v.w)
			if seen[name] || len(by) != 1 {
				continue
			}
			seen[name] = true
			mark := len(*log)
			m.set(by[0], "", log)
			m.set(v, name, log)
			if m.place(by[0], seen, log) {
				return true
			}
			m.undo((*log)[mark:])
			*log = (*log)[:mark]
		}
	}
	return false
}

// holders returns the vacancies that have a node at some time of w.
func (m *mender) holders(name string, w *want) (out []*vacancy) {
	for _, v := range m.taken[name] {
		if v.w.from < w.to && v.w.to > w.from {
			out = append(out, v)
		}
	}
	return out
}

func (m *mender) set(v *vacancy, name string, log *[]move) {
	*log = append(*log, move{v, v.in})
	m.put(v, name)
}

func (m *mender) put(v *vacancy, name string) {
	if v.in != "" {
		m.taken[v.in] = slices.DeleteFunc(m.taken[v.in], func(x *vacancy) bool { return x == v })
	}
	if v.in = name; name != "" {
		m.taken[name] = append(m.taken[name], v)
	}
}

func (m *mender) undo(log []move) {
	for _, x := range slices.Backward(log) {
		m.put(x.v, x.was)
	}
}

// try seats w and, if earlier lines have other nodes now, those anew, each as Seat
// would. It keeps the result if nobody lacks more.
func (m *mender) try(w *want, log []move) bool {
	f, list := m.cur.Fork(), []*want{w}
	if slices.ContainsFunc(log, func(x move) bool { return x.v.w != w }) {
		f, list = m.base.Fork(), append(slices.Clone(m.done), w)
	}
	for _, x := range list {
		if f.reseat(m.now, x.r.id, f.core.S.mended(x)) != nil {
			return false
		}
	}
	m.cur, w.done = f, true
	return true
}

// mended returns the seats of the lines of a booking with the vacancies of one filled.
func (s *state) mended(w *want) [][]string {
	r := s.rec(w.r.id)
	out := make([][]string, len(r.lines))
	for i := range r.lines {
		out[i] = r.lines[i].seats
	}
	var seats []string
	for _, n := range out[w.index] {
		if !slices.ContainsFunc(w.vacancies, func(v *vacancy) bool { return v.out == n }) {
			seats = append(seats, n)
		}
	}
	for _, v := range w.vacancies {
		seats = append(seats, v.in)
	}
	slices.Sort(seats)
	out[w.index] = seats
	return out
}

// search tries other sets of nodes for w, of those that no earlier line has.
func (m *mender) search(w *want) bool {
	var names []string
	for _, n := range slices.Concat(w.open, w.spares) {
		if len(m.holders(n.name, w)) == 0 {
			names = append(names, n.name)
		}
	}
	trials := maxRepairTrials
	var from func(i, k int) bool
	from = func(i, k int) bool {
		if k == len(w.vacancies) {
			trials--
			return m.try(w, nil)
		}
		for ; i < len(names) && trials > 0; i++ {
			m.put(w.vacancies[k], names[i])
			if from(i+1, k+1) {
				return true
			}
			m.put(w.vacancies[k], "")
		}
		return false
	}
	return from(0, 0)
}

// explain fills in why nothing was found for w.
func (m *mender) explain(w *want, no *Unrepaired) {
	k := len(w.vacancies)
	var names []string
	for _, n := range slices.Concat(w.open, w.spares) {
		if len(m.holders(n.name, w)) == 0 {
			names = append(names, n.name)
		}
	}
	if len(names) >= k {
		no.Why, no.InTheWay = OthersNeed, m.hurt(w, names[:k])
		return
	}
	var until []int64
	for _, n := range m.idleAt(w.pool, w.from) {
		at := min(n.until, w.to)
		for _, v := range m.holders(n.name, w) {
			at = min(at, v.w.from)
		}
		if at > w.from {
			until = append(until, at)
		}
	}
	if len(until) < k {
		no.Why = NoNode
		return
	}
	slices.SortFunc(until, func(a, b int64) int { return cmp.Compare(b, a) })
	no.Why, no.Until = OnlyUntil, tick.Time(until[k-1])
}

// hurt returns the bookings that would lack more if w had these nodes.
func (m *mender) hurt(w *want, names []string) (ids []string) {
	f := m.cur.Fork()
	s := &f.core.S
	before := s.degraded(w.pool, m.now)
	for i, v := range w.vacancies {
		m.put(v, names[i])
	}
	seats := s.mended(w)
	for _, v := range w.vacancies {
		m.put(v, "")
	}
	e := Seated{At: tick.Time(m.now), ID: w.r.id, Nodes: slices.Sorted(slices.Values(slices.Concat(seats...)))}
	n := s.rec(w.r.id).next()
	n.lines[w.index].seats = seats[w.index]
	if f.clearFor(e, n) != nil || f.decide(e, n.pools()...) != nil {
		return nil
	}
	after := s.degraded(w.pool, m.now)
	of := func(list []Degradation, id string) (out []Degradation) {
		for _, d := range list {
			if d.ID == id {
				out = append(out, d)
			}
		}
		return out
	}
	for _, d := range after {
		if !slices.Contains(ids, d.ID) && worse(of(before, d.ID), of(after, d.ID)) {
			ids = append(ids, d.ID)
		}
	}
	slices.Sort(ids)
	return ids
}
