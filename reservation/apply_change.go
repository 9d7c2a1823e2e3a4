// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/tick"
)

// build checks e against the booking it changes and returns what that becomes.
func (e Changed) build(s *state) (old, n *record, err error) {
	r, err := s.find(e.Request.ID, Held, Confirmed, Active)
	if err != nil {
		return nil, nil, err
	}
	if r.class != Firm || e.Request.Class != Firm || r.after != e.Request.Continues {
		return nil, nil, fmt.Errorf("%w: booking %q keeps its class and what it continues", ErrInvalid, r.id)
	}
	if err := r.alone("change"); err != nil {
		return nil, nil, err
	}
	made := Booked{At: tick.Time(r.created), Request: e.Request, Spans: e.Spans, Show: e.Show}
	if r.held {
		made.Expires = tick.Time(r.expires)
	}
	if n, err = recordOf(made); err != nil {
		return nil, nil, err
	}
	n.phase, n.version, n.origin = r.phase, r.version+1, r.origin
	n.shown, n.yield, n.split, n.before = r.shown, r.yield, r.split, r.before
	n.series, n.index, n.shift, n.detached = r.series, r.index, r.shift, r.series != ""
	if n.origin == nil {
		n.keep()
		n.origin.owner, n.origin.start, n.origin.end, n.origin.lines = r.owner, r.start, r.end, r.request().Lines
	}
	byPool, err := s.split(n, e.Nodes)
	if err != nil {
		return nil, nil, err
	}
	at, err := exact("At", e.At)
	if err != nil {
		return nil, nil, err
	}
	begun := false
	for i := range r.lines {
		begun = begun || r.lines[i].open
	}
	if begun && (n.owner != r.owner || n.start != r.start || n.end != r.end || !samePools(n.lines, r.lines)) {
		return nil, nil, fmt.Errorf("%w: the envelope of booking %q has begun; only its counts may grow", ErrState, r.id)
	}
	if !begun && n.start < at {
		return nil, nil, fmt.Errorf("booking %q would begin before the present", r.id)
	}
	for i := range n.lines {
		l := &n.lines[i]
		o := r.line(l.pool)
		if o != nil {
			if o.open && (l.within != o.within || l.from != o.from || l.to != o.to || !slices.Equal(l.pinned, o.pinned) || l.count < o.count) {
				return nil, nil, fmt.Errorf("%w: the envelope of booking %q has begun in pool %q", ErrState, r.id, l.pool)
			}
			l.open, l.seats, l.late = o.open, o.seats, o.late
			if o.from == l.from && o.to == l.to && int64(len(o.plan)) <= l.count && r.floating(o) {
				l.plan, l.near = o.plan, o.near && l.from-l.lead <= at
			}
		}
		l.setSeats(byPool[i], at)
		if len(l.seats) > 0 {
			l.plan, l.near = nil, false
		}
		if o != nil && o.open && len(minus(o.seats, l.seats)) > 0 {
			return nil, nil, fmt.Errorf("%w: booking %q would lose a seat", ErrState, r.id)
		}
		if len(l.pinned) > 0 && len(minus(l.seats, l.pinned)) > 0 {
			return nil, nil, fmt.Errorf("%w: booking %q has seats in pool %q that it does not name", ErrInvalid, r.id, l.pool)
		}
		if !l.open && l.from < at {
			return nil, nil, fmt.Errorf("booking %q would begin before the present", r.id)
		}
		if err := s.seatable(n, l, l.seats); err != nil {
			return nil, nil, err
		}
		home := l
		if o != nil && o.within == l.within {
			home = o
		}
		if err := s.together(home, l.seats); err != nil {
			return nil, nil, err
		}
		if l.within != "" && (o == nil || o.from != l.from || o.to != l.to || o.within != l.within) && int64(len(l.seats)) != l.count {
			return nil, nil, fmt.Errorf("booking %q: %d seats in pool %q for %d nodes within one %s", r.id, len(l.seats), l.pool, l.count, l.within)
		}
	}
	return r, n, s.admissible(n)
}

func (e Changed) prepare(s *state) (change, error) {
	r, n, err := e.build(s)
	if err != nil {
		return nil, err
	}
	return func(tok *cow.Token) { s.swap(tok, r, n) }, nil
}

// parts checks e against the booking it splits and returns what becomes of it.
func (e Split) parts(s *state) (old, parent, child *record, err error) {
	r, err := s.find(e.ID, Confirmed, Active)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := checkID("Child", e.Child); err != nil {
		return nil, nil, nil, err
	}
	if s.rec(e.Child) != nil {
		return nil, nil, nil, fmt.Errorf("%w: booking %q", ErrExists, e.Child)
	}
	if err := s.claimable(e.Child, r.owner); err != nil {
		return nil, nil, nil, err
	}
	if r.class != Firm {
		return nil, nil, nil, fmt.Errorf("%w: booking %q is %s; only a Firm one is split", ErrState, r.id, r.class)
	}
	if err := r.alone("split"); err != nil {
		return nil, nil, nil, err
	}
	at, err := exact("At", e.At)
	if err != nil {
		return nil, nil, nil, err
	}
	parent, child = r.next(), r.change()
	parent.keep()
	child.id, child.split, child.version, child.origin = e.Child, r.id, 1, nil
	child.held, child.expires = false, 0
	child.series, child.index, child.shift, child.detached = "", 0, 0, false
	parent.detached = parent.series != ""
	if !e.Time.IsZero() {
		t, err := exact("Time", e.Time)
		if err != nil {
			return nil, nil, nil, err
		}
		if t <= max(at, r.start) || t >= r.end || len(e.Lines) > 0 {
			return nil, nil, nil, fmt.Errorf("%w: Time %s is not inside what is left of booking %q, or there are lines as well", ErrInvalid, until(t), r.id)
		}
		child.phase, child.shown, child.yield, child.show = Confirmed, false, none, 0
		for i := range parent.lines {
			l := &parent.lines[i]
			l.to -= r.end - t
			c := &child.lines[i]
			c.open, c.seats, c.late, c.plan, c.near = false, c.pinned, nil, nil, false
		}
		parent.end, child.start = t, t
		if r.yield > t && s.vacant(r) != nil && t < addTicks(at, s.notice(r)) {
			return nil, nil, nil, fmt.Errorf("%w: Time %s leaves the Standby claims on booking %q no notice", ErrInvalid, until(t), r.id)
		}
		parent.yield = min(parent.yield, t)
		chain(parent, child)
		return r, parent, child, s.whole(child)
	}
	if s.continued(r) != nil {
		return nil, nil, nil, fmt.Errorf("%w: booking %q continues %q; split it by time, merge it, or cancel it and book anew", ErrState, r.id, r.after)
	}
	var mine, yours []line
	taken := 0
	for i := range r.lines {
		l := &r.lines[i]
		k := slices.IndexFunc(e.Lines, func(x Line) bool { return x.Pool == l.pool })
		if k < 0 {
			mine = append(mine, *l)
			continue
		}
		taken++
		a, b, err := r.divide(l, e.Lines[k])
		if err != nil {
			return nil, nil, nil, err
		}
		if a.count > 0 {
			mine = append(mine, a)
		}
		yours = append(yours, b)
	}
	if taken != len(e.Lines) || taken == 0 || len(mine) == 0 {
		return nil, nil, nil, fmt.Errorf("%w: Lines of the child must be a part of booking %q, and leave a part", ErrInvalid, r.id)
	}
	for i := 1; i < len(e.Lines); i++ {
		if e.Lines[i-1].Pool >= e.Lines[i].Pool {
			return nil, nil, nil, fmt.Errorf("%w: Lines are not in order of pools", ErrInvalid)
		}
	}
	parent.lines, child.lines = mine, yours
	return r, parent, child, nil
}

// divide splits a line of r: b gets x.Count nodes, and of the seats x.Nodes.
func (r *record) divide(l *line, x Line) (a, b line, err error) {
	if x.Count < 1 || x.Count > l.count || !slices.IsSorted(x.Nodes) || len(slices.Compact(slices.Clone(x.Nodes))) != len(x.Nodes) ||
		int64(len(x.Nodes)) > x.Count {
		return a, b, fmt.Errorf("%w: Lines[pool %q] of the child: %d nodes %q of %d", ErrInvalid, l.pool, x.Count, x.Nodes, l.count)
	}
	a, b = *l, *l
	a.count, b.count = l.count-x.Count, x.Count
	if len(l.pinned) > 0 {
		if len(minus(x.Nodes, l.pinned)) > 0 || int64(len(x.Nodes)) != x.Count {
			return a, b, fmt.Errorf("%w: Lines[pool %q] of the child must name %d of the nodes %q", ErrInvalid, l.pool, x.Count, l.pinned)
		}
		a.pinned, b.pinned = minus(l.pinned, x.Nodes), x.Nodes
	} else if len(minus(x.Nodes, l.seats)) > 0 {
		return a, b, fmt.Errorf("%w: Lines[pool %q] of the child names %q, which are not seats of booking %q", ErrInvalid, l.pool, minus(x.Nodes, l.seats), r.id)
	}
	a.seats, b.seats = nil, nil
	for _, n := range l.seats {
		if inSorted(x.Nodes, n) {
			b.seats = append(b.seats, n)
		} else {
			a.seats = append(a.seats, n)
		}
	}
	if int64(len(a.seats)) > a.count {
		return a, b, fmt.Errorf("%w: Lines[pool %q].Nodes of the child has %d seats of booking %q, which leaves it more than its %d",
			ErrInvalid, l.pool, len(b.seats), r.id, a.count)
	}
	a.late, b.late = nil, nil
	for _, t := range l.late {
		if inSorted(b.seats, t.node) {
			b.late = append(b.late, t)
		} else {
			a.late = append(a.late, t)
		}
	}
	k := min(int(a.count), len(l.plan))
	a.plan = l.plan[:k:k]
	b.plan = l.plan[k:]
	if len(b.plan) > int(b.count) {
		b.plan = b.plan[:b.count]
	}
	if len(a.plan) == 0 {
		a.plan = nil
	}
	if len(b.plan) == 0 {
		b.plan = nil
	}
	return a, b, nil
}

func (e Split) prepare(s *state) (change, error) {
	r, parent, child, err := e.parts(s)
	if err != nil {
		return nil, err
	}
	if err := parent.checkShape(); err != nil {
		return nil, err
	}
	if err := child.checkShape(); err != nil {
		return nil, err
	}
	return func(tok *cow.Token) {
		s.swap(tok, r, parent)
		s.swap(tok, nil, child)
	}, nil
}

// union checks e against the bookings it joins and returns what becomes of them.
func (e Joined) union(s *state) (gone, into, over, n *record, err error) {
	gone, err = s.find(e.ID, Confirmed, Active)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	if into, err = s.find(e.Into, Confirmed, Active); err != nil {
		return nil, nil, nil, nil, err
	}
	bad := func(format string, args ...any) (a, b, c, d *record, err error) {
		return nil, nil, nil, nil, fmt.Errorf("%w: bookings %q and %q %s", ErrState, e.ID, e.Into, fmt.Sprintf(format, args...))
	}
	at, err := exact("At", e.At)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	if e.ID == e.Into || gone.class != Firm || into.class != Firm || gone.owner != into.owner {
		return bad("are one, not both Firm, or of two owners")
	}
	n = into.next()
	n.keep()
	over = s.finished(gone, Merged, at)
	over.into, over.before = into.id, ""
	over.detached, n.detached = over.series != "", n.series != ""
	if gone.after == into.id && into.before == gone.id { // one after the other
		if gone.before != "" {
			return bad("are continued by %q; merge that one first", gone.before)
		}
		n.end, n.before = gone.end, ""
		for i := range n.lines {
			a, b := &n.lines[i], &gone.lines[i]
			if len(b.seats) > 0 && !slices.Equal(a.seats, b.seats) {
				return bad("have other nodes in pool %q", a.pool)
			}
			if len(a.seats) > 0 && len(b.seats) == 0 {
				for _, name := range a.seats {
					if _, busy := s.otherSeat(name, b.from, b.to, gone.id); busy {
						return bad("have other nodes: %q is taken", name)
					}
				}
			}
			a.to, a.cleanup, a.plan = b.to, b.cleanup, nil
		}
		return gone, into, over, n, nil
	}
	if gone.start != into.start || gone.end != into.end || gone.phase != into.phase || gone.show != into.show || gone.yield != into.yield {
		return bad("do not have one window, one phase and one yield, nor does one continue the other")
	}
	if s.continued(gone) != nil || gone.before != "" || s.continued(into) != nil || into.before != "" {
		return bad("are continued or continue others; merge those first")
	}
	for i := range gone.lines {
		b := &gone.lines[i]
		a := n.line(b.pool)
		if a == nil {
			n.lines = append(n.lines, *b)
			continue
		}
		if a.from != b.from || a.to != b.to || a.cleanup != b.cleanup || a.open != b.open || (len(a.pinned) > 0) != (len(b.pinned) > 0) ||
			into.floating(a) != gone.floating(b) || a.count > maxCount-b.count {
			return bad("do not have one envelope and one kind of seats in pool %q", b.pool)
		}
		a.count += b.count
		a.lead = max(a.lead, b.lead)
		a.near = a.near && b.near
		a.pinned, a.seats, a.plan = bothOf(a.pinned, b.pinned), bothOf(a.seats, b.seats), bothOf(a.plan, b.plan)
		whole := *a
		whole.open = false // of two halves, both would stay
		if err := s.together(&whole, a.seats); a.within != b.within || err != nil {
			return bad("lie in two domains in pool %q", b.pool)
		}
		a.late = append(slices.Clone(a.late), b.late...)
		slices.SortFunc(a.late, func(x, y late) int { return strings.Compare(x.node, y.node) })
		if len(a.late) == 0 {
			a.late = nil
		}
	}
	slices.SortFunc(n.lines, func(a, b line) int { return strings.Compare(a.pool, b.pool) })
	if len(n.lines) > maxLines {
		return bad("have %d lines together, more than %d", len(n.lines), maxLines)
	}
	n.shown = n.shown || gone.shown
	return gone, into, over, n, nil
}

// bothOf merges two sorted lists; nil if both are empty.
func bothOf(a, b []string) []string {
	if len(a)+len(b) == 0 {
		return nil
	}
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	return out
}

func (e Joined) prepare(s *state) (change, error) {
	gone, into, over, n, err := e.union(s)
	if err != nil {
		return nil, err
	}
	return func(tok *cow.Token) {
		s.swap(tok, gone, over)
		s.swap(tok, into, n)
	}, n.checkShape()
}

func (e CheckedIn) prepare(s *state) (change, error) {
	r, err := s.find(e.ID, Confirmed, Active)
	if err != nil {
		return nil, err
	}
	if r.class != Firm || r.shown || !r.opens() {
		return nil, fmt.Errorf("%w: booking %q is checked in already, is not Firm or has not begun", ErrState, e.ID)
	}
	return func(tok *cow.Token) {
		n := r.next()
		n.shown = true
		s.swap(tok, r, n)
	}, nil
}

// opens reports whether the envelope of every line has begun.
func (r *record) opens() bool {
	for i := range r.lines {
		if !r.lines[i].open {
			return false
		}
	}
	return true
}

func (e NotShown) prepare(s *state) (change, error) {
	r, err := s.find(e.ID, Active)
	if err != nil {
		return nil, err
	}
	if r.show == 0 || r.shown {
		return nil, fmt.Errorf("booking %q is checked in, or need not be", e.ID)
	}
	if err := s.vacant(r); err != nil {
		return nil, err
	}
	at, err := exact("At", e.At)
	if err != nil {
		return nil, err
	}
	return func(tok *cow.Token) { s.swap(tok, r, s.stopped(r, NoShow, at)) }, reached(e.ID, e.At, r.start+r.show)
}

func (e BookingRevoked) prepare(s *state) (change, error) {
	r, err := s.find(e.ID, Held, Confirmed, Active, Grace)
	if err != nil {
		return nil, err
	}
	if err := checkText("Reason", e.Reason); err != nil {
		return nil, err
	}
	at, err := exact("At", e.At)
	if err != nil {
		return nil, err
	}
	if err := s.canUnchain(r); err != nil {
		return nil, err
	}
	if err := s.vacant(r); err != nil {
		return nil, err
	}
	return func(tok *cow.Token) {
		s.swap(tok, r, s.stopped(r, Revoked, at))
		s.unchain(tok, r)
	}, nil
}

func (e Yielded) prepare(s *state) (change, error) {
	r, err := s.find(e.ID, Active)
	if err != nil {
		return nil, err
	}
	at, err := exact("At", e.At)
	if err != nil {
		return nil, err
	}
	to, err := exact("Until", e.Until)
	if err != nil {
		return nil, err
	}
	if r.class != Firm || to < at || to > r.end {
		return nil, fmt.Errorf("%w: booking %q is not Firm, or Until %s is not in what is left of it", ErrInvalid, e.ID, until(to))
	}
	if to == at {
		to = none
		if err := s.vacant(r); err != nil {
			return nil, err
		}
	}
	return func(tok *cow.Token) {
		n := r.next()
		n.yield, n.shown = to, n.shown || n.show > 0
		s.swap(tok, r, n)
	}, nil
}
