// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// normal returns q in the one form in which it is stored and compared: lines
// by pool, nodes in order, counts filled in. It returns every mistake that can
// be seen without a calendar.
func (q Request) normal() (Request, error) {
	var errs []error
	fail := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	fail(checkID("Request.ID", q.ID))
	fail(checkID("Request.Owner", q.Owner))
	fail(checkText("Request.Note", q.Note))
	if q.Continues != "" {
		fail(checkID("Request.Continues", q.Continues))
		if q.Class == Standby || q.Continues == q.ID {
			fail(fmt.Errorf("%w: Request.Continues %q; a Firm booking may continue another one", ErrInvalid, q.Continues))
		}
	}
	if q.Class > Standby {
		fail(fmt.Errorf("%w: Request.Class is %d; use Firm or Standby", ErrInvalid, q.Class))
	}
	_, _, err := q.Window.ticks("Request.Window", q.Class == Standby)
	fail(err)
	q.Window.Start, q.Window.End = q.Window.Start.UTC(), q.Window.End.UTC()
	if len(q.Lines) == 0 || len(q.Lines) > maxLines {
		fail(fmt.Errorf("%w: Request.Lines has %d lines, not 1 … %d", ErrInvalid, len(q.Lines), maxLines))
	}
	q.Lines = normalLines(q.Lines)
	for i := range q.Lines {
		l := &q.Lines[i]
		field := fmt.Sprintf("Request.Lines[pool %q]", l.Pool)
		fail(checkID("Request.Lines.Pool", l.Pool))
		if i > 0 && q.Lines[i-1].Pool == l.Pool {
			fail(fmt.Errorf("%w: %s is there twice; join the lines", ErrInvalid, field))
		}
		for k, n := range l.Nodes {
			fail(checkID(field+".Nodes", n))
			if k > 0 && l.Nodes[k-1] == n {
				fail(fmt.Errorf("%w: %s.Nodes names %q twice", ErrInvalid, field, n))
			}
		}
		switch {
		case l.Count < 0 || l.Count > maxCount:
			fail(fmt.Errorf("%w: %s.Count %d is not in 0 … %d", ErrInvalid, field, l.Count, int64(maxCount)))
		case q.Class == Standby && len(l.Nodes) > 0:
			fail(fmt.Errorf("%w: %s.Nodes is set; a Standby claim gets its nodes by Seat", ErrInvalid, field))
		case q.Class != Standby && l.Count == 0:
			fail(fmt.Errorf("%w: %s.Count is 0; ask for at least one node", ErrInvalid, field))
		case l.Within != "" && (q.Class == Standby || len(l.Nodes) > 0):
			fail(fmt.Errorf("%w: %s.Within is %q; only a Firm line without Nodes may lie within a domain", ErrInvalid, field, l.Within))
		case l.Within != "" && checkID(field+".Within", l.Within) != nil:
			fail(checkID(field+".Within", l.Within))
		case len(l.Nodes) > 0 && l.Count != int64(len(l.Nodes)):
			fail(fmt.Errorf("%w: %s.Count is %d, but Nodes has %d", ErrInvalid, field, l.Count, len(l.Nodes)))
		}
	}
	return q, errors.Join(errs...)
}

// equal compares two requests as they are.
func (q Request) equal(o Request) bool {
	return q.ID == o.ID && q.Owner == o.Owner && q.Class == o.Class && q.Note == o.Note && q.Continues == o.Continues &&
		q.Window.Start.Equal(o.Window.Start) && q.Window.End.Equal(o.Window.End) &&
		slices.EqualFunc(q.Lines, o.Lines, func(a, b Line) bool {
			return a.Pool == b.Pool && a.Count == b.Count && slices.Equal(a.Nodes, b.Nodes) && a.Within == b.Within
		})
}

// normalLines returns lines by pool, with sorted nodes and their count.
func normalLines(lines []Line) []Line {
	lines = slices.Clone(lines)
	for i := range lines {
		l := &lines[i]
		if len(l.Nodes) == 0 {
			l.Nodes = nil
			continue
		}
		l.Nodes = slices.Clone(l.Nodes)
		slices.Sort(l.Nodes)
		if l.Count == 0 {
			l.Count = int64(len(l.Nodes))
		}
	}
	slices.SortStableFunc(lines, func(a, b Line) int { return strings.Compare(a.Pool, b.Pool) })
	return lines
}

// recordOf checks a Booked by itself and returns the record it makes.
func recordOf(e Booked) (*record, error) {
	q, err := e.Request.normal()
	if err != nil {
		return nil, err
	}
	if !q.equal(e.Request) {
		return nil, fmt.Errorf("%w: request %q is not in its normal form", ErrInvalid, q.ID)
	}
	if len(e.Spans) != len(q.Lines) {
		return nil, fmt.Errorf("%w: booking %q has %d lines and %d spans", ErrInvalid, q.ID, len(q.Lines), len(e.Spans))
	}
	r := &record{id: q.ID, owner: q.Owner, note: q.Note, after: q.Continues, class: q.Class, phase: Confirmed, yield: none, version: 1, lines: make([]line, len(q.Lines))}
	if r.created, err = exact("At", e.At); err != nil {
		return nil, err
	}
	if r.start, r.end, err = q.Window.ticks("Window", q.Class == Standby); err != nil {
		return nil, err
	}
	if !e.Expires.IsZero() {
		r.held, r.phase = true, Held
		if r.expires, err = exact("Expires", e.Expires); err != nil {
			return nil, err
		}
	}
	if r.show, err = tick.Seconds(e.Show); err != nil || r.show > 0 && r.class == Standby {
		return nil, fmt.Errorf("%w: booking %q: Show is %s", ErrInvalid, q.ID, e.Show)
	}
	for i, x := range e.Spans {
		l := line{pool: q.Lines[i].Pool, count: q.Lines[i].Count, pinned: q.Lines[i].Nodes, seats: q.Lines[i].Nodes, within: q.Lines[i].Within}
		if l.within != "" && len(e.Seats) == len(q.Lines) {
			l.seats = e.Seats[i]
		}
		if l.from, l.to, err = (Window{x.From, x.To}).ticks("Span", q.Class == Standby); err != nil {
			return nil, err
		}
		if l.cleanup, err = tick.Seconds(x.Cleanup); err != nil {
			return nil, err
		}
		if l.lead, err = tick.Seconds(x.Lead); err != nil {
			return nil, err
		}
		r.lines[i] = l
	}
	return r, r.checkShape()
}

// checkShape checks what must hold of a record by itself.
func (r *record) checkShape() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: booking %q: %s", ErrInvalid, r.id, fmt.Sprintf(format, args...))
	}
	if r.held && (r.class != Firm || r.phase == Held && r.expires > r.end) {
		return bad("a hold must be Firm and expire in its window")
	}
	if !r.held && (r.phase == Held || r.phase == Expired) {
		return bad("it is %s without having been held", r.phase)
	}
	for i := range r.lines {
		l := &r.lines[i]
		if r.class == Standby {
			if l.from != r.start || l.to != r.end || l.cleanup != 0 || l.lead != 0 || l.open || l.near {
				return bad("a Standby line has no envelope")
			}
			continue
		}
		if l.to > lastTick || l.lead > lastTick {
			return bad("a line in pool %q ends after the year 9999", l.pool)
		}
		if l.cleanup < 0 || l.cleanup > l.to-l.from || l.from > r.start || !r.phase.cleans() && l.to-l.cleanup < r.end {
			return bad("the envelope in pool %q does not hold its window", l.pool)
		}
	}
	return nil
}

// request returns the request that r was made for, in its normal form.
func (r *record) request() Request {
	q := Request{ID: r.id, Owner: r.owner, Class: r.class, Window: windowOf(r.start, r.end), Note: r.note, Continues: r.after, Lines: make([]Line, len(r.lines))}
	for i := range r.lines {
		q.Lines[i] = Line{Pool: r.lines[i].pool, Count: r.lines[i].count, Nodes: slices.Clone(r.lines[i].pinned), Within: r.lines[i].within}
	}
	return q
}

// keep notes the request as it is before its first change.
func (r *record) keep() {
	if r.origin == nil {
		q := r.request()
		r.origin = &origin{r.owner, r.start, r.end, q.Lines}
	}
}

// original returns the request as it was first made.
func (r *record) original() Request {
	q := r.request()
	if o := r.origin; o != nil {
		q.Owner, q.Window, q.Lines = o.owner, windowOf(o.start, o.end), o.lines
	}
	return q
}

// booking returns r for a caller.
func (r *record) booking() Booking {
	b := Booking{Request: r.request(), Phase: r.phase, Version: r.version, Created: tick.Time(r.created), GraceEnd: tick.Time(r.graceEnd())}
	if r.held {
		b.Expires = tick.Time(r.expires)
	}
	if !r.phase.Live() {
		b.EndedAt = tick.Time(r.ended)
	}
	b.CheckedIn, b.From, b.Into, b.ContinuedBy = r.shown, r.split, r.into, r.before
	if r.show > 0 {
		b.ShowBy = tick.Time(r.start + r.show)
	}
	if r.yield != none {
		b.Yielded = tick.Time(r.yield)
	}
	from, to := r.lines[0].from, r.lines[0].to
	for _, l := range r.lines {
		from, to = min(from, l.from), max(to, l.to)
		for _, n := range l.seats {
			b.Seats = append(b.Seats, Seat{l.pool, n})
		}
	}
	b.Envelope = windowOf(from, to)
	b.Series, b.Index, b.Shift, b.Detached = r.series, r.index, time.Duration(r.shift)*time.Second, r.detached
	return b
}

// until writes an instant for people.
func until(at int64) string {
	if at == tick.Forever {
		return "further notice"
	}
	return tick.Time(at).Format(time.RFC3339)
}

// addTicks adds without passing the last tick.
func addTicks(at, d int64) int64 {
	if d > tick.Forever-1-max(at, 0) {
		return tick.Forever - 1
	}
	return at + d
}

// lastTick is the end of time: 9999-12-31T23:59:59Z.
const lastTick = 253402300799
