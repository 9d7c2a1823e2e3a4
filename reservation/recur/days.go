// SPDX-License-Identifier: Apache-2.0

package recur

import "slices"

// A pattern is the rule for dates: the days on which a rule recurs, numbered from
// 0. It knows no zone and no time of day.
type pattern interface {
	// nth returns day i; i ≥ 0.
	nth(i int64) int64
	// rank returns how many days of the pattern are before day.
	rank(day int64) int64
}

// A cycle is a pattern that repeats after a fixed number of days, as daily and
// weekly rules do:
//
//	anchor        anchor+length      anchor+2·length
//	├─x───x─────x─┼─x───x─────x──────┼─x───x─────x───…   x: anchor + offset
//	  (skip)  0   1 2   3     4
type cycle struct {
	anchor  int64
	length  int64
	offsets []int64 // ascending, at most 7
	skip    int64   // offsets that are before the start in the first cycle
}

// dailyCycle returns the days start, start+n, start+2n… that r allows. Their
// weekdays repeat after seven steps.
func dailyCycle(r Rule) cycle {
	step := int64(r.Interval)
	c := cycle{anchor: r.Start.day(), length: 7 * step}
	for k := range int64(7) {
		if len(r.ByDay) == 0 || slices.Contains(r.ByDay, Day{Weekday: weekday(c.anchor + k*step)}) {
			c.offsets = append(c.offsets, k*step)
		}
	}
	return c
}

// weeklyCycle returns the chosen days of every n-th week from the Monday before
// the start.
func weeklyCycle(r Rule) cycle {
	start := r.Start.day()
	monday := start - floorMod(int64(weekday(start))-1, 7)
	c := cycle{anchor: monday, length: 7 * int64(r.Interval)}
	for k := range int64(7) {
		if len(r.ByDay) == 0 && monday+k == start || slices.Contains(r.ByDay, Day{Weekday: weekday(monday + k)}) {
			c.offsets = append(c.offsets, k)
		}
	}
	c.skip = c.before(start - monday)
	return c
}

func (c cycle) nth(i int64) int64 {
	i += c.skip
	m := int64(len(c.offsets))
	return c.anchor + i/m*c.length + c.offsets[i%m]
}

func (c cycle) rank(day int64) int64 {
	d := day - c.anchor
	if d < 0 {
		return 0
	}
	return max(d/c.length*int64(len(c.offsets))+c.before(d%c.length)-c.skip, 0)
}

// before counts the offsets that are less than d.
func (c cycle) before(d int64) int64 {
	n, _ := slices.BinarySearch(c.offsets, d)
	return int64(n)
}
