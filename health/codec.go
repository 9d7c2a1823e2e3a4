// SPDX-License-Identifier: Apache-2.0

package health

import (
	"errors"
	"fmt"

	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/internal/wire"
	"github.com/berth-gpu/berth/topology"
)

// An event is
//
//	kind · at · node · GPU · owner                     every kind
//	     · step · reason · asked (flag, then at + n)   held, changed
//	     · expected (0: open-ended, else at + n)       all but released

func appendEvent(b []byte, e Event) ([]byte, error) {
	f, err := factOf(e)
	if err != nil {
		return b, err
	}
	b = wire.AppendUint(b, uint64(f.kind))
	b = wire.AppendInt(b, f.at)
	b = appendKey(b, f.key)
	if f.kind.hasBody() {
		b = append(b, byte(f.step))
		b = wire.AppendString(b, f.reason)
		// The request of a change may name a date that has passed since, so its distance has a sign.
		b = wire.AppendBool(b, f.asked != tick.Forever)
		if f.asked != tick.Forever {
			b = wire.AppendInt(b, f.asked-f.at)
		}
	}
	if f.kind.hasDate() {
		b = appendAfter(b, f.at, f.expected)
	}
	return b, nil
}

// DecodeEvent reads what AppendBinary of an event wrote. Possible errors: [ErrCorrupt].
func DecodeEvent(b []byte) (Event, error) {
	rd := wire.NewReader(b)
	f := fact{asked: tick.Forever}
	if k := rd.Uint(); k > 0 && k < uint64(kindEnd) {
		f.kind = kind(k)
	} else {
		rd.Fail("event kind %d is unknown", k)
	}
	f.at = rd.Int()
	if !tick.InRange(f.at) {
		rd.Fail("instant %d is out of range", f.at)
	}
	f.key = readKey(rd)
	if f.kind.hasBody() {
		f.step = Step(rd.Byte())
		f.reason = rd.String()
		if rd.Bool() {
			f.asked = readOffset(rd, f.at)
		}
	}
	if f.kind.hasDate() {
		f.expected = readAfter(rd, f.at)
	}
	if err := rd.Done(); err != nil {
		return nil, corrupt(err)
	}
	if err := f.check(); err != nil {
		return nil, corrupt(err)
	}
	// The first instant of all is the zero time, which as a date means none.
	if f.asked != tick.Forever && tick.Time(f.asked).IsZero() {
		return nil, corrupt(errors.New("asked date is the first instant of all"))
	}
	return f.public(), nil
}

func corrupt(err error) error { return fmt.Errorf("%w: %w", ErrCorrupt, err) }

func appendKey(b []byte, k key) []byte {
	b = wire.AppendString(b, k.Node)
	b = wire.AppendString(b, k.GPU)
	return wire.AppendString(b, k.owner)
}

func readKey(rd *wire.Reader) key {
	var k key
	k.Node = topology.NodeID(rd.String())
	k.GPU = topology.GPUID(rd.String())
	k.owner = Owner(rd.String())
	return k
}

// appendAfter appends a date that is after base, or Forever.
func appendAfter(b []byte, base, t int64) []byte {
	if t == tick.Forever {
		return wire.AppendUint(b, 0)
	}
	return wire.AppendUint(b, uint64(t-base))
}

// readAfter reads what appendAfter wrote; base is in range.
func readAfter(rd *wire.Reader, base int64) int64 {
	n := rd.Uint()
	switch {
	case n == 0:
		return tick.Forever
	case n > 1<<40 || !tick.InRange(base+int64(n)):
		rd.Fail("date is out of range")
		return tick.Forever
	}
	return base + int64(n)
}

// readOffset reads a date as a signed distance from base, which is in range.
func readOffset(rd *wire.Reader, base int64) int64 {
	n := rd.Int()
	if n > 1<<40 || n < -1<<40 || !tick.InRange(base+n) {
		rd.Fail("date is out of range")
		return tick.Forever
	}
	return base + n
}
