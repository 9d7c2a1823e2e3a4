// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// A Window is the half-open range [Start, End) of UTC instants, whole seconds.
// A zero End means no end; only Standby claims and outages may be open.
//
// A Window is immutable and safe for concurrent use.
type Window struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end,omitzero"`
}

// Length returns End − Start, or 0 if the window is open.
func (w Window) Length() time.Duration {
	if w.End.IsZero() {
		return 0
	}
	return w.End.Sub(w.Start)
}

// Overlaps reports whether both windows have an instant in common. Windows that
// only touch have none.
func (w Window) Overlaps(o Window) bool {
	return (o.End.IsZero() || w.Start.Before(o.End)) && (w.End.IsZero() || o.Start.Before(w.End))
}

// String returns the window as "[start, end)" in RFC 3339.
func (w Window) String() string {
	if w.End.IsZero() {
		return fmt.Sprintf("[%s, open)", w.Start.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("[%s, %s)", w.Start.UTC().Format(time.RFC3339), w.End.UTC().Format(time.RFC3339))
}

// windowOf returns the window of two ticks; [tick.Forever] is an open end.
func windowOf(from, to int64) Window { return Window{tick.Time(from), tick.Time(to)} }

// ticks converts w. An open end is [tick.Forever] and must be allowed by open.
func (w Window) ticks(field string, open bool) (from, to int64, err error) {
	if from, err = exact(field+".Start", w.Start); err != nil {
		return 0, 0, err
	}
	if w.End.IsZero() {
		if !open {
			return 0, 0, fmt.Errorf("%w: %s.End is not set; only a Standby claim may be open", ErrEmptyWindow, field)
		}
		return from, tick.Forever, nil
	}
	if to, err = exact(field+".End", w.End); err != nil {
		return 0, 0, err
	}
	if to <= from {
		return 0, 0, fmt.Errorf("%w: %s is %s; End must be after Start", ErrEmptyWindow, field, w)
	}
	return from, to, nil
}

// exact converts an instant that must be a whole second of the years 1 to 9999.
func exact(field string, t time.Time) (int64, error) {
	n, err := tick.Exact(t)
	switch {
	case err == nil:
		return n, nil
	case t.Nanosecond() != 0:
		return 0, fmt.Errorf("%w: %s: %w", ErrUnaligned, field, err)
	default:
		return 0, fmt.Errorf("%w: %s: %w", ErrInvalid, field, err)
	}
}
