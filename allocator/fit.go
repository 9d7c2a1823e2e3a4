// SPDX-License-Identifier: Apache-2.0

package allocator

// Fit reports whether [Fleet.Plan] would find a place now. It is Plan without the assignments and, above all, without the
// explanation of a refusal: what a scheduler asks of many pools for many waiting jobs. An id that is placed with the same
// body fits.
//
// Possible errors: [ErrInvalid], [ErrUnknownNode], [ErrExists], [ErrPolicy].
func (f *Fleet) Fit(r Request) (bool, error) {
	r, p, err := f.admit(r)
	if err != nil || p != nil {
		return err == nil, err
	}
	if r.until() <= f.core.S.now {
		return false, refuse(ErrInvalid, "Until", r.Until, "the request would end before it begins; give a later end")
	}
	_, failed, err := f.newSearch(&r, f.core.S.now, relax{}).run()
	return err == nil && failed == nil, err
}
