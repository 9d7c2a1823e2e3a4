// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// maxRepairTrials bounds how many sets of nodes are tried for one line after the
// preferred ones were refused.
const maxRepairTrials = 64

// PlanRepair plans new nodes for the Firm bookings that have nodes, or should have
// them, and lack some: those that have begun, are pinned or were seated early. It
// looks at the pools named, or at all, and changes nothing; at is the present of
// the question.
//
// Lines are served in the order of the time by which they must be repaired (By of
// [Degradation]), then by begin of the window, by when they were made, by id. A
// line is repaired wholly or not at all, since a part of a gang takes nodes from
// who could be whole. Healthy nodes stay. A lost node is replaced by one that is
// free for the rest of the envelope and that costs no other booking its own, as
// [Calendar.Seat] would have it: by open nodes as far as that goes, then by spares;
// among either first those that share the most domains of the Path with the lost
// node, then in the pool's order. Nodes in the plan of a floating booking are
// avoided if the plan could not be laid elsewhere.
//
// A line gives up its choice for another one if a line behind it could not be
// repaired otherwise. So as long as all lines have begun and lost their nodes, and
// no floating booking is in the way, a line stays unrepaired only if no choice of
// nodes repairs it and the repaired lines before it. Beyond that up to 64 more sets
// of nodes are tried per line. Nodes that a repair has left are given in later
// rounds, until a round repairs nothing.
//
// With k lost nodes, u units and d lines that lack nodes it costs O(u log n) once
// and then O(k²) per line, where nodes are scarce O(d) times that: meant for tens
// of lost nodes, and slow for thousands.
func (c *Calendar) PlanRepair(at time.Time, pools ...string) Repair {
	var out Repair
	base := c.asOf(at)
	for cur := base; ; {
		m := newMender(cur, pools)
		out.Unrepaired = nil
		for _, w := range m.wants {
			if why, ok := m.repair(w); !ok {
				out.Unrepaired = append(out.Unrepaired, why)
			}
		}
		for _, w := range m.done {
			for _, v := range w.vacancies {
				n, _ := m.base.core.S.node(v.in)
				out.Steps = append(out.Steps, RepairStep{w.r.id, base.core.S.rec(w.r.id).version, w.pool, v.out, v.in, n.spare})
			}
		}
		if cur = m.cur; len(m.done) > 0 && len(out.Unrepaired) > 0 {
			continue
		}
		s := &cur.core.S
		for _, p := range m.pools {
			for _, d := range s.degraded(p, s.now) {
				if r := s.rec(d.ID); r.floating(r.line(p)) {
					out.Floating = append(out.Floating, d)
				}
			}
		}
		slices.SortFunc(out.Floating, compareDegradations)
		return out
	}
}

// mender is one round of planning repairs.
type mender struct {
	base, cur *Calendar // as it is, and with all lines that are done
	now       int64
	pools     []string
	wants     []*want
	done      []*want
	taken     map[string][]*vacancy // by node
	idle      map[poolAt][]idleNode
}

// want is a line that lacks nodes.
type want struct {
	r         *record
	pool      string
	index     int // of the line
	by        int64
	from, to  int64
	vacancies []*vacancy
	done      bool
	open      []idleNode // nodes that are free for all of it, in the pool's order
	spares    []idleNode
}

// vacancy is a node that a line needs.
type vacancy struct {
	w      *want
	out    string   // the node that it replaces; empty: one that is gone
	path   []string // of out
	spare  bool     // only a spare will do
	in     string
	open   [2][]string // what it may have, what it likes best first; then with planned nodes last
	way    int         // which of the two
	spares []string
}

type poolAt struct {
	pool string
	from int64
}

// idleNode is a node that nobody has at an instant.
type idleNode struct {
	name    string
	path    []string
	spare   bool
	until   int64
	planned bool
}

func newMender(c *Calendar, pools []string) *mender {
	s := &c.core.S
	m := &mender{base: c.Fork(), now: s.now, taken: map[string][]*vacancy{}, idle: map[poolAt][]idleNode{}}
	m.cur = m.base.Fork()
	s = &m.base.core.S
	for p := range s.pools.All() {
		if len(pools) == 0 || slices.Contains(pools, p.Name) {
			m.pools = append(m.pools, p.Name)
		}
	}
	for _, pool := range m.pools {
		seen := map[string]bool{}
		for _, d := range s.degraded(pool, s.now) {
			if seen[d.ID] { // the first one is the soonest
				continue
			}
			seen[d.ID] = true
			if w := s.want(pool, d); w != nil {
				m.wants = append(m.wants, w)
			}
		}
	}
	slices.SortFunc(m.wants, func(a, b *want) int {
		return cmp.Or(cmp.Compare(a.by, b.by), a.r.inOrder(b.r), strings.Compare(a.pool, b.pool))
	})
	return m
}

// want returns what a degraded line lacks, or nil if it only lacks a plan.
func (s *state) want(pool string, d Degradation) *want {
	r := s.rec(d.ID)
	i := slices.IndexFunc(r.lines, func(l line) bool { return l.pool == pool })
	l := &r.lines[i]
	if r.floating(l) {
		return nil
	}
	w := &want{r: r, pool: pool, index: i, by: tick.Floor(d.By), from: max(s.now, l.from), to: l.to}
	for _, n := range l.seats {
		if s.outIn(n, w.from, w.to) {
			nd, _ := s.node(n)
			w.vacancies = append(w.vacancies, &vacancy{w: w, out: n, path: s.pool(pool).Units[nd.ord].Path})
		}
	}
	for range l.count - int64(len(l.seats)) {
		w.vacancies = append(w.vacancies, &vacancy{w: w})
	}
	return w
}

// repair finds nodes for all vacancies of w, or says why there are none.
func (m *mender) repair(w *want) (Unrepaired, bool) {
	no := Unrepaired{ID: w.r.id, Pool: w.pool, Shortfall: int64(len(w.vacancies))}
	if w.r.phase > Active {
		no.Why = InGrace
		return no, false
	}
	m.look(w)
	k := len(w.vacancies)
	if len(w.open)+len(w.spares) < k { // nothing to try
		m.explain(w, &no)
		return no, false
	}
	refused := false
	ways := w.rank()
	for spares := 0; ; spares = min(k, spares+1+k/32) {
		for way := range ways {
			log, ok := m.assign(w, spares, way)
			if ok && m.try(w, log) {
				m.done = append(m.done, w)
				return no, true
			}
			refused = refused || ok
			m.undo(log)
		}
		if spares == k {
			break
		}
	}
	if refused && m.search(w) {
		m.done = append(m.done, w)
		return no, true
	}
	m.explain(w, &no)
	return no, false
}

// look finds the nodes that are free for all of w.
func (m *mender) look(w *want) {
	fits := m.home(w)
	for _, n := range m.idleAt(w.pool, w.from) {
		if n.until < w.to || !fits(n.name) {
			continue
		}
		if n.spare {
			w.spares = append(w.spares, n)
		} else {
			id, busy := overlap(&m.base.core.S.plans, n.name, w.from, w.to)
			n.planned = busy && id != w.r.id
			w.open = append(w.open, n)
		}
	}
}

// home reports which nodes may join w: those of its domain, if its line lies
// within one. Without a node left that is the domain with the most free ones.
func (m *mender) home(w *want) func(name string) bool {
	s := &m.base.core.S
	p, l := s.pool(w.pool), w.r.line(w.pool)
	if l.within == "" {
		return func(string) bool { return true }
	}
	of := func(name string) string {
		n, _ := s.node(name)
		key, ok := p.domainOf(n.ord, l.within)
		if !ok {
			return "\x00" // in no domain of that level
		}
		return key
	}
	count, best, most := map[string]int{}, "", 0
	add := func(name string) {
		key := of(name)
		if key == "\x00" {
			return
		}
		if count[key]++; count[key] > most {
			best, most = key, count[key]
		}
	}
	for _, name := range l.seats {
		add(name)
	}
	if most == 0 {
		for _, n := range m.idleAt(w.pool, w.from) {
			if n.until >= w.to {
				add(n.name)
			}
		}
	}
	return func(name string) bool { return of(name) == best }
}

// idleAt returns the nodes of a pool that nobody has at an instant.
func (m *mender) idleAt(pool string, from int64) []idleNode {
	key := poolAt{pool, from}
	if list, ok := m.idle[key]; ok {
		return list
	}
	s := &m.base.core.S
	list := []idleNode{}
	for _, u := range s.pool(pool).Units {
		if !s.free(u.Name, from, from+1, "", false) {
			continue
		}
		n := idleNode{name: u.Name, path: u.Path, spare: u.Spare, until: tick.Forever}
		if x, ok := s.nextSeat(u.Name, from+1); ok {
			n.until = x.from
		}
		for _, x := range s.closedRanges(u.Name) {
			if x.from > from {
				n.until = min(n.until, x.from)
			}
		}
		list = append(list, n)
	}
	m.idle[key] = list
	return list
}
