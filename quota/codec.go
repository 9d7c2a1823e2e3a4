// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"fmt"
	"math"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/internal/wire"
)

// maxTTL is the longest TTL, in seconds, that a time.Duration can hold.
const maxTTL = math.MaxInt64 / int64(time.Second)

// The pieces that events and snapshots are made of.

func appendAmounts(b []byte, amounts []Amount) []byte {
	b = wire.AppendUint(b, uint64(len(amounts)))
	for _, a := range amounts {
		b = wire.AppendString(b, a.Key)
		b = wire.AppendUint(b, uint64(a.N))
	}
	return b
}

func readAmounts(r *wire.Reader) []Amount {
	n := r.Count(3)
	if n > MaxAmounts {
		r.Fail("%d amounts, at most %d", n, MaxAmounts)
		return nil
	}
	out := make([]Amount, 0, n)
	for i := range n {
		a := Amount{Key: Key(readName(r)), N: readInt(r, MaxAmount)}
		switch {
		case r.Err() != nil:
			return nil
		case a.N == 0:
			r.Fail("amount of key %q is 0", a.Key)
		case i > 0 && a.Key <= out[i-1].Key:
			r.Fail("key %q is out of order", a.Key)
		}
		out = append(out, a)
	}
	if n == 0 {
		r.Fail("no amounts")
	}
	return out
}

// readInt reads a number from 0 to most.
func readInt(r *wire.Reader, most int64) int64 {
	v := r.Uint()
	if v > uint64(most) {
		r.Fail("number %d is above %d", v, most)
		return 0
	}
	return int64(v)
}

func readName(r *wire.Reader) string {
	s := r.String()
	if p := badName(s); p != "" {
		r.Fail("name %q %s", s, p)
	}
	return s
}

func readText(r *wire.Reader) string {
	s := r.String()
	if p := badText(s); p != "" {
		r.Fail("text %q %s", s, p)
	}
	return s
}

// readTick reads an instant within the years 1 to 9999.
func readTick(r *wire.Reader) int64 {
	t := r.Int()
	if !tick.InRange(t) {
		r.Fail("instant %d is outside the years 1 to 9999", t)
		return 0
	}
	return t
}

// A range of time is its start and, if it has an end, its length.
func appendRange(b []byte, from, to int64) []byte {
	b = wire.AppendInt(b, from)
	if to == tick.Forever {
		return wire.AppendUint(b, 0)
	}
	return wire.AppendUint(b, uint64(to-from))
}

// readRange reads a range that a Window could have: none begins at the zero time.
func readRange(r *wire.Reader) (from, to int64) {
	if from = readTick(r); r.Err() == nil && tick.Time(from).IsZero() {
		r.Fail("range begins at the zero time")
	}
	n := r.Uint()
	if n == 0 {
		return from, tick.Forever
	}
	if n > 1<<40 || !tick.InRange(from+int64(n)) {
		r.Fail("range of %d seconds from %d ends after the year 9999", n, from)
		return from, tick.Forever
	}
	return from, from + int64(n)
}

func appendBound(b []byte, x Bound) []byte {
	b = wire.AppendBool(b, x.Limited)
	if x.Limited {
		b = wire.AppendUint(b, uint64(x.Max))
	}
	return b
}

func readBound(r *wire.Reader) Bound {
	if !r.Bool() {
		return Bound{}
	}
	return Bound{Limited: true, Max: readInt(r, MaxTotal)}
}

func appendTenant(b []byte, t *Tenant) []byte {
	b = wire.AppendString(b, t.Name)
	b = wire.AppendString(b, t.Parent)
	b = wire.AppendUint(b, uint64(len(t.Limits)))
	for i := range t.Limits {
		l := &t.Limits[i]
		b = wire.AppendString(b, l.Key)
		b = wire.AppendUint(b, uint64(l.Nominal))
		b = appendBound(b, l.Borrow)
		b = appendBound(b, l.Lend)
		b = appendBound(b, l.Cap)
	}
	return b
}

func readTenant(r *wire.Reader) Tenant {
	t := Tenant{Name: readName(r), Parent: readText(r)}
	if t.Parent == t.Name {
		r.Fail("tenant %q is its own parent", t.Name)
	}
	for i := range r.Count(6) {
		l := Limit{Key: Key(readName(r)), Nominal: readInt(r, MaxAmount), Borrow: readBound(r), Lend: readBound(r), Cap: readBound(r)}
		switch {
		case r.Err() != nil:
			return t
		case l.moot():
			r.Fail("limit of key %q says nothing", l.Key)
		case i > 0 && l.Key <= t.Limits[i-1].Key:
			r.Fail("limit of key %q is out of order", l.Key)
		}
		t.Limits = append(t.Limits, l)
	}
	return t
}

// moment encodes an instant of an event, which must be whole seconds.
func moment(b []byte, t time.Time) ([]byte, error) {
	at, err := tick.Exact(t)
	if err != nil {
		return b, fmt.Errorf("%w: event instant: %w", ErrInvalid, err)
	}
	return wire.AppendInt(b, at), nil
}
