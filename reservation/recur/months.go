// SPDX-License-Identifier: Apache-2.0

package recur

import (
	"math/bits"
	"sort"
	"time"
)

const (
	// The Gregorian calendar, weekdays included, repeats after 400 years.
	calendarMonths = 400 * 12
	// sampleSteps is the distance of the sums kept: 1.2 kB at most per rule, and at
	// most 16 months to look at.
	sampleSteps = 16
)

// months is a pattern of chosen days of every n-th month. Months are counted from
// January of the year 0.
type months struct {
	days  []Day
	dates []int // both empty: never
	first int64 // month of the start
	step  int64
	steps int64   // steps after which the calendar repeats
	total int64   // days of the pattern in those steps
	sums  []int32 // days of the pattern in the first 0, 16, 32… steps
	skip  int64   // days of the pattern that are before the start in its month
}

func newMonths(r Rule) months {
	m := months{
		days: r.ByDay, dates: r.ByMonthDay,
		first: int64(r.Start.Year)*12 + int64(r.Start.Month) - 1,
		step:  int64(r.Interval),
	}
	if len(m.days) == 0 && len(m.dates) == 0 {
		m.dates = []int{r.Start.Day}
	}
	m.steps = calendarMonths / gcd(m.step, calendarMonths)
	m.sums = make([]int32, 0, (m.steps+sampleSteps-1)/sampleSteps)
	for k := range m.steps {
		if k%sampleSteps == 0 {
			m.sums = append(m.sums, int32(m.total))
		}
		m.total += m.count(k)
	}
	m.skip = below(m.mask(m.first), r.Start.Day)
	return m
}

func (m months) nth(i int64) int64 {
	i += m.skip
	round, left := i/m.total, i%m.total
	block := sort.Search(len(m.sums), func(b int) bool { return int64(m.sums[b]) > left }) - 1
	k := int64(block) * sampleSteps
	left -= int64(m.sums[block])
	for n := m.count(k); left >= n; n = m.count(k) {
		left -= n
		k++
	}
	month := m.first + (round*m.steps+k)*m.step
	mask := m.mask(month)
	for ; left > 0; left-- {
		mask &= mask - 1 // clear the lowest day
	}
	return dayOf(int(month/12), time.Month(month%12+1), 1+bits.TrailingZeros32(mask))
}

func (m months) rank(day int64) int64 {
	date := localOf(day * daySeconds)
	month := int64(date.Year)*12 + int64(date.Month) - 1
	if month < m.first {
		return 0
	}
	k, rest := (month-m.first)/m.step, (month-m.first)%m.step
	if rest != 0 {
		return max(m.sum(k+1)-m.skip, 0)
	}
	return max(m.sum(k)+below(m.mask(month), date.Day)-m.skip, 0)
}

// sum returns the days of the pattern in the first k steps.
func (m months) sum(k int64) int64 {
	round, left := k/m.steps, k%m.steps
	n := round*m.total + int64(m.sums[left/sampleSteps])
	for j := left - left%sampleSteps; j < left; j++ {
		n += m.count(j)
	}
	return n
}

// count returns the days of the pattern in step k.
func (m months) count(k int64) int64 {
	return int64(bits.OnesCount32(m.mask(m.first + k*m.step)))
}

// mask returns the days of the pattern in a month, the first as bit 0.
func (m months) mask(month int64) uint32 {
	month = month%calendarMonths + calendarMonths // the same month in the years 400 to 799
	year, name := int(month/12), time.Month(month%12+1)
	length := monthDays(year, name)
	all := uint32(1)<<length - 1
	mask := all
	if len(m.days) > 0 {
		mask = weekdayMask(m.days, weekday(dayOf(year, name, 1)), length)
	}
	if len(m.dates) == 0 {
		return mask
	}
	var dates uint32
	for _, d := range m.dates {
		if d < 0 {
			d += length + 1
		}
		if d >= 1 {
			dates |= 1 << (d - 1)
		}
	}
	return mask & dates & all
}

// weekdayMask returns the days that are named, in a month whose first day is
// first.
func weekdayMask(days []Day, first time.Weekday, length int) uint32 {
	var mask uint32
	for _, d := range days {
		lead := int(floorMod(int64(d.Weekday-first), 7)) // days before the first such weekday
		last := lead + (length-1-lead)/7*7
		switch at := lead + (d.Nth-1)*7; {
		case d.Nth == 0:
			for at := lead; at <= last; at += 7 {
				mask |= 1 << at
			}
		case d.Nth < 0:
			if at := last + (d.Nth+1)*7; at >= 0 {
				mask |= 1 << at
			}
		case at <= last:
			mask |= 1 << at
		}
	}
	return mask
}

// below counts the days of a mask that are before the day of the month.
func below(mask uint32, day int) int64 {
	return int64(bits.OnesCount32(mask & (1<<(day-1) - 1)))
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
