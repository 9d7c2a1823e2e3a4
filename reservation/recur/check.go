// SPDX-License-Identifier: Apache-2.0

package recur

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// check returns all mistakes of r that can be seen without a zone.
func (r Rule) check() error {
	return errors.Join(r.checkSteps(), r.checkDays(), r.checkStart(), r.Ends.check(), r.checkShift())
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}

// checkSteps checks what Parse reads apart from the days.
func (r Rule) checkSteps() error {
	var errs []error
	if !r.Freq.valid() {
		errs = append(errs, invalid("Freq is %s; set Hourly, Daily, Weekly or Monthly", r.Freq))
	}
	if r.Interval < 0 || r.Interval > maxInterval {
		errs = append(errs, invalid("Interval is %d; use 1 to %d", r.Interval, maxInterval))
	}
	if r.Count < 0 {
		errs = append(errs, invalid("Count is %d; use 1 or more, or 0 for no bound", r.Count))
	}
	if r.Until.IsZero() {
		return errors.Join(errs...)
	}
	if r.Count != 0 {
		errs = append(errs, invalid("Count is %d and Until is %s; set one of them", r.Count, stamp(r.Until)))
	}
	if y := r.Until.UTC().Year(); y < minYear || y > maxYear || r.Until.Nanosecond() != 0 {
		errs = append(errs, invalid("Until is %s; use a whole second of the years %d to %d", stamp(r.Until), minYear, maxYear))
	}
	return errors.Join(errs...)
}

// checkDays checks ByDay and ByMonthDay.
func (r Rule) checkDays() error {
	var errs []error
	if r.Freq == Hourly && len(r.ByDay) > 0 {
		errs = append(errs, invalid("ByDay has %d entries; an Hourly rule takes none, use Daily rules instead", len(r.ByDay)))
	}
	if r.Freq != Monthly && len(r.ByMonthDay) > 0 {
		errs = append(errs, invalid("ByMonthDay has %d entries; only a Monthly rule takes them", len(r.ByMonthDay)))
	}
	seen := map[Day]bool{}
	for i, d := range r.ByDay {
		switch {
		case d.Weekday < time.Sunday || d.Weekday > time.Saturday:
			errs = append(errs, invalid("ByDay[%d].Weekday is %d; use time.Sunday to time.Saturday", i, int(d.Weekday)))
		case d.Nth < -5 || d.Nth > 5:
			errs = append(errs, invalid("ByDay[%d].Nth is %d; use -5 to 5", i, d.Nth))
		case d.Nth != 0 && r.Freq != Monthly:
			errs = append(errs, invalid("ByDay[%d].Nth is %d; only a Monthly rule takes an ordinal", i, d.Nth))
		case seen[d]:
			errs = append(errs, invalid("ByDay[%d] is %s once more; name each day once", i, dayText(d)))
		}
		seen[d] = true
	}
	for i, d := range r.ByMonthDay {
		switch {
		case d == 0 || d < -31 || d > 31:
			errs = append(errs, invalid("ByMonthDay[%d] is %d; use 1 to 31, or -1 to -31 from the end", i, d))
		case slices.Contains(r.ByMonthDay[:min(i, 62)], d):
			errs = append(errs, invalid("ByMonthDay[%d] is %d once more; name each day once", i, d))
		}
	}
	return errors.Join(errs...)
}

func (r Rule) checkStart() error {
	var errs []error
	if !r.Start.valid() {
		errs = append(errs, invalid("Start is %s, which no calendar has; use years %d to %d", r.Start, minYear, maxYear))
	}
	if len(r.ExDates) > maxExDates {
		return errors.Join(append(errs, invalid("ExDates has %d entries; %d is the most", len(r.ExDates), maxExDates))...)
	}
	for i, x := range r.ExDates {
		if !x.valid() {
			errs = append(errs, invalid("ExDates[%d] is %s, which no calendar has", i, x))
		}
	}
	return errors.Join(errs...)
}

func (e End) check() error {
	var errs []error
	switch {
	case !e.Local && (e.Days != 0 || e.At != Clock{}):
		errs = append(errs, invalid("Ends has Days %d and At %s without Local; use LocalEnd or Elapsed", e.Days, e.At))
	case !e.Local && (e.Elapsed <= 0 || e.Elapsed%time.Second != 0):
		errs = append(errs, invalid("Ends.Elapsed is %s; use whole seconds, more than none, or LocalEnd", e.Elapsed))
	case e.Local && e.Elapsed != 0:
		errs = append(errs, invalid("Ends has Elapsed %s and Local; choose one", e.Elapsed))
	}
	if e.Local && (e.Days < 0 || e.Days > maxEndDays) {
		errs = append(errs, invalid("Ends.Days is %d; use 0 to %d", e.Days, maxEndDays))
	}
	if e.Local && !e.At.valid() {
		errs = append(errs, invalid("Ends.At is %s; use 00:00:00 to 23:59:59", e.At))
	}
	return errors.Join(errs...)
}

func (r Rule) checkShift() error {
	var errs []error
	if r.Gap > SkipGap {
		errs = append(errs, invalid("Gap is %s; use UseOffsetBefore, UseGapEnd or SkipGap", r.Gap))
	}
	if r.Ambiguous > Second {
		errs = append(errs, invalid("Ambiguous is %s; use First or Second", r.Ambiguous))
	}
	return errors.Join(errs...)
}

// stamp writes an instant as UNTIL does, but with any fraction.
func stamp(t time.Time) string { return t.UTC().Format("20060102T150405.999999999Z") }
