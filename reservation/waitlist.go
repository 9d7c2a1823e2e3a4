// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// A Waiting asks for a Firm booking as soon as there is room for it in a range of
// time. It keeps no capacity: [Calendar.Due] says what the host should now book.
//
// A Waiting is immutable and safe for concurrent use.
type Waiting struct {
	ID     string        `json:"id"` // chosen by the caller; the id of the booking that serves it as well
	Owner  string        `json:"owner"`
	Lines  []Line        `json:"lines"`
	Length time.Duration `json:"length"` // of the window, whole seconds

	Earliest time.Time     `json:"earliest,omitzero"` // least start; zero: the present
	Latest   time.Time     `json:"latest,omitzero"`   // greatest start; zero: none
	Deadline time.Time     `json:"deadline,omitzero"` // greatest end; zero: none
	Align    time.Duration `json:"align,omitempty"`   // Start is a multiple of it since the Unix epoch; 0: any second

	Priority int64 `json:"priority,omitempty"` // higher is served first; among equals who came first
	// TTL makes the host hold for so long what it finds, for the owner to confirm.
	// A hold that is not confirmed goes to the next in the list. 0: book at once.
	TTL  time.Duration `json:"ttl,omitempty"`
	Note string        `json:"note,omitempty"` // for people, and the note of the booking
}

// A Waiter is an entry of the waiting list.
//
// A Waiter is immutable and safe for concurrent use.
type Waiter struct {
	Waiting
	Since time.Time `json:"since"`
	Seq   uint64    `json:"seq"` // grows by one with each entry
	// Passed counts the entries behind it that were served with nodes of its pools
	// in its range of time. From Config.MaxBypass on, [Calendar.Due] proposes no more of them.
	Passed int64 `json:"passed,omitempty"`
}

// less orders the waiting list.
func (w *Waiter) less(o *Waiter) bool {
	if w.Priority != o.Priority {
		return w.Priority > o.Priority
	}
	return w.Seq < o.Seq
}

// Wait puts an entry on the waiting list. It leaves the list when a booking or a
// hold with its id is made, whoever makes it for its owner, when it is withdrawn,
// and by itself when its last possible start is past. The same call again changes
// nothing. It costs O(log w) for w entries.
//
// Possible errors: [ErrExists], [ErrUnknown] for a pool or a node, [ErrHorizon] for
// a range that is over, [ErrUnaligned], [ErrInvalid].
func (c *Calendar) Wait(at time.Time, q Waiting) (Waiter, error) {
	q, err := q.normal()
	if err != nil {
		return Waiter{}, err
	}
	err = c.command(at, func(now int64) error {
		s := &c.core.S
		if old := s.waiting(q.ID); old != nil {
			if !old.Waiting.equal(q) {
				return fmt.Errorf("%w: %q waits with another body; withdraw it or choose a new id", ErrExists, q.ID)
			}
			return nil
		}
		if s.rec(q.ID) != nil {
			return fmt.Errorf("%w: booking %q exists; a new entry needs a new id", ErrExists, q.ID)
		}
		if err := s.claimable(q.ID, q.Owner); err != nil {
			return err
		}
		if err := s.lineNodes("Waiting.Lines", q.Lines); err != nil {
			return err
		}
		if _, last := q.starts(); last < now {
			return fmt.Errorf("%w: Waiting.Latest and Deadline of %q allow no start after %s, the present is %s", ErrHorizon, q.ID, until(last), until(now))
		}
		return c.decide(Waited{tick.Time(now), q})
	})
	if err != nil {
		return Waiter{}, err
	}
	return c.core.S.waiting(q.ID).clone(), nil
}

// Withdraw takes an entry off the waiting list.
//
// Possible errors: [ErrUnknown], [ErrState] if it has been served.
func (c *Calendar) Withdraw(at time.Time, id string) error {
	return c.command(at, func(now int64) error {
		s := &c.core.S
		if s.waiting(id) == nil {
			if s.rec(id) != nil {
				return fmt.Errorf("%w: %q does not wait, it has a booking; cancel that", ErrState, id)
			}
			return unknown("waiting entry", id)
		}
		return c.decide(Withdrawn{tick.Time(now), id})
	})
}

// Waitlist yields the entries in the order in which they are served: by Priority,
// the highest first, then by Seq.
func (c *Calendar) Waitlist() iter.Seq[Waiter] {
	return func(yield func(Waiter) bool) {
		for w := range c.core.S.waits.All() {
			if !yield(w.clone()) {
				return
			}
		}
	}
}

// FindWaiting returns the entry of an id.
func (c *Calendar) FindWaiting(id string) (Waiter, bool) {
	w := c.core.S.waiting(id)
	if w == nil {
		return Waiter{}, false
	}
	return w.clone(), true
}

// clone returns a copy that shares no slice.
func (w *Waiter) clone() Waiter {
	v := *w
	v.Lines = cloneLines(v.Lines)
	return v
}

// normal returns q in the one form in which it is stored and compared, or every
// mistake that can be seen without a calendar.
func (q Waiting) normal() (Waiting, error) {
	var errs []error
	fail := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	sample, err := Request{ID: q.ID, Owner: q.Owner, Note: q.Note, Lines: q.Lines, Window: windowOf(0, 1)}.normal()
	if err != nil {
		fail(fmt.Errorf("waiting entry %q: %w", q.ID, err))
	}
	q.Lines = sample.Lines
	for _, d := range []struct {
		name  string
		v     time.Duration
		least int64
	}{{"Length", q.Length, 1}, {"Align", q.Align, 0}, {"TTL", q.TTL, 0}} {
		if n, err := tick.Seconds(d.v); err != nil {
			fail(fmt.Errorf("%w: Waiting.%s: %w", ErrInvalid, d.name, err))
		} else if n < d.least {
			fail(fmt.Errorf("%w: Waiting.%s is %s; set at least a second", ErrInvalid, d.name, d.v))
		}
	}
	for _, t := range []struct {
		name string
		v    *time.Time
	}{{"Earliest", &q.Earliest}, {"Latest", &q.Latest}, {"Deadline", &q.Deadline}} {
		if t.v.IsZero() {
			continue
		}
		_, err := exact("Waiting."+t.name, *t.v)
		fail(err)
		*t.v = t.v.UTC()
	}
	if len(errs) == 0 {
		if first, last := q.starts(); last < first || !q.Earliest.IsZero() && last < lastTick && last < exactly(q.Earliest) {
			fail(fmt.Errorf("%w: Waiting.Latest %s and Deadline %s allow no start from Earliest %s on", ErrInvalid, q.Latest, q.Deadline, q.Earliest))
		}
	}
	return q, errors.Join(errs...)
}

// exactly converts an instant that was checked before.
func exactly(t time.Time) int64 {
	n, _ := tick.Exact(t)
	return n
}

// starts returns the first and the last start that q allows.
func (q *Waiting) starts() (first, last int64) {
	first, last = none, lastTick
	if !q.Earliest.IsZero() {
		first = exactly(q.Earliest)
	}
	if !q.Latest.IsZero() {
		last = exactly(q.Latest)
	}
	if !q.Deadline.IsZero() {
		last = min(last, exactly(q.Deadline)-q.seconds())
	}
	return first, last
}

func (q *Waiting) seconds() int64 { return int64(q.Length / time.Second) }

// lapses returns when q can no longer start, if ever.
func (q *Waiting) lapses() (int64, bool) {
	_, last := q.starts()
	return last + 1, last < lastTick
}

// equal compares two entries in their normal form.
func (q Waiting) equal(o Waiting) bool {
	return q.ID == o.ID && q.Owner == o.Owner && q.Length == o.Length && q.Align == o.Align && q.Priority == o.Priority &&
		q.TTL == o.TTL && q.Note == o.Note && q.Earliest.Equal(o.Earliest) && q.Latest.Equal(o.Latest) && q.Deadline.Equal(o.Deadline) &&
		slices.EqualFunc(q.Lines, o.Lines, equalLines)
}

// request returns what is booked for q at a start.
func (q *Waiting) request(start int64) Request {
	return Request{ID: q.ID, Owner: q.Owner, Window: windowOf(start, start+q.seconds()), Lines: cloneLines(q.Lines), Note: q.Note}
}

// contends reports whether q could use nodes of a pool in a range.
func (q *Waiting) contends(pool string, from, to int64) bool {
	first, last := q.starts()
	return slices.ContainsFunc(q.Lines, func(l Line) bool { return l.Pool == pool }) && from < last+q.seconds() && first < to
}
