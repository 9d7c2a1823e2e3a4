// SPDX-License-Identifier: Apache-2.0

package reservation

import "time"

// A SeriesMade accepts a series.
//
// A SeriesMade is immutable and safe for concurrent use.
type SeriesMade struct {
	At     time.Time `json:"at"`
	Series Series    `json:"series"` // in its normal form
	Next   int64     `json:"next"`   // its first index from the present on
	Head   Window    `json:"head"`   // and that occurrence
}

// An OccurrenceBooked makes the booking of one occurrence of a series.
//
// An OccurrenceBooked is immutable and safe for concurrent use.
type OccurrenceBooked struct {
	Booked        // never a hold
	Series string `json:"series"`
	Index  int64  `json:"index"`
	Shift  int64  `json:"shift"` // seconds by which it is later than the rule says
}

// A SeriesContinued says that all occurrences before Next are decided.
//
// A SeriesContinued is immutable and safe for concurrent use.
type SeriesContinued struct {
	At   time.Time `json:"at"`
	ID   string    `json:"id"`
	Next int64     `json:"next"`
	Head Window    `json:"head,omitzero"` // the next occurrence; zero: there is none
}

// A SeriesStopped ends a series: nothing of it will be booked any more.
//
// A SeriesStopped is immutable and safe for concurrent use.
type SeriesStopped struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// A Waited puts an entry on the waiting list.
//
// A Waited is immutable and safe for concurrent use.
type Waited struct {
	At      time.Time `json:"at"`
	Waiting Waiting   `json:"waiting"` // in its normal form
}

// A Withdrawn takes an entry off the waiting list.
//
// A Withdrawn is immutable and safe for concurrent use.
type Withdrawn struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// A WaitLapsed takes an entry off the waiting list because its last possible start
// is past.
//
// A WaitLapsed is immutable and safe for concurrent use.
type WaitLapsed struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// Kind returns "series-made".
func (SeriesMade) Kind() string { return "series-made" }

// Kind returns "occurrence-booked".
func (OccurrenceBooked) Kind() string { return "occurrence-booked" }

// Kind returns "series-continued".
func (SeriesContinued) Kind() string { return "series-continued" }

// Kind returns "series-stopped".
func (SeriesStopped) Kind() string { return "series-stopped" }

// Kind returns "waited".
func (Waited) Kind() string { return "waited" }

// Kind returns "withdrawn".
func (Withdrawn) Kind() string { return "withdrawn" }

// Kind returns "wait-lapsed".
func (WaitLapsed) Kind() string { return "wait-lapsed" }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e SeriesMade) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 30, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e OccurrenceBooked) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 31, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e SeriesContinued) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 32, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e SeriesStopped) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 33, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e Waited) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 34, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e Withdrawn) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 35, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e WaitLapsed) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 36, e) }

func (SeriesMade) event()       {}
func (OccurrenceBooked) event() {}
func (SeriesContinued) event()  {}
func (SeriesStopped) event()    {}
func (Waited) event()           {}
func (Withdrawn) event()        {}
func (WaitLapsed) event()       {}

func (e SeriesMade) when() time.Time       { return e.At }
func (e OccurrenceBooked) when() time.Time { return e.At }
func (e SeriesContinued) when() time.Time  { return e.At }
func (e SeriesStopped) when() time.Time    { return e.At }
func (e Waited) when() time.Time           { return e.At }
func (e Withdrawn) when() time.Time        { return e.At }
func (e WaitLapsed) when() time.Time       { return e.At }
