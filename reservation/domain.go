// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/tick"
)

// A line with Within is seated from the first: the calendar chooses a domain
// when it books, and the seats are in the event. For everybody else they are
// seats like those of a pinned line.

// maxDomains bounds how many domains a booking tries per line.
const maxDomains = 16

// A domain is the open nodes of a pool that have the first entries of their
// paths in common.
type domain struct {
	path  []string
	nodes []string // in the pool's order
}

// checkLevels returns every mistake in the levels and in what the paths make of them.
func (p *Pool) checkLevels() error {
	var errs []error
	for i, level := range p.Levels {
		if err := checkID(fmt.Sprintf("pool %q: Levels[%d]", p.Name, i), level); err != nil {
			errs = append(errs, err)
		} else if slices.Index(p.Levels, level) < i {
			errs = append(errs, fmt.Errorf("%w: pool %q: Levels[%d] %q is there twice", ErrInvalid, p.Name, i, level))
		}
	}
	for _, u := range p.Units {
		if len(p.Levels) > 0 && len(u.Path) > len(p.Levels) {
			errs = append(errs, fmt.Errorf("%w: pool %q: unit %q: Path has %d entries for %d Levels", ErrInvalid, p.Name, u.Name, len(u.Path), len(p.Levels)))
		}
	}
	return errors.Join(errs...)
}

// level says whether the pool has the level that a line asks for.
func (p *pool) level(l Line) error {
	if l.Within == "" || slices.Contains(p.Levels, l.Within) {
		return nil
	}
	return fmt.Errorf("%w level %q in Lines[pool %q].Within; the pool has %q", ErrUnknown, l.Within, l.Pool, p.Levels)
}

// domainOf returns the domain of a unit at a level; false if its path is too
// short. A level that the pool no longer has is one domain of all nodes.
func (p *pool) domainOf(ord int, level string) (string, bool) {
	depth := slices.Index(p.Levels, level) + 1
	path := p.Units[ord].Path
	if depth > len(path) {
		return "", false
	}
	return strings.Join(path[:depth], "\x00"), true // no entry has a control character
}

// domains returns the domains of a level, by their first open nodes.
func (p *pool) domains(level string) []domain {
	if k := slices.Index(p.Levels, level); k >= 0 {
		return p.groups[k]
	}
	return p.grouped(level)
}

// group lays down the domains of every level.
func (p *pool) group() {
	p.groups = nil
	for _, level := range p.Levels {
		p.groups = append(p.groups, p.grouped(level))
	}
}

func (p *pool) grouped(level string) []domain {
	depth := slices.Index(p.Levels, level) + 1
	var out []domain
	index := map[string]int{}
	for i, u := range p.Units {
		key, ok := p.domainOf(i, level)
		if !ok || u.Spare {
			continue
		}
		k, seen := index[key]
		if !seen {
			k = len(out)
			index[key] = k
			out = append(out, domain{path: u.Path[:depth]})
		}
		out[k].nodes = append(out[k].nodes, u.Name)
	}
	return out
}

// together refuses nodes for a line that are not in one domain. In a line that
// has begun, new nodes join those that stay, wherever these are by now.
func (s *state) together(old *line, names []string) error {
	if old.within == "" {
		return nil
	}
	p := s.pool(old.pool)
	of := func(name string) (string, bool) {
		n, ok := s.node(name)
		if !ok || n.pool != old.pool {
			return "", false
		}
		return p.domainOf(n.ord, old.within)
	}
	homes := map[string]bool{}
	stay := func(name string) bool { return old.open && inSorted(old.seats, name) }
	for _, name := range names {
		if key, ok := of(name); ok && stay(name) {
			homes[key] = true
		}
	}
	for _, name := range names {
		if stay(name) {
			continue
		}
		key, ok := of(name)
		if len(homes) == 0 && ok {
			homes[key] = true
		}
		if !ok || !homes[key] {
			return fmt.Errorf("%w: node %q is not in the same %s as the other nodes of the line in pool %q", ErrInvalid, name, old.within, old.pool)
		}
	}
	return nil
}

// chosenSeats checks the seats of a Booked for the lines with Within.
func (s *state) chosenSeats(e Booked, r *record) error {
	within := false
	for i := range r.lines {
		l := &r.lines[i]
		if l.within == "" {
			if len(e.Seats) == len(r.lines) && len(e.Seats[i]) > 0 {
				return fmt.Errorf("booking %q: chosen seats in pool %q", r.id, l.pool)
			}
			continue
		}
		within = true
		p := s.pool(l.pool)
		if p == nil {
			return unknown("pool", l.pool)
		}
		if err := p.level(Line{Pool: l.pool, Within: l.within}); err != nil {
			return err
		}
		if int64(len(l.seats)) != l.count {
			return fmt.Errorf("booking %q: %d chosen seats in pool %q for %d nodes", r.id, len(l.seats), l.pool, l.count)
		}
		if err := cmp.Or(s.seatable(r, l, l.seats), s.together(l, l.seats)); err != nil {
			return err
		}
	}
	if !within && e.Seats != nil || within && len(e.Seats) != len(r.lines) {
		return fmt.Errorf("booking %q: %d lists of chosen seats", r.id, len(e.Seats))
	}
	return nil
}

// checkWithin checks a decoded line: until it begins it is in one domain.
func (s *state) checkWithin(r *record, l *line) error {
	if !r.phase.Live() || l.open {
		return nil
	}
	return s.together(l, l.seats)
}

// freeIn returns the nodes of a domain that are free in [from, to), as
// [state.pick] takes them; those that somebody plans come last, or not at all.
func (s *state) freeIn(d domain, from, to int64, self string, planned bool) []string {
	type candidate struct {
		plan, standby int
		next, last    int64
		node
	}
	var list []candidate
	for _, name := range d.nodes {
		if !s.free(name, from, to, self, false) {
			continue
		}
		n, _ := s.node(name)
		x := candidate{next: s.nextFixed(name, from+1), node: n}
		if id, busy := overlap(&s.plans, name, from, to); busy && id != self {
			if !planned {
				continue
			}
			x.plan = 1
		}
		if n.standby != "" {
			x.standby = 1
		}
		if x.next == tick.Forever {
			x.last = -max(n.last, -tick.Forever) // who became free last comes first
		}
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.plan, b.plan), cmp.Compare(a.next, b.next), cmp.Compare(a.standby, b.standby),
			cmp.Compare(a.last, b.last), cmp.Compare(a.ord, b.ord))
	})
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = x.name
	}
	return out
}

// nextFixed returns when a seat or an outage of a node begins at or after from.
func (s *state) nextFixed(name string, from int64) int64 {
	at := int64(tick.Forever)
	for _, set := range []*cow.Sorted[slot]{&s.seats, &s.outs} {
		for x := range set.From(slot{node: name, from: from}) {
			if x.node == name {
				at = min(at, x.from)
			}
			break
		}
	}
	return at
}

// busyIn returns the nodes of a pool with a seat or an outage in [from, to).
func (s *state) busyIn(pool string, from, to int64) map[string]bool {
	out := map[string]bool{}
	for x := range s.touching(pool, from, to) {
		r := s.rec(x.id)
		if r.class != Firm {
			continue
		}
		l := r.line(pool)
		for _, name := range l.seats {
			if l.seatFrom(name) < to {
				out[name] = true
			}
		}
	}
	for o := range s.outages.All() {
		if o.from < to && o.to > from {
			for _, name := range o.nodes {
				out[name] = true
			}
		}
	}
	return out
}

// freeCount returns how many nodes of a domain are not among the busy ones.
func (d domain) freeCount(busy map[string]bool) int64 {
	n := int64(0)
	for _, name := range d.nodes {
		if !busy[name] {
			n++
		}
	}
	return n
}

// choices returns the domains that have as many free nodes as line l needs,
// whatever is planned: first the one that is left with the fewest, then the
// pool's order.
func (s *state) choices(l *line) []domain {
	type choice struct {
		domain
		free int64
	}
	var list []choice
	busy := s.busyIn(l.pool, l.from, l.to)
	for _, d := range s.pool(l.pool).domains(l.within) {
		if n := d.freeCount(busy); n >= l.count {
			list = append(list, choice{d, n})
		}
	}
	slices.SortStableFunc(list, func(a, b choice) int { return cmp.Compare(a.free, b.free) })
	out := make([]domain, len(list))
	for i, x := range list {
		out[i] = x.domain
	}
	return out
}

// seatsIn returns sorted seats for line l in a domain that has them.
func (s *state) seatsIn(d domain, r *record, l *line) []string {
	free := s.freeIn(d, l.from, l.to, r.id, true)
	free = slices.Clone(free[:min(l.count, int64(len(free)))])
	slices.Sort(free)
	return free
}

// choose decides the booking r with the best domain for each line with Within
// that costs no other booking its own. The lines are in different pools, so one
// line's choice never hurts another's.
func (c *Calendar) choose(e Booked, r *record, wrap func(Booked) Event) error {
	choices, at := make([][]domain, len(r.lines)), make([]int, len(r.lines))
	for i := range r.lines {
		l := &r.lines[i]
		if l.within == "" {
			continue
		}
		if choices[i] = c.core.S.choices(l); len(choices[i]) == 0 {
			return c.core.S.conflict(r, l, ReasonDomain) // admit has refused it
		}
		if e.Seats == nil {
			e.Seats = make([][]string, len(r.lines))
		}
		l.seats = c.core.S.seatsIn(choices[i][0], r, l)
		e.Seats[i] = l.seats
	}
	for {
		err := c.seatably(wrap(e), r)
		x, ok := errors.AsType[*ConflictError](err)
		if !ok || x.Reason != ReasonUnplaced {
			return err
		}
		i := slices.IndexFunc(r.lines, func(l line) bool { return l.pool == x.Pool })
		if len(choices[i]) == 0 {
			return err
		}
		if at[i]++; at[i] == min(len(choices[i]), maxDomains) {
			x.tried = fmt.Sprintf("%d of %d domains (%s) with as many, keeping the plans of the others or laying them anew", at[i], len(choices[i]), r.lines[i].within)
			return err
		}
		e.Seats[i] = c.core.S.seatsIn(choices[i][at[i]], r, &r.lines[i])
		r.lines[i].seats = e.Seats[i]
	}
}

// domainConflict refuses a line with Within if no domain has as many nodes that
// are free in its whole envelope, whatever is planned.
func (s *state) domainConflict(r *record, l *line) *ConflictError {
	if l.within == "" {
		return nil
	}
	var best domain
	most, busy := int64(-1), s.busyIn(l.pool, l.from, l.to)
	for _, d := range s.pool(l.pool).domains(l.within) {
		n := d.freeCount(busy)
		if n >= l.count {
			return nil
		}
		if n > most {
			best, most = d, n
		}
	}
	e := s.conflict(r, l, ReasonDomain)
	e.Within, e.Domain = l.within, slices.Clone(best.path)
	e.Free = max(0, most)
	e.Shortfall, e.Out = e.Need-e.Free, 0
	by := map[string]int64{}
	for _, name := range best.nodes {
		if s.outIn(name, l.from, l.to) {
			e.Out++
		}
		for x := range s.seats.Before(slot{node: name, from: l.to - 1, id: lastID}) {
			if x.node != name || x.to <= l.from {
				break
			}
			by[x.id]++
		}
	}
	var recs []*record
	for id := range by {
		recs = append(recs, s.rec(id))
	}
	slices.SortFunc(recs, byStart)
	e.Blocking = nil
	for _, o := range recs {
		x := o.lineNear(l.pool)
		e.Blocking = append(e.Blocking, Blocking{o.id, o.owner, windowOf(x.from, x.to), by[o.id]})
	}
	return e
}
