// SPDX-License-Identifier: Apache-2.0

package allocator

import "time"

// Fit reports whether [Fleet.Plan] would find a place at that instant. It is Plan without the assignments and, above all, without the
// explanation of a refusal: what a scheduler asks of many pools for many waiting jobs. An id that is placed with the same
// body fits.
//
// Possible errors: [ErrInvalid], [ErrUnknownNode], [ErrExists], [ErrPolicy].
func (f *Fleet) Fit(at time.Time, r Request) (bool, error) {
	now := f.present(at)
	r, p, err := f.admit(r)
	if err != nil || p != nil {
		return err == nil, err
	}
	if err := r.begins(now); err != nil {
		return false, err
	}
	_, failed, err := f.newSearch(&r, now, relax{}).run()
	return err == nil && failed == nil, err
}
