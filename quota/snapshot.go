// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/internal/wire"
)

const snapshotVersion = 1

// AppendBinary appends the snapshot: the present, the tenants by name and the
// charges by id. Equal ledgers have equal bytes. The error is always nil.
func (l *Ledger) AppendBinary(b []byte) ([]byte, error) {
	s := &l.core.S
	b = wire.AppendUint(b, snapshotVersion)
	b = wire.AppendInt(b, s.now)
	b = wire.AppendUint(b, uint64(s.names.Len()))
	for n := range s.names.All() {
		t := s.tenant(n.node)
		b = appendTenant(b, &t)
	}
	b = wire.AppendUint(b, uint64(s.records.Len()))
	for ref := range s.records.All() {
		b = appendRecord(b, ref.rec, s.tenants.Ref(int(ref.rec.node)).name)
	}
	return b, nil
}

// MarshalBinary returns the snapshot.
func (l *Ledger) MarshalBinary() ([]byte, error) { return l.AppendBinary(nil) }

// Restore reads a snapshot. It refuses whatever AppendBinary would not have
// written. It costs O(c·h·log n) for c charges. Possible errors: [ErrCorrupt].
func Restore(b []byte) (*Ledger, error) {
	r := wire.NewReader(b)
	l, err := restore(r)
	if err == nil {
		err = r.Done()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: snapshot: %w", ErrCorrupt, err)
	}
	return l, nil
}

func restore(r *wire.Reader) (*Ledger, error) {
	if v := r.Uint(); v != snapshotVersion {
		r.Fail("version %d, this release reads %d", v, snapshotVersion)
	}
	now := readTick(r)
	tenants := make([]Tenant, 0, r.Count(3))
	for i := range cap(tenants) {
		t := readTenant(r)
		if i > 0 && t.Name <= tenants[i-1].Name {
			r.Fail("tenant %q is out of order", t.Name)
		}
		if r.Err() != nil {
			return nil, r.Err()
		}
		tenants = append(tenants, t)
	}
	order, err := plant(tenants)
	if err != nil {
		return nil, err
	}
	l := grow(order, now)
	tok := l.core.Token()
	last := ""
	for range r.Count(10) {
		rec := readRecord(r, &l.core.S)
		if rec.id <= last {
			r.Fail("charge %q is out of order", rec.id)
		}
		if r.Err() != nil {
			return nil, r.Err()
		}
		if err := l.core.S.restoreRecord(tok, rec); err != nil {
			return nil, err
		}
		last = rec.id
	}
	return l, nil
}

func appendPlan(b []byte, p *plan) []byte {
	return appendAmounts(appendRange(b, p.start, p.end), p.amounts)
}

func readPlan(r *wire.Reader) (p plan) {
	p.start, p.end = readRange(r)
	p.amounts = readAmounts(r)
	return p
}

func appendRecord(b []byte, r *record, tenant string) []byte {
	b = wire.AppendString(b, r.id)
	b = wire.AppendString(b, tenant)
	b = append(b, byte(r.class), byte(r.state))
	b = wire.AppendBool(b, r.booked)
	b = wire.AppendString(b, r.note)
	b = wire.AppendUint(b, uint64(r.ttl))
	if r.ttl > 0 && (r.state == Held || r.state == Expired) {
		b = wire.AppendInt(b, r.expires)
	}
	if !r.state.Live() {
		b = wire.AppendInt(b, r.stopped)
	}
	b = wire.AppendUint(b, r.version)
	b = appendPlan(b, &r.asked)
	changed := !r.asked.equal(&r.current)
	b = wire.AppendBool(b, changed)
	if changed {
		b = appendPlan(b, &r.current)
	}
	b = wire.AppendUint(b, uint64(len(r.spans)))
	for _, s := range r.spans {
		b = appendAmounts(appendRange(b, s.from, s.to), s.amounts)
	}
	return b
}

func readRecord(r *wire.Reader, s *state) *record {
	rec := &record{id: readName(r), expires: tick.Forever}
	tenant := readName(r)
	if rec.node = s.node(tenant); rec.node == none {
		r.Fail("charge %q of unknown tenant %q", rec.id, tenant)
	}
	rec.class, rec.state = readClass(r), State(r.Byte())
	if !rec.state.valid() {
		r.Fail("state is %d", rec.state)
	}
	rec.booked, rec.note = r.Bool(), readText(r)
	rec.ttl = readInt(r, maxTTL)
	if rec.ttl > 0 && (rec.state == Held || rec.state == Expired) {
		rec.expires = readTick(r)
	}
	if !rec.state.Live() {
		rec.stopped = readTick(r)
	}
	rec.version = r.Uint()
	rec.asked = readPlan(r)
	rec.current = rec.asked
	if r.Bool() {
		rec.current = readPlan(r)
		if rec.current.equal(&rec.asked) {
			r.Fail("charge %q is changed into the same", rec.id)
		}
	}
	for range r.Count(5) {
		p := readPlan(r)
		if r.Err() != nil {
			break
		}
		rec.spans = append(rec.spans, span{p.start, p.end, p.amounts})
	}
	return rec
}

// restoreRecord checks that a record is one that a ledger could hold at its
// present, and adds it.
func (s *state) restoreRecord(tok *cow.Token, r *record) error {
	if why := r.flaw(s.now); why != "" {
		return fmt.Errorf("charge %q %s", r.id, why)
	}
	for _, c := range contrast(nil, r.spans) {
		if err := s.overflow(r.node, c.key, c.gross); err != nil {
			return err
		}
	}
	s.replace(tok, nil, r)
	return nil
}

// flaw says why no ledger could hold r at the instant now, or "".
func (r *record) flaw(now int64) string {
	for i, sp := range r.spans {
		switch {
		case i > 0 && (sp.from < r.spans[i-1].to || sp.from == r.spans[i-1].to && slices.Equal(sp.amounts, r.spans[i-1].amounts)):
			return "has spans that overlap or should be one"
		case (i < len(r.spans)-1 || !r.state.Live()) && (sp.to > now || !r.state.Live() && sp.to > r.stopped):
			return "has a past span in the future"
		}
	}
	switch {
	case r.version == 0:
		return "has version 0"
	case r.booked && (r.ttl != 0 || r.state == Held || r.state == Expired):
		return "is booked and held"
	case r.state == Expired && (r.ttl == 0 || r.expires != r.stopped):
		return "expired without running out"
	case r.state == Ended && r.stopped != r.current.end:
		return "ended before its end"
	case !r.state.Live():
		if r.stopped > now {
			return "stopped in the future"
		}
		return ""
	case r.current.end < now || r.expires < now: // what is due at now may come with the next event
		return "is live after its end"
	case len(r.spans) == 0:
		return "is live and uses nothing"
	}
	last := r.spans[len(r.spans)-1]
	switch {
	case last.to != r.current.end || !slices.Equal(last.amounts, r.current.amounts):
		return "does not use what it says"
	case r.current.start > now && last.from != r.current.start, last.from > max(now, r.current.start):
		return "does not start when it says"
	}
	return ""
}

// MarshalJSON returns the snapshot for people.
func (l *Ledger) MarshalJSON() ([]byte, error) {
	out := struct {
		Now     time.Time `json:"now"`
		Tenants []Tenant  `json:"tenants"`
		Charges []Charge  `json:"charges"`
	}{Now: tick.Time(l.core.S.now), Tenants: []Tenant{}, Charges: []Charge{}}
	for t := range l.Tenants() {
		out.Tenants = append(out.Tenants, t)
	}
	for c := range l.Charges("") {
		out.Charges = append(out.Charges, c)
	}
	slices.SortFunc(out.Charges, func(a, b Charge) int { return strings.Compare(a.ID, b.ID) })
	return json.Marshal(out)
}
