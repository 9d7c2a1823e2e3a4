// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"strings"
	"time"
)

// A Step is what the owner of a hold is doing about it. The zero Step is StepNone.
//
// A Step is immutable and safe for concurrent use.
type Step uint8

// The steps, and how long each is expected to take unless [Config.StepLength] says otherwise. The defaults are orders of
// magnitude to plan with, not measurements: measure your own fleet and set them.
const (
	StepNone   Step = iota // no step: a person, a quarantine, an unknown cause; open-ended until somebody dates it
	StepReset              // reset one GPU: 15 minutes
	StepReboot             // reboot the node: 1 hour
	StepDiag               // run diagnostics: 4 hours
	StepRMA                // replace the part: 14 days
	stepCount
)

var stepNames = [stepCount]string{"none", "reset", "reboot", "diag", "rma"}

var defaultLengths = [stepCount]time.Duration{
	StepReset:  15 * time.Minute,
	StepReboot: time.Hour,
	StepDiag:   4 * time.Hour,
	StepRMA:    14 * 24 * time.Hour,
}

func (s Step) valid() bool { return s < stepCount }

// String returns the name of s, such as "reboot".
func (s Step) String() string {
	if !s.valid() {
		return fmt.Sprintf("step(%d)", uint8(s))
	}
	return stepNames[s]
}

// MarshalText returns the name of s. Possible errors: [ErrInvalid].
func (s Step) MarshalText() ([]byte, error) {
	if !s.valid() {
		return nil, s.problem()
	}
	return []byte(stepNames[s]), nil
}

// UnmarshalText reads the name of a step. Possible errors: [ErrInvalid].
func (s *Step) UnmarshalText(text []byte) error {
	for i, name := range stepNames {
		if name == string(text) {
			*s = Step(i)
			return nil
		}
	}
	return fmt.Errorf("%w: Step %.64q is unknown: use one of %s", ErrInvalid, text, strings.Join(stepNames[:], ", "))
}

func (s Step) problem() error {
	return fmt.Errorf("%w: Step %d is unknown: use 0 to %d (%s)", ErrInvalid, uint8(s), stepCount-1, strings.Join(stepNames[:], ", "))
}
