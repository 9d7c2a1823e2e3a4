// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// Apply takes over an event that another record decided. It decides nothing and records nothing. An event that contradicts the
// record is refused and changes nothing. It costs O(log n). Possible errors: [ErrInvalid], [ErrEvent].
func (r *Record) Apply(e Event) error {
	f, err := factOf(e)
	if err != nil {
		return err
	}
	if err := r.accepts(f); err != nil {
		return err
	}
	r.apply(f)
	return nil
}

// accepts reports whether f could have been decided in this state.
func (r *Record) accepts(f fact) error {
	s := &r.core.S
	if f.at < s.now {
		return contradiction(f, "At %s is before the present %s", stamp(tick.Time(f.at)), stamp(tick.Time(s.now)))
	}
	h, ok := r.find(f.key)
	switch {
	case f.kind == kindHeld && ok:
		return contradiction(f, "the hold exists since %s", stamp(tick.Time(h.since)))
	case f.kind != kindHeld && !ok:
		return contradiction(f, "there is no such hold")
	case f.kind == kindChanged && f.asked <= h.since:
		return contradiction(f, "Asked %s is not after the start of the hold %s", stamp(tick.Time(f.asked)), stamp(tick.Time(h.since)))
	case f.kind == kindSlipped && f.at != h.expected:
		return contradiction(f, "At %s is not the date of the hold", stamp(tick.Time(f.at)))
	}
	first, due := s.due.Min()
	if due && (first.expected < f.at || first.expected == f.at && f.kind != kindSlipped) {
		return contradiction(f, "the hold of %q on %s should have slipped at %s first",
			first.owner, first.Component.label(), stamp(tick.Time(first.expected)))
	}
	return nil
}

func contradiction(f fact, format string, args ...any) error {
	return fmt.Errorf("%w: %s of Owner %q on %s: %s", ErrEvent, f.kind, f.key.owner, f.key.label(), fmt.Sprintf(format, args...))
}

// apply makes f happen. Commands and Apply both end here, so a replay is the live value (I16).
func (r *Record) apply(f fact) {
	s, tok := &r.core.S, r.core.Token()
	s.now = f.at
	old, ok := r.find(f.key)
	next := hold{key: f.key, since: f.at, version: 1}
	if ok {
		if old.dated() {
			s.due.Remove(tok, old)
		}
		next = *old
		next.version = min(next.version+1, maxCount)
	}
	switch f.kind {
	case kindHeld, kindChanged:
		next.step, next.reason, next.asked = f.step, f.reason, f.asked
	case kindSlipped:
		next.slips = min(next.slips+1, maxCount-1)
	case kindReleased:
		s.holds.Remove(tok, old)
		return
	}
	next.expected = f.expected
	s.holds.Put(tok, &next)
	if next.dated() {
		s.due.Put(tok, &next)
	}
}

// exact reads the instant of an event. Unlike a date it may be the first instant of all, which is the zero time.
func exact(t time.Time) (int64, error) {
	s, err := tick.Exact(t)
	if err != nil {
		return 0, fmt.Errorf("%w: At: %w", ErrInvalid, err)
	}
	return s, nil
}
