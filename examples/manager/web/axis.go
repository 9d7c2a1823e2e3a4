// SPDX-License-Identifier: Apache-2.0

package web

import (
	"math"
	"time"
)

// A spanned is one of the lengths the calendar may show, with a width of bin
// that makes 168 to 366 columns of it.
type spanned struct {
	Days int
	bin  time.Duration
}

var spans = []spanned{
	{2, 15 * time.Minute},
	{7, time.Hour},
	{14, time.Hour},
	{30, 2 * time.Hour},
	{90, 6 * time.Hour},
	{366, 24 * time.Hour},
}

func spanOf(days int) (spanned, bool) {
	for _, s := range spans {
		if s.Days == days {
			return s, true
		}
	}
	return spanned{}, false
}

// window is what the span shows at now: whole bins, so that the picture stands
// still until the next bin begins.
func (s spanned) window(now time.Time) (from, to time.Time, bins int) {
	from = now.UTC().Truncate(s.bin)
	bins = int(time.Duration(s.Days) * 24 * time.Hour / s.bin)
	return from, from.Add(time.Duration(bins) * s.bin), bins
}

// A timeAxis maps [from, to) to [x0, x1].
type timeAxis struct {
	from, to time.Time
	x0, x1   float64
}

// x is the place of t, kept inside the axis.
func (a timeAxis) x(t time.Time) float64 {
	whole := a.to.Sub(a.from)
	if whole <= 0 {
		return a.x0
	}
	part := min(max(t.Sub(a.from), 0), whole)
	return a.x0 + (a.x1-a.x0)*float64(part)/float64(whole)
}

// A tick is a mark of the time axis.
type tick struct {
	at    time.Time
	label string
	day   bool // at midnight
}

// ticks returns marks at least room apart. Steps of days begin at midnight UTC,
// steps of weeks on Mondays: Truncate counts from year 1, which began on one.
func (a timeAxis) ticks(room float64) []tick {
	const day = 24 * time.Hour
	steps := []time.Duration{3 * time.Hour, 6 * time.Hour, 12 * time.Hour, day, 2 * day, 7 * day, 14 * day, 28 * day, 91 * day}
	whole := a.to.Sub(a.from)
	if whole <= 0 {
		return nil
	}
	step := steps[len(steps)-1]
	for _, s := range steps {
		if (a.x1-a.x0)*float64(s)/float64(whole) >= room {
			step = s
			break
		}
	}
	var out []tick
	for t := a.from.Truncate(step); t.Before(a.to); t = t.Add(step) {
		if t.Before(a.from) {
			continue
		}
		k := tick{at: t, day: t.Equal(t.Truncate(day))}
		switch {
		case !k.day:
			k.label = t.Format("15:04")
		case step >= 7*day:
			k.label = t.Format("2 Jan")
		default:
			k.label = t.Format("Mon 2 Jan")
		}
		out = append(out, k)
	}
	return out
}

// levels returns about n round values from lo to hi for the other axis, zero
// among them.
func levels(lo, hi int64, n float64) []int64 {
	if hi <= lo {
		return []int64{lo}
	}
	raw := (float64(hi) - float64(lo)) / n
	mag := math.Pow(10, math.Floor(math.Log10(raw)))
	step := int64(1)
	for _, m := range []float64{1, 2, 5, 10} {
		if m*mag >= raw {
			step = max(int64(m*mag), 1)
			break
		}
	}
	var out []int64
	for i, first := int64(0), lo/step; i < 32 && first+i <= hi/step; i++ {
		out = append(out, (first+i)*step)
	}
	return out
}
