// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/tick"
)

// A change is a checked event, ready to be done; doing it cannot fail.
type change func(tok *cow.Token)

// Apply takes over an event that another copy of this calendar decided. It
// decides nothing and records nothing.
//
// Possible errors: [ErrEvent], if e contradicts the state, which is then unchanged.
func (c *Calendar) Apply(e Event) error {
	if e == nil {
		return fmt.Errorf("%w: event is nil", ErrEvent)
	}
	return c.apply(e)
}

func (c *Calendar) apply(e Event) error {
	s := &c.core.S
	at, err := tick.Exact(e.when())
	if err == nil && at < s.now {
		err = fmt.Errorf("it is of %s, the present is %s", until(at), until(s.now))
	}
	if d, ok := s.due.Min(); err == nil && ok && d.at < at && s.now < at {
		err = fmt.Errorf("it is of %s, but at %s something else happens first", until(at), until(d.at))
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrEvent, e.Kind(), err)
	}
	do, err := e.prepare(s)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrEvent, e.Kind(), err)
	}
	s.now = at
	s.last = new(byte) // of its own for each event
	tok := c.core.Token()
	do(tok)
	s.trimPlans(tok)
	return nil
}

// trimPlans drops the plans of lines that the count alone decides again: those
// that begin at or after the last seat or outage of their pool, and not soon.
func (s *state) trimPlans(tok *cow.Token) {
	if s.planned.Len() == 0 {
		return
	}
	pool := ""
	for {
		next, ok := "", false
		for x := range s.planned.From(float{pool: pool + "\x00"}) {
			next, ok = x.pool, true
			break
		}
		if !ok {
			return
		}
		pool = next
		for last := s.lastFixed(pool); ; {
			var x float
			for y := range s.planned.Before(float{pool: pool, from: tick.Forever}) {
				x = y
				break
			}
			if x.pool != pool || x.from < last {
				break
			}
			old := s.rec(x.id)
			r := old.change()
			r.line(pool).plan = nil
			s.swap(tok, old, r)
		}
	}
}

func unknown(what, id string) error { return fmt.Errorf("%w %s %q", ErrUnknown, what, id) }

// find returns a booking that is in one of the phases.
func (s *state) find(id string, phases ...Phase) (*record, error) {
	r := s.rec(id)
	if r == nil {
		return nil, unknown("booking", id)
	}
	if !slices.Contains(phases, r.phase) {
		return nil, fmt.Errorf("%w: booking %q is %s", ErrState, id, r.phase)
	}
	return r, nil
}

// next returns a copy of r for a change that its owner can see.
func (r *record) next() *record {
	n := r.change()
	n.version++
	return n
}

func (e Booked) prepare(s *state) (change, error) {
	if err := s.claimable(e.Request.ID, e.Request.Owner); err != nil {
		return nil, err
	}
	return e.make(s)
}

// make is prepare for any id.
func (e Booked) make(s *state) (change, error) {
	r, err := recordOf(e)
	if err != nil {
		return nil, err
	}
	if s.rec(r.id) != nil {
		return nil, fmt.Errorf("%w: booking %q", ErrExists, r.id)
	}
	if r.held && r.expires < r.created {
		return nil, fmt.Errorf("hold %q expires before it is made", r.id)
	}
	for _, l := range r.lines {
		if l.from < r.created {
			return nil, fmt.Errorf("booking %q begins before it is made", r.id)
		}
	}
	if r.after != "" {
		first, err := s.chainable(r, r.after)
		if err != nil {
			return nil, err
		}
		n := first.next()
		chain(n, r)
		if r.held || e.Seats != nil {
			return nil, fmt.Errorf("booking %q continues %q and is a hold or has chosen seats", r.id, first.id)
		}
		if err := s.whole(r); err != nil {
			return nil, err
		}
		for i := range r.lines {
			for _, name := range r.lines[i].seats {
				if id, busy := s.otherSeat(name, r.lines[i].from, r.lines[i].to, first.id); busy {
					return nil, fmt.Errorf("node %q belongs to booking %q", name, id)
				}
			}
		}
		return func(tok *cow.Token) {
			s.swap(tok, first, n)
			s.swap(tok, nil, r)
		}, s.admissibleAfter(r, first.id)
	}
	if err := s.chosenSeats(e, r); err != nil {
		return nil, err
	}
	return func(tok *cow.Token) { s.swap(tok, nil, r) }, s.admissible(r)
}

// reached checks that an event does not come before what it says.
func reached(id string, at time.Time, what int64) error {
	if t, err := exact("At", at); err != nil || t < what {
		return fmt.Errorf("booking %q is not so far before %s", id, until(what))
	}
	return nil
}

func (e HoldConfirmed) prepare(s *state) (change, error) {
	r, err := s.find(e.ID, Held)
	if err != nil {
		return nil, err
	}
	if reached(e.ID, e.At, r.expires) == nil {
		return nil, fmt.Errorf("%w: hold %q", ErrExpired, e.ID)
	}
	return func(tok *cow.Token) {
		n := r.next()
		n.phase = Confirmed
		n.shown = r.show > 0 && s.now >= r.start // who confirms in its window is there
		s.swap(tok, r, n)
	}, nil
}

// finish returns the change that puts a booking into a phase in which it is over.
func (s *state) finish(r *record, phase Phase) change {
	return func(tok *cow.Token) { s.swap(tok, r, s.finished(r, phase, s.now)) }
}

// finished returns r as it is when it is over. Only a Firm booking whose work may
// have begun keeps its seats, for the cleanup.
func (s *state) finished(r *record, phase Phase, at int64) *record {
	n := r.next()
	n.phase, n.ended, n.yield = phase, at, none
	n.detached = n.detached || phase == Cancelled && s.goesOn(n.series)
	for i := range n.lines {
		l := &n.lines[i]
		l.plan, l.near = nil, false
		if n.class == Standby || !phase.cleans() || !l.open {
			l.seats, l.late = nil, nil
		}
	}
	return n
}

// stopped returns r as it is when it is over before its time: its nodes are free
// after the cleanup.
func (s *state) stopped(r *record, phase Phase, at int64) *record {
	n := s.finished(r, phase, at)
	second := s.rec(r.before)
	for i := range n.lines {
		l := &n.lines[i]
		if r.class != Firm {
			continue
		}
		if second != nil && second.phase.Live() { // it has the tail
			l.cleanup = second.lines[i].cleanup
		}
		l.to = max(l.from, min(l.to, addTicks(at, l.cleanup)))
		l.cleanup = min(l.cleanup, l.to-l.from)
	}
	return n
}

func (e HoldExpired) prepare(s *state) (change, error) {
	r, err := s.find(e.ID, Held)
	if err != nil {
		return nil, err
	}
	return s.finish(r, Expired), reached(e.ID, e.At, r.expires)
}

func (e BookingCancelled) prepare(s *state) (change, error) {
	r, err := s.find(e.ID, Held, Confirmed)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(r.alone("cancel"), s.canUnchain(r)); err != nil {
		return nil, err
	}
	return func(tok *cow.Token) {
		s.swap(tok, r, s.finished(r, Cancelled, s.now))
		s.unchain(tok, r)
	}, nil
}

func (e Started) prepare(s *state) (change, error) {
	r, err := s.find(e.ID, Confirmed)
	if err != nil {
		return nil, err
	}
	for _, l := range r.lines {
		if r.class == Firm && !l.open {
			return nil, fmt.Errorf("booking %q has not opened in pool %q", e.ID, l.pool)
		}
	}
	return func(tok *cow.Token) {
		n := r.next()
		n.phase = Active
		s.swap(tok, r, n)
	}, reached(e.ID, e.At, r.start)
}

func (e GraceBegan) prepare(s *state) (change, error) {
	r, err := s.find(e.ID, Active)
	if err != nil {
		return nil, err
	}
	if r.graceEnd() == r.end {
		return nil, fmt.Errorf("booking %q has no grace", e.ID)
	}
	return func(tok *cow.Token) {
		n := r.next()
		n.phase, n.yield = Grace, none
		s.swap(tok, r, n)
	}, reached(e.ID, e.At, r.end)
}

func (e BookingEnded) prepare(s *state) (change, error) {
	r, err := s.find(e.ID, Active, Grace)
	if err != nil {
		return nil, err
	}
	return s.finish(r, Ended), reached(e.ID, e.At, r.graceEnd())
}

// vacant checks that no Standby claim has a node of r any more.
func (s *state) vacant(r *record) error {
	for _, name := range r.nodes() {
		if n, ok := s.node(name); ok && r.class == Firm && r.yield != none && n.standby != "" {
			return fmt.Errorf("node %q still belongs to Standby claim %q", name, n.standby)
		}
	}
	return nil
}

// nodes returns the seats of all lines.
func (r *record) nodes() []string {
	var out []string
	for i := range r.lines {
		out = append(out, r.lines[i].seats...)
	}
	slices.Sort(out)
	return out
}

func (e Released) prepare(s *state) (change, error) {
	r, err := s.find(e.ID, Active, Grace)
	if err != nil {
		return nil, err
	}
	if err := s.vacant(r); err != nil {
		return nil, err
	}
	at, err := exact("At", e.At)
	if err != nil {
		return nil, err
	}
	return func(tok *cow.Token) { s.swap(tok, r, s.stopped(r, Ended, at)) }, nil
}

func (e Extended) prepare(s *state) (change, error) {
	r, err := s.find(e.ID, Held, Confirmed, Active)
	if err != nil {
		return nil, err
	}
	if err := r.alone("extend"); err != nil {
		return nil, err
	}
	n, err := s.extended(r, e.End)
	if err != nil {
		return nil, err
	}
	if reached(e.ID, e.At, n.end) == nil {
		return nil, fmt.Errorf("booking %q would end before the present", e.ID)
	}
	for i := range n.lines {
		for _, name := range n.lines[i].seats {
			if id, busy := s.otherSeat(name, n.lines[i].seatFrom(name), n.lines[i].to, r.id); busy && r.class == Firm {
				return nil, fmt.Errorf("node %q belongs to booking %q", name, id)
			}
		}
	}
	return func(tok *cow.Token) { s.swap(tok, r, n) }, nil
}

// otherSeat returns who else than self has a seat on the node in [from, to).
func (s *state) otherSeat(name string, from, to int64, self string) (string, bool) {
	for x := range s.seats.Before(slot{node: name, from: to - 1, id: lastID}) {
		if x.node != name || x.to <= from {
			break
		}
		if x.id != self {
			return x.id, true
		}
	}
	return "", false
}

// free reports whether nobody but self has the node in [from, to) and no outage
// or drain touches it there. Plans of others count only if plans is set.
func (s *state) free(name string, from, to int64, self string, plans bool) bool {
	if _, busy := s.otherSeat(name, from, to, self); busy || s.closedIn(name, from, to) {
		return false
	}
	if plans {
		if id, busy := overlap(&s.plans, name, from, to); busy && id != self {
			return false
		}
	}
	return true
}
