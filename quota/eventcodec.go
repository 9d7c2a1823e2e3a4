// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/internal/wire"
)

// Kind numbers of the binary form. A layout never changes; a new one takes a
// new number.
const (
	numReserved = iota + 1
	numCommitted
	numResized
	numReleased
	numExpired
	numEnded
	numTenantSet
	numTenantRemoved
	numForgotten
)

// AppendBinary appends the binary form.
func (e ReservedEvent) AppendBinary(b []byte) ([]byte, error) {
	out, err := moment(wire.AppendUint(b, numReserved), e.At)
	from, to, more := e.Window.ticks("Window")
	ttl, err2 := tick.Seconds(e.TTL)
	if err = errors.Join(err, invalid(more), err2); err != nil {
		return b, err
	}
	out = wire.AppendString(out, e.ID)
	out = wire.AppendString(out, e.Tenant)
	out = appendAmounts(out, e.Amounts)
	out = appendRange(out, from, to)
	out = append(out, byte(e.Class))
	out = wire.AppendUint(out, uint64(ttl))
	out = wire.AppendString(out, e.Note)
	return wire.AppendBool(out, e.Booked), nil
}

// AppendBinary appends the binary form.
func (e CommittedEvent) AppendBinary(b []byte) ([]byte, error) {
	out, err := moment(wire.AppendUint(b, numCommitted), e.At)
	if err != nil {
		return b, err
	}
	return appendAmounts(wire.AppendString(out, e.ID), e.Amounts), nil
}

// AppendBinary appends the binary form.
func (e ResizedEvent) AppendBinary(b []byte) ([]byte, error) {
	out, err := moment(wire.AppendUint(b, numResized), e.At)
	from, to, more := e.Window.ticks("Window")
	if err = errors.Join(err, invalid(more)); err != nil {
		return b, err
	}
	return appendRange(appendAmounts(wire.AppendString(out, e.ID), e.Amounts), from, to), nil
}

func appendFact(b []byte, num uint64, at time.Time, name string) ([]byte, error) {
	out, err := moment(wire.AppendUint(b, num), at)
	if err != nil {
		return b, err
	}
	return wire.AppendString(out, name), nil
}

// AppendBinary appends the binary form.
func (e ReleasedEvent) AppendBinary(b []byte) ([]byte, error) {
	return appendFact(b, numReleased, e.At, e.ID)
}

// AppendBinary appends the binary form.
func (e ExpiredEvent) AppendBinary(b []byte) ([]byte, error) {
	return appendFact(b, numExpired, e.At, e.ID)
}

// AppendBinary appends the binary form.
func (e EndedEvent) AppendBinary(b []byte) ([]byte, error) {
	return appendFact(b, numEnded, e.At, e.ID)
}

// AppendBinary appends the binary form.
func (e TenantSetEvent) AppendBinary(b []byte) ([]byte, error) {
	out, err := moment(wire.AppendUint(b, numTenantSet), e.At)
	if err != nil {
		return b, err
	}
	return appendTenant(out, &e.Tenant), nil
}

// AppendBinary appends the binary form.
func (e TenantRemovedEvent) AppendBinary(b []byte) ([]byte, error) {
	return appendFact(b, numTenantRemoved, e.At, e.Name)
}

// AppendBinary appends the binary form.
func (e ForgottenEvent) AppendBinary(b []byte) ([]byte, error) {
	out, err := moment(wire.AppendUint(b, numForgotten), e.At)
	if err == nil {
		out, err = moment(out, e.Before)
	}
	if err != nil {
		return b, err
	}
	return wire.AppendUint(out, uint64(e.Charges)), nil
}

// DecodeEvent reads one event. Possible errors: [ErrCorrupt].
func DecodeEvent(b []byte) (Event, error) {
	r := wire.NewReader(b)
	num := r.Uint()
	at := readTick(r)
	ev := readEvent(r, num, tick.Time(at))
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("%w: event of kind %d: %w", ErrCorrupt, num, err)
	}
	return ev, nil
}

func readEvent(r *wire.Reader, num uint64, at time.Time) Event {
	switch num {
	case numReserved:
		e := ReservedEvent{At: at}
		e.ID, e.Tenant, e.Amounts = readName(r), readName(r), readAmounts(r)
		e.Window = window(readRange(r))
		e.Class = readClass(r)
		e.TTL = time.Duration(readInt(r, maxTTL)) * time.Second
		e.Note, e.Booked = readText(r), r.Bool()
		return e
	case numCommitted:
		return CommittedEvent{At: at, ID: readName(r), Amounts: readAmounts(r)}
	case numResized:
		e := ResizedEvent{At: at, ID: readName(r), Amounts: readAmounts(r)}
		e.Window = window(readRange(r))
		return e
	case numReleased:
		return ReleasedEvent{At: at, ID: readName(r)}
	case numExpired:
		return ExpiredEvent{At: at, ID: readName(r)}
	case numEnded:
		return EndedEvent{At: at, ID: readName(r)}
	case numTenantSet:
		return TenantSetEvent{At: at, Tenant: readTenant(r)}
	case numTenantRemoved:
		return TenantRemovedEvent{At: at, Name: readName(r)}
	case numForgotten:
		return ForgottenEvent{At: at, Before: tick.Time(readTick(r)), Charges: int(readInt(r, math.MaxInt32))}
	default:
		r.Fail("kind %d is not known to this release", num)
		return nil
	}
}

func readClass(r *wire.Reader) Class {
	c := Class(r.Byte())
	if !c.valid() {
		r.Fail("class is %d", c)
	}
	return c
}
