// SPDX-License-Identifier: Apache-2.0

package health

import (
	"errors"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// A HoldRequest is what an owner asks for.
//
// A HoldRequest is immutable and safe for concurrent use.
type HoldRequest struct {
	Component
	Owner  Owner
	Step   Step
	Reason string // for people; may be empty; one line of at most MaxReasonBytes
	// Expected is when the component is expected back, in whole seconds. The zero time means: from the step, and open-ended
	// if there is none.
	Expected time.Time
}

// A Hold is one owner's hold on one component, as it is now.
//
// A Hold is immutable and safe for concurrent use.
type Hold struct {
	Component
	Owner    Owner     `json:"owner"`
	Step     Step      `json:"step"`
	Reason   string    `json:"reason,omitempty"`
	Since    time.Time `json:"since"`
	Expected time.Time `json:"expected,omitzero"` // zero: open-ended
	Slips    int       `json:"slips"`             // how often its date has passed with the hold still there
	Version  uint64    `json:"version"`           // 1, and one more with each change, new date and slip
}

// maxCount is where Version stops counting, so that arithmetic is safe whatever a snapshot says.
const maxCount = 1 << 40

// hold is a Hold in ticks. A hold in a container is never changed, only replaced.
type hold struct {
	key
	step     Step
	reason   string
	since    int64
	asked    int64 // Expected of the last request, Forever if it had none
	expected int64 // Forever: open-ended
	slips    uint64
	version  uint64
}

func (h *hold) dated() bool { return h.expected != tick.Forever }

func (h *hold) public() Hold {
	return Hold{
		Component: h.Component,
		Owner:     h.owner,
		Step:      h.step,
		Reason:    h.reason,
		Since:     tick.Time(h.since),
		Expected:  tick.Time(h.expected),
		Slips:     int(h.slips),
		Version:   h.version,
	}
}

// less orders holds by component and owner.
func less(a, b *hold) bool { return a.key.compare(b.key) < 0 }

// sooner orders holds by their date, then by component and owner.
func sooner(a, b *hold) bool {
	if a.expected != b.expected {
		return a.expected < b.expected
	}
	return less(a, b)
}

// body reads a request: its identity and the asked date in ticks, or all its mistakes.
func (q HoldRequest) body() (key, int64, error) {
	k := key{q.Component, q.Owner}
	errs := k.problems(nil)
	if !q.Step.valid() {
		errs = append(errs, q.Step.problem())
	}
	errs = appendProblem(errs, "Reason", q.Reason, 0, MaxReasonBytes)
	asked, err := date("Expected", q.Expected)
	if err != nil {
		errs = append(errs, err)
	}
	return k, asked, errors.Join(errs...)
}
