// SPDX-License-Identifier: Apache-2.0

package recur

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

const maxText = 4096 // bytes; the longest sensible rule has about 600

// Parse reads the value of an RRULE (RFC 5545, section 3.3.10), with or without
// "RRULE:" before it, in either case. The parts are FREQ (HOURLY, DAILY, WEEKLY or
// MONTHLY), INTERVAL, BYDAY, BYMONTHDAY, COUNT, UNTIL (in UTC) and WKST (MO only).
// It fills the fields of the same names, Interval always, and lists every mistake,
// each with the part and its value. A part it does not know is a mistake: to pass
// over one would book the wrong days.
//
// Possible errors: [ErrSyntax], [ErrInvalid].
func Parse(text string) (Rule, error) {
	if len(text) > maxText {
		return Rule{}, fmt.Errorf("%w: the rule has %d bytes, more than %d", ErrSyntax, len(text), maxText)
	}
	upper := strings.Map(upperASCII, text)
	r := Rule{Interval: 1}
	seen := map[string]bool{}
	var errs []error
	for part := range strings.SplitSeq(strings.TrimPrefix(upper, "RRULE:"), ";") {
		name, value, ok := strings.Cut(part, "=")
		switch {
		case !ok:
			errs = append(errs, syntax("part %.40q; write NAME=VALUE", part))
		case seen[name]:
			errs = append(errs, syntax("%.40q comes twice; write it once", name))
		default:
			errs = append(errs, r.set(name, value))
		}
		seen[name] = true
	}
	if !seen["FREQ"] {
		errs = append(errs, syntax("FREQ is missing; write FREQ=HOURLY, DAILY, WEEKLY or MONTHLY"))
	}
	if err := errors.Join(errs...); err != nil {
		return Rule{}, err
	}
	if err := errors.Join(r.checkSteps(), r.checkDays()); err != nil {
		return Rule{}, err
	}
	return r, nil
}

// upperASCII leaves other letters alone: some of them have an ASCII capital.
func upperASCII(r rune) rune {
	if 'a' <= r && r <= 'z' {
		return r - 'a' + 'A'
	}
	return r
}

func syntax(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrSyntax}, args...)...)
}

// set takes one part into r.
func (r *Rule) set(name, value string) (err error) {
	switch name {
	case "FREQ":
		at := slices.Index(freqNames[:], value)
		if at < int(Hourly) {
			return syntax("FREQ=%.40q; use HOURLY, DAILY, WEEKLY or MONTHLY", value)
		}
		r.Freq = Freq(at)
	case "INTERVAL":
		r.Interval, err = number(name, value)
	case "COUNT":
		r.Count, err = number(name, value)
	case "UNTIL":
		r.Until, err = parseUntil(value)
	case "BYDAY":
		r.ByDay, err = list(name, value, parseDay)
	case "BYMONTHDAY":
		r.ByMonthDay, err = list(name, value, parseMonthDay)
	case "WKST":
		if value != "MO" {
			return syntax("WKST=%.40q; weeks begin on MO here", value)
		}
	default:
		return syntax("part %.40q is not supported; use FREQ, INTERVAL, BYDAY, BYMONTHDAY, COUNT, UNTIL", name)
	}
	return err
}

// number reads a positive decimal number without a sign.
func number(name, value string) (int, error) {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil || n == 0 {
		return 0, syntax("%s=%.40q; write a whole number from 1 to %d", name, value, 1<<31-1)
	}
	return int(n), nil
}

// parseUntil reads an instant in UTC. The other forms of the RFC, a date and a
// local time, are refused: they mean another instant in every zone.
func parseUntil(value string) (time.Time, error) {
	t, err := time.Parse(untilLayout, value)
	if err != nil || len(value) != len(untilLayout) || t.Year() < minYear || t.IsZero() {
		return time.Time{}, syntax("UNTIL=%.40q; write the instant in UTC as 20260331T220000Z", value)
	}
	return t, nil
}

func list[T any](name, value string, read func(string) (T, bool)) ([]T, error) {
	var out []T
	var errs []error
	for item := range strings.SplitSeq(value, ",") {
		v, ok := read(item)
		if !ok {
			errs = append(errs, syntax("%s has %.40q; write days such as MO, 1MO, -1FR in BYDAY and 1 to 31, -1 to -31 in BYMONTHDAY", name, item))
		}
		out = append(out, v)
	}
	return out, errors.Join(errs...)
}

func parseDay(item string) (Day, bool) {
	cut := max(len(item)-2, 0)
	at := slices.Index(dayNames[:], item[cut:])
	if at < 0 {
		return Day{}, false
	}
	d := Day{Weekday: time.Weekday(at)}
	if cut == 0 {
		return d, true
	}
	n, err := strconv.ParseInt(item[:cut], 10, 8)
	d.Nth = int(n)
	return d, err == nil && 1 <= max(n, -n) && max(n, -n) <= 5
}

func parseMonthDay(item string) (int, bool) {
	n, err := strconv.ParseInt(item, 10, 8)
	return int(n), err == nil && 1 <= max(n, -n) && max(n, -n) <= 31
}
