// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-gpu/berth/internal/cow"
)

// nodesOf checks that the names are sorted, unique and nodes of the pool.
func (s *state) nodesOf(pool string, names []string) error {
	for i, name := range names {
		if i > 0 && names[i-1] >= name {
			return fmt.Errorf("nodes %q and %q are not in order", names[i-1], name)
		}
		if n, ok := s.node(name); !ok || n.pool != pool {
			return unknown("node of pool "+fmt.Sprintf("%q:", pool), name)
		}
	}
	return nil
}

// seatable checks that no other Firm booking has a node of the line.
func (s *state) seatable(r *record, l *line, names []string) error {
	if err := s.nodesOf(l.pool, names); err != nil {
		return err
	}
	if int64(len(names)) > l.count {
		return fmt.Errorf("booking %q: %d seats in pool %q, more than its %d", r.id, len(names), l.pool, l.count)
	}
	for _, name := range names {
		if id, busy := s.otherSeat(name, l.seatFrom(name), l.to, r.id); busy {
			return fmt.Errorf("node %q belongs to booking %q", name, id)
		}
		// A Standby claim leaves before an envelope begins.
		if n, _ := s.node(name); l.open && n.standby != "" && r.yield == none {
			return fmt.Errorf("node %q still belongs to Standby claim %q", name, n.standby)
		}
	}
	return nil
}

func (e Opened) prepare(s *state) (change, error) {
	r, err := s.find(e.ID, Held, Confirmed)
	if err != nil {
		return nil, err
	}
	l := r.line(e.Pool)
	if l == nil || l.open || r.class != Firm {
		return nil, fmt.Errorf("booking %q has no line in pool %q that can open", e.ID, e.Pool)
	}
	n := r.change() // its owner changed nothing
	l = n.line(e.Pool)
	l.open, l.near, l.seats, l.plan = true, false, e.Nodes, nil
	if err := s.seatable(n, l, e.Nodes); err != nil {
		return nil, err
	}
	if err := s.together(r.line(e.Pool), e.Nodes); err != nil {
		return nil, err
	}
	if err := reached(e.ID, e.At, l.from); err != nil {
		return nil, err
	}
	return func(tok *cow.Token) {
		s.swap(tok, r, n)
		s.follow(tok, n, e.Pool)
	}, nil
}

func (e Seated) prepare(s *state) (change, error) {
	r, err := s.find(e.ID, Held, Confirmed, Active)
	if err != nil {
		return nil, err
	}
	if r.class == Standby && r.phase != Active {
		return nil, fmt.Errorf("%w: %s booking %q is %s", ErrState, r.class, e.ID, r.phase)
	}
	at, err := exact("At", e.At)
	if err != nil {
		return nil, err
	}
	n := r.next()
	byPool, err := s.split(n, e.Nodes)
	if err != nil {
		return nil, err
	}
	for i := range n.lines {
		l := &n.lines[i]
		if len(byPool[i]) == 0 && n.floating(l) {
			continue // a repair of other lines: it goes on floating
		}
		l.setSeats(byPool[i], at)
		l.plan = nil
		l.near = false
		if r.class == Firm {
			if err := s.seatable(n, l, l.seats); err != nil {
				return nil, err
			}
			if err := s.together(&r.lines[i], l.seats); err != nil {
				return nil, err
			}
			continue
		}
		if l.count > 0 && int64(len(l.seats)) > l.count {
			return nil, fmt.Errorf("Standby claim %q: %d seats in pool %q, more than its %d", r.id, len(l.seats), l.pool, l.count)
		}
		for _, name := range l.seats {
			if nd, _ := s.node(name); nd.standby != "" && nd.standby != r.id {
				return nil, fmt.Errorf("node %q belongs to Standby claim %q", name, nd.standby)
			}
			if id, busy := s.otherSeat(name, at, at+1, r.id); busy && s.rec(id).opened(name) && s.rec(id).yield <= at {
				return nil, fmt.Errorf("node %q belongs to booking %q", name, id)
			}
		}
	}
	return func(tok *cow.Token) { s.swap(tok, r, n) }, nil
}

// split deals sorted node names to the lines of r.
func (s *state) split(r *record, names []string) ([][]string, error) {
	out := make([][]string, len(r.lines))
	for i, name := range names {
		if i > 0 && names[i-1] >= name {
			return nil, fmt.Errorf("%w: node %q is named twice or out of order", ErrInvalid, name)
		}
		n, ok := s.node(name)
		if !ok {
			return nil, unknown("node", name)
		}
		k := slices.IndexFunc(r.lines, func(l line) bool { return l.pool == n.pool })
		if k < 0 {
			return nil, fmt.Errorf("%w: node %q is in pool %q, for which booking %q has no line", ErrInvalid, name, n.pool, r.id)
		}
		out[k] = append(out[k], name)
	}
	return out, nil
}

func (e Unseated) prepare(s *state) (change, error) {
	r, err := s.find(e.ID, Active)
	if err != nil {
		return nil, err
	}
	byPool, err := s.split(r, e.Nodes)
	if err != nil {
		return nil, err
	}
	for _, name := range e.Nodes {
		if nd, _ := s.node(name); nd.standby != e.ID {
			return nil, fmt.Errorf("Standby claim %q does not have node %q", e.ID, name)
		}
	}
	return func(tok *cow.Token) {
		n := r.next()
		for i := range n.lines {
			n.lines[i].seats = minus(n.lines[i].seats, byPool[i])
		}
		s.swap(tok, r, n)
	}, nil
}

func (e ReclaimNotice) prepare(s *state) (change, error) {
	nd, ok := s.node(e.Node)
	if !ok || nd.standby == "" || nd.standby != e.ID || nd.reclaimAt == none {
		return nil, fmt.Errorf("claim %q has no node %q to be told to leave", e.ID, e.Node)
	}
	at, err := exact("At", e.At)
	if err != nil {
		return nil, err
	}
	next, ok := s.reclaimer(e.Node, at)
	if by, err := exact("By", e.By); !ok || err != nil || next.id != e.For || next.from != by {
		return nil, fmt.Errorf("node %q is not taken by booking %q at %s", e.Node, e.For, e.By)
	}
	return func(tok *cow.Token) {
		was := nd
		nd.notice, nd.noticeBy, nd.reclaimAt = e.For, next.from, none
		s.setNode(tok, &was, nd)
	}, nil
}

func (e Planned) prepare(s *state) (change, error) {
	var taken []slot
	for i, pl := range e.Plans {
		if i > 0 && e.Plans[i-1].ID >= pl.ID {
			return nil, fmt.Errorf("plans of %q and %q are not in order", e.Plans[i-1].ID, pl.ID)
		}
		r, err := s.find(pl.ID, Held, Confirmed)
		if err != nil {
			return nil, err
		}
		l := r.line(e.Pool)
		if l == nil || !r.floating(l) || int64(len(pl.Nodes)) > l.count || l.near && !pl.Near {
			return nil, fmt.Errorf("booking %q has no line in pool %q for %d planned nodes", pl.ID, e.Pool, len(pl.Nodes))
		}
		if err := s.nodesOf(e.Pool, pl.Nodes); err != nil {
			return nil, err
		}
		if err := reached(pl.ID, e.At, l.from-l.lead); pl.Near && err != nil {
			return nil, err
		}
		for _, name := range pl.Nodes {
			if nd, _ := s.node(name); nd.spare || !s.free(name, l.from, l.to, r.id, false) {
				return nil, fmt.Errorf("node %q is not free for booking %q", name, pl.ID)
			}
			if id, busy := s.otherPlan(name, l.from, l.to, e.Plans); busy {
				return nil, fmt.Errorf("node %q is planned for booking %q", name, id)
			}
			taken = append(taken, slot{name, l.from, l.to, pl.ID})
		}
	}
	if a, b, ok := firstOverlap(taken); ok {
		return nil, fmt.Errorf("node %q is planned for bookings %q and %q at once", a.node, a.id, b.id)
	}
	return func(tok *cow.Token) { s.setPlans(tok, e.Pool, e.Plans) }, nil
}

// firstOverlap sorts the slots and returns two of one node that overlap.
func firstOverlap(list []slot) (a, b slot, ok bool) {
	slices.SortFunc(list, func(a, b slot) int {
		return cmp.Or(strings.Compare(a.node, b.node), cmp.Compare(a.from, b.from), strings.Compare(a.id, b.id))
	})
	for i := 1; i < len(list); i++ {
		if a, b := list[i-1], list[i]; a.node == b.node && a.to > b.from {
			return a, b, true
		}
	}
	return slot{}, slot{}, false
}

// otherPlan returns for whom the node is planned in [from, to), apart from
// those whose plans are about to change.
func (s *state) otherPlan(name string, from, to int64, changing []Plan) (string, bool) {
	for x := range s.plans.Before(slot{node: name, from: to - 1, id: lastID}) {
		if x.node != name || x.to <= from {
			break
		}
		if _, found := slices.BinarySearchFunc(changing, x.id, func(p Plan, id string) int { return strings.Compare(p.ID, id) }); !found {
			return x.id, true
		}
	}
	return "", false
}

// setPlans changes the plans of one pool: first all old ones go, then the new
// ones come, so that lines may trade nodes.
func (s *state) setPlans(tok *cow.Token, pool string, plans []Plan) {
	for _, nodes := range []bool{false, true} {
		for _, pl := range plans {
			old := s.rec(pl.ID)
			r := old.change()
			if l := r.line(pool); nodes {
				l.plan, l.near = pl.Nodes, pl.Near
			} else {
				l.plan = nil
			}
			s.swap(tok, old, r)
		}
	}
}
