// SPDX-License-Identifier: Apache-2.0

package health

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// MaxStepLength is the greatest length of a step.
const MaxStepLength = 3650 * 24 * time.Hour

// MaxSlip is how far a date moves at most when it passes, unless the step itself is longer. Slips double, so without a bound a
// date would soon be years away; with it a forgotten hold is looked at again twice a month.
const MaxSlip = 14 * 24 * time.Hour

const defaultSlip = time.Hour

// A Config says how long things are expected to take. The zero Config means the defaults.
//
// A Config is a plain value: it is immutable and safe for concurrent use while nobody writes to its map.
type Config struct {
	// StepLength is how long a step is expected to take, in whole seconds from 1 s to [MaxStepLength]. A step that is not in
	// the map has the default given beside its name. [StepNone] has no length and may not be in the map.
	StepLength map[Step]time.Duration
	// Slip is how far the date of a hold without a step moves when it passes for the first time, in whole seconds from 1 s to
	// [MaxStepLength]; 0 means 1 hour. The date of a hold with a step first moves by the length of the step. Each slip of the
	// hold doubles that, up to [MaxSlip].
	Slip time.Duration
}

// lengths is a valid Config in seconds. Entry StepNone is the slip of holds without a step.
type lengths [stepCount]int64

func (c Config) lengths() (lengths, error) {
	var out lengths
	var errs []error
	set := func(s Step, field string, d time.Duration) {
		if d < time.Second || d > MaxStepLength || d%time.Second != 0 {
			errs = append(errs, fmt.Errorf("%w: %s is %s: use whole seconds from %s to %s", ErrInvalid, field, d, time.Second, MaxStepLength))
			return
		}
		out[s] = int64(d / time.Second)
	}
	for s := StepReset; s < stepCount; s++ {
		out[s] = int64(defaultLengths[s] / time.Second)
	}
	for _, s := range slices.Sorted(maps.Keys(c.StepLength)) {
		switch {
		case !s.valid():
			errs = append(errs, fmt.Errorf("StepLength: %w", s.problem()))
		case s == StepNone:
			errs = append(errs, fmt.Errorf("%w: StepLength has an entry for %q, which is open-ended: remove it, or set Slip", ErrInvalid, s))
		default:
			set(s, fmt.Sprintf("StepLength[%s]", s), c.StepLength[s])
		}
	}
	slip := c.Slip
	if slip == 0 {
		slip = defaultSlip
	}
	set(StepNone, "Slip", slip)
	return out, errors.Join(errs...)
}

// valid reports whether l could have come from a Config.
func (l lengths) valid() bool {
	for _, n := range l {
		if n < 1 || n > int64(MaxStepLength/time.Second) {
			return false
		}
	}
	return true
}

// slip returns the date that follows t for a hold in step s whose dates have passed slips times before, or Forever if that is
// out of range: one length of the step, doubled for each earlier slip up to MaxSlip, and never less than one length.
func (l lengths) slip(t int64, s Step, slips uint64) int64 {
	const doublings = 21 // 1 s doubled that often is more than MaxSlip, and no length overflows
	more := max(l[s], min(l[s]<<min(slips, doublings), int64(MaxSlip/time.Second)))
	if end := t + more; tick.InRange(end) {
		return end
	}
	return tick.Forever
}

// from returns the instant that lies one length of step s after t, or Forever if that is out of range.
func (l lengths) from(t int64, s Step) int64 {
	if end := t + l[s]; tick.InRange(end) {
		return end
	}
	return tick.Forever
}
