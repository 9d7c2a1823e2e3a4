// SPDX-License-Identifier: Apache-2.0

package health

import (
	"errors"
	"fmt"
)

// Check recounts everything from the holds: each is valid, they are in order (H1), and the index of dates holds exactly the
// dated ones, none of which has passed. It costs O(n log n). An error is a defect of this package, not of its caller.
func (r *Record) Check() error {
	s := &r.core.S
	var errs []error
	fail := func(h *hold, err error) {
		errs = append(errs, fmt.Errorf("health: hold of %q on %s: %w", h.owner, h.label(), err))
	}
	if !s.lengths.valid() {
		errs = append(errs, fmt.Errorf("health: a step length is out of range: %v", s.lengths))
	}
	dated := 0
	var last *hold
	for h := range s.holds.All() {
		if err := h.check(s.now); err != nil {
			fail(h, err)
		}
		if last != nil && !less(last, h) {
			fail(h, errors.New("it is out of order"))
		}
		if h.dated() {
			dated++
			if d, ok := s.due.Find(h); !ok || d != h {
				fail(h, errors.New("its date is not in the index"))
			}
		}
		last = h
	}
	if s.due.Len() != dated {
		errs = append(errs, fmt.Errorf("health: %d dates in the index for %d dated holds", s.due.Len(), dated))
	}
	return errors.Join(errs...)
}

// check reports what is wrong with one hold at the present.
func (h *hold) check(now int64) error {
	errs := h.key.problems(nil)
	if !h.step.valid() {
		errs = append(errs, h.step.problem())
	}
	errs = appendProblem(errs, "Reason", h.reason, 0, MaxReasonBytes)
	if h.since > now {
		errs = append(errs, errors.New("it starts in the future"))
	}
	if h.asked <= h.since || h.expected <= h.since {
		errs = append(errs, errors.New("its date is not after its start"))
	}
	// A date that is the present is about to slip: the log of one command may have been cut there.
	if h.expected < now {
		errs = append(errs, errors.New("its date has passed"))
	}
	if h.version < 1 || h.version > maxCount || h.slips >= h.version {
		errs = append(errs, fmt.Errorf("version %d with %d slips cannot be", h.version, h.slips))
	}
	return errors.Join(errs...)
}
