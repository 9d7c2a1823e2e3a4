// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// Forget drops the charges that had stopped at or before the instant before,
// and of all others what they used up to then, and returns how many charges it
// dropped. From then on the ledger knows nothing of them: their ids are free,
// and usage before that instant is no longer complete. An instant before after
// at counts as at. It costs O(c) for all c charges, so it is a chore for quiet
// hours.
func (l *Ledger) Forget(at, before time.Time) int {
	var n int
	_ = l.command(at, func(t int64) error { // f never fails
		b := min(tick.Floor(before), t)
		if list := l.core.S.forgettable(b); len(list) > 0 {
			n = dropped(list)
			l.decide(ForgottenEvent{At: tick.Time(t), Before: tick.Time(b), Charges: n})
		}
		return nil
	})
	return n
}

// A forgetting is a record and what is left of it, nil if nothing.
type forgetting struct{ old, now *record }

// forgettable returns what forgetting before would change, by id.
func (s *state) forgettable(before int64) (out []forgetting) {
	for ref := range s.records.All() {
		r := ref.rec
		if !r.state.Live() && r.stopped <= before {
			out = append(out, forgetting{old: r})
			continue
		}
		past := 0
		for past < len(r.spans) && r.spans[past].to <= before {
			past++
		}
		if past > 0 {
			rest := *r
			rest.spans = r.spans[past:]
			out = append(out, forgetting{r, &rest})
		}
	}
	return out
}

// dropped counts the charges that are gone for good.
func dropped(list []forgetting) (n int) {
	for _, f := range list {
		if f.now == nil {
			n++
		}
	}
	return n
}
