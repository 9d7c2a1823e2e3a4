// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// A ProposalKind says what the host should do.
//
// A ProposalKind is immutable and safe for concurrent use.
type ProposalKind uint8

// Kinds of proposals. New ones are added at the end.
const (
	Continue ProposalKind = iota // call [Calendar.ContinueSeries] for the series ID
	Serve                        // call Hold with the TTL, or Book if it is 0, for the entry ID
)

var proposalNames = []string{"Continue", "Serve"}

// String returns the name of k.
func (k ProposalKind) String() string { return name("ProposalKind", proposalNames, int(k)) }

// MarshalText returns the name of k.
func (k ProposalKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// A Proposal is what the host should do now, if quota allows.
//
// A Proposal is immutable and safe for concurrent use.
type Proposal struct {
	Kind     ProposalKind  `json:"kind"`
	ID       string        `json:"id"` // of the series or of the waiting entry
	Owner    string        `json:"owner"`
	Requests []Request     `json:"requests,omitempty"` // what will be booked: one to Serve, any number to Continue
	TTL      time.Duration `json:"ttl,omitempty"`      // of the hold; 0: book
	// Conflicts are the occurrences that Continue will leave out.
	Conflicts []SeriesConflict `json:"conflicts,omitempty"`
}

// A DueQuery says how far [Calendar.Due] looks.
//
// A DueQuery is immutable and safe for concurrent use.
type DueQuery struct {
	// Zones are the locations of the series by the name of their zone. A series
	// without one is not proposed, and named in the error.
	Zones map[string]*time.Location
	Limit int // entries looked at, from the front of the waiting list, and series; 0 = 256 of each
}

const defaultDueLimit = 256

func (q DueQuery) limit() int {
	if q.Limit <= 0 {
		return defaultDueLimit
	}
	return q.Limit
}

// Due returns what the host should do at an instant, in order: first the series
// with occurrences that have come into their BookAhead, the nearest first; then, in
// the order of the waiting list, each entry that fits in its range, at its earliest
// start. Each is computed on a fork on which those before it are done, so that all of them
// can be done in this order. Nothing is changed: the calendar never makes a claim
// by itself, since somebody has to pay for it. A host that passes over a proposal
// asks again.
//
// An entry that does not fit is passed over by those behind it. It counts whenever
// one of them is served with nodes of its pools in its range; after
// Config.MaxBypass of them nothing else of that sort is proposed until the entry is
// served, withdrawn or lapsed. One that a rule of its pools forbids, or that is
// larger than a pool, holds nobody up. Only Due keeps that rule: a booking that is made
// without asking it, and a series, take what is free.
//
// Its work is bounded by the Limit, not by time: one [Calendar.EarliestFit] per
// entry looked at, one Book per proposal and one ContinueSeries per series, and a
// glance at each series. Entries beyond the Limit are not looked at.
//
// The proposals are valid even if there is an error, which names the series that
// could not be looked at.
//
// Possible errors: [ErrUnknown] for a zone that is not in Zones, a pool or a node that is
// gone; [ErrInvalid] for a zone that does not suit its series.
func (c *Calendar) Due(at time.Time, q DueQuery) ([]Proposal, error) {
	f := c.asOf(at).Fork()
	now := f.core.S.now
	out, err := f.dueSeries(now, q)
	return append(out, f.dueWaits(now, q.limit())...), err
}

// dueSeries continues the series that are due, on a fork.
func (c *Calendar) dueSeries(now int64, q DueQuery) ([]Proposal, error) {
	var list []*SeriesStatus
	for v := range c.core.S.series.All() {
		if at, ok := c.core.S.headAt(v); ok && at <= now {
			list = append(list, v)
		}
	}
	slices.SortFunc(list, func(a, b *SeriesStatus) int {
		return cmp.Or(a.Head.Start.Compare(b.Head.Start), strings.Compare(a.ID, b.ID))
	})
	var out []Proposal
	var errs []error
	for _, v := range list[:min(len(list), q.limit())] {
		zone := q.Zones[v.Zone]
		if zone == nil {
			errs = append(errs, fmt.Errorf("%w zone %q of series %q; put its location into Zones", ErrUnknown, v.Zone, v.ID))
			continue
		}
		report, err := c.ContinueSeries(tick.Time(now), v.ID, zone)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		p := Proposal{Kind: Continue, ID: v.ID, Owner: v.Owner, Conflicts: report.Conflicts}
		for _, b := range report.Firm {
			p.Requests = append(p.Requests, b.Request)
		}
		out = append(out, p)
	}
	return out, errors.Join(errs...)
}

// dueWaits serves the entries of the waiting list that fit, on a fork.
func (c *Calendar) dueWaits(now int64, limit int) []Proposal {
	var out []Proposal
	var before []*Waiter // looked at and not served
	for _, w := range c.core.S.front(limit) {
		start, err := c.fitOf(now, w)
		if err != nil {
			if c.core.S.possible(w, err) {
				before = append(before, w)
			}
			continue
		}
		p := Proposal{Kind: Serve, ID: w.ID, Owner: w.Owner, Requests: []Request{w.request(start)}}
		ttl := min(int64(w.TTL/time.Second), start+w.seconds()-now) // no hold outlasts its window
		p.TTL = time.Duration(ttl) * time.Second
		if !c.allowed(now, p.Requests[0], before) || c.command(tick.Time(now), func(now int64) error {
			return c.place(now, p.Requests[0], ttl)
		}) != nil {
			before = append(before, w)
			continue
		}
		out = append(out, p)
	}
	return out
}

// front returns the first entries of the waiting list.
func (s *state) front(limit int) []*Waiter {
	var out []*Waiter
	for w := range s.waits.All() {
		if len(out) == limit {
			break
		}
		out = append(out, w)
	}
	return out
}

// fitOf returns the earliest start of an entry.
func (c *Calendar) fitOf(now int64, w *Waiter) (int64, error) {
	first, last := w.starts()
	return c.earliest(now, w.Lines, w.seconds(), max(first, now), last, max(int64(w.Align/time.Second), 1), w.Owner)
}

// possible reports whether an entry that does not fit, because of err, can be helped
// by leaving nodes to it: no rule forbids it, and its pools are large enough.
func (s *state) possible(w *Waiter, err error) bool {
	refusal, ok := errors.AsType[*ConflictError](err)
	return ok && refusal.Reason != ReasonPolicy && !slices.ContainsFunc(w.Lines, func(l Line) bool { return l.Count > s.pool(l.Pool).open })
}

// allowed reports whether a request passes over none of the entries that were
// passed over often enough.
func (c *Calendar) allowed(now int64, q Request, before []*Waiter) bool {
	s := &c.core.S
	spans, err := s.envelopes(now, q)
	if err != nil {
		return false
	}
	for _, w := range before {
		if s.waiting(w.ID).Passed < s.bypass {
			continue
		}
		for i, l := range q.Lines {
			from, to, err := Window{spans[i].From, spans[i].To}.ticks("Span", false)
			if err != nil || w.contends(l.Pool, from, to) {
				return false
			}
		}
	}
	return true
}

// NextDue returns the first instant after at when [Calendar.Due] may have more to
// propose because of time alone: the next occurrence of a series comes into its
// BookAhead, or one of the first 256 entries into the Horizon of its pools.
// Everything else that makes room is an event, or announced by [Calendar.Next]. It
// may be too early, never too late. It costs a glance at each series, and one
// EarliestFit for each of those entries whose pools have a Horizon.
func (c *Calendar) NextDue(at time.Time) (time.Time, bool) {
	c = c.asOf(at)
	s := &c.core.S
	next := int64(tick.Forever)
	for v := range s.series.All() {
		if at, ok := s.headAt(v); ok && at > s.now {
			next = min(next, at)
		}
	}
	free := c.Fork()
	free.dropHorizons()
	for _, w := range s.front(defaultDueLimit) {
		if s.horizonAt(w.Lines, 0) == none {
			continue
		}
		if start, err := free.fitOf(s.now, w); err == nil {
			if at := s.horizonAt(w.Lines, start+w.seconds()); at > s.now {
				next = min(next, at)
			}
		}
	}
	return tick.Time(next), next < tick.Forever
}

// dropHorizons lets c look beyond the Horizons of its pools; c is a fork.
func (c *Calendar) dropHorizons() {
	for _, old := range slices.Collect(c.core.S.pools.All()) {
		p := *old
		p.horizon, p.Policy.Horizon = 0, 0
		c.core.S.pools.Put(c.core.Token(), p.Name, &p)
	}
}
