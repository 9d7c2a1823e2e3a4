// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// A Charge is what the ledger knows of one admitted request.
//
// A Charge may be read by many goroutines while nobody changes it.
type Charge struct {
	// Request is as last decided: Commit and Resize change Amounts and Window.
	Request
	State State `json:"state"`
	// Spans is what is counted, in order: the past as it was, and for a live
	// charge the rest of its window. It is empty if the charge never began.
	Spans []Span `json:"spans"`
	// Expires is when a Held charge with a TTL runs out, or ran out; else zero.
	Expires time.Time `json:"expires,omitzero"`
	// Stopped is when the charge ceased to be live; else zero.
	Stopped time.Time `json:"stopped,omitzero"`
	// Version is 1 at first and grows by 1 with every change.
	Version uint64 `json:"version"`
}

// A Span is a range of time over which a charge uses constant amounts.
//
// A Span may be read by many goroutines while nobody changes it.
type Span struct {
	Window
	Amounts []Amount `json:"amounts"`
}

// A record is a charge inside the ledger. Records are never changed: a change
// puts a changed copy in their place, so forks may share them.
type record struct {
	id      string
	node    int32 // index of the tenant; not encoded
	class   Class
	state   State
	booked  bool
	note    string
	ttl     int64
	expires int64 // Forever if it does not expire
	stopped int64 // when it ceased to be live
	version uint64

	asked   plan   // the body of the request
	current plan   // as committed or resized since
	spans   []span // what is counted
}

// A plan is amounts over a window.
type plan struct {
	start, end int64
	amounts    []Amount // sorted by key
}

func (p *plan) equal(q *plan) bool {
	return p.start == q.start && p.end == q.end && slices.Equal(p.amounts, q.amounts)
}

// A span is a plan that is counted. Spans of a record are disjoint and sorted;
// neighbours that adjoin have different amounts.
type span struct {
	from, to int64
	amounts  []Amount
}

// from returns p as it is counted from t on.
func (p *plan) from(t int64) span { return span{max(p.start, t), p.end, p.amounts} }

// respan returns the spans of r if from t on only next is counted.
func (r *record) respan(t int64, next span) []span {
	out := make([]span, 0, len(r.spans)+1)
	for _, s := range r.spans {
		if s.to = min(s.to, t); s.from < s.to {
			out = append(out, s)
		}
	}
	if next.from >= next.to {
		return out
	}
	if n := len(out); n > 0 && out[n-1].to == next.from && slices.Equal(out[n-1].amounts, next.amounts) {
		out[n-1].to = next.to
		return out
	}
	return append(out, next)
}

// matches reports whether q is the request that made r.
func (r *record) matches(tenant string, q *Request, tm terms) bool {
	return q.Tenant == tenant && q.Class == r.class && q.Note == r.note && tm.ttl == r.ttl && tm.booked == r.booked &&
		tm.start == r.asked.start && tm.end == r.asked.end && sameAmounts(r.asked.amounts, q.Amounts)
}

// due returns when r changes by itself next, and how.
func (r *record) due() (due, bool) {
	d := due{at: r.current.end, what: dueEnd, id: r.id}
	if r.expires <= d.at {
		d = due{at: r.expires, what: dueExpiry, id: r.id}
	}
	return d, r.state.Live() && d.at != tick.Forever
}

// charge returns r for a caller, sharing nothing with the ledger.
func (s *state) charge(r *record) Charge {
	c := Charge{
		Request: Request{
			ID: r.id, Tenant: s.tenants.Ref(int(r.node)).name, Amounts: slices.Clone(r.current.amounts),
			Window: window(r.current.start, r.current.end), Class: r.class, TTL: time.Duration(r.ttl) * time.Second, Note: r.note,
		},
		State: r.state, Spans: make([]Span, len(r.spans)), Expires: tick.Time(r.expires), Version: r.version,
	}
	for i, sp := range r.spans {
		c.Spans[i] = Span{Window: window(sp.from, sp.to), Amounts: slices.Clone(sp.amounts)}
	}
	if !r.state.Live() {
		c.Stopped = tick.Time(r.stopped)
	}
	return c
}
