// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/berth-gpu/berth/internal/wire"
)

// kinds maps a kind number to its empty event. Numbers are never reused.
var kinds = map[uint64]Event{
	1:  PoolSet{},
	2:  PoolRemoved{},
	3:  Booked{},
	4:  HoldConfirmed{},
	5:  HoldExpired{},
	6:  BookingCancelled{},
	7:  Opened{},
	8:  Started{},
	9:  GraceBegan{},
	10: BookingEnded{},
	11: Released{},
	12: Extended{},
	13: Seated{},
	14: Unseated{},
	15: ReclaimNotice{},
	16: Planned{},
	17: OutageSet{},
	18: OutageEnded{},
	19: Forgotten{},
	20: Changed{},
	21: Split{},
	22: Joined{},
	23: CheckedIn{},
	24: NotShown{},
	25: BookingRevoked{},
	26: Yielded{},
	30: SeriesMade{},
	31: OccurrenceBooked{},
	32: SeriesContinued{},
	33: SeriesStopped{},
	34: Waited{},
	35: Withdrawn{},
	36: WaitLapsed{},
}

// DecodeEvent reads an event that AppendBinary wrote. What it accepts encodes
// to the same bytes again. Whether the event fits a state is for
// [Calendar.Apply] to say.
//
// Possible errors: [ErrCorrupt].
func DecodeEvent(b []byte) (Event, error) {
	r := wire.NewReader(b)
	kind := r.Uint()
	empty, ok := kinds[kind]
	if r.Err() == nil && !ok {
		return nil, fmt.Errorf("%w: event kind %d is unknown; a newer release may have written it", ErrCorrupt, kind)
	}
	if r.Err() != nil {
		return nil, fmt.Errorf("%w: event: %w", ErrCorrupt, r.Err())
	}
	e := empty.code(&coder{r: r})
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("%w: event of kind %d: %w", ErrCorrupt, kind, err)
	}
	return e, nil
}

// EventJSON returns e for people: its fields and a "kind". Durations are in
// nanoseconds.
func EventJSON(e Event) ([]byte, error) {
	if e == nil {
		return nil, fmt.Errorf("%w: event is nil", ErrInvalid)
	}
	fields, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	b := fmt.Appendf(nil, `{"kind":%q,`, e.Kind())
	return append(b, fields[1:]...), nil // every event has at least its instant
}

func appendEvent(b []byte, kind uint64, e Event) ([]byte, error) {
	c := coder{b: wire.AppendUint(b, kind)}
	e.code(&c)
	return c.b, c.err
}

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e PoolSet) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 1, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e PoolRemoved) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 2, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e Booked) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 3, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e HoldConfirmed) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 4, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e HoldExpired) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 5, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e BookingCancelled) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 6, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e Opened) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 7, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e Started) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 8, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e GraceBegan) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 9, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e BookingEnded) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 10, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e Released) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 11, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e Extended) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 12, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e Seated) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 13, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e Unseated) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 14, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e ReclaimNotice) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 15, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e Planned) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 16, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e OutageSet) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 17, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e OutageEnded) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 18, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e Forgotten) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 19, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e Changed) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 20, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e Split) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 21, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e Joined) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 22, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e CheckedIn) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 23, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e NotShown) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 24, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e BookingRevoked) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 25, e) }

// AppendBinary appends the event in the form that [DecodeEvent] reads.
func (e Yielded) AppendBinary(b []byte) ([]byte, error) { return appendEvent(b, 26, e) }

func (PoolSet) event()          {}
func (PoolRemoved) event()      {}
func (Booked) event()           {}
func (HoldConfirmed) event()    {}
func (HoldExpired) event()      {}
func (BookingCancelled) event() {}
func (Opened) event()           {}
func (Started) event()          {}
func (GraceBegan) event()       {}
func (BookingEnded) event()     {}
func (Released) event()         {}
func (Extended) event()         {}
func (Seated) event()           {}
func (Unseated) event()         {}
func (ReclaimNotice) event()    {}
func (Planned) event()          {}
func (OutageSet) event()        {}
func (OutageEnded) event()      {}
func (Forgotten) event()        {}
func (Changed) event()          {}
func (Split) event()            {}
func (Joined) event()           {}
func (CheckedIn) event()        {}
func (NotShown) event()         {}
func (BookingRevoked) event()   {}
func (Yielded) event()          {}

func (e PoolSet) when() time.Time          { return e.At }
func (e PoolRemoved) when() time.Time      { return e.At }
func (e Booked) when() time.Time           { return e.At }
func (e HoldConfirmed) when() time.Time    { return e.At }
func (e HoldExpired) when() time.Time      { return e.At }
func (e BookingCancelled) when() time.Time { return e.At }
func (e Opened) when() time.Time           { return e.At }
func (e Started) when() time.Time          { return e.At }
func (e GraceBegan) when() time.Time       { return e.At }
func (e BookingEnded) when() time.Time     { return e.At }
func (e Released) when() time.Time         { return e.At }
func (e Extended) when() time.Time         { return e.At }
func (e Seated) when() time.Time           { return e.At }
func (e Unseated) when() time.Time         { return e.At }
func (e ReclaimNotice) when() time.Time    { return e.At }
func (e Planned) when() time.Time          { return e.At }
func (e OutageSet) when() time.Time        { return e.At }
func (e OutageEnded) when() time.Time      { return e.At }
func (e Forgotten) when() time.Time        { return e.At }
func (e Changed) when() time.Time          { return e.At }
func (e Split) when() time.Time            { return e.At }
func (e Joined) when() time.Time           { return e.At }
func (e CheckedIn) when() time.Time        { return e.At }
func (e NotShown) when() time.Time         { return e.At }
func (e BookingRevoked) when() time.Time   { return e.At }
func (e Yielded) when() time.Time          { return e.At }

func (e PoolSet) code(c *coder) Event {
	c.time(&e.At)
	c.pool(&e.Pool)
	return e
}

func (e PoolRemoved) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.Name)
	return e
}

func (e Booked) code(c *coder) Event {
	c.time(&e.At)
	c.request(&e.Request)
	c.end(&e.Expires)
	list(c, &e.Spans, 4, c.span)
	c.duration(&e.Show)
	list(c, &e.Seats, 1, c.names)
	return e
}

func (e HoldConfirmed) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	return e
}

func (e HoldExpired) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	return e
}

func (e BookingCancelled) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	return e
}

func (e Opened) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	c.str(&e.Pool)
	c.names(&e.Nodes)
	return e
}

func (e Started) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	return e
}

func (e GraceBegan) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	return e
}

func (e BookingEnded) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	return e
}

func (e Released) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	return e
}

func (e Extended) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	c.end(&e.End)
	return e
}

func (e Seated) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	c.names(&e.Nodes)
	return e
}

func (e Unseated) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	c.names(&e.Nodes)
	c.str(&e.For)
	return e
}

func (e ReclaimNotice) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	c.str(&e.Node)
	c.time(&e.By)
	c.str(&e.For)
	return e
}

func (e Planned) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.Pool)
	list(c, &e.Plans, 3, c.planOf)
	return e
}

func (e OutageSet) code(c *coder) Event {
	c.time(&e.At)
	c.outage(&e.Outage)
	return e
}

func (e OutageEnded) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	return e
}

func (e Forgotten) code(c *coder) Event {
	c.time(&e.At)
	c.time(&e.Before)
	c.int(&e.Count)
	return e
}

func (e Changed) code(c *coder) Event {
	c.time(&e.At)
	c.request(&e.Request)
	list(c, &e.Spans, 4, c.span)
	c.names(&e.Nodes)
	c.duration(&e.Show)
	return e
}

func (e Split) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	c.str(&e.Child)
	c.end(&e.Time)
	list(c, &e.Lines, 3, c.requestLine)
	return e
}

func (e Joined) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	c.str(&e.Into)
	return e
}

func (e CheckedIn) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	return e
}

func (e NotShown) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	return e
}

func (e BookingRevoked) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	c.str(&e.Reason)
	return e
}

func (e Yielded) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	c.time(&e.Until)
	return e
}
