// SPDX-License-Identifier: Apache-2.0

package recur

import (
	"fmt"
	"time"
)

// maxOffset bounds the distance of any zone from UTC, in seconds. The largest
// ever in use is 15 h 56 min (Asia/Manila before 1845, IANA tz).
const maxOffset = daySeconds

// A reading is what a zone makes of a wall-clock time.
type reading struct {
	at   int64 // instant, Unix seconds
	gap  bool  // the zone leaves the time out
	jump int64 // seconds that the gap leaves out
	ok   bool  // false: the offset of the zone is beyond maxOffset
}

// resolve finds the instant of the wall-clock time local by looking at the
// offsets that are in force around it:
//
//	instants  ───before──┤T├──after───     gap:   T+before ≤ local < T+after
//	local     …────────┤   ├────────…      twice: T+after ≤ local < T+before
//
// time.Date is of no use here: which of the offsets it takes in a gap is not
// specified, and in fact it takes the later one.
func resolve(loc *time.Location, local int64, gap Gap, ambiguous Ambiguous) reading {
	from, last := local-maxOffset-1, local+maxOffset
	offset, end := span(loc, from)
	if end > last { // by far the most common: no change of the clocks is near
		at := local - offset
		return reading{at: at, ok: from <= at && at <= last}
	}
	var out reading
	for {
		if at := local - offset; from <= at && at < end {
			if !out.ok || out.gap || ambiguous == Second {
				out = reading{at: at, ok: true}
			}
		}
		if end > last {
			return out
		}
		next, nextEnd := span(loc, end)
		if !out.ok && end+offset <= local && local < end+next {
			out = reading{at: local - offset, gap: true, jump: next - offset, ok: true}
			if gap == UseGapEnd {
				out.at = end
			}
		}
		from, offset, end = end, next, nextEnd
	}
}

// span returns the offset in force at the instant and where its span ends. A
// span may be cut in two without a change of offset, for example at a new year.
func span(loc *time.Location, at int64) (offset, end int64) {
	t := time.Unix(at, 0).In(loc)
	_, seconds := t.Zone()
	_, until := t.ZoneBounds()
	if until.IsZero() || until.Unix() <= at {
		return int64(seconds), 1<<63 - 1
	}
	return int64(seconds), until.Unix()
}

// checkZone refuses what would give other answers on another machine.
func checkZone(loc *time.Location, start Local) error {
	switch {
	case loc == nil:
		return fmt.Errorf("%w: Location is nil; pass time.UTC or what time.LoadLocation returns", ErrZone)
	case loc == time.Local && loc != time.UTC:
		return fmt.Errorf("%w: Location is time.Local, which differs between machines; pass what time.LoadLocation returns", ErrZone)
	case start.valid() && !resolve(loc, start.seconds(), UseOffsetBefore, First).ok:
		return fmt.Errorf("%w: Location %s is more than 24 h from UTC at Start", ErrZone, loc)
	}
	return nil
}
