// SPDX-License-Identifier: Apache-2.0

package health

import (
	"time"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/engine"
	"github.com/berth-gpu/berth/internal/tick"
)

// A Record is all holds of a fleet. Make one with [New] or [Restore].
//
// A Record may be read by many goroutines while nobody changes it; Fork is safe whenever reading is.
type Record struct{ core engine.Core[state, Event] }

// state is copied by value to fork it.
type state struct {
	now     int64 // the present: the instant of the last event
	lengths lengths
	holds   cow.Sorted[*hold] // by component and owner
	due     cow.Sorted[*hold] // the dated ones by date; derived from holds
}

func newRecord(now int64, l lengths) *Record {
	r := new(Record)
	r.core.S = state{now: now, lengths: l, holds: cow.NewSorted(less), due: cow.NewSorted(sooner)}
	return r
}

// New returns a record without holds. Possible errors: [ErrInvalid], one for each mistake in c.
func New(c Config) (*Record, error) {
	l, err := c.lengths()
	if err != nil {
		return nil, err
	}
	return newRecord(tick.Floor(time.Time{}), l), nil // before every instant that can be given
}

// Fork returns an independent copy with no pending events. It costs O(1).
func (r *Record) Fork() *Record { return &Record{core: r.core.Fork()} }

// Events returns what was decided since New, Restore, Fork or TakeEvents, in order. The caller must not change the slice.
func (r *Record) Events() []Event { return r.core.Events() }

// TakeEvents returns the pending events and forgets them.
func (r *Record) TakeEvents() []Event { return r.core.TakeEvents() }

// StepLength returns how long s is expected to take in this record; 0 for StepNone and for unknown steps.
func (r *Record) StepLength(s Step) time.Duration {
	if s == StepNone || !s.valid() {
		return 0
	}
	return time.Duration(r.core.S.lengths[s]) * time.Second
}
