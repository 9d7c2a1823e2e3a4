// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// Move gives a booking another window, under the same rules as a new booking
// and with its old range given back first: all or nothing. Nodes that the host
// had chosen stay if they are free in the new window, else the booking floats
// again; pinned ones stay. Once its envelope has begun only the end moves, as with
// [Calendar.Extend]. The same window again changes nothing.
//
// Possible errors: [ErrUnknown], [ErrVersion], [ErrState], [*ConflictError],
// [ErrEmptyWindow], [ErrHorizon], [ErrUnaligned], [ErrInvalid].
func (c *Calendar) Move(at time.Time, id string, w Window, ifVersion uint64) (Booking, error) {
	if r := c.core.S.rec(id); r != nil && w.Start.Equal(tick.Time(r.start)) {
		return c.Extend(at, id, w.End, ifVersion)
	}
	return c.on(at, id, ifVersion, func(now int64, r *record) error {
		q := r.request()
		q.Window = Window{w.Start.UTC(), w.End.UTC()}
		if err := c.core.S.cancelRule(now, r); err != nil { // its old window is given back
			return err
		}
		return c.replace(now, r, q)
	})
}

// Resize gives a booking other lines: counts, pools and named nodes. Once its
// envelope has begun its counts only grow, and new nodes are seated at once; to
// give nodes back then, [Calendar.Split] them off and release that part, so that
// they are cleaned. The same lines again change nothing.
//
// Possible errors: as of [Calendar.Move].
func (c *Calendar) Resize(at time.Time, id string, lines []Line, ifVersion uint64) (Booking, error) {
	return c.on(at, id, ifVersion, func(now int64, r *record) error {
		q := r.request()
		q.Lines = lines
		return c.replace(now, r, q)
	})
}

// Transfer gives a booking to another owner. It must not have begun: its nodes
// would hold the work of the old owner.
//
// Possible errors: as of [Calendar.Move].
func (c *Calendar) Transfer(at time.Time, id, owner string, ifVersion uint64) (Booking, error) {
	return c.on(at, id, ifVersion, func(now int64, r *record) error {
		q := r.request()
		q.Owner = owner
		return c.replace(now, r, q)
	})
}

// replace makes request q of booking r.
func (c *Calendar) replace(now int64, r *record, q Request) error {
	s := &c.core.S
	q, err := q.normal()
	if err != nil {
		return err
	}
	if q.equal(r.request()) {
		return nil
	}
	if r.phase > Active || r.class != Firm {
		return fmt.Errorf("%w: %s booking %q is %s; only a Firm one that is not over is changed", ErrState, r.class, r.id, r.phase)
	}
	if err := r.alone("change"); err != nil {
		return err
	}
	if s.continued(r) != nil {
		return fmt.Errorf("%w: booking %q continues %q; merge it, or cancel it and book anew", ErrState, r.id, r.after)
	}
	e := Changed{At: tick.Time(now), Request: q}
	if e.Spans, err = s.spansOf(now, r, q); err != nil {
		return err
	}
	if e.Show = s.showBy(q); r.phase == Active || r.shown {
		e.Show = time.Duration(r.show) * time.Second
	}
	// What it has now is given back first.
	trial := c.Fork()
	trial.core.S.swap(trial.core.Token(), r, nil)
	var was []string
	for try := 0; ; try++ { // which domains, for lines within one
		if e.Nodes, err = trial.core.S.takes(now, r, e, try); err != nil {
			return err
		}
		slices.Sort(e.Nodes)
		err := c.becomes(now, r, e)
		x, ok := errors.AsType[*ConflictError](err)
		if !ok || x.Reason != ReasonUnplaced || try == maxDomains || try > 0 && slices.Equal(was, e.Nodes) {
			return err
		}
		was = e.Nodes
	}
}

// becomes decides e for booking r.
func (c *Calendar) becomes(now int64, r *record, e Changed) error {
	return c.core.Try(func() error {
		if r.begun() && r.yield == none { // new nodes begin at once
			if err := c.clear(tick.Time(now), r.id, minus(e.Nodes, r.nodes())); err != nil {
				return err
			}
		}
		_, n, err := e.build(&c.core.S)
		if err != nil {
			return err
		}
		return c.seatably(e, n)
	})
}

// spansOf returns the envelopes of q, which is to replace r. A line that keeps
// its window keeps its envelope.
func (s *state) spansOf(now int64, r *record, q Request) ([]Span, error) {
	start, end, err := q.Window.ticks("Window", false)
	if err != nil {
		return nil, err
	}
	same := start == r.start && end == r.end
	if !same && r.begun() {
		return nil, fmt.Errorf("%w: the envelope of booking %q has begun; only its end may move", ErrState, r.id)
	}
	out := make([]Span, len(q.Lines))
	fresh := q
	fresh.Lines = nil
	var at []int
	for i, l := range q.Lines {
		if o := r.line(l.Pool); o != nil && same {
			out[i] = Span{tick.Time(o.from), tick.Time(o.to), time.Duration(o.cleanup) * time.Second, time.Duration(o.lead) * time.Second}
			continue
		}
		fresh.Lines = append(fresh.Lines, l)
		at = append(at, i)
	}
	if len(fresh.Lines) == 0 {
		return out, nil
	}
	if r.begun() {
		return nil, fmt.Errorf("%w: the envelope of booking %q has begun; its pools stay", ErrState, r.id)
	}
	if same { // all lines of a booking have one grace
		fresh.Lines = q.Lines
	}
	spans, err := s.envelopes(now, fresh)
	if err != nil {
		return nil, err
	}
	if same {
		return spans, nil
	}
	for k, i := range at {
		out[i] = spans[k]
	}
	return out, nil
}

// begun reports whether the envelope of some line has begun.
func (r *record) begun() bool {
	return slices.ContainsFunc(r.lines, func(l line) bool { return l.open })
}

// takes checks, in a state without r, that what replaces it can be had, and
// returns the seats it has then.
func (s *state) takes(now int64, r *record, e Changed, try int) ([]string, error) {
	n, err := recordOf(Booked{At: tick.Time(min(r.created, now)), Request: e.Request, Spans: e.Spans})
	if err != nil {
		return nil, err
	}
	var seats []string
	for i := range n.lines {
		l := &n.lines[i]
		o := r.line(l.pool)
		if o == nil {
			o = &line{pool: l.pool, from: l.to, to: l.to}
		}
		if o.open && l.count < o.count {
			return nil, fmt.Errorf("%w: the envelope of booking %q has begun; split %d nodes of pool %q off and release that part",
				ErrState, r.id, o.count-l.count, l.pool)
		}
		if e := s.more(now, n, l, o); e != nil {
			return nil, e
		}
		if n.owner != r.owner {
			if e := s.cellConflict(n, l, max(now, l.from), l.to); e != nil {
				return nil, e
			}
		}
		if len(l.pinned) > 0 {
			if e := s.seatConflict(n, l, minus(l.pinned, o.seats), max(now, l.from), l.to, nil); e != nil {
				return nil, e
			}
			for _, x := range [][2]int64{{l.from, min(l.to, o.from)}, {max(l.from, o.to), l.to}} {
				if x[0] < x[1] {
					if e := s.seatConflict(n, l, l.pinned, x[0], x[1], o.seats); e != nil {
						return nil, e
					}
				}
			}
			for _, name := range l.pinned {
				// A seat that it had lost before is lost still.
				if _, busy := s.otherSeat(name, max(now, l.from), l.to, r.id); !busy && (inSorted(o.seats, name) || !inSorted(o.pinned, name)) {
					seats = append(seats, name)
				}
			}
			continue
		}
		keep := s.stays(r, l, o)
		if l.within != "" && (!o.open && int64(len(keep)) < l.count || o.open && len(keep) == 0 && l.count > o.count) {
			rest := *l
			rest.from = max(now, l.from)
			choices := s.choices(&rest)
			if len(choices) == 0 {
				if e := s.domainConflict(n, &rest); e != nil {
					return nil, e
				}
				return nil, s.conflict(n, l, ReasonUnplaced)
			}
			seats = append(seats, s.seatsIn(choices[min(try, len(choices)-1)], n, &rest)...)
			continue
		}
		if o.open && int64(len(keep)) < l.count && l.count > o.count {
			var more []string
			if l.within != "" && len(keep) > 0 {
				rest := *l
				rest.from = now
				more = minus(s.fillWithin(n, &rest, s.homeOf(s.pool(l.pool), keep, l.within), slices.Clone(keep)), keep)
			} else {
				more = s.pick(l.pool, now, l.to, r.id, keep, l.count-int64(len(keep)), nil)
			}
			if int64(len(more)) < l.count-o.count {
				x := s.conflict(n, l, ReasonUnplaced)
				x.tried = "nodes that are free from now to its end"
				return nil, x
			}
			keep = append(keep, more...)
		}
		seats = append(seats, keep...)
	}
	return seats, nil
}

// stays returns which of the seats of o, the old form of line l, stay.
func (s *state) stays(r *record, l, o *line) []string {
	if o.open {
		return o.seats
	}
	if len(o.seats) == 0 || len(o.pinned) > 0 || l.within != o.within {
		return nil
	}
	var keep []string
	for _, name := range o.seats {
		if int64(len(keep)) < l.count && s.goesOnFree(name, l, o, r.id) {
			keep = append(keep, name)
		}
	}
	if int64(len(keep)) < l.count {
		return nil // it floats again
	}
	return keep
}

// goesOnFree reports whether a seat of o is free for all of l, its new form. A
// drain leaves alone who is there already, so it only closes what o had not.
func (s *state) goesOnFree(name string, l, o *line, self string) bool {
	from, to := max(l.from, o.from), min(l.to, o.to)
	if from >= to {
		return s.free(name, l.from, l.to, self, false)
	}
	if _, busy := s.otherSeat(name, from, to, self); busy || s.outIn(name, from, to) {
		return false
	}
	return (l.from >= from || s.free(name, l.from, from, self, false)) && (l.to <= to || s.free(name, to, l.to, self, false))
}

// more refuses line l of n where it takes more than o, its old form, and the
// count has not that much. The state is without n.
func (s *state) more(now int64, n *record, l, o *line) error {
	p := s.pool(l.pool)
	type part struct{ from, to int64 }
	parts := []part{{l.from, min(l.to, o.from)}, {max(l.from, o.to), l.to}}
	if l.count > o.count {
		parts = append(parts, part{max(l.from, o.from), min(l.to, o.to)})
	}
	for _, x := range parts {
		from := max(x.from, now)
		if from < x.to && p.load.Max(from, x.to) > p.open-l.count {
			return s.conflict(n, l, ReasonCount)
		}
		if from < x.to {
			if e := s.cellConflict(n, l, from, x.to); e != nil {
				return e
			}
		}
	}
	return nil
}
