// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// A Part is what [Calendar.Split] takes out of a booking: all of it from Time on,
// or some nodes for the whole window.
//
// A Part is immutable and safe for concurrent use.
type Part struct {
	Time time.Time // inside what is left of the window
	// Lines say how many nodes of each pool. Of a line that has seats, Nodes says
	// which; without Nodes it is those in outage, then the last in order.
	Lines []Line
}

// Split makes two bookings of one, with the same nodes at every instant (I7): the
// child has the part, the parent has the rest. A child by time continues its
// parent, without a turnaround between them. A child by count has the parent's
// phase and envelope. The same call again returns both as they are.
//
// Possible errors: [ErrUnknown], [ErrVersion], [ErrState], [ErrExists], [ErrInvalid].
func (c *Calendar) Split(at time.Time, id, child string, part Part, ifVersion uint64) (parent, made Booking, err error) {
	parent, err = c.on(at, id, 0, func(now int64, r *record) error {
		s := &c.core.S
		if k := s.rec(child); k != nil && k.split == id {
			return nil
		}
		if _, err := s.known(id, ifVersion); err != nil {
			return err
		}
		e := Split{At: tick.Time(now), ID: id, Child: child, Time: part.Time.UTC(), Lines: normalLines(part.Lines)}
		if part.Time.IsZero() {
			e.Time = time.Time{}
		}
		for i := range e.Lines {
			x := &e.Lines[i]
			if l := r.line(x.Pool); l != nil && len(x.Nodes) == 0 {
				x.Nodes = s.leastWanted(now, l, x.Count)
			}
		}
		_, _, made, err := e.parts(s)
		if err != nil {
			return err
		}
		return c.seatably(e, made)
	})
	if err != nil {
		return Booking{}, Booking{}, err
	}
	return parent, c.core.S.rec(child).booking(), nil
}

// leastWanted returns the seats, or the named nodes, of a line that a part of n
// nodes takes: what is in outage first, then the last in order.
func (s *state) leastWanted(now int64, l *line, n int64) []string {
	list := slices.Clone(l.seats)
	if len(l.pinned) > 0 {
		list = slices.Clone(l.pinned)
	} else if short := l.count - int64(len(list)); short > 0 && len(list) > 0 {
		n = max(0, n-short) // the part takes what is missing
	}
	slices.SortStableFunc(list, func(a, b string) int {
		x, y := s.outIn(a, now, l.to), s.outIn(b, now, l.to)
		switch {
		case x && !y:
			return -1
		case y && !x:
			return 1
		}
		return strings.Compare(b, a)
	})
	list = list[:min(n, int64(len(list)))]
	slices.Sort(list)
	if len(list) == 0 {
		return nil
	}
	return list
}

// Merge joins booking id into another one of the same owner: it must continue
// that one, or have the same window, phase and kind of seats. What either has at
// any instant the other has then (I7). Booking id becomes Merged. The same call
// again changes nothing.
//
// Possible errors: [ErrUnknown], [ErrVersion], [ErrState], [*ConflictError].
func (c *Calendar) Merge(at time.Time, id, into string, ifVersion uint64) (Booking, error) {
	_, err := c.on(at, id, 0, func(now int64, r *record) error {
		if r.phase == Merged && r.into == into {
			return nil
		}
		if _, err := c.core.S.known(id, ifVersion); err != nil {
			return err
		}
		if _, err := c.core.S.known(into, 0); err != nil {
			return err
		}
		e := Joined{tick.Time(now), id, into}
		_, _, _, n, err := e.union(&c.core.S)
		if err != nil {
			return fmt.Errorf("merge: %w", err)
		}
		return c.seatably(e, n)
	})
	if err != nil {
		return Booking{}, err
	}
	return c.core.S.rec(into).booking(), nil
}
