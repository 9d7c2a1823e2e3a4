// SPDX-License-Identifier: Apache-2.0

package recur

import (
	"fmt"
	"slices"
	"time"
)

// Limits of a rule.
const (
	maxInterval = 1_000_000
	maxExDates  = 10_000
	maxEndDays  = 366
)

// A Freq is the length of one step of a rule. The zero value is not valid.
//
// A Freq is immutable and safe for concurrent use.
type Freq uint8

// The frequencies. An hour is an elapsed hour and a day is a calendar day, as in
// the durations of RFC 5545, section 3.3.6: a daily rule keeps its wall-clock
// time when the clocks change, an hourly rule keeps its distance.
const (
	Hourly Freq = iota + 1
	Daily
	Weekly
	Monthly
)

// freqNames is also what Parse and String use.
var freqNames = [...]string{Hourly: "HOURLY", Daily: "DAILY", Weekly: "WEEKLY", Monthly: "MONTHLY"}

// String returns the name in RFC 5545, such as "WEEKLY".
func (f Freq) String() string {
	if f.valid() {
		return freqNames[f]
	}
	return fmt.Sprintf("Freq(%d)", uint8(f))
}

func (f Freq) valid() bool { return Hourly <= f && f <= Monthly }

// A Gap says what becomes of a wall-clock time that the zone leaves out, such as
// 02:30 on the night when the clocks go from 02:00 to 03:00.
//
// A Gap is immutable and safe for concurrent use.
type Gap uint8

const (
	// UseOffsetBefore reads the time with the offset in force before the gap, as
	// RFC 5545, section 3.3.5 does: 02:30 becomes 03:30. It is the default.
	UseOffsetBefore Gap = iota
	// UseGapEnd takes the first instant after the gap: 02:30 becomes 03:00.
	UseGapEnd
	// SkipGap drops an occurrence that would start in a gap. An end in a gap is
	// read as by UseOffsetBefore.
	SkipGap
)

// String returns the name of the constant.
func (g Gap) String() string {
	return nameOf("Gap", uint8(g), "UseOffsetBefore", "UseGapEnd", "SkipGap")
}

// An Ambiguous says which instant is meant by a wall-clock time that comes twice.
//
// An Ambiguous is immutable and safe for concurrent use.
type Ambiguous uint8

const (
	// First takes the earlier instant, as RFC 5545, section 3.3.5 does. It is the default.
	First Ambiguous = iota
	// Second takes the later instant.
	Second
)

// String returns the name of the constant.
func (a Ambiguous) String() string { return nameOf("Ambiguous", uint8(a), "First", "Second") }

func nameOf(kind string, v uint8, names ...string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("%s(%d)", kind, v)
}

// A Day is a weekday, for a monthly rule perhaps with an ordinal.
//
// A Day is immutable and safe for concurrent use.
type Day struct {
	Weekday time.Weekday
	// Nth selects one in the month: 1 the first, −1 the last, up to ±5. With 0
	// every such weekday counts. Months that lack a fifth are passed over.
	Nth int
}

// An End says when an occurrence ends. Use [Elapsed] or [LocalEnd]; a night over
// a change of the clocks tells them apart: "eight hours from 22:00" or "until
// 06:00", which may be seven, eight or nine hours.
//
// An End is immutable and safe for concurrent use.
type End struct {
	// Elapsed is the length, in whole seconds, when Local is false.
	Elapsed time.Duration
	// Local says that Days and At give the end as a wall-clock time.
	Local bool
	// Days are the days from the date of the start to the date of the end, 0 to
	// 366. With 0, an At that is not after the start is on the next day.
	Days int
	At   Clock
}

// Elapsed is the end d after the start.
func Elapsed(d time.Duration) End { return End{Elapsed: d} }

// LocalEnd is the end at the next time the clock should show at: on the day of
// the start, or on the next one. For a longer stay set Days of the result.
func LocalEnd(at Clock) End { return End{Local: true, At: at} }

// A Rule says when something recurs, in wall-clock terms: what the RRULE, the
// EXDATE, the DTSTART and the end of an RFC 5545 event say, without the zone.
// [New] checks it. Its elements are the caller's to change until then.
//
// A Rule is immutable and safe for concurrent use.
type Rule struct {
	Freq Freq
	// Interval is the number of hours, days, weeks (from Monday) or months from one
	// step to the next; 0 means 1, and 1,000,000 is the most.
	Interval int
	// ByDay selects days. Daily: only these. Weekly: these in each week; none means
	// the weekday of Start. Monthly: these in each month. Not for Hourly.
	ByDay []Day
	// ByMonthDay selects days of the month, 1 to 31, or −1 (the last) to −31. Monthly
	// only; a month that lacks the day is passed over. With ByDay a day must be in
	// both. With neither, a monthly rule takes the day of Start.
	ByMonthDay []int
	// Count is the number of indexes; 0 means no such bound. Times that are
	// excluded or that the zone lacks count too, so that an index never depends on
	// either.
	Count int
	// Until is the last instant, in whole seconds, at which an occurrence may
	// start; zero means no such bound. At most one of Count and Until may be set.
	Until time.Time
	// ExDates are starts to leave out, at most 10,000. Each must be one that the rule
	// gives. Where an hourly rule starts twice at one reading, Ambiguous says which.
	ExDates []Local
	// Start is the anchor: steps count from it, every occurrence has its time of
	// day, and none is earlier. It is an occurrence only if it matches.
	Start Local
	// Ends says when each occurrence ends; it has no default.
	Ends End
	// Gap and Ambiguous say what a change of the clocks does to starts and ends.
	Gap       Gap
	Ambiguous Ambiguous
}

// clone returns a copy that shares nothing, with the defaults filled in.
func (r Rule) clone() Rule {
	r.Interval = max(r.Interval, 1)
	r.ByDay = slices.Clone(r.ByDay)
	r.ByMonthDay = slices.Clone(r.ByMonthDay)
	r.ExDates = slices.Clone(r.ExDates)
	r.Until = utc(r.Until)
	return r
}

// utc strips the zone and the monotonic reading.
func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.Round(0).UTC()
}
