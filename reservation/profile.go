// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"iter"
	"slices"

	"github.com/berth-gpu/berth/internal/step"
	"github.com/berth-gpu/berth/internal/tick"
)

// A Step is a range in which a pool's numbers stay the same.
//
// A Step is immutable and safe for concurrent use.
type Step struct {
	Window   Window `json:"window"`
	Capacity int64  `json:"capacity"` // open nodes and spares in use that are not in outage
	Firm     int64  `json:"firm"`     // nodes in Firm envelopes
	Free     int64  `json:"free"`     // Capacity − Firm; negative is a shortfall
}

// A Bin is a part of a chart.
//
// A Bin is immutable and safe for concurrent use.
type Bin struct {
	Window   Window `json:"window"`
	Min      int64  `json:"min"`      // least free nodes at any instant
	Max      int64  `json:"max"`      // most free nodes at any instant
	Capacity int64  `json:"capacity"` // least capacity at any instant
}

// Profile yields the exact steps of a pool from the present on in w, in order
// and without gaps; neighbours differ. It yields nothing for an unknown pool or
// a window that is past, empty or unaligned. It costs O(log n + k) for k steps.
func (c *Calendar) Profile(pool string, w Window) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		s := &c.core.S
		p := s.pool(pool)
		from, to, err := w.ticks("Window", true)
		if p == nil || err != nil {
			return
		}
		from = max(from, s.now)
		if from >= to {
			return
		}
		capacity := p.capacity(from, to)
		for x := range p.load.Steps(from, to) {
			for len(capacity) > 0 && x.From < x.To {
				o := capacity[0]
				end := min(x.To, o.To)
				free := p.open - x.Level
				if !yield(Step{windowOf(x.From, end), o.Level, o.Level - free, free}) {
					return
				}
				x.From = end
				if o.To <= end {
					capacity = capacity[1:]
				}
			}
		}
	}
}

// capacity returns the steps of open − lost + extra in [from, to).
func (p *pool) capacity(from, to int64) []step.Step {
	var out []step.Step
	extra := slices.Collect(p.extra.Steps(from, to))
	for x := range p.lost.Steps(from, to) {
		for len(extra) > 0 && x.From < x.To {
			end := min(x.To, extra[0].To)
			level := p.open - x.Level + extra[0].Level
			if k := len(out) - 1; k >= 0 && out[k].Level == level {
				out[k].To = end
			} else {
				out = append(out, step.Step{From: x.From, To: end, Level: level})
			}
			x.From = end
			if extra[0].To <= end {
				extra = extra[1:]
			}
		}
	}
	return out
}

// ahead converts a window that must not begin before the present.
func (s *state) ahead(w Window) (from, to int64, err error) {
	if from, to, err = w.ticks("Window", false); err != nil {
		return 0, 0, err
	}
	if from < s.now {
		return 0, 0, fmt.Errorf("%w: Window %s, the present is %s", ErrHorizon, w, until(s.now))
	}
	return from, to, nil
}

// MinFree returns the least number of free nodes at any instant of w: as many
// can be booked for w if the pool's envelope adds nothing. It may be negative.
// It costs O(log n).
//
// Possible errors: [ErrUnknown], [ErrHorizon], [ErrEmptyWindow], [ErrUnaligned].
func (c *Calendar) MinFree(pool string, w Window) (int64, error) {
	s := &c.core.S
	p, err := s.poolOf(pool)
	if err != nil {
		return 0, err
	}
	from, to, err := s.ahead(w)
	if err != nil {
		return 0, err
	}
	return p.open - p.load.Max(from, to), nil
}

// Bins returns n parts of w, equal but for a second, for a chart. A part that
// has ended before the present is left out, one that has begun starts there. It
// costs O(n log m) for m changes.
//
// Possible errors: [ErrUnknown], [ErrInvalid] for n, [ErrEmptyWindow], [ErrUnaligned].
func (c *Calendar) Bins(pool string, w Window, n int) ([]Bin, error) {
	s := &c.core.S
	p, err := s.poolOf(pool)
	if err != nil {
		return nil, err
	}
	from, to, err := w.ticks("Window", false)
	if err != nil {
		return nil, err
	}
	if n < 1 || n > maxUnits || int64(n) > to-from {
		return nil, fmt.Errorf("%w: n is %d; a window of %s has 1 … %d bins", ErrInvalid, n, w.Length(), min(maxUnits, to-from))
	}
	edge := func(i int) int64 { // (to − from) < 2³⁹ and i ≤ 2²⁰: no overflow
		return from + (to-from)*int64(i)/int64(n)
	}
	out := make([]Bin, 0, n)
	for i := range n {
		a, b := max(edge(i), s.now), edge(i+1)
		if a >= b {
			continue
		}
		capacity := p.open - p.lost.Max(a, b)
		if p.extra.Len() > 0 {
			capacity = tick.Forever
			for _, x := range p.capacity(a, b) {
				capacity = min(capacity, x.Level)
			}
		}
		out = append(out, Bin{windowOf(a, b), p.open - p.load.Max(a, b), p.open - p.load.Min(a, b), capacity})
	}
	return out, nil
}

// FreeNodes returns the nodes of a pool that a Firm booking of w could be
// seated on, in the pool's order: no Firm seat, no outage and no spare in w and
// its envelope. Standby claims and plans give way and do not count. For a
// booking that has begun, ask for the rest of its window. It costs O(log n) per
// node.
//
// Possible errors: [ErrUnknown], [ErrHorizon], [ErrEmptyWindow], [ErrUnaligned].
func (c *Calendar) FreeNodes(pool string, w Window) ([]string, error) {
	s := &c.core.S
	p, err := s.poolOf(pool)
	if err != nil {
		return nil, err
	}
	from, to, err := s.ahead(w)
	if err != nil {
		return nil, err
	}
	from, to = max(s.now, from-p.prep), to+p.grace+p.cleanup
	var out []string
	for _, u := range p.Units {
		if !u.Spare && s.free(u.Name, from, to, "", false) {
			out = append(out, u.Name)
		}
	}
	return out, nil
}
