// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"slices"

	"github.com/berth-gpu/berth/internal/tick"
)

// A change is what replacing the spans of a charge does to one key.
type change struct {
	key   Key
	in    []segment
	gross int64 // by how much the most that is ever used grows
}

// contrast returns the changes from spans a to spans b, by key. It costs
// O(k·s) for k keys and the s spans after the common beginning.
func contrast(a, b []span) []change {
	same := 0
	for same < len(a) && same < len(b) && a[same].from == b[same].from && a[same].to == b[same].to &&
		slices.Equal(a[same].amounts, b[same].amounts) {
		same++
	}
	var keys []Key
	for _, list := range [2][]span{a[same:], b[same:]} {
		for _, s := range list {
			for _, x := range s.amounts {
				keys = append(keys, x.Key)
			}
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	out := make([]change, 0, len(keys))
	for _, k := range keys {
		c := change{key: k, in: sweep(a[same:], b[same:], k), gross: most(b, k) - most(a, k)}
		if len(c.in) > 0 || c.gross != 0 {
			out = append(out, c)
		}
	}
	return out
}

// sweep returns the difference b − a of one key over time.
func sweep(a, b []span, key Key) []segment {
	var out []segment
	from := int64(always)
	for len(a) > 0 || len(b) > 0 {
		na, ta := ahead(a, key, from)
		nb, tb := ahead(b, key, from)
		to := min(ta, tb)
		out = plus(out, from, to, nb-na)
		from = to
		for len(a) > 0 && a[0].to <= from {
			a = a[1:]
		}
		for len(b) > 0 && b[0].to <= from {
			b = b[1:]
		}
	}
	return out
}

// ahead returns the level at from and until when the list's first span keeps it.
func ahead(list []span, key Key, from int64) (n, until int64) {
	switch {
	case len(list) == 0:
		return 0, tick.Forever
	case list[0].from > from:
		return 0, list[0].from
	default:
		return find(list[0].amounts, key), list[0].to
	}
}

// most returns the greatest quantity of key in any span.
func most(spans []span, key Key) int64 {
	var n int64
	for _, s := range spans {
		n = max(n, find(s.amounts, key))
	}
	return n
}
