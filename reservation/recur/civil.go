// SPDX-License-Identifier: Apache-2.0

package recur

import (
	"fmt"
	"time"
)

const (
	daySeconds = 24 * 60 * 60
	minYear    = 1
	maxYear    = 9999
)

// A Local is a wall-clock reading, a date and a time of day of the proleptic
// Gregorian calendar, that belongs to no zone. Years are 1 to 9999.
//
// A Local is immutable and safe for concurrent use.
type Local struct {
	Year   int
	Month  time.Month
	Day    int
	Hour   int
	Minute int
	Second int
}

// A Clock is a time of day, 00:00:00 to 23:59:59.
//
// A Clock is immutable and safe for concurrent use.
type Clock struct {
	Hour   int
	Minute int
	Second int
}

// String returns the reading as "2006-01-02T15:04:05".
func (l Local) String() string {
	return fmt.Sprintf("%04d-%02d-%02dT%s", l.Year, int(l.Month), l.Day, l.clock())
}

// String returns the time of day as "15:04:05".
func (c Clock) String() string { return fmt.Sprintf("%02d:%02d:%02d", c.Hour, c.Minute, c.Second) }

// ParseLocal reads what [Local.String] writes, and nothing else.
//
// Possible errors: [ErrSyntax].
func ParseLocal(s string) (Local, error) {
	const layout = "2006-01-02T15:04:05"
	t, err := time.Parse(layout, s) // the layout has no zone, so this is a reading in UTC
	if err != nil || len(s) != len(layout) || t.Year() < minYear {
		return Local{}, fmt.Errorf("%w: local time %.40q; write it as 2026-03-02T09:00:00", ErrSyntax, s)
	}
	return localOf(t.Unix()), nil
}

func (l Local) clock() Clock { return Clock{l.Hour, l.Minute, l.Second} }

// valid says whether such a day and such a time of day exist.
func (l Local) valid() bool {
	if l.Year < minYear || l.Year > maxYear || l.Month < time.January || l.Month > time.December {
		return false
	}
	return l.Day >= 1 && l.Day <= monthDays(l.Year, l.Month) && l.clock().valid()
}

func (c Clock) valid() bool {
	return 0 <= c.Hour && c.Hour < 24 && 0 <= c.Minute && c.Minute < 60 && 0 <= c.Second && c.Second < 60
}

func (c Clock) seconds() int64 { return int64(c.Hour)*3600 + int64(c.Minute)*60 + int64(c.Second) }

// day returns the days since 1970-01-01.
func (l Local) day() int64 { return dayOf(l.Year, l.Month, l.Day) }

// seconds returns the reading as seconds since the reading 1970-01-01T00:00:00.
// It is what the package computes with; only resolve turns it into an instant.
func (l Local) seconds() int64 { return l.day()*daySeconds + l.clock().seconds() }

// localOf is the inverse of Local.seconds.
func localOf(seconds int64) Local {
	t := time.Unix(seconds, 0).UTC()
	return Local{t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second()}
}

// beforeMonth holds the days of a common year that are before each month.
var beforeMonth = [...]int64{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365}

// dayOf returns the days from 1970-01-01 to a date of the years from 1 on.
func dayOf(year int, month time.Month, day int) int64 {
	y := int64(year) - 1
	n := y*365 + y/4 - y/100 + y/400 + beforeMonth[month-1] + int64(day) - 1 // from 0001-01-01
	if month > time.February && leap(year) {
		n++
	}
	return n - 719162
}

func monthDays(year int, month time.Month) int {
	n := int(beforeMonth[month] - beforeMonth[month-1])
	if month == time.February && leap(year) {
		n++
	}
	return n
}

func leap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

// weekday returns the weekday of a day counted from 1970-01-01, a Thursday.
func weekday(day int64) time.Weekday {
	return time.Weekday(floorMod(day+int64(time.Thursday), 7))
}

func floorDiv(a, b int64) int64 { return (a - floorMod(a, b)) / b }

func floorMod(a, b int64) int64 { return (a%b + b) % b }
