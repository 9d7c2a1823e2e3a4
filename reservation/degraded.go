// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

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

	Owner string `json:"owner"`
	// By is until when a repair saves the booking: up to the begin of its envelope
	// it notices nothing. Once that has begun it is the begin of the Window, so the
	// present if it lacks nodes already. Zero in [Impact.Healed].
	By time.Time `json:"by,omitzero"`
}

// Degraded yields the bookings that lack nodes now or later, by begin, id and
// pool. Who lacks them is decided in this order: a booking whose seat is in
// outage or missing; one that begins before a fixed seat and has too small a
// plan; then, while the count is short, the floating bookings over that instant,
// who begins last first, and of those that begin at once who was made last.
// Nothing is cut to make the sums fit: what is short stays listed until nodes
// come back, the host seats it elsewhere, or it ends. A node that became a spare
// under a booking stays with it.
//
// It costs O((1+k) log n) for k ranges in which the count is short and k bookings
// that lack nodes.
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
	for _, f := range s.lacking(pool) {
		l := s.rec(f.id).line(pool)
		lacks = append(lacks, lack{f.id, max(now, l.from), l.to, l.count - int64(len(l.plan))})
	}
	last := s.lastFixed(pool)
	p := s.pool(pool)
	if p.load.Max(now, tick.Forever) > p.open {
		lacks = append(lacks, s.overcount(p, max(now, last), now, lacks)...)
	}
	out := sumLacks(pool, lacks)
	for i := range out {
		s.complete(&out[i], now)
	}
	return out
}

// deadSeats returns the seats of a pool that are in outage.
func (s *state) deadSeats(pool string, now int64) []lack {
	var out []lack
	for d := range s.dead.From(deadSeat{pool: pool}) {
		if d.pool != pool {
			break
		}
		for _, x := range s.outUnion(d.node) {
			from := max(x.from, now)
			if from >= x.to {
				continue
			}
			for t := range s.seats.Before(slot{node: d.node, from: x.to - 1, id: lastID}) {
				if t.node != d.node || t.to <= from {
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
	return out
}

// overcount takes what the count is short beyond the known lacks from floating
// lines without a plan. Between two instants at which a line begins or ends, or
// a known lack does, it is the same ones.
func (s *state) overcount(p *pool, last, now int64, known []lack) []lack {
	var out []lack
	for x := range p.load.Above(now, tick.Forever, p.open) {
		var lines []victim
		cuts := []int64{x.To}
		cut := func(at int64) {
			if x.From < at && at < x.To {
				cuts = append(cuts, at)
			}
		}
		for y := range s.touching(p.Name, x.From, x.To) {
			if r := s.rec(y.id); y.from >= last && r.floating(r.line(p.Name)) {
				lines = append(lines, victim{r, y.from, y.to, r.line(p.Name).count})
				cut(y.from)
				cut(y.to)
			}
		}
		for _, k := range known {
			cut(k.from)
			cut(k.to)
		}
		slices.SortFunc(lines, func(a, b victim) int {
			return cmp.Or(cmp.Compare(b.from, a.from), cmp.Compare(b.r.created, a.r.created), strings.Compare(b.r.id, a.r.id))
		})
		slices.Sort(cuts)
		from := x.From
		for _, to := range slices.Compact(cuts) {
			short := x.Level - p.open
			for _, k := range known {
				if k.from <= from && from < k.to {
					short -= k.n
				}
			}
			for _, v := range lines {
				if short <= 0 {
					break
				}
				if v.from <= from && to <= v.to {
					n := min(short, v.count)
					out = append(out, lack{v.r.id, from, to, n})
					short -= n
				}
			}
			from = to
		}
	}
	return out
}

// victim is a floating line that may have to lack something.
type victim struct {
	r               *record
	from, to, count int64
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
			out = append(out, Degradation{ID: id, Pool: pool, Window: windowOf(from, at), Shortfall: was})
		}
		from = at
	}
	slices.SortFunc(out, compareDegradations)
	return out
}
