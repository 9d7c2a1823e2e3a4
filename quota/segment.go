// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"math"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/step"
	"github.com/berth-gpu/berth/internal/tick"
)

// always is the tick before every instant.
const always = math.MinInt64

// A segment is a change of level by d over [from, to). Lists of segments are
// sorted and disjoint; d is never 0.
type segment struct{ from, to, d int64 }

// plus appends a segment, joining it with the last if they adjoin and agree.
func plus(out []segment, from, to, d int64) []segment {
	if d == 0 || from >= to {
		return out
	}
	if n := len(out); n > 0 && out[n-1].to == from && out[n-1].d == d {
		out[n-1].to = to
		return out
	}
	return append(out, segment{from, to, d})
}

// spill returns how the part of tr above floor changes when tr changes by in:
// what an account hands on to its parent. It allocates only beyond cap(out),
// and returns in itself when the floor plays no part.
//
// It costs O(log n) per segment that stays wholly above or below the floor, and
// O(k) for one that crosses it, with k steps of tr inside.
func spill(out []segment, tr *step.Tree, floor int64, in []segment) []segment {
	if floor == 0 {
		return in
	}
	for _, g := range in {
		lo := tr.Min(g.from, g.to)
		if lo >= floor && lo+g.d >= floor {
			out = plus(out, g.from, g.to, g.d)
			continue
		}
		if hi := tr.Max(g.from, g.to); hi <= floor && hi+g.d <= floor {
			continue
		}
		for st := range tr.Steps(g.from, g.to) {
			out = plus(out, st.From, st.To, max(0, st.Level+g.d-floor)-max(0, st.Level-floor))
		}
	}
	return out
}

// respill is spill when the floor changes at the same time, from was to floor.
// A changed floor costs O(n) for the n steps of tr.
func respill(tr *step.Tree, was, floor int64, in []segment) []segment {
	if was == floor {
		return spill(nil, tr, floor, in)
	}
	var out []segment
	from, i := int64(always), 0
	for from < tick.Forever {
		to, d := int64(tick.Forever), int64(0)
		if i < len(in) {
			if g := in[i]; g.from > from {
				to = g.from
			} else {
				to, d = g.to, g.d
				i++
			}
		}
		for st := range tr.Steps(from, to) {
			out = plus(out, st.From, st.To, max(0, st.Level+d-floor)-max(0, st.Level-was))
		}
		from = to
	}
	return out
}

// over returns the part of tr above floor.
func over(tr *step.Tree, floor int64) []segment {
	var out []segment
	for st := range tr.Steps(always, tick.Forever) {
		out = plus(out, st.From, st.To, max(0, st.Level-floor))
	}
	return out
}

// negative turns every segment round.
func negative(in []segment) []segment {
	out := make([]segment, len(in))
	for i, g := range in {
		out[i] = segment{g.from, g.to, -g.d}
	}
	return out
}

// pour adds the segments to tr.
func pour(tok *cow.Token, tr *step.Tree, in []segment) {
	for _, g := range in {
		tr.Add(tok, g.from, g.to, g.d)
	}
}
