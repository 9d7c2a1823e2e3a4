// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A SeriesConflict is an occurrence that does not fit.
//
// A SeriesConflict is immutable and safe for concurrent use.
type SeriesConflict struct {
	Index   int64          `json:"index"`
	Window  Window         `json:"window"`  // by the rule
	Refusal *ConflictError `json:"refusal"` // its Offers fit beside all occurrences that do
}

// A SeriesReport says what of a series is firm and what is not.
//
// A SeriesReport is immutable and safe for concurrent use.
type SeriesReport struct {
	ID        string           `json:"id"`
	Firm      []Booking        `json:"firm"`                // by index; ShiftWithin has moved those with a Shift
	Conflicts []SeriesConflict `json:"conflicts,omitempty"` // by index: all of them
	Missed    []int64          `json:"missed,omitempty"`    // too late to book, since the series was not continued in time
	Next      int64            `json:"next"`                // first index that is not decided yet
	Head      Window           `json:"head,omitzero"`       // of the next occurrence; zero: there is none
}

// A SeriesError says why a series is not accepted: all of its conflicts. It Is
// [ErrConflict].
//
// A SeriesError is immutable and safe for concurrent use.
type SeriesError struct {
	Report SeriesReport // Firm is what would have been booked
}

// Is reports whether target is [ErrConflict].
func (e *SeriesError) Is(target error) bool { return target == ErrConflict }

// Error names no other booking and no other owner.
func (e *SeriesError) Error() string {
	var b strings.Builder
	v := &e.Report
	fmt.Fprintf(&b, "%v: series %q: %d of %d occurrences do not fit", ErrConflict, v.ID, len(v.Conflicts), len(v.Conflicts)+len(v.Firm))
	for i, x := range v.Conflicts {
		if i == 3 {
			fmt.Fprintf(&b, ", and %d more", len(v.Conflicts)-i)
			break
		}
		fmt.Fprintf(&b, "%s%d at %s", []string{": ", ", "}[min(i, 1)], x.Index, x.Window.Start.Format(time.RFC3339))
	}
	b.WriteString("; leave them out with SkipConflicts, move them with ShiftWithin, or take their offers")
	return b.String()
}

// For returns the report as owner may see it: the bookings of all others are
// summed in each refusal.
func (r SeriesReport) For(owner string) SeriesReport {
	r.Conflicts = slices.Clone(r.Conflicts)
	for i := range r.Conflicts {
		r.Conflicts[i].Refusal = r.Conflicts[i].Refusal.For(owner)
	}
	return r
}

// For returns the refusal as owner may see it.
func (e *SeriesError) For(owner string) *SeriesError { return &SeriesError{e.Report.For(owner)} }
