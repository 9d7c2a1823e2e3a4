// SPDX-License-Identifier: Apache-2.0

package reservationtest

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/berth-gpu/berth/reservation"
)

// An Arrival is one request of a [Trace].
//
// An Arrival is immutable and safe for concurrent use.
type Arrival struct {
	At     time.Time     // when it is asked for
	Start  time.Time     // of the window; not before At
	Length time.Duration // of the window, whole seconds
	Nodes  int64
	Owner  string
}

// A Trace is a stream of requests for one pool as plain data. The same size and
// seed give the same trace in every run.
//
// A Trace is immutable and safe for concurrent use.
type Trace struct {
	Name     string
	Pool     reservation.Pool
	Start    time.Time     // the present before the first arrival
	Span     time.Duration // windows that do not have to wait start in [Start, Start + Span)
	Arrivals []Arrival     // in order of At
}

// Request returns arrival i as a Firm request for floating nodes; its id is i.
func (t Trace) Request(i int) reservation.Request {
	a := t.Arrivals[i]
	return reservation.Request{
		ID: strconv.Itoa(i), Owner: a.Owner,
		Window: reservation.Window{Start: a.Start, End: a.Start.Add(a.Length)},
		Lines:  []reservation.Line{{Pool: t.Pool.Name, Count: a.Nodes}},
	}
}

// Commands yields one Book per arrival.
func (t Trace) Commands() iter.Seq[Command] {
	return func(yield func(Command) bool) {
		for i, a := range t.Arrivals {
			if !yield(Command{Op: Book, At: a.At, Request: t.Request(i)}) {
				return
			}
		}
	}
}

// Load returns the part of the pool, over the Span, that is asked for: 1 is all
// of it. It is for people.
func (t Trace) Load() float64 {
	var sum float64
	for _, a := range t.Arrivals {
		sum += float64(a.Nodes) * a.Length.Seconds()
	}
	return sum / (float64(len(t.Pool.Units)) * t.Span.Seconds())
}

// Nodes of the pool of the small traces, and the load that they ask for.
const (
	traceNodes = 100
	traceLoad  = 0.9
)

// drawn is one trace in the making.
type drawn struct {
	*rand.Rand
	Trace
}

// newTrace returns an empty trace of a pool of n nodes. Traces of different
// names draw different numbers for the same seed.
func newTrace(name string, nodes int, seed uint64) *drawn {
	key := uint64(14695981039346656037) // FNV-1a of the name
	for _, b := range []byte(name) {
		key = (key ^ uint64(b)) * 1099511628211
	}
	d := &drawn{Rand: rand.New(rand.NewPCG(seed, key))}
	d.Trace = Trace{Name: name, Start: Start, Pool: reservation.Pool{Name: name, GPUsPerUnit: 8}}
	for i := range nodes {
		d.Pool.Units = append(d.Pool.Units, reservation.Unit{Name: fmt.Sprintf("%s-n%d", name, i)})
	}
	return d
}

// spread sets the span so that size arrivals of a mean length and count ask for
// [traceLoad] of the pool.
func (d *drawn) spread(size int, mean time.Duration, nodes float64) {
	d.Span = max(time.Hour, time.Duration(float64(size)*nodes/(traceNodes*traceLoad)*mean.Seconds())*time.Second)
}

// within draws whole seconds in [least, most].
func (d *drawn) within(least, most time.Duration) time.Duration {
	return least + time.Duration(d.Int64N(int64((most-least)/time.Second)+1))*time.Second
}

// few draws 1 to 16 nodes, mean 4.25: half of all jobs have one or two.
func (d *drawn) few() int64 { return []int64{1, 1, 2, 2, 4, 4, 4, 16}[d.IntN(8)] }

const meanFew = 4.25

func (d *drawn) add(at, start time.Time, length time.Duration, nodes int64) {
	d.Arrivals = append(d.Arrivals, Arrival{At: at, Start: start, Length: length, Nodes: nodes, Owner: "team" + strconv.Itoa(d.IntN(100))})
}

func (d *drawn) done() Trace {
	slices.SortStableFunc(d.Arrivals, func(a, b Arrival) int { return a.At.Compare(b.At) })
	return d.Trace
}

// Uniform returns size requests at any time, up to a week ahead, for 1–24 h and
// 1–16 of 100 nodes, 90 % of the pool.
func Uniform(size int, seed uint64) Trace {
	d := newTrace("uniform", traceNodes, seed)
	d.spread(size, 12*time.Hour+30*time.Minute, meanFew)
	for range size {
		start := d.Start.Add(d.within(0, d.Span-time.Second))
		at := start.Add(-d.within(0, 7*24*time.Hour))
		d.add(later(at, d.Start), start, d.within(time.Hour, 24*time.Hour), d.few())
	}
	return d.done()
}

// Bursty returns size requests that come in bursts of 20 in the mean, each burst
// of one team in one second, for windows that begin at once or within six hours.
func Bursty(size int, seed uint64) Trace {
	d := newTrace("bursty", traceNodes, seed)
	d.spread(size, 6*time.Hour+30*time.Minute, meanFew)
	for left := 0; len(d.Arrivals) < size; left-- {
		if left <= 0 {
			left = 1 + int(d.ExpFloat64()*19.5)
			d.add(d.Start.Add(d.within(0, d.Span-time.Second)), time.Time{}, 0, 0)
		} else {
			d.Arrivals = append(d.Arrivals, d.Arrivals[len(d.Arrivals)-1])
		}
		a := &d.Arrivals[len(d.Arrivals)-1]
		a.Start, a.Length, a.Nodes = a.At, d.within(time.Hour, 12*time.Hour), d.few()
		if d.IntN(2) == 0 {
			a.Start = a.At.Add(d.within(0, 6*time.Hour))
		}
		if last := d.Start.Add(d.Span - time.Second); a.Start.After(last) {
			a.Start = last
		}
	}
	return d.done()
}

// Diurnal returns size requests for windows that begin at once and come by day: at noon UTC nine times
// as many as at midnight, and at weekends a third.
func Diurnal(size int, seed uint64) Trace {
	d := newTrace("diurnal", traceNodes, seed)
	d.spread(size, 4*time.Hour+30*time.Minute, meanFew)
	for len(d.Arrivals) < size {
		at := d.Start.Add(d.within(0, d.Span-time.Second))
		rate := 0.5 - 0.4*math.Cos(float64(at.Hour()*60+at.Minute())/1440*2*math.Pi)
		if day := at.Weekday(); day == time.Saturday || day == time.Sunday {
			rate /= 3
		}
		if d.Float64() < rate {
			d.add(at, at, d.within(time.Hour, 8*time.Hour), d.few())
		}
	}
	return d.done()
}

// ShortJobs returns size requests for windows of 5–60 min that begin at once.
func ShortJobs(size int, seed uint64) Trace {
	d := newTrace("short-jobs", traceNodes, seed)
	d.spread(size, 32*time.Minute+30*time.Second, meanFew)
	for range size {
		at := d.Start.Add(d.within(0, d.Span-time.Second))
		d.add(at, at, d.within(5*time.Minute, time.Hour), d.few())
	}
	return d.done()
}

// Fragmented returns about size requests, all known at the start and all of
// which fit, that leave gaps of 1–59 min in between and no other room: whoever
// wants an hour has to pass all the gaps. In each gap up to half of the pool is
// busy, so the gaps are of many heights as well.
func Fragmented(size int, seed uint64) Trace {
	d := newTrace("fragmented", traceNodes, seed)
	at := d.Start
	for len(d.Arrivals) < size {
		gap := d.within(time.Minute, 59*time.Minute)
		length := d.within(30*time.Minute, 3*time.Hour)
		// The longer part goes on through the gap.
		low := d.Int64N(traceNodes / 2)
		for left := int64(traceNodes); left > 0; {
			n := min(left, 1+d.Int64N(traceNodes/4))
			through := time.Duration(0)
			if low > 0 {
				n = min(n, low)
				low -= n
				through = gap
			}
			left -= n
			d.add(d.Start, at, length+through, n)
		}
		at = at.Add(length + gap)
	}
	d.Span = at.Sub(d.Start)
	d.Shuffle(len(d.Arrivals), func(i, k int) { d.Arrivals[i], d.Arrivals[k] = d.Arrivals[k], d.Arrivals[i] })
	return d.done()
}
