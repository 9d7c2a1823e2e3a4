// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"fmt"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// A Window is a half-open range of time [Start, End), both whole seconds. A
// zero End means open: no end is known. A zero Start is invalid: it is a field
// that was forgotten, and would be charged from the present on.
//
// A Window is immutable and safe for concurrent use.
type Window struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end,omitzero"`
}

// String returns start/end in RFC 3339, with "open" for a zero End.
func (w Window) String() string {
	if w.End.IsZero() {
		return w.Start.UTC().Format(time.RFC3339) + "/open"
	}
	return w.Start.UTC().Format(time.RFC3339) + "/" + w.End.UTC().Format(time.RFC3339)
}

// ticks returns the window in ticks.
func (w Window) ticks(field string) (from, to int64, errs []error) {
	from, err := tick.Exact(w.Start)
	if err != nil {
		errs = append(errs, fmt.Errorf("%s.Start: %w", field, err))
	} else if w.Start.IsZero() {
		errs = append(errs, fmt.Errorf("%s.Start is not set: give the instant from which the amounts are used", field))
	}
	to = tick.Forever
	if !w.End.IsZero() {
		if to, err = tick.Exact(w.End); err != nil {
			errs = append(errs, fmt.Errorf("%s.End: %w", field, err))
		}
	}
	if errs == nil && to <= from {
		errs = append(errs, fmt.Errorf("%s %s is empty: End must be after Start", field, w))
	}
	return from, to, errs
}

func window(from, to int64) Window { return Window{Start: tick.Time(from), End: tick.Time(to)} }

// A Request asks for amounts over a window. It is the body that a repeated
// [Ledger.Reserve] is compared with.
//
// A Request may be read by many goroutines while nobody changes it.
type Request struct {
	ID      string   `json:"id"`      // chosen by the caller; also the request key
	Tenant  string   `json:"tenant"`  // any node of the tree
	Amounts []Amount `json:"amounts"` // 1 to MaxAmounts keys, each once, in any order
	// Window is when the amounts are used. It may have begun: then it is
	// charged from the present on.
	Window Window `json:"window"`
	Class  Class  `json:"class"`
	// TTL is how long the hold lives uncommitted, in whole seconds. 0: no expiry.
	TTL time.Duration `json:"ttlNanoseconds,omitzero"`
	// Note is the host's label, such as a pool; the ledger only keeps it.
	Note string `json:"note,omitempty"`
}

// terms is a Request in ticks.
type terms struct {
	start, end, ttl int64
	booked          bool
}

// read checks r alone. It does not allocate if r is sound.
func (r *Request) read(booked bool) (terms, error) {
	tm := terms{booked: booked}
	var errs []error
	if p := badName(r.ID); p != "" {
		errs = append(errs, fmt.Errorf("ID %q %s", r.ID, p))
	}
	if p := badName(r.Tenant); p != "" {
		errs = append(errs, fmt.Errorf("Tenant %q %s", r.Tenant, p))
	}
	if more := badAmounts("Amounts", r.Amounts); more != nil {
		errs = append(errs, more...)
	}
	var more []error
	if tm.start, tm.end, more = r.Window.ticks("Window"); more != nil {
		errs = append(errs, more...)
	}
	if !r.Class.valid() {
		errs = append(errs, fmt.Errorf("Class %d: want one of %q", r.Class, classNames[1:]))
	}
	var err error
	if tm.ttl, err = tick.Seconds(r.TTL); err != nil {
		errs = append(errs, fmt.Errorf("TTL: %w", err))
	} else if booked && tm.ttl != 0 {
		errs = append(errs, fmt.Errorf("TTL %s: a booking is committed at once; leave it 0", r.TTL))
	}
	if p := badText(r.Note); p != "" {
		errs = append(errs, fmt.Errorf("Note %q %s", r.Note, p))
	}
	return tm, invalid(errs)
}
