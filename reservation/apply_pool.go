// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"slices"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/step"
	"github.com/berth-gpu/berth/internal/tick"
)

func (e PoolSet) prepare(s *state) (change, error) {
	t, err := e.Pool.check()
	if err != nil {
		return nil, err
	}
	at, stays := s.now, make(map[string]bool, len(e.Pool.Units))
	if !e.At.IsZero() {
		if at, err = exact("At", e.At); err != nil {
			return nil, err
		}
	}
	for _, u := range e.Pool.Units {
		if n, ok := s.node(u.Name); ok && n.pool != e.Pool.Name {
			return nil, fmt.Errorf("%w: node %q belongs to pool %q", ErrExists, u.Name, n.pool)
		}
		stays[u.Name] = true
	}
	if old := s.pool(e.Pool.Name); old != nil {
		for _, u := range old.Units {
			if x, busy := s.cleaning(u.Name, at); busy && !stays[u.Name] {
				return nil, fmt.Errorf("%w: node %q is in cleanup after booking %q until %s; wait, or make it a spare", ErrState, u.Name, x.id, until(x.to))
			}
		}
	}
	return func(tok *cow.Token) { s.setPool(tok, e.Pool, t) }, nil
}

// cleaning returns the seat of a booking that is over whose node is in cleanup.
func (s *state) cleaning(name string, at int64) (slot, bool) {
	for x := range s.seats.Before(slot{node: name, from: at, id: lastID}) {
		return x, x.node == name && x.to > at && !s.rec(x.id).phase.Live()
	}
	return slot{}, false
}

func (s *state) setPool(tok *cow.Token, def Pool, t terms) {
	p := &pool{Pool: def, terms: t}
	p.group()
	old := s.pool(def.Name)
	if old != nil {
		stays := make(map[string]bool, len(def.Units))
		for _, u := range def.Units {
			stays[u.Name] = true
		}
		var gone []string
		for _, u := range old.Units {
			if !stays[u.Name] {
				gone = append(gone, u.Name)
			}
		}
		s.dropNodes(tok, def.Name, gone)
		// dropNodes changed the trees; take them over as they are now.
		now := s.pool(def.Name)
		p.load, p.lost, p.extra, p.sum = now.load, now.lost, now.extra, now.sum
	}
	var closed []slot
	var fresh []string
	for i, u := range def.Units {
		was, known := s.node(u.Name)
		n := was
		if !known {
			n = node{name: u.Name, pool: def.Name, reclaimAt: none, last: none}
			fresh = append(fresh, u.Name)
		}
		n.ord, n.spare = i, u.Spare
		if known {
			s.setNode(tok, &was, n)
		} else {
			s.setNode(tok, nil, n)
		}
		if u.Spare { // it keeps nothing for floating lines any more
			closed = append(closed, slot{node: u.Name, from: none + 1, to: tick.Forever})
		} else {
			p.open++
		}
	}
	s.pools.Put(tok, p.Name, p)
	for o := range s.outages.All() { // of nodes that came back
		for _, name := range o.nodes {
			if n, ok := s.node(name); ok && n.pool == def.Name {
				closed = append(closed, slot{node: name, from: o.from, to: o.to})
				s.outsOf(o).Put(tok, slot{name, o.from, o.to, o.id})
				s.fixed.Put(tok, fix{def.Name, o.from, name, outageRef + o.id})
			}
		}
	}
	s.evict(tok, closed)
	s.recount(tok, def.Name)
	for _, u := range def.Units {
		s.touch(tok, u.Name) // the reclaim lead may be another
	}
	s.giveBack(tok, def.Name, fresh)
	if old != nil {
		s.regroup(tok, old)
	}
	s.recell(tok, old, p)
}

// recount lays outages and spares in use anew, after units came, went, became
// spare or open.
func (s *state) recount(tok *cow.Token, name string) {
	p := *s.pool(name)
	for at, d := range p.lost.Changes() {
		p.load.Add(tok, at, step.Forever, -d)
	}
	for at, d := range p.extra.Changes() {
		p.load.Add(tok, at, step.Forever, d)
	}
	p.lost, p.extra = step.Tree{}, step.Tree{}
	s.pools.Put(tok, p.Name, &p)
	for _, u := range p.Units {
		s.addUnit(tok, u.Name, +1)
	}
}

// giveBack gives nodes that came to a pool to the pinned bookings that lack
// them, unless somebody else has them by now.
func (s *state) giveBack(tok *cow.Token, pool string, names []string) {
	slices.Sort(names)
	var ids []string
	for f := range s.short.From(float{pool: pool, from: none}) {
		if f.pool != pool {
			break
		}
		ids = append(ids, f.id)
	}
	for _, id := range ids {
		old := s.rec(id)
		r := old.change()
		l := r.line(pool)
		if len(l.pinned) == 0 || l.to <= s.now {
			continue
		}
		seats := slices.Clone(l.seats)
		for _, name := range names {
			if _, busy := s.otherSeat(name, max(s.now, l.from), l.to, id); inSorted(l.pinned, name) && !busy && int64(len(seats)) < l.count {
				seats = append(seats, name)
			}
		}
		if len(seats) > len(l.seats) {
			slices.Sort(seats)
			r.version++
			l.setSeats(seats, s.now)
			s.swap(tok, old, r)
		}
	}
}

// dropNodes takes nodes out of their pool, and their seats from live bookings. A
// floating booking that has not begun floats again.
func (s *state) dropNodes(tok *cow.Token, pool string, names []string) {
	names = slices.Sorted(slices.Values(names))
	closed := make([]slot, len(names))
	seen := map[string]bool{}
	var ids []string
	add := func(id string) {
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	for i, name := range names {
		closed[i] = slot{node: name, from: none + 1, to: tick.Forever}
		if n, _ := s.node(name); n.standby != "" {
			add(n.standby)
		}
		for x := range s.seats.From(slot{node: name, from: none}) {
			if x.node != name {
				break
			}
			add(x.id)
		}
	}
	s.evict(tok, closed)
	for _, id := range ids {
		old := s.rec(id)
		if !old.phase.Live() {
			continue // over: only the cleanup is left, and it goes on
		}
		r := old.next()
		l := r.line(pool)
		if r.class == Firm && !l.open && len(l.pinned) == 0 && l.within == "" {
			l.seats = nil
		} else {
			l.setSeats(minus(l.seats, names), l.from)
		}
		s.swap(tok, old, r)
	}
	for o := range s.outages.All() {
		for _, name := range names {
			if o.has(name) {
				s.outsOf(o).Remove(tok, slot{name, o.from, o.to, o.id})
				s.fixed.Remove(tok, fix{pool, o.from, name, outageRef + o.id})
			}
		}
	}
	for _, name := range names {
		n, _ := s.node(name)
		s.removeNode(tok, n)
	}
}

func (e PoolRemoved) prepare(s *state) (change, error) {
	p := s.pool(e.Name)
	if p == nil {
		return nil, unknown("pool", e.Name)
	}
	at, err := exact("At", e.At)
	if err != nil {
		return nil, err
	}
	if r := s.usedBy(e.Name, at); r != nil {
		return nil, fmt.Errorf("%w: pool %q is in use by booking %q until %s; end it or wait", ErrState, e.Name, r.id, until(r.clearAt()))
	}
	return func(tok *cow.Token) {
		var names []string
		for _, u := range p.Units {
			names = append(names, u.Name)
		}
		s.dropNodes(tok, e.Name, names)
		// Records that are over go with the pool.
		var over []string
		for r := range s.recs.All() {
			if r.line(e.Name) != nil {
				over = append(over, r.id)
			}
		}
		for _, id := range over {
			s.swap(tok, s.rec(id), nil)
		}
		s.pools.Remove(tok, p.Name)
	}, nil
}

// usedBy returns a booking that has a line in the pool and is live or not yet
// cleared at an instant.
func (s *state) usedBy(pool string, at int64) *record {
	for r := range s.recs.All() {
		if r.line(pool) != nil && (r.phase.Live() || r.clearAt() > at) {
			return r
		}
	}
	return nil
}

func (e OutageSet) prepare(s *state) (change, error) {
	o, err := outageOf(e.Outage)
	if err != nil {
		return nil, err
	}
	if at, err := exact("At", e.At); err != nil || o.to <= at {
		return nil, fmt.Errorf("%w: outage %q is over", ErrHorizon, o.id)
	}
	return func(tok *cow.Token) { s.swapOutage(tok, s.outage(o.id), o) }, nil
}

func (e OutageEnded) prepare(s *state) (change, error) {
	o := s.outage(e.ID)
	if o == nil {
		return nil, unknown("outage", e.ID)
	}
	return func(tok *cow.Token) { s.swapOutage(tok, o, nil) }, nil
}

func (e Forgotten) prepare(s *state) (change, error) {
	before, err := exact("Before", e.Before)
	if err != nil {
		return nil, err
	}
	at, err := exact("At", e.At)
	if err != nil || before > at {
		return nil, fmt.Errorf("Before %s is after the present", e.Before)
	}
	ids := s.clearBy(before)
	if int64(len(ids)) != e.Count {
		return nil, fmt.Errorf("%d bookings were over by %s, not %d", len(ids), e.Before, e.Count)
	}
	return func(tok *cow.Token) {
		for _, id := range ids {
			s.swap(tok, s.rec(id), nil)
		}
	}, nil
}

// clearBy returns the bookings that were over and cleared by an instant.
func (s *state) clearBy(before int64) []string {
	var ids []string
	for x := range s.final.All() {
		if x.at > before {
			break
		}
		ids = append(ids, x.id)
	}
	return ids
}
