// SPDX-License-Identifier: Apache-2.0

package recur

import (
	"fmt"
	"time"
)

// A Window is the half-open range [Start, End) of UTC instants, whole seconds.
//
// A Window is immutable and safe for concurrent use.
type Window struct {
	Start time.Time
	End   time.Time
}

// String returns the window as "[start, end)" in RFC 3339.
func (w Window) String() string {
	return fmt.Sprintf("[%s, %s)", w.Start.UTC().Format(time.RFC3339), w.End.UTC().Format(time.RFC3339))
}

func (w Window) equal(o Window) bool { return w.Start.Equal(o.Start) && w.End.Equal(o.End) }

// An Absence says why a series has no occurrence at an index.
//
// An Absence is immutable and safe for concurrent use.
type Absence uint8

const (
	// Present means that there is one.
	Present Absence = iota
	// Beyond means that the index is negative, at or after [Series.Len], or that the
	// window is not within the years 1 to 9999 in UTC.
	Beyond
	// Excluded means that the start is one of the ExDates.
	Excluded
	// InGap means that the zone leaves the start out, and the rule has SkipGap.
	InGap
	// Overtaken means that the zone leaves the start out, and that moved out of the
	// gap it would not be before the next one: Samoa had no 2011-12-30, and a daily
	// rule has one occurrence on the 31st, not two.
	Overtaken
	// Empty means that the start, moved out of a gap, is not before the end.
	Empty
)

// String returns the name of the constant.
func (a Absence) String() string {
	return nameOf("Absence", uint8(a), "Present", "Beyond", "Excluded", "InGap", "Overtaken", "Empty")
}
