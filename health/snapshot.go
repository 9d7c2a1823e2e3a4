// SPDX-License-Identifier: Apache-2.0

package health

import (
	"encoding/json"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/internal/wire"
)

const snapshotVersion = 1

// A snapshot is
//
//	version · present · slip · length of each step · number of holds
//	hold: node · GPU · owner · step · reason · present − since · asked · expected · slips · version
//
// with the holds in order, dates as distances from since and 0 for none.

// AppendBinary appends the snapshot to b. Equal records have equal bytes. It costs O(n).
func (r *Record) AppendBinary(b []byte) ([]byte, error) {
	s := &r.core.S
	b = wire.AppendUint(b, snapshotVersion)
	b = wire.AppendInt(b, s.now)
	for _, n := range s.lengths {
		b = wire.AppendUint(b, uint64(n))
	}
	b = wire.AppendUint(b, uint64(s.holds.Len()))
	for h := range s.holds.All() {
		b = appendKey(b, h.key)
		b = append(b, byte(h.step))
		b = wire.AppendString(b, h.reason)
		b = wire.AppendUint(b, uint64(s.now-h.since))
		b = appendAfter(b, h.since, h.asked)
		b = appendAfter(b, h.since, h.expected)
		b = wire.AppendUint(b, h.slips)
		b = wire.AppendUint(b, h.version)
	}
	return b, nil
}

// MarshalBinary returns the snapshot.
func (r *Record) MarshalBinary() ([]byte, error) { return r.AppendBinary(nil) }

// Restore reads a snapshot. It accepts only what AppendBinary writes: the holds in order, each valid, nothing left over.
// It costs O(n log n). Possible errors: [ErrCorrupt].
func Restore(b []byte) (*Record, error) {
	rd := wire.NewReader(b)
	if v := rd.Uint(); v != snapshotVersion {
		rd.Fail("snapshot version %d is unknown", v)
	}
	now := rd.Int()
	if !tick.InRange(now) {
		rd.Fail("present %d is out of range", now)
	}
	var l lengths
	for i := range l {
		if n := rd.Uint(); n <= maxCount {
			l[i] = int64(n)
		}
	}
	if !l.valid() {
		rd.Fail("length of a step is out of range")
	}
	r := newRecord(now, l)
	s, tok := &r.core.S, r.core.Token()
	var last *hold
	for range rd.Count(10) {
		h := readHold(rd, now)
		if rd.Err() == nil && last != nil && !less(last, h) {
			rd.Fail("holds are not in order")
		}
		if rd.Err() != nil {
			break
		}
		s.holds.Put(tok, h)
		if h.dated() {
			s.due.Put(tok, h)
		}
		last = h
	}
	if err := rd.Done(); err != nil {
		return nil, corrupt(err)
	}
	return r, nil
}

func readHold(rd *wire.Reader, now int64) *hold {
	h := &hold{key: readKey(rd), step: Step(rd.Byte()), reason: rd.String()}
	if age := rd.Uint(); age <= maxCount {
		h.since = now - int64(age)
	} else {
		rd.Fail("start of a hold is out of range")
	}
	if !tick.InRange(h.since) {
		rd.Fail("start of a hold is out of range")
		return h
	}
	h.asked = readAfter(rd, h.since)
	h.expected = readAfter(rd, h.since)
	h.slips = rd.Uint()
	h.version = rd.Uint()
	if rd.Err() == nil {
		if err := h.check(now); err != nil {
			rd.Fail("%s", err)
		}
	}
	return h
}

// MarshalJSON returns the snapshot for people. It costs O(n).
func (r *Record) MarshalJSON() ([]byte, error) {
	s := &r.core.S
	out := struct {
		Version    int             `json:"version"`
		At         time.Time       `json:"at,omitzero"`
		StepLength map[Step]string `json:"stepLength"`
		Slip       string          `json:"slip"`
		Holds      []Hold          `json:"holds"`
	}{
		Version:    snapshotVersion,
		At:         tick.Time(s.now),
		StepLength: make(map[Step]string, stepCount),
		Slip:       (time.Duration(s.lengths[StepNone]) * time.Second).String(),
		Holds:      make([]Hold, 0, s.holds.Len()),
	}
	for step := StepReset; step < stepCount; step++ {
		out.StepLength[step] = r.StepLength(step).String()
	}
	for h := range s.holds.All() {
		out.Holds = append(out.Holds, h.public())
	}
	return json.Marshal(out)
}
