// SPDX-License-Identifier: Apache-2.0

package recur

import (
	"errors"
	"time"
)

// A Config is what a [Series] is made of.
//
// A Config is immutable and safe for concurrent use.
type Config struct {
	Rule Rule
	// Location is the zone in which the clock is read. The package loads none,
	// because that reads files: pass what time.LoadLocation returns, or time.UTC.
	Location *time.Location
}

// A Series is a rule in a zone: windows numbered from 0 in the order of their
// starts. The numbers are those of the rule: leaving out a date, or another
// version of the zone, changes no other number.
//
// A Series is immutable and safe for concurrent use.
type Series struct {
	rule   Rule
	loc    *time.Location
	days   pattern // nil for Hourly
	clock  int64   // time of day of the start, seconds
	anchor int64   // Hourly: instant of index 0
	step   int64   // Hourly: seconds from one to the next
	gone   bool    // Hourly: index 0 is in a gap and skipped
	limit  int64
	out    exclusions
}

// Bounds of instants, Unix seconds: the years 1 to 9999.
const (
	minInstant = -62135596800
	maxInstant = 253402300799
)

// New checks a rule and compiles it. It reports all mistakes at once. The cost is
// that of the ExDates and, for a monthly rule, of looking once at 400 years: less
// than a millisecond.
//
// Possible errors: [ErrInvalid], [ErrZone].
func New(c Config) (*Series, error) {
	if err := errors.Join(c.Rule.check(), checkZone(c.Location, c.Rule.Start)); err != nil {
		return nil, err
	}
	s := &Series{rule: c.Rule.clone(), loc: c.Location, clock: c.Rule.Start.clock().seconds()}
	if err := s.compile(); err != nil {
		return nil, err
	}
	if s.rule.Count > 0 {
		s.limit = min(s.limit, int64(s.rule.Count))
	}
	if !s.rule.Until.IsZero() {
		if i, ok := s.search(s.rule.Until.Unix() + 1); ok {
			s.limit = i
		}
		if s.limit == 0 {
			return nil, invalid("Until is %s, before the first occurrence at %s", stamp(s.rule.Until), localOf(s.local(0)))
		}
	}
	if err := s.exclude(); err != nil {
		return nil, err
	}
	return s, nil
}

// compile sets the pattern and the limit at the end of the year 9999.
func (s *Series) compile() error {
	switch r := s.rule; r.Freq {
	case Hourly:
		first := resolve(s.loc, r.Start.seconds(), r.Gap, r.Ambiguous)
		s.anchor, s.gone = first.at, first.gap && r.Gap == SkipGap
		s.step = int64(r.Interval) * 3600
		s.limit = max(maxInstant-s.anchor, 0)/s.step + 1
		return nil
	case Daily, Weekly:
		c := dailyCycle(r)
		if r.Freq == Weekly {
			c = weeklyCycle(r)
		}
		if len(c.offsets) > 0 {
			s.days = c
		}
	case Monthly:
		if m := newMonths(r); m.total > 0 {
			s.days = m
		}
	}
	if s.days != nil {
		s.limit = s.days.rank(dayOf(maxYear+1, time.January, 1))
	}
	if s.limit == 0 {
		return invalid("ByDay, ByMonthDay and Interval in %q leave no day from %s to the year %d; change one of them", s.rule, s.rule.Start, maxYear)
	}
	return nil
}

// Rule returns the rule, with Interval 1 if it was 0.
func (s *Series) Rule() Rule { return s.rule.clone() }

// Location returns the zone.
func (s *Series) Location() *time.Location { return s.loc }

// Len returns the number of indexes, those without an occurrence included. A rule
// without Count or Until ends with the year 9999.
func (s *Series) Len() int { return int(s.limit) }

// Occurrence returns the window at index i, or false if there is none; then
// [Series.Absence] says why. It takes O(log e) for e ExDates, whatever i is.
func (s *Series) Occurrence(i int) (Window, bool) {
	w, absence := s.at(int64(i))
	return w, absence == Present
}

// Absence says why there is no occurrence at index i, or [Present].
func (s *Series) Absence(i int) Absence {
	_, absence := s.at(int64(i))
	return absence
}

// Local returns what the rule says the clock should show at index i, whether or not the
// occurrence is present. An hourly rule counts elapsed hours, so there it is what
// the clock does show.
func (s *Series) Local(i int) (Local, bool) {
	if i < 0 || int64(i) >= s.limit {
		return Local{}, false
	}
	l := localOf(s.local(int64(i)))
	return l, l.valid()
}

// local returns the wall-clock time of index i in seconds.
func (s *Series) local(i int64) int64 {
	if s.days == nil {
		at := s.anchor + i*s.step
		offset, _ := span(s.loc, at)
		return at + offset
	}
	return s.days.nth(i)*daySeconds + s.clock
}

// at returns the window of index i.
func (s *Series) at(i int64) (Window, Absence) {
	switch {
	case i < 0 || i >= s.limit:
		return Window{}, Beyond
	case s.out.has(i):
		return Window{}, Excluded
	}
	local := s.local(i)
	start, absence := s.start(i, local)
	if absence != Present {
		return Window{}, absence
	}
	end := s.end(local, start)
	switch {
	case end <= start:
		return Window{}, Empty
	case start < minInstant || end > maxInstant:
		return Window{}, Beyond
	}
	return Window{time.Unix(start, 0).UTC(), time.Unix(end, 0).UTC()}, Present
}

// start returns the instant at which index i, local by the clock, starts.
func (s *Series) start(i, local int64) (int64, Absence) {
	if s.days == nil {
		if i == 0 && s.gone {
			return 0, InGap
		}
		return s.anchor + i*s.step, Present
	}
	r := resolve(s.loc, local, s.rule.Gap, s.rule.Ambiguous)
	if !r.ok || r.gap && s.rule.Gap == SkipGap {
		return 0, InGap
	}
	if r.gap { // only then can a later time of the rule come first
		for k := i + 1; s.local(k) <= local+r.jump; k++ {
			if next := resolve(s.loc, s.local(k), s.rule.Gap, s.rule.Ambiguous); next.ok && next.at <= r.at {
				return 0, Overtaken
			}
		}
	}
	return r.at, Present
}

// end returns the instant at which the occurrence ends whose start is local by
// the clock.
func (s *Series) end(local, start int64) int64 {
	e := s.rule.Ends
	if !e.Local {
		return start + int64(e.Elapsed/time.Second)
	}
	until := (floorDiv(local, daySeconds)+int64(e.Days))*daySeconds + e.At.seconds()
	if until <= local {
		until += daySeconds
	}
	r := resolve(s.loc, until, s.rule.Gap, s.rule.Ambiguous)
	if r.at <= start { // an hourly rule may start in the second hour of two
		r = resolve(s.loc, until, s.rule.Gap, Second)
	}
	if !r.ok { // beyond maxOffset: no window
		return start
	}
	return r.at
}
