// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/step"
)

// bulk collects what many records contribute to the indexes and fills each index
// once, which costs a fraction of as many swaps. What swap keeps right step by
// step is checked afterwards for all records together.
type bulk struct {
	s    *state
	tok  *cow.Token
	load map[string]*step.Builder
	sum  map[string]int64

	recs                       []entry[*record]
	live                       []*record
	final                      []clearing
	due                        []due
	spans                      []span
	needy, full, planned, less []float
	seats, plans, told         []slot
	fixed                      []fix
	stand                      []stand
}

// stand is a node that a Standby claim has.
type stand struct{ node, claim string }

// fillRecords adds records, which have passed checkRecord one by one, to a state
// that has its pools and nothing else.
func (s *state) fillRecords(tok *cow.Token, recs []*record, outages func() error) error {
	b := &bulk{s: s, tok: tok, load: map[string]*step.Builder{}, sum: map[string]int64{}}
	for _, r := range recs {
		if err := b.add(r); err != nil {
			return err
		}
	}
	b.fill()
	if err := b.apart(); err != nil {
		return err
	}
	for n := range s.nodes.All() {
		if n.spare {
			s.addUnit(tok, n.name, +1)
		}
	}
	if err := outages(); err != nil { // they change levels and begins, and no plan
		return err
	}
	if err := b.standby(); err != nil {
		return err
	}
	for _, r := range recs {
		for i := range r.lines {
			if len(r.lines[i].plan) > 0 {
				if err := s.checkPlan(r, &r.lines[i]); err != nil {
					return err
				}
			}
		}
		s.swapOccurrence(tok, nil, r)
	}
	s.plans.Fill(tok, b.plans)
	s.told.Fill(tok, b.told)
	for _, n := range slices.Collect(s.nodes.All()) {
		s.touch(tok, n.name)
	}
	return nil
}

func (b *bulk) add(r *record) error {
	b.recs = append(b.recs, entry[*record]{r.id, r})
	if d, ok := r.nextDue(); ok {
		b.due = append(b.due, d)
	}
	if r.phase.Live() {
		b.live = append(b.live, r)
	} else {
		b.final = append(b.final, clearing{r.clearAt(), r.id})
	}
	for i := range r.lines {
		if err := b.line(r, i); err != nil {
			return err
		}
	}
	return nil
}

func (b *bulk) line(r *record, i int) error {
	l, p := &r.lines[i], r.place(i)
	if p.count > 0 && p.from < p.to {
		if p.count > maxSum-b.sum[l.pool] {
			return fmt.Errorf("booking %q: pool %q: %d nodes pass the sum of 1<<62", r.id, l.pool, p.count)
		}
		b.sum[l.pool] += p.count
		if b.load[l.pool] == nil {
			b.load[l.pool] = &step.Builder{}
		}
		b.load[l.pool].Add(p.from, p.to, p.count)
	}
	if p.span {
		b.spans = append(b.spans, span{l.pool, lengthClass(p.from, p.to), p.from, p.to, r.id})
	}
	f := float{l.pool, p.from, r.created, r.id}
	for _, x := range []struct {
		in   bool
		list *[]float
	}{{p.needy, &b.needy}, {p.full, &b.full}, {p.plan, &b.planned}, {p.short, &b.less}} {
		if x.in {
			*x.list = append(*x.list, f)
		}
	}
	b.seats = append(b.seats, p.seats...)
	for _, x := range p.seats {
		b.fixed = append(b.fixed, fix{l.pool, x.from, x.node, r.id})
	}
	for _, n := range p.plans {
		b.plans = append(b.plans, slot{n, p.from, p.to, r.id})
	}
	for _, n := range p.told {
		b.told = append(b.told, slot{n, p.from, p.to, r.id})
	}
	for _, n := range p.stand {
		b.stand = append(b.stand, stand{n, r.id})
	}
	b.s.swapCell(b.tok, nil, r, i)
	return nil
}

func (b *bulk) fill() {
	s, tok := b.s, b.tok
	s.recs.set.Fill(tok, b.recs)
	s.live.Fill(tok, b.live)
	s.final.Fill(tok, b.final)
	s.due.Fill(tok, b.due)
	s.spans.Fill(tok, b.spans)
	s.needy.Fill(tok, b.needy)
	s.full.Fill(tok, b.full)
	s.planned.Fill(tok, b.planned)
	s.short.Fill(tok, b.less)
	s.seats.Fill(tok, b.seats)
	s.fixed.Fill(tok, b.fixed)
	for _, name := range slices.Sorted(maps.Keys(b.load)) {
		p := *s.pool(name)
		p.load, p.sum = b.load[name].Tree(tok), b.sum[name]
		s.pools.Put(tok, name, &p)
	}
}

// apart checks that no node has two seats, or two plans, at one time.
func (b *bulk) apart() error {
	for _, list := range [][]slot{b.seats, b.plans} {
		if x, y, ok := firstOverlap(slices.Clone(list)); ok {
			return fmt.Errorf("node %q has bookings %q and %q at once", x.node, x.id, y.id)
		}
	}
	return nil
}

// standby gives the nodes to their Standby claims.
func (b *bulk) standby() error {
	s := b.s
	for _, x := range b.stand {
		n, ok := s.node(x.node)
		if !ok {
			continue
		}
		if n.standby != "" {
			return fmt.Errorf("node %q has Standby claims %q and %q", x.node, n.standby, x.claim)
		}
		if id, busy := s.otherSeat(x.node, s.now, s.now+1, x.claim); busy && s.rec(id).opened(x.node) && s.rec(id).yield == none {
			return fmt.Errorf("node %q has Standby claim %q and Firm booking %q", x.node, x.claim, id)
		}
		s.setStandby(b.tok, x.node, x.claim)
	}
	return nil
}
