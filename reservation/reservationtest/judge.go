// SPDX-License-Identifier: Apache-2.0

package reservationtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berth-gpu/berth/reservation"
)

// A Verdict says what has to become of a command.
//
// A Verdict is immutable and safe for concurrent use.
type Verdict uint8

// Verdicts.
const (
	Accept Verdict = iota // anything else is wrong
	Refuse                // anything else is wrong
	Either                // which nodes are free decides, and a count cannot tell
)

// String returns the name of v.
func (v Verdict) String() string {
	if names := []string{"Accept", "Refuse", "Either"}; int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("Verdict(%d)", v)
}

// Judge says what has to become of a command, and why. It changes nothing.
//
// The count decides over a floating line while no named node and no outage of
// its pool begins in the future. Otherwise too low a count is still a Refuse,
// and a sufficient one is Either.
func (m *Model) Judge(c Command) (Verdict, string) {
	m = m.Fork()
	m.apply(Command{Op: Advance, At: c.At}) // what is due comes first
	switch c.Op {
	case Book, Hold:
		return m.judgeRequest(c)
	case Advance:
		return Accept, ""
	case SetOutage:
		return m.judgeOutage(c.Outage)
	case EndOutage:
		if !slices.ContainsFunc(m.outages, func(o reservation.Outage) bool { return o.ID == c.ID }) {
			return Refuse, "no such outage"
		}
		return Accept, ""
	}
	b := m.find(c.ID)
	if b == nil {
		return Refuse, "no such booking"
	}
	phase := m.phase(b)
	done := map[Op]reservation.Phase{Cancel: reservation.Cancelled, Release: reservation.Ended}
	if was, ok := done[c.Op]; ok && phase == was {
		return Accept, "done already"
	}
	allowed := map[Op][]reservation.Phase{
		Confirm: {reservation.Held, reservation.Confirmed, reservation.Active, reservation.Grace, reservation.Ended},
		Cancel:  {reservation.Held, reservation.Confirmed},
		Release: {reservation.Active, reservation.Grace},
		Extend:  {reservation.Held, reservation.Confirmed, reservation.Active},
	}
	if !slices.Contains(allowed[c.Op], phase) {
		return Refuse, "the booking is " + phase.String()
	}
	switch {
	case c.Op == Confirm && phase == reservation.Held:
		return m.judgeConfirm(b)
	case c.Op == Extend:
		return m.judgeExtend(b, c.End)
	}
	return Accept, ""
}

func (m *Model) judgeRequest(c Command) (Verdict, string) {
	q := c.Request
	if why := m.malformed(c); why != "" {
		return Refuse, why
	}
	if b := m.find(q.ID); b != nil {
		if b.ttl == c.TTL && same(b.asked, normal(q)) {
			return Accept, "done already"
		}
		return Refuse, "the id is in use"
	}
	if q.Window.Start.Before(m.now) {
		return Refuse, "the window begins in the past"
	}
	if c.Op == Hold && q.Window.End.Before(m.now.Add(c.TTL)) {
		return Refuse, "the hold lasts longer than the window"
	}
	if q.Class == reservation.Standby {
		return Accept, ""
	}
	b := m.booking(q, c.TTL)
	verdict := Accept
	for i, l := range b.asked.Lines {
		e := b.envelope[i]
		p := m.pool(l.Pool).Policy
		if why := rules(p, m.now, q.Window); why != "" {
			return Refuse, why
		}
		if q.Window.Start.Sub(m.now) < p.MinLead {
			return Refuse, "MinLead"
		}
		if e.Start.Before(m.now) {
			return Refuse, "no time to prepare"
		}
		least, most := m.minFree(l.Pool, e, nil)
		if most < l.Count {
			return Refuse, fmt.Sprintf("pool %s has %d free nodes in %s, not %d", l.Pool, most, e, l.Count)
		}
		for _, n := range l.Nodes {
			if why := m.nodeTaken(n, e); why != "" {
				return Refuse, why
			}
		}
		if least < l.Count || len(l.Nodes) > 0 || !m.decides(l.Pool) {
			verdict = Either
		}
	}
	return verdict, ""
}

// malformed says what is wrong with a request whatever the calendar holds.
func (m *Model) malformed(c Command) string {
	q := normal(c.Request)
	open := q.Window.End.IsZero()
	switch {
	case q.ID == "" || q.Owner == "":
		return "a name is missing"
	case open && q.Class != reservation.Standby || !open && !q.Window.Start.Before(q.Window.End):
		return "the window is empty"
	case c.Op == Hold && (c.TTL <= 0 || q.Class == reservation.Standby):
		return "it cannot be held"
	case len(q.Lines) == 0:
		return "there are no lines"
	}
	for i, l := range q.Lines {
		p := m.pool(l.Pool)
		switch {
		case p == nil:
			return "unknown pool " + l.Pool
		case i > 0 && q.Lines[i-1].Pool == l.Pool:
			return "pool " + l.Pool + " is there twice"
		case l.Count < 0 || q.Class == reservation.Firm && l.Count == 0 || len(l.Nodes) > 0 && (q.Class == reservation.Standby || int(l.Count) != len(l.Nodes)):
			return "the count of pool " + l.Pool
		}
		for k, n := range l.Nodes {
			if !slices.ContainsFunc(p.Units, func(u reservation.Unit) bool { return u.Name == n }) || k > 0 && l.Nodes[k-1] == n {
				return "node " + n
			}
		}
	}
	return ""
}

// rules says which rule of a policy forbids a window, apart from MinLead.
func rules(p reservation.Policy, now time.Time, w reservation.Window) string {
	switch length := w.Length(); {
	case length < p.MinLength:
		return "MinLength"
	case p.MaxLength > 0 && length > p.MaxLength:
		return "MaxLength"
	case p.Horizon > 0 && w.End.Sub(now) > p.Horizon:
		return "Horizon"
	}
	return ""
}

// nodeTaken says who has a node in a window, as far as names were given.
func (m *Model) nodeTaken(node string, w reservation.Window) string {
	for _, u := range m.poolOf(node).Units {
		if u.Name == node && u.Spare {
			return node + " is a spare"
		}
	}
	for _, o := range m.outages {
		if slices.Contains(o.Nodes, node) && o.Window.Overlaps(w) {
			return node + " is in outage " + o.ID
		}
	}
	for _, b := range m.bookings {
		for i, l := range b.asked.Lines {
			if slices.Contains(l.Nodes, node) && m.phase(b) <= reservation.Ended && b.envelope[i].Overlaps(w) {
				return node + " belongs to " + b.asked.ID
			}
		}
	}
	return ""
}

// decides reports whether the count decides over floating lines of a pool: no
// named node and no outage begins in the future.
func (m *Model) decides(pool string) bool {
	for _, o := range m.outages {
		for _, n := range o.Nodes {
			if m.poolOf(n).Name == pool && o.Window.Start.After(m.now) {
				return false
			}
		}
	}
	for _, b := range m.bookings {
		for i, l := range b.asked.Lines {
			if l.Pool == pool && len(l.Nodes) > 0 && m.phase(b) <= reservation.Ended && b.envelope[i].Start.After(m.now) {
				return false
			}
		}
	}
	return true
}

// judgeConfirm: a hold that has become short since is not confirmed.
func (m *Model) judgeConfirm(b *booking) (Verdict, string) {
	for i, l := range b.asked.Lines {
		if !m.broken[l.Pool] {
			continue // nothing failed, so nothing is short
		}
		rest := reservation.Window{Start: later(m.now, b.envelope[i].Start), End: b.envelope[i].End}
		floats := len(l.Nodes) == 0 && b.envelope[i].Start.After(m.now)
		if least, _ := m.minFree(l.Pool, rest, nil); !floats || !m.decides(l.Pool) || least < 0 {
			return Either, ""
		}
	}
	return Accept, ""
}

func (m *Model) judgeExtend(b *booking, end time.Time) (Verdict, string) {
	firm := b.asked.Class == reservation.Firm
	switch {
	case firm && end.IsZero() || !end.IsZero() && !b.window.Start.Before(end):
		return Refuse, "the window would be empty"
	case end.Equal(b.window.End):
		return Accept, "done already"
	case !end.IsZero() && !m.now.Before(end):
		return Refuse, "it would have ended"
	case b.held && end.Before(b.created.Add(b.ttl)):
		return Refuse, "it would end before the hold expires"
	case !firm:
		return Accept, ""
	}
	verdict := Accept
	for i, l := range b.asked.Lines {
		if why := rules(m.pool(l.Pool).Policy, m.now, reservation.Window{Start: b.window.Start, End: end}); why != "" {
			return Refuse, why
		}
		more := reservation.Window{Start: b.envelope[i].End, End: moved(b.envelope[i].End, b.window.End, end)}
		if more.Start.Before(more.End) {
			least, most := m.minFree(l.Pool, more, b)
			if most < l.Count {
				return Refuse, fmt.Sprintf("pool %s has %d free nodes in %s, not %d", l.Pool, most, more, l.Count)
			}
			if least < l.Count {
				verdict = Either
			}
			for _, n := range l.Nodes {
				if why := m.nodeTaken(n, more); why != "" && !m.broken[l.Pool] { // a broken one may have been replaced
					return Refuse, why
				}
			}
		}
		settled := len(l.Nodes) > 0 || !b.envelope[i].Start.After(m.now) // on nodes that it cannot leave
		if !m.decides(l.Pool) || settled && m.broken[l.Pool] || len(l.Nodes) > 0 {
			verdict = Either
		}
	}
	return verdict, ""
}

func (m *Model) judgeOutage(o reservation.Outage) (Verdict, string) {
	if o = m.outage(o); o.ID == "" || o.Owner == "" || len(o.Nodes) == 0 {
		return Refuse, "a name is missing"
	}
	if !o.Window.End.IsZero() && (!o.Window.Start.Before(o.Window.End) || !m.now.Before(o.Window.End)) {
		return Refuse, "the window is over or empty"
	}
	nodes := slices.Sorted(slices.Values(o.Nodes))
	for i, n := range nodes {
		if m.poolOf(n) == nil || i > 0 && nodes[i-1] == n {
			return Refuse, "node " + n
		}
	}
	return Accept, ""
}

// normal returns q with its lines and nodes in order and its counts filled in.
func normal(q reservation.Request) reservation.Request {
	q.Lines = slices.Clone(q.Lines)
	for i := range q.Lines {
		l := &q.Lines[i]
		l.Nodes = slices.Sorted(slices.Values(l.Nodes))
		if l.Count == 0 {
			l.Count = int64(len(l.Nodes))
		}
	}
	slices.SortStableFunc(q.Lines, func(a, b reservation.Line) int { return cmp.Compare(a.Pool, b.Pool) })
	return q
}

// same compares two requests in normal form.
func same(a, b reservation.Request) bool {
	return strings.Join([]string{a.ID, a.Owner, a.Note}, "\x00") == strings.Join([]string{b.ID, b.Owner, b.Note}, "\x00") &&
		a.Class == b.Class && a.Window.Start.Equal(b.Window.Start) && a.Window.End.Equal(b.Window.End) &&
		slices.EqualFunc(a.Lines, b.Lines, func(x, y reservation.Line) bool {
			return x.Pool == y.Pool && x.Count == y.Count && slices.Equal(x.Nodes, y.Nodes)
		})
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
