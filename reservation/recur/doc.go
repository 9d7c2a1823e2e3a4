// SPDX-License-Identifier: Apache-2.0

// Package recur says when something recurs: rules such as "every other Monday
// at 10:00 in New York, until 18:00", as numbered windows of UTC instants.
//
// # Model
//
//   - A [Rule] is a subset of RFC 5545 (hourly, daily, weekly, monthly) in
//     wall-clock terms. It has no zone.
//   - A [Local] is a wall-clock reading: a date and a time of day without a zone.
//   - An [End] is a length that has elapsed, or a wall-clock time. The caller must
//     choose: a night may have seven, eight or nine hours.
//   - A [Series] is a rule in a zone. Its occurrences are numbered from 0.
//   - A [Window] is one occurrence: half-open, [Start, End), in UTC.
//   - A [Drift] is an occurrence that is not where it was booked.
//
// # Usage
//
//	rule, err := recur.Parse("FREQ=WEEKLY;BYDAY=MO;COUNT=4")
//	if err != nil {
//		return err
//	}
//	rule.Start = recur.Local{Year: 2025, Month: time.March, Day: 3, Hour: 10}
//	rule.Ends = recur.LocalEnd(recur.Clock{Hour: 18})
//	rule.ExDates = []recur.Local{{Year: 2025, Month: time.March, Day: 17, Hour: 10}}
//	newYork, err := time.LoadLocation("America/New_York") // reads files, so the host does it
//	if err != nil {
//		return err
//	}
//	series, err := recur.New(recur.Config{Rule: rule, Location: newYork})
//	if err != nil {
//		return err
//	}
//	for i, window := range series.All(0) {
//		fmt.Println(i, window)
//	}
//	next, ok := series.Index(time.Date(2025, time.March, 11, 0, 0, 0, 0, time.UTC))
//	fmt.Println(next, ok)
//
// # Invariants
//
//   - I1. An index always means the same wall-clock time (for an hourly rule, the
//     same number of elapsed hours): neither ExDates, Count and Until nor the
//     zone renumber.
//   - I2. Starts increase strictly with the index, and every window ends after its
//     start.
//   - I3. Occurrence(i) is what walking the calendar day by day from Start gives.
//   - I4. Index(at) is the lowest index whose occurrence starts at or after at.
//   - I5. A start or end that the zone has once is that instant; one that it has
//     twice goes by Ambiguous, one that it lacks by Gap.
//   - I6. Parse(r.String()) gives back the fields that an RRULE has.
//   - I7. The zone of the machine plays no part.
//
// # Clock changes
//
// Two rules of RFC 5545 are the defaults. A time that the zone lacks is read with
// the offset before the gap: 02:30 in New York on 2026-03-08 is 03:30 EDT, 07:30Z
// (time.Date says 06:30Z, an hour early). A time that comes twice is the first of
// the two. Where a time so moved would not come before the next one of the rule,
// the next one stands and the moved one is [Overtaken]. Hourly rules count elapsed
// hours instead of wall-clock hours, of which some nights have one too few and
// some one twice.
//
// # Concurrency
//
// A Series is immutable and safe for concurrent use. Everything else in this
// package is a plain value.
//
// # Errors and reasons
//
// [New] and [Parse] report every mistake at once, each with the field or part, its
// value and what to do; test with errors.Is for [ErrInvalid], [ErrSyntax] and
// [ErrZone]. An index without an occurrence has an [Absence] that says why.
//
// # Complexity
//
// With e ExDates: Occurrence and Index take O(log e) whatever the index is, but
// Index looks at each index that the zone leaves out before the answer. A step
// of All costs one Occurrence. New takes O(e log e), and for a monthly rule the
// time to look at 400 years once. A Series has at most 1.2 kB and 8 bytes per
// ExDate, besides the rule.
//
// # Limits and non-goals
//
// Times are whole seconds of the years 1 to 9999; a rule without Count or Until
// ends there. Zones within 24 hours of UTC are exact; that holds for all of the
// IANA data. The package loads no zones: a host without zone files imports
// time/tzdata. COUNT counts times that the zone lacks and dates that are excluded,
// where RFC 5545 leaves out the former; otherwise an index would depend on the zone
// data. Start is an occurrence only if it matches, weeks begin on Monday, and
// BYMONTH, BYSETPOS, BYHOUR, RDATE, yearly and shorter steps are not read.
// Occurrences that are longer than their distance overlap: whether that is allowed
// is for the calendar that books them.
package recur
