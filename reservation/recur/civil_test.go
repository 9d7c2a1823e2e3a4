// SPDX-License-Identifier: Apache-2.0

package recur

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The calendar is that of package time in UTC, for every day of 801 years and at both ends.
func TestCalendar(t *testing.T) {
	for _, from := range []int{1, 1600, 9998} {
		for d := time.Date(from, time.January, 1, 0, 0, 0, 0, time.UTC); d.Year() <= min(from+801, maxYear); d = d.AddDate(0, 0, 1) {
			y, m, day := d.Date()
			n := dayOf(y, m, day)
			if n*daySeconds != d.Unix() || weekday(n) != d.Weekday() || localOf(n*daySeconds) != (Local{Year: y, Month: m, Day: day}) {
				require.Fail(t, "wrong day", "%s is %d", d, n)
			}
			if next := d.AddDate(0, 0, 1); next.Day() == 1 {
				require.Equal(t, day, monthDays(y, m))
			}
		}
	}
}
