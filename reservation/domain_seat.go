// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"slices"

	"github.com/berth-gpu/berth/internal/cow"
)

// settleWithin returns the seats with which a line begins that lies within a
// domain: those it has and can use and others of the same domain; if these are
// too few, as many of another domain that has enough; else what there is, and
// seats in outage, which are better than none because they may come back.
func (s *state) settleWithin(r *record, l *line) []string {
	var nodes, out []string
	for _, n := range l.seats {
		if s.outIn(n, l.from, l.to) {
			out = append(out, n)
		} else {
			nodes = append(nodes, n)
		}
	}
	if int64(len(nodes)) == l.count {
		return nodes
	}
	p := s.pool(l.pool)
	if len(nodes) > 0 {
		// Until it begins, a line has its seats in one domain: see regroup.
		nodes = s.fillWithin(r, l, s.homeOf(p, nodes, l.within), nodes)
	}
	if int64(len(nodes)) < l.count {
		// A whole set elsewhere; where the count decides, plans are only wishes.
		for _, planned := range []bool{false, true} {
			if planned && s.lastFixed(l.pool) > max(s.now, l.from) {
				break
			}
			if set := s.elsewhere(r, l, planned); set != nil {
				return set
			}
		}
	}
	if len(nodes) == 0 && len(out) == 0 {
		for _, d := range p.domains(l.within) {
			if more := s.fillWithin(r, l, d, nil); len(more) > len(nodes) {
				nodes = more
			}
		}
	}
	if room := l.count - int64(len(nodes)); room > 0 {
		nodes = append(nodes, out[:min(room, int64(len(out)))]...)
	}
	slices.Sort(nodes)
	return nodes
}

// elsewhere returns sorted free nodes for all of line l in the domain that is
// left with the fewest, or nil.
func (s *state) elsewhere(r *record, l *line, planned bool) []string {
	var best []string
	for _, d := range s.pool(l.pool).domains(l.within) {
		if free := s.freeIn(d, l.from, l.to, r.id, planned); int64(len(free)) >= l.count && (best == nil || len(free) < len(best)) {
			best = free
		}
	}
	if best == nil {
		return nil
	}
	best = best[:l.count]
	slices.Sort(best)
	return best
}

// fillWithin adds free nodes of a domain to the sorted nodes of a line.
func (s *state) fillWithin(r *record, l *line, d domain, nodes []string) []string {
	nodes = slices.Clone(nodes)
	for _, name := range s.freeIn(d, l.from, l.to, r.id, s.lastFixed(l.pool) <= max(s.now, l.from)) {
		if int64(len(nodes)) < l.count && !slices.Contains(nodes, name) {
			nodes = append(nodes, name)
		}
	}
	slices.Sort(nodes)
	return nodes
}

// homeOf returns the domain in which most of the nodes are, the first among
// equals, with its open nodes.
func (s *state) homeOf(p *pool, names []string, level string) domain {
	group := s.group(p, names, level)
	if len(group) == 0 {
		return domain{}
	}
	for _, d := range p.domains(level) {
		if n, _ := s.node(group[0]); slices.Equal(d.path, p.Units[n.ord].Path[:len(d.path)]) {
			return d
		}
	}
	return domain{} // only spares are left of it
}

// group returns those of the nodes that are in one domain: as many as can be,
// in the domain of the first of the pool among equals.
func (s *state) group(p *pool, names []string, level string) []string {
	var keys []string
	homes := map[string][]string{}
	for _, name := range s.byOrder(names) {
		n, _ := s.node(name)
		if key, ok := p.domainOf(n.ord, level); ok {
			if homes[key] == nil {
				keys = append(keys, key)
			}
			homes[key] = append(homes[key], name)
		}
	}
	var most []string
	for _, key := range keys {
		if len(homes[key]) > len(most) {
			most = homes[key]
		}
	}
	slices.Sort(most)
	return most
}

// byOrder returns node names in the order of their pool.
func (s *state) byOrder(names []string) []string {
	names = slices.Clone(names)
	slices.SortFunc(names, func(a, b string) int {
		x, _ := s.node(a)
		y, _ := s.node(b)
		return x.ord - y.ord
	})
	return names
}

// regroup takes from the lines that have not begun the seats that are no longer
// in the domain of the others, because the pool's paths changed. Those lines
// lack them until they are seated.
func (s *state) regroup(tok *cow.Token, old *pool) {
	p := s.pool(old.Name)
	if slices.Equal(old.Levels, p.Levels) && slices.EqualFunc(old.Units, p.Units, func(a, b Unit) bool {
		return a.Name == b.Name && slices.Equal(a.Path, b.Path)
	}) {
		return
	}
	var ids []string
	for x := range s.fixed.From(fix{pool: p.Name, from: s.now}) {
		if x.pool != p.Name {
			break
		}
		ids = append(ids, x.id)
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		was := s.rec(id)
		if was == nil || !was.phase.Live() { // an outage, or over
			continue
		}
		l := was.line(p.Name)
		if l == nil || l.within == "" || l.open || s.together(l, l.seats) == nil {
			continue
		}
		stay := s.group(p, l.seats, l.within)
		r := was.next()
		r.line(p.Name).setSeats(stay, s.now)
		s.swap(tok, was, r)
	}
}
