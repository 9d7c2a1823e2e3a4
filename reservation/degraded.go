// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/berth-gpu/berth/internal/tick"
)

// A Degradation says how many nodes a booking will lack, and when.
//
// A Degradation is immutable and safe for concurrent use.
type Degradation struct {
	ID        string `json:"id"`
	Pool      string `json:"pool"`
	Window    Window `json:"window"` // within its envelope, from the present on
	Shortfall int64  `json:"shortfall"`
}

// Degraded yields the bookings that lack nodes now or later, by begin, id and
// pool. Who lacks them is decided in this order: a booking whose seat is in
// outage or missing; one that starts before a fixed seat and has too small a
// plan; then, while the count is short, the floating bookings over that
// instant, the latest created first. Nothing is cut to make the sums fit: what
// is short stays listed until nodes come back, the host seats it elsewhere, or
// it ends. A unit that became a spare under a booking counts as not there.
//
// With nothing short it costs O(1) per pool and O(log n) per node in outage.
func (c *Calendar) Degraded() iter.Seq[Degradation] {
	return func(yield func(Degradation) bool) {
		s := &c.core.S
		var all []Degradation
		for p := range s.pools.All() {
			all = append(all, s.degraded(p.Name, s.now)...)
		}
		slices.SortFunc(all, compareDegradations)
		for _, d := range all {
			if !yield(d) {
				return
			}
		}
	}
}

func compareDegradations(a, b Degradation) int {
	return cmp.Or(a.Window.Start.Compare(b.Window.Start), strings.Compare(a.ID, b.ID), strings.Compare(a.Pool, b.Pool))
}

// lack is a shortfall of one line before it is summed up.
type lack struct {
	id       string // empty: counted, but over for its owner
	from, to int64
	n        int64
}

// degraded returns what is short in a pool from now on.
func (s *state) degraded(pool string, now int64) []Degradation {
	lacks := s.deadSeats(pool, now)
	for f := range s.short.From(float{pool: pool, from: none}) {
		if f.pool != pool {
			break
		}
		if l := s.rec(f.id).line(pool); l.to > now {
			lacks = append(lacks, lack{f.id, max(now, l.from), l.to, l.count - int64(len(l.seats))})
		}
	}
	last := s.lastFixed(pool)
	for _, l := range s.waiting(pool, last) {
		if l.missing() > 0 {
			lacks = append(lacks, lack{l.id, max(now, l.from), l.to, l.missing()})
		}
	}
	p := s.pool(pool)
	if p.load.Max(now, tick.Forever) > p.open {
		lacks = append(lacks, s.overcount(p, max(now, last), now, lacks)...)
	}
	return sumLacks(pool, lacks)
}

// deadSeats returns the seats of a pool that are in outage.
func (s *state) deadSeats(pool string, now int64) []lack {
	var out []lack
	seen := map[string]bool{}
	for o := range s.outages.All() {
		for _, name := range o.nodes {
			if n, ok := s.node(name); !ok || n.pool != pool || seen[name] {
				continue
			}
			seen[name] = true
			for _, x := range s.outUnion(name) {
				from := max(x.from, now)
				if from >= x.to {
					continue
				}
				for t := range s.seats.Before(slot{node: name, from: x.to - 1, id: lastID}) {
					if t.node != name || t.to <= from {
						break
					}
					id := t.id
					if !s.rec(id).phase.Live() {
						id = ""
					}
					out = append(out, lack{id, max(t.from, from), min(t.to, x.to), 1})
				}
			}
		}
	}
	return out
}

// overcount takes what the count is short beyond the known lacks from floating
// lines without a plan, the latest created first.
func (s *state) overcount(p *pool, last, now int64, known []lack) []lack {
	cuts := make([]int64, 0, 2*len(known))
	for _, k := range known {
		cuts = append(cuts, k.from, k.to)
	}
	slices.Sort(cuts)
	var out []lack
	for x := range p.load.Steps(now, tick.Forever) {
		if x.Level <= p.open {
			continue
		}
		i, _ := slices.BinarySearch(cuts, x.From+1)
		for from := x.From; from < x.To; {
			to := x.To
			for ; i < len(cuts) && cuts[i] < x.To; i++ {
				if cuts[i] > from {
					to = cuts[i]
					break
				}
			}
			short := x.Level - p.open
			for _, k := range known {
				if k.from <= from && from < k.to {
					short -= k.n
				}
			}
			out = append(out, s.victims(p.Name, from, to, last, short)...)
			from = to
		}
	}
	return out
}

// victims takes short nodes from the unplanned floating lines over [from, to).
func (s *state) victims(pool string, from, to, last, short int64) []lack {
	if short <= 0 {
		return nil
	}
	var recs []*record
	for x := range s.touching(pool, from, from+1) {
		if r := s.rec(x.id); r.floating(r.line(pool)) && x.from >= last {
			recs = append(recs, r)
		}
	}
	slices.SortFunc(recs, func(a, b *record) int {
		return cmp.Or(cmp.Compare(b.created, a.created), strings.Compare(b.id, a.id))
	})
	var out []lack
	for _, r := range recs {
		if short <= 0 {
			break
		}
		n := min(short, r.line(pool).count)
		out = append(out, lack{r.id, from, to, n})
		short -= n
	}
	return out
}

// sumLacks adds up the lacks of each booking and joins equal neighbours.
func sumLacks(pool string, lacks []lack) []Degradation {
	type edge struct {
		id    string
		at, n int64
	}
	var edges []edge
	for _, l := range lacks {
		if l.id != "" {
			edges = append(edges, edge{l.id, l.from, l.n}, edge{l.id, l.to, -l.n})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(strings.Compare(a.id, b.id), cmp.Compare(a.at, b.at))
	})
	var out []Degradation
	level, from := int64(0), int64(0)
	for i := 0; i < len(edges); {
		id, at, was := edges[i].id, edges[i].at, level
		for ; i < len(edges) && edges[i].id == id && edges[i].at == at; i++ {
			level += edges[i].n
		}
		if level == was {
			continue
		}
		if was > 0 {
			out = append(out, Degradation{id, pool, windowOf(from, at), was})
		}
		from = at
	}
	slices.SortFunc(out, compareDegradations)
	return out
}
