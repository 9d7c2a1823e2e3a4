// SPDX-License-Identifier: Apache-2.0

package recur

import (
	"strconv"
	"strings"
	"time"
)

const untilLayout = "20060102T150405Z"

// dayNames are the weekdays of RFC 5545 by time.Weekday.
var dayNames = [...]string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

// String returns Freq, Interval, ByMonthDay, ByDay, Count and Until as the value
// of an RRULE, such as "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;COUNT=10". Parse reads
// it back if those fields are valid. Start, Ends, ExDates and the choices about
// the clocks are not part of an RRULE.
func (r Rule) String() string {
	var b strings.Builder
	b.WriteString("FREQ=" + r.Freq.String())
	if r.Interval > 1 || r.Interval < 0 {
		b.WriteString(";INTERVAL=" + strconv.Itoa(r.Interval))
	}
	for i, d := range r.ByMonthDay {
		b.WriteString(separator(i, ";BYMONTHDAY=") + strconv.Itoa(d))
	}
	for i, d := range r.ByDay {
		b.WriteString(separator(i, ";BYDAY=") + dayText(d))
	}
	if r.Count != 0 {
		b.WriteString(";COUNT=" + strconv.Itoa(r.Count))
	}
	if !r.Until.IsZero() {
		b.WriteString(";UNTIL=" + r.Until.UTC().Format(untilLayout))
	}
	return b.String()
}

func separator(i int, name string) string {
	if i == 0 {
		return name
	}
	return ","
}

func dayText(d Day) string {
	name := "?" + strconv.Itoa(int(d.Weekday))
	if d.Weekday >= time.Sunday && d.Weekday <= time.Saturday {
		name = dayNames[d.Weekday]
	}
	if d.Nth == 0 {
		return name
	}
	return strconv.Itoa(d.Nth) + name
}
