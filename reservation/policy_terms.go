// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"errors"
	"fmt"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// terms are the seconds of a Policy with the defaults filled in; 0 is no rule.
type terms struct {
	prep, grace, cleanup, bind, reclaim int64
	minLength, maxLength                int64
	lead, maxLead, horizon              int64
	steps                               []stride
	start, end                          comb  // where windows begin and end
	cut                                 int64 // AlignEnd.Every if CutFirst, else 1
	extendFrom, extendUntil, maxExtend  int64
	cancelUntil, maxRuntime, noShow     int64
}

// limit returns the most that a term allows.
func limit(term int64) int64 {
	if term == 0 {
		return tick.Forever
	}
	return term
}

// stride is a LengthStep without gaps: the multiples of every in (over, upTo].
type stride struct{ over, upTo, every int64 }

const (
	defaultReclaim = 900 // of ReclaimLead
	bindMargin     = 600 // what BindLead has more than ReclaimLead
	maxStrides     = 64  // length steps of a policy
	maxNotices     = 64  // of a policy
)

// terms converts p and returns every mistake.
func (p Policy) terms() (terms, error) {
	m := mistakes{bad: map[string]bool{}}
	at := map[string]int64{}
	for _, d := range p.durations() {
		at[d.name] = m.seconds(d.name, *d.at)
	}
	t := terms{
		prep: at["Prep"], grace: at["Grace"], cleanup: at["Cleanup"], bind: at["BindLead"], reclaim: at["ReclaimLead"],
		minLength: at["MinLength"], maxLength: at["MaxLength"],
		lead: at["MinLead"], maxLead: at["MaxLead"], horizon: at["Horizon"],
		extendFrom: at["ExtendFrom"], extendUntil: at["ExtendUntil"], maxExtend: at["MaxExtend"],
		cancelUntil: at["CancelUntil"], maxRuntime: at["MaxRuntime"], noShow: at["NoShowGrace"],
		start: m.grid("AlignStart", p.AlignStart), end: m.grid("AlignEnd", p.AlignEnd), cut: 1,
	}
	sum := t.prep + t.grace + t.cleanup
	if t.reclaim == 0 {
		t.reclaim = max(defaultReclaim, sum)
	}
	if t.bind == 0 {
		t.bind = t.reclaim + bindMargin
	}
	if p.CutFirst {
		t.cut = t.end.every
	}
	m.steps(&t, p.Steps)
	m.notices(p.Notices)

	m.unless(t.reclaim >= sum, []string{"ReclaimLead", "Prep", "Grace", "Cleanup"},
		"ReclaimLead %s is shorter than Prep + Grace + Cleanup = %s", p.ReclaimLead, seconds(sum))
	m.unless(t.bind >= t.reclaim, []string{"BindLead", "ReclaimLead", "Prep", "Grace", "Cleanup"},
		"BindLead %s is shorter than ReclaimLead %s", p.BindLead, seconds(t.reclaim))
	m.unless(limit(t.maxLength) >= t.minLength, []string{"MaxLength", "MinLength"},
		"MaxLength %s is shorter than MinLength %s", p.MaxLength, p.MinLength)
	m.unless(limit(t.maxLead) >= t.lead, []string{"MaxLead", "MinLead"},
		"MaxLead %s is shorter than MinLead %s", p.MaxLead, p.MinLead)
	m.unless(limit(t.horizon) >= t.lead+t.minLength, []string{"Horizon", "MinLead", "MinLength"},
		"Horizon %s is shorter than MinLead + MinLength = %s", p.Horizon, seconds(t.lead+t.minLength))
	m.unless(!p.CutFirst || p.AlignEnd.Every > 0, []string{"AlignEnd"}, "CutFirst is set, but AlignEnd is not")
	m.unless(limit(t.extendFrom) >= t.extendUntil, []string{"ExtendFrom", "ExtendUntil"},
		"ExtendFrom %s is shorter than ExtendUntil %s", p.ExtendFrom, p.ExtendUntil)
	m.unless(!p.NoExtend || p.ExtendFrom|p.ExtendUntil|p.MaxExtend == 0, nil,
		"NoExtend is set, but so are ExtendFrom %s, ExtendUntil %s or MaxExtend %s", p.ExtendFrom, p.ExtendUntil, p.MaxExtend)
	m.unless(!p.NoCancel || p.CancelUntil == 0, nil, "NoCancel is set, but so is CancelUntil %s", p.CancelUntil)
	m.unless(p.Partial <= PartialNone, nil, "Partial is %d; use PartialSmaller or PartialNone", p.Partial)
	m.unless(limit(t.maxLength) < t.minLength || t.possible(), []string{"MinLength", "MaxLength", "Steps", "AlignStart", "AlignEnd"},
		"MinLength %s, MaxLength %s, Steps %v, AlignStart %v and AlignEnd %v leave no window that could be booked",
		p.MinLength, p.MaxLength, p.Steps, p.AlignStart, p.AlignEnd)
	if err := errors.Join(m.errs...); err != nil {
		return terms{}, err
	}
	return t, nil
}

// possible reports whether some window obeys the lengths and the grids.
func (t *terms) possible() bool {
	for _, s := range t.steps {
		lengths, _ := combOf(0, s.every).meet(combOf(0, t.cut))
		if t.cut == 1 {
			var ok bool
			if lengths, ok = lengths.meet(t.between()); !ok {
				continue
			}
		}
		if l, ok := lengths.up(max(s.over, t.minLength-1) + 1); ok && l <= min(s.upTo, limit(t.maxLength)) {
			return true
		}
	}
	return false
}

// between returns the lengths of the windows from one grid to the other.
func (t *terms) between() comb {
	g, _ := euclid(t.end.every, t.start.every)
	return combOf(t.end.at-t.start.at, g)
}

// mistakes collects what is wrong with a policy.
type mistakes struct {
	errs []error
	bad  map[string]bool // fields that have a mistake of their own
}

func (m *mistakes) add(format string, args ...any) {
	m.errs = append(m.errs, fmt.Errorf("%w: Policy."+format, append([]any{ErrInvalid}, args...)...))
}

// unless adds a mistake if ok is false and all the fields it is about are right
// by themselves.
func (m *mistakes) unless(ok bool, fields []string, format string, args ...any) {
	for _, f := range fields {
		ok = ok || m.bad[f]
	}
	if !ok {
		m.add(format, args...)
	}
}

// seconds converts the duration of a field; a wrong one counts as 0.
func (m *mistakes) seconds(name string, d time.Duration) int64 {
	s, err := tick.Seconds(d)
	if err != nil {
		m.bad[name] = true
		m.add("%s: %w", name, err)
	}
	return s
}

// every converts the period of a comb; a wrong one counts as 1.
func (m *mistakes) every(field, name string, d time.Duration) int64 {
	s, err := tick.Seconds(d)
	switch {
	case err != nil:
		m.add("%s: %w", name, err)
	case s < 1 || s > maxEvery:
		m.add("%s %s is not in 1s … %s", name, d, seconds(maxEvery))
	default:
		return s
	}
	m.bad[field] = true
	return 1
}

func (m *mistakes) grid(field string, g Grid) comb {
	if g == (Grid{}) {
		return everySecond()
	}
	every, offset := m.every(field, field+".Every", g.Every), int64(0)
	if !m.bad[field] {
		if offset = m.seconds(field+".Offset", g.Offset); offset >= every {
			m.add("%s.Offset %s is not less than Every %s", field, g.Offset, g.Every)
		}
	}
	m.bad[field] = m.bad[field] || m.bad[field+".Offset"] || offset >= every
	return combOf(offset, every)
}

// steps fills in the steps of t; without a rule there is one of any length.
func (m *mistakes) steps(t *terms, list []LengthStep) {
	if len(list) > maxStrides {
		m.bad["Steps"] = true
		m.add("Steps has %d items, more than %d", len(list), maxStrides)
		list = nil
	}
	over := int64(0)
	for i, s := range list {
		field := fmt.Sprintf("Steps[%d]", i)
		x := stride{over, tick.Forever, m.every("Steps", field+".Every", s.Every)}
		if s.UpTo != 0 || i < len(list)-1 {
			x.upTo = m.seconds(field+".UpTo", s.UpTo)
		}
		switch {
		case m.bad[field+".UpTo"]:
			m.bad["Steps"] = true
		case x.upTo <= over:
			m.bad["Steps"] = true
			m.add("%s.UpTo %s is not more than %s; only the last may be 0, which is no limit", field, s.UpTo, seconds(over))
		case x.upTo != tick.Forever && x.upTo%x.every != 0:
			m.bad["Steps"] = true
			m.add("%s.UpTo %s is not a multiple of Every %s", field, s.UpTo, s.Every)
		default:
			over = x.upTo
		}
		t.steps = append(t.steps, x)
	}
	if len(list) == 0 {
		t.steps = []stride{{0, tick.Forever, 1}}
	}
}

func (m *mistakes) notices(list []time.Duration) {
	if len(list) > maxNotices {
		m.add("Notices has %d items, more than %d", len(list), maxNotices)
		return
	}
	for i, d := range list {
		field := fmt.Sprintf("Notices[%d]", i)
		if s := m.seconds(field, d); s == 0 && !m.bad[field] {
			m.add("%s is 0s; tell before the end", field)
		} else if i > 0 && d >= list[i-1] {
			m.add("%s %s is not less than the one before, %s", field, d, list[i-1])
		}
	}
}
