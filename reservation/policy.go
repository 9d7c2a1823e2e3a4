// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"bytes"
	"slices"
	"time"
)

// A Policy holds the rules of a pool as one value. A zero field means what its
// comment says, mostly that there is no such rule. All durations are whole
// seconds. A booking keeps the Prep, Grace and Cleanup under which it was made;
// everything else is asked of the pool's policy of the day.
//
// Firm windows obey all rules of their pools when they are booked or held, and
// those on length and end when they are extended. Nothing is judged again later:
// a new policy breaks no booking. See [Preset] for the rules of known providers.
//
// A Policy is immutable and safe for concurrent use.
type Policy struct {
	Prep    time.Duration `json:"prep,omitempty"`    // before Start: nodes are made ready
	Grace   time.Duration `json:"grace,omitempty"`   // after End: work may still leave
	Cleanup time.Duration `json:"cleanup,omitempty"` // after the grace: nodes are handed over

	// ReclaimLead is how long before a Firm envelope Standby work is told to leave.
	// It must be ≥ Prep + Grace + Cleanup; 0 = 15 min, or that sum if it is longer.
	ReclaimLead time.Duration `json:"reclaimLead,omitempty"`
	// BindLead is how long before its envelope the host should seat a booking.
	// It must be ≥ ReclaimLead, so that the seats are known when Standby work is
	// told; 0 = ReclaimLead + 10 min.
	BindLead time.Duration `json:"bindLead,omitempty"`

	MinLength time.Duration `json:"minLength,omitempty"` // shortest window; 0 = no rule
	MaxLength time.Duration `json:"maxLength,omitempty"` // longest window, extensions included; 0 = no rule
	Steps     []LengthStep  `json:"steps,omitempty"`     // which lengths there are; empty = any

	MinLead time.Duration `json:"minLead,omitempty"` // least time from the command to Start; 0 = no rule
	MaxLead time.Duration `json:"maxLead,omitempty"` // most time from the command to Start; 0 = no rule
	Horizon time.Duration `json:"horizon,omitempty"` // most time from the command to End; 0 = no rule

	AlignStart Grid `json:"alignStart,omitzero"` // where windows may begin; zero = anywhere
	AlignEnd   Grid `json:"alignEnd,omitzero"`   // where windows may end; zero = anywhere
	// CutFirst lets a window begin between two instants of AlignEnd: MinLength,
	// MaxLength and Steps then see its length rounded up to a multiple of
	// AlignEnd.Every. With ends at 11:30 daily and steps of a day, the window from
	// 04:55 to 11:30 of the next day counts as two days. False: lengths as they are.
	CutFirst bool `json:"cutFirst,omitempty"`

	NoExtend    bool          `json:"noExtend,omitempty"`    // the end never moves later
	ExtendFrom  time.Duration `json:"extendFrom,omitempty"`  // an extension is asked at the earliest this long before End; 0 = no rule
	ExtendUntil time.Duration `json:"extendUntil,omitempty"` // and at the latest this long before End; 0 = no rule
	MaxExtend   time.Duration `json:"maxExtend,omitempty"`   // the most that one extension adds; 0 = no rule

	// NoCancel locks a booking from the moment it is confirmed: it is not
	// cancelled, and its end does not move earlier. Holds may always be given back,
	// and what has begun may always be released.
	NoCancel    bool          `json:"noCancel,omitempty"`
	CancelUntil time.Duration `json:"cancelUntil,omitempty"` // the same lock from this long before Start on; 0 = no lock

	// Notices are how long before End the host is to tell the owner, the earliest first.
	Notices []time.Duration `json:"notices,omitempty"`

	// NoShowGrace is how long after Start somebody has to check in; otherwise the
	// booking is a NoShow and the rest of its window is free. Of the pools of a
	// booking the shortest counts. 0 = no rule.
	NoShowGrace time.Duration `json:"noShowGrace,omitempty"`

	MaxRuntime time.Duration `json:"maxRuntime,omitempty"` // longest Standby window; if set, none may be open; 0 = no rule
	Partial    Partial       `json:"partial,omitzero"`     // what may be offered in place of the whole
}

// A LengthStep says which lengths a [Policy] allows up to one of them: the multiples
// of Every that are longer than the UpTo of the step before. From 1 to 14 days
// by days and then by weeks up to 26 is
//
//	[]LengthStep{{UpTo: 14 * day, Every: day}, {UpTo: 182 * day, Every: 7 * day}}
//
// UpTo grows from step to step; in the last one 0 means no limit. Every is at
// most 100 days.
//
// A LengthStep is immutable and safe for concurrent use.
type LengthStep struct {
	UpTo  time.Duration `json:"upTo,omitempty"`
	Every time.Duration `json:"every"`
}

// A Grid is the instants that are Offset after a multiple of Every since the
// Unix epoch, which was midnight UTC of a Thursday: {Every: 24h, Offset: 11h30m}
// is 11:30 UTC of each day. Every is at most 100 days and Offset less than
// Every. The zero Grid is no rule.
//
// A Grid is immutable and safe for concurrent use.
type Grid struct {
	Every  time.Duration `json:"every"`
	Offset time.Duration `json:"offset,omitempty"`
}

// A Partial says what a pool may offer in place of what was asked.
//
// A Partial is immutable and safe for concurrent use.
type Partial uint8

// Values of [Policy].Partial. New ones are added at the end.
const (
	PartialSmaller Partial = iota // fewer nodes may be offered
	PartialNone                   // all nodes or none
)

var partialNames = []string{"Smaller", "None"}

// String returns the name of p.
func (p Partial) String() string { return name("Partial", partialNames, int(p)) }

// MarshalText returns the name of p.
func (p Partial) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Defaults returns p with the leads that the calendar uses where p has 0. A
// policy with mistakes is returned as it is.
func (p Policy) Defaults() Policy {
	p = p.clone()
	if t, err := p.terms(); err == nil {
		p.ReclaimLead, p.BindLead = seconds(t.reclaim), seconds(t.bind)
	}
	return p
}

// equal reports whether two policies have the same encoding.
func (p Policy) equal(o Policy) bool {
	var a, b coder
	a.policy(&p)
	b.policy(&o)
	return bytes.Equal(a.b, b.b)
}

// clone returns a Policy that shares no slice with p.
func (p Policy) clone() Policy {
	p.Steps, p.Notices = slices.Clone(p.Steps), slices.Clone(p.Notices)
	return p
}

// A namedDuration is a field of a Policy.
type namedDuration struct {
	name string
	at   *time.Duration
}

// durations lists the plain durations of p, in the order of their encoding.
func (p *Policy) durations() []namedDuration {
	return []namedDuration{
		{"Prep", &p.Prep}, {"Grace", &p.Grace}, {"Cleanup", &p.Cleanup},
		{"BindLead", &p.BindLead}, {"ReclaimLead", &p.ReclaimLead},
		{"MinLength", &p.MinLength}, {"MaxLength", &p.MaxLength},
		{"MinLead", &p.MinLead}, {"MaxLead", &p.MaxLead}, {"Horizon", &p.Horizon},
		{"ExtendFrom", &p.ExtendFrom}, {"ExtendUntil", &p.ExtendUntil}, {"MaxExtend", &p.MaxExtend},
		{"CancelUntil", &p.CancelUntil}, {"MaxRuntime", &p.MaxRuntime}, {"NoShowGrace", &p.NoShowGrace},
	}
}

// policy codes a Policy.
func (c *coder) policy(p *Policy) {
	for _, d := range p.durations() {
		c.duration(d.at)
	}
	for _, g := range []*Grid{&p.AlignStart, &p.AlignEnd} {
		c.duration(&g.Every)
		c.duration(&g.Offset)
	}
	for _, b := range []*bool{&p.CutFirst, &p.NoExtend, &p.NoCancel} {
		c.bool(b)
	}
	list(c, &p.Steps, 2, func(s *LengthStep) {
		c.duration(&s.UpTo)
		c.duration(&s.Every)
	})
	list(c, &p.Notices, 1, c.duration)
	n := uint64(p.Partial)
	c.uint(&n)
	if c.r == nil {
		return
	}
	if n > uint64(PartialNone) {
		c.r.Fail("partial is %d", n)
		n = 0
	}
	p.Partial = Partial(n)
}

func seconds(s int64) time.Duration { return time.Duration(s) * time.Second }
