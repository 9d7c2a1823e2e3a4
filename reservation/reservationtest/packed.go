// SPDX-License-Identifier: Apache-2.0

package reservationtest

import (
	"container/heap"
	"math"
	"slices"
	"time"
)

// The packed traces are those of the benchmarks: 12,500 nodes of eight GPUs,
// about 90 % of them asked for, every request known at the start, in no order of
// time, and all of them fit. Sizes scale the counts, so the load is the same for all.

const (
	packedNodes = 12_500
	packedLoad  = 0.9
	packedRoom  = packedNodes / 50 // what a packed trace never asks for, so that small requests fit beside it
)

// D90 returns size bookings over 90 days of 1–168 h, most of them short: the
// density falls with the length to the power −1.5, mean 13 h. (A flatter one
// would not leave one node each for a million bookings.) On working days the
// arrivals are a quarter denser than at weekends.
func D90(size int, seed uint64) Trace {
	const most = 168
	return packed("d90", size, seed, 90, math.Sqrt(most), func(d *drawn) float64 {
		x := 1 - d.Float64()*(1-1/math.Sqrt(most))
		return 1 / (x * x)
	})
}

// S90 returns size jobs over 90 days of 5–60 min.
func S90(size int, seed uint64) Trace {
	return packed("s90", size, seed, 90, 32.5/60, func(d *drawn) float64 { return (5 + 55*d.Float64()) / 60 })
}

// D611 returns size bookings over 611 days of 1–168 h, every length as often.
func D611(size int, seed uint64) Trace {
	return packed("d611", size, seed, 611, 84.5, func(d *drawn) float64 { return 1 + 167*d.Float64() })
}

// packed fills the pool from left to right, so that what starts always fits:
// a booking gets what is free, and what it lacks the next ones ask for as well.
func packed(name string, size int, seed uint64, days int, mean float64, hours func(*drawn) float64) Trace {
	d := newTrace(name, packedNodes, seed)
	d.Span = time.Duration(days) * 24 * time.Hour
	nodes := packedLoad * packedNodes * d.Span.Hours() / (float64(max(size, 1)) * mean) // per booking
	starts := make([]int64, 0, size)
	for len(starts) < size {
		at := d.Int64N(int64(d.Span / time.Second))
		if day := d.Start.Add(time.Duration(at) * time.Second).Weekday(); (day == time.Saturday || day == time.Sunday) && d.IntN(5) == 0 {
			continue
		}
		starts = append(starts, at)
	}
	slices.Sort(starts)
	var busy ends
	free, owed, at := int64(packedNodes-packedRoom), 0.0, int64(0)
	for _, start := range starts {
		at = max(at, start) // nobody overtakes one that had to wait
		for len(busy) > 0 && (busy[0].at <= at || free == 0) {
			at = max(at, busy[0].at)
			free += heap.Pop(&busy).(end).nodes
		}
		want := owed + 1 + d.Float64()*2*(nodes-1)
		n := min(free, max(1, int64(want+d.Float64()))) // rounded up as often as is right
		owed = min(max(want-float64(n), -2*nodes), packedNodes)
		length := max(1, int64(hours(d)*3600))
		free -= n
		heap.Push(&busy, end{at + length, n})
		d.add(d.Start, d.Start.Add(time.Duration(at)*time.Second), time.Duration(length)*time.Second, n)
	}
	d.Shuffle(len(d.Arrivals), func(i, k int) { d.Arrivals[i], d.Arrivals[k] = d.Arrivals[k], d.Arrivals[i] })
	return d.Trace
}

// ends is a heap of what is busy, by the instant at which it ends.
type ends []end

type end struct{ at, nodes int64 }

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, k int) bool { return e[i].at < e[k].at }
func (e ends) Swap(i, k int)      { e[i], e[k] = e[k], e[i] }
func (e *ends) Push(x any)        { *e = append(*e, x.(end)) }
func (e *ends) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}
