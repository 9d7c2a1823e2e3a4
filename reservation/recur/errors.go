// SPDX-License-Identifier: Apache-2.0

package recur

import "errors"

// Sentinels of this package. They are always returned wrapped with the field
// and the value, so test with [errors.Is].
var (
	// ErrInvalid marks a field whose value is never valid, or not with the others.
	ErrInvalid = errors.New("recur: invalid rule")
	// ErrSyntax marks text that is not in the subset of RFC 5545 read here.
	ErrSyntax = errors.New("recur: cannot parse")
	// ErrZone marks a location that cannot serve as the zone of a series.
	ErrZone = errors.New("recur: unusable zone")
)
