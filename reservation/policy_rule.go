// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"strings"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// A breach is a rule that something breaks, and the value of the rule.
type breach struct {
	rule  string // field of Policy; empty: nothing is broken
	limit time.Duration
}

func (b breach) none() bool { return b.rule == "" }

// firstBreach returns the first breach in a list.
func firstBreach(list ...breach) breach {
	for _, b := range list {
		if !b.none() {
			return b
		}
	}
	return breach{}
}

// over is a breach of a rule if value is more than most.
func over(rule string, value, most int64) breach {
	if value > most {
		return breach{rule, seconds(most)}
	}
	return breach{}
}

// under is a breach of a rule if value is less than least.
func under(rule string, value, least int64) breach {
	if value < least {
		return breach{rule, seconds(least)}
	}
	return breach{}
}

// off is a breach of a rule if at is not in c.
func off(rule string, at int64, c comb) breach {
	if !c.has(at) {
		return breach{rule, seconds(c.every)}
	}
	return breach{}
}

// ofLength judges a length alone.
func (t *terms) ofLength(length int64) breach {
	counted := length + mod(-length, t.cut)
	b := firstBreach(under("MinLength", counted, t.minLength), over("MaxLength", counted, limit(t.maxLength)))
	if !b.none() {
		return b
	}
	for _, s := range t.steps {
		if counted <= s.upTo {
			return off("Steps", counted, comb{0, s.every})
		}
	}
	return over("Steps", counted, t.steps[len(t.steps)-1].upTo)
}

// ofWindow judges a new Firm window.
func (t *terms) ofWindow(now, start, end int64) breach {
	return firstBreach(t.ofLength(end-start),
		under("MinLead", start-now, t.lead), over("MaxLead", start-now, limit(t.maxLead)), over("Horizon", end-now, limit(t.horizon)),
		off("AlignStart", start, t.start), off("AlignEnd", end, t.end))
}

// ofEnd judges a new end of a Firm booking: a later one as an extension, an
// earlier one as time that is given back. The start and its lead are as booked.
func (p *pool) ofEnd(now int64, r *record, end int64) breach {
	b := firstBreach(p.ofLength(end-r.start), over("Horizon", end-now, limit(p.horizon)), off("AlignEnd", end, p.end))
	switch {
	case end > r.end:
		if p.Policy.NoExtend {
			return breach{rule: "NoExtend"}
		}
		return firstBreach(over("ExtendFrom", r.end-now, limit(p.extendFrom)), under("ExtendUntil", r.end-now, p.extendUntil),
			over("MaxExtend", end-r.end, limit(p.maxExtend)), b)
	case end < r.end && r.phase != Held:
		return firstBreach(p.ofCancel(now, r), b)
	}
	return b
}

// ofCancel judges whether time of a Firm booking may be given back.
func (p *pool) ofCancel(now int64, r *record) breach {
	switch {
	case r.phase == Held || r.class != Firm:
		return breach{}
	case p.Policy.NoCancel:
		return breach{rule: "NoCancel"}
	case p.cancelUntil > 0:
		return under("CancelUntil", r.start-now, p.cancelUntil)
	}
	return breach{}
}

// ofStandby judges the window of a Standby claim; end may be tick.Forever.
func (t *terms) ofStandby(start, end int64) breach {
	if t.maxRuntime > 0 && (end == tick.Forever || end-start > t.maxRuntime) {
		return breach{"MaxRuntime", seconds(t.maxRuntime)}
	}
	return breach{}
}

// refuse returns b as a refusal of [start, end), or nil if nothing is broken.
// The Limit of NoExtend and NoCancel is 0.
func (p *pool) refuse(b breach, id string, start, end int64, allowed []Window) *ConflictError {
	if b.none() {
		return nil
	}
	return &ConflictError{
		ID: id, Pool: p.Name, Reason: ReasonPolicy, Rule: b.rule, Limit: b.limit, At: windowOf(start, end), Allowed: allowed,
	}
}

// rule returns a refusal if a rule of the pool forbids the new Firm window
// [start, end).
func (p *pool) rule(now, start, end int64) *ConflictError {
	if b := p.ofWindow(now, start, end); !b.none() {
		return p.refuse(b, "", start, end, p.allowed(now, start, end))
	}
	return nil
}

// endRule returns a refusal if a rule of the pool forbids to move the end of r.
func (p *pool) endRule(now int64, r *record, end int64) *ConflictError {
	if r.class == Standby {
		return p.standbyRule(r.id, r.start, end)
	}
	b := p.ofEnd(now, r, end)
	if b.none() {
		return nil
	}
	return p.refuse(b, r.id, r.start, end, p.allowedEnds(now, r, end))
}

// standbyRule returns a refusal if a rule of the pool forbids a Standby window.
func (p *pool) standbyRule(id string, start, end int64) *ConflictError {
	b := p.ofStandby(start, end)
	if b.none() {
		return nil
	}
	var allowed []Window
	if to := addTicks(start, p.maxRuntime); to <= lastTick {
		allowed = []Window{windowOf(start, to)}
	}
	return p.refuse(b, id, start, end, allowed)
}

// cancelRule returns a refusal if a rule of one of its pools forbids to cancel r.
func (s *state) cancelRule(now int64, r *record) error {
	for i := range r.lines {
		p := s.pool(r.lines[i].pool)
		if e := p.refuse(p.ofCancel(now, r), r.id, r.start, r.end, nil); e != nil {
			return e
		}
	}
	return nil
}

// ruleText is what Error says of a rule.
func (e *ConflictError) ruleText() string {
	var b strings.Builder
	switch e.Rule {
	case "NoExtend":
		b.WriteString("Policy.NoExtend is set; book what comes after it under a new id")
	case "NoCancel":
		b.WriteString("Policy.NoCancel is set; release it when it has begun")
	case "CancelUntil":
		fmt.Fprintf(&b, "Policy.CancelUntil is %s before %s; release it when it has begun", e.Limit, e.At.Start.UTC().Format(time.RFC3339))
	default:
		fmt.Fprintf(&b, "Policy.%s is %s", e.Rule, e.Limit)
	}
	for i, w := range e.Allowed {
		b.WriteString([]string{"; allowed is ", " or "}[min(i, 1)])
		b.WriteString(w.String())
	}
	return b.String()
}
