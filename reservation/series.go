// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/reservation/recur"
)

// An OnConflict says what becomes of an occurrence that does not fit.
//
// An OnConflict is immutable and safe for concurrent use.
type OnConflict uint8

// What becomes of an occurrence that does not fit.
const (
	// AllOrNothing refuses the whole series if an occurrence within BookAhead does
	// not fit. Later, when the next occurrences come into BookAhead, it is as
	// SkipConflicts: a series that was accepted goes on.
	AllOrNothing OnConflict = iota
	// SkipConflicts leaves out what does not fit, and reports it.
	SkipConflicts
	// ShiftWithin moves what does not fit to the nearest start within Series.Shift,
	// the later one of two equally near, and leaves it out if there is none.
	ShiftWithin
)

var onConflictNames = []string{"AllOrNothing", "SkipConflicts", "ShiftWithin"}

// String returns the name of o.
func (o OnConflict) String() string { return name("OnConflict", onConflictNames, int(o)) }

// MarshalText returns the name of o.
func (o OnConflict) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Limits of a series.
const (
	defaultBookAhead = 90 * 24 * time.Hour
	maxOccurrences   = 10_000 // decided by one command
	maxSeriesID      = maxID - 21
)

// A Series asks for the same lines again and again: for the occurrences of a rule
// in a zone. Those that begin within BookAhead are bookings of their own, with the
// ids of [OccurrenceID]. The rest is an intent and keeps no capacity: more of it
// is booked by [Calendar.ContinueSeries].
//
// A Series is immutable and safe for concurrent use.
type Series struct {
	ID    string `json:"id"` // chosen by the caller, at most 235 bytes; it is the request key as well
	Owner string `json:"owner"`
	Lines []Line `json:"lines"`
	// Rule says when, by the clock of Zone, the IANA name of a time zone. Commands
	// get the zone itself from the host; events and snapshots hold only the name,
	// and the instants that were decided.
	Rule       recur.Rule    `json:"rule"`
	Zone       string        `json:"zone"`
	OnConflict OnConflict    `json:"onConflict"`
	Shift      time.Duration `json:"shift,omitempty"` // the most by which ShiftWithin moves, either way
	// BookAhead is how long before its start an occurrence is booked; 0 = 90 days.
	// A pool with a shorter Horizon takes it when the Horizon allows.
	BookAhead time.Duration `json:"bookAhead,omitempty"`
	Note      string        `json:"note,omitempty"` // for people, and the note of each booking
}

// OccurrenceID returns the id of the booking of one occurrence: the id of the
// series, a slash, and the index in decimal, such as "standup/12". While the
// calendar knows the series, no other booking can be made under such an id.
func OccurrenceID(series string, index int64) string {
	return series + "/" + strconv.FormatInt(index, 10)
}

// A SeriesStatus is a series and how far it has come.
//
// A SeriesStatus is immutable and safe for concurrent use.
type SeriesStatus struct {
	Series
	Created time.Time `json:"created"`
	// Next is the first index that is not decided yet. Those before it are booked,
	// were left out, or are not there by the rule.
	Next int64 `json:"next"`
	// Head is the window of the next occurrence as the zone was when it was last
	// looked at, zero if there is none.
	Head    Window `json:"head,omitzero"`
	Stopped bool   `json:"stopped,omitempty"` // by [Calendar.CancelSeries]
}

// over reports whether no occurrence will be added.
func (v *SeriesStatus) over() bool { return v.Stopped || v.Head == (Window{}) }

// clone returns a copy that shares no slice.
func (v SeriesStatus) clone() SeriesStatus {
	v.Lines = cloneLines(v.Lines)
	v.Rule.ByDay = slices.Clone(v.Rule.ByDay)
	v.Rule.ByMonthDay = slices.Clone(v.Rule.ByMonthDay)
	v.Rule.ExDates = slices.Clone(v.Rule.ExDates)
	return v
}

func cloneLines(lines []Line) []Line {
	lines = slices.Clone(lines)
	for i := range lines {
		lines[i].Nodes = slices.Clone(lines[i].Nodes)
	}
	return lines
}

// normal returns q in the one form in which it is stored and compared, or every
// mistake that can be seen without a calendar and a zone.
func (q Series) normal() (Series, error) {
	var errs []error
	fail := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	if len(q.ID) > maxSeriesID {
		fail(fmt.Errorf("%w: Series.ID %.20q… has %d bytes, more than %d", ErrInvalid, q.ID, len(q.ID), maxSeriesID))
	} else {
		fail(checkID("Series.ID", q.ID))
	}
	sample, err := Request{ID: "series", Owner: q.Owner, Note: q.Note, Lines: q.Lines, Window: windowOf(0, 1)}.normal()
	if err != nil {
		fail(fmt.Errorf("series %q: %w", q.ID, err))
	}
	q.Lines = sample.Lines
	fail(checkID("Series.Zone", q.Zone))
	if text, err := q.Rule.MarshalText(); err != nil {
		fail(fmt.Errorf("%w: Series.Rule: %w", ErrInvalid, err))
	} else if err := q.Rule.UnmarshalText(text); err != nil {
		fail(fmt.Errorf("%w: Series.Rule: %w", ErrInvalid, err))
	}
	if q.OnConflict > ShiftWithin {
		fail(fmt.Errorf("%w: Series.OnConflict is %d; use AllOrNothing, SkipConflicts or ShiftWithin", ErrInvalid, q.OnConflict))
	}
	shift, err := tick.Seconds(q.Shift)
	switch {
	case err != nil:
		fail(fmt.Errorf("%w: Series.Shift: %w", ErrInvalid, err))
	case (shift > 0) != (q.OnConflict == ShiftWithin):
		fail(fmt.Errorf("%w: Series.Shift is %s with OnConflict %s; ShiftWithin takes one, the others none", ErrInvalid, q.Shift, q.OnConflict))
	}
	if _, err := tick.Seconds(q.BookAhead); err != nil {
		fail(fmt.Errorf("%w: Series.BookAhead: %w", ErrInvalid, err))
	}
	return q, errors.Join(errs...)
}

// equal compares two series in their normal form.
func (q Series) equal(o Series) bool {
	a, errA := q.Rule.MarshalText()
	b, errB := o.Rule.MarshalText()
	return errA == nil && errB == nil && string(a) == string(b) && q.ID == o.ID && q.Owner == o.Owner && q.Zone == o.Zone &&
		q.OnConflict == o.OnConflict && q.Shift == o.Shift && q.BookAhead == o.BookAhead && q.Note == o.Note &&
		slices.EqualFunc(q.Lines, o.Lines, equalLines)
}

// compile returns the occurrences of q in a zone.
func (q Series) compile(zone *time.Location) (*recur.Series, error) {
	if zone == nil || zone.String() != q.Zone {
		return nil, fmt.Errorf("%w: zone is %q, but series %q is in %q; pass what time.LoadLocation returns for that name", ErrInvalid, zone, q.ID, q.Zone)
	}
	rule, err := recur.New(recur.Config{Rule: q.Rule, Location: zone})
	if err != nil {
		return nil, fmt.Errorf("%w: series %q: %w", ErrInvalid, q.ID, err)
	}
	return rule, nil
}

// bookAhead returns BookAhead in seconds, with the default.
func (q Series) bookAhead() int64 {
	if q.BookAhead == 0 {
		return int64(defaultBookAhead / time.Second)
	}
	return int64(q.BookAhead / time.Second)
}

// request returns what is booked for one occurrence.
func (q Series) request(index int64, w Window) Request {
	return Request{ID: OccurrenceID(q.ID, index), Owner: q.Owner, Window: w, Lines: q.Lines, Note: q.Note}
}

// splitOccurrenceID is the inverse of [OccurrenceID].
func splitOccurrenceID(id string) (series string, ok bool) {
	cut := strings.LastIndexByte(id, '/')
	if cut < 1 {
		return "", false
	}
	n, err := strconv.ParseInt(id[cut+1:], 10, 64)
	return id[:cut], err == nil && n >= 0 && OccurrenceID(id[:cut], n) == id
}
