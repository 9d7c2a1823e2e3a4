// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"fmt"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/internal/wire"
	"github.com/berth-gpu/berth/topology"
)

// appendTime encodes an optional instant: a flag and a tick.
func appendTime(b []byte, t time.Time) []byte {
	b = wire.AppendBool(b, !t.IsZero())
	if !t.IsZero() {
		b = wire.AppendInt(b, tick.Floor(t))
	}
	return b
}

func readTime(r *wire.Reader) time.Time {
	if !r.Bool() {
		return time.Time{}
	}
	t := readTick(r)
	if t.IsZero() {
		r.Fail("an instant that is given is the zero time")
	}
	return t
}

func readTick(r *wire.Reader) time.Time {
	s := r.Int()
	if r.Err() == nil && !tick.InRange(s) {
		r.Fail("unix second %d is outside the years 1 to 9999", s)
	}
	return tick.Time(s)
}

func appendStrings[S ~string](b []byte, v []S) []byte {
	b = wire.AppendUint(b, uint64(len(v)))
	for _, s := range v {
		b = wire.AppendString(b, s)
	}
	return b
}

func readStrings[S ~string](r *wire.Reader) []S {
	var v []S
	for range r.Count(1) {
		v = append(v, S(r.String()))
	}
	return v
}

func appendRequest(b []byte, q *Request) []byte {
	b = wire.AppendString(b, q.ID)
	b = wire.AppendString(b, q.Claim)
	b = wire.AppendString(b, q.Tenant)
	b = wire.AppendUint(b, uint64(len(q.Groups)))
	for _, g := range q.Groups {
		b = wire.AppendString(b, g.Name)
		for _, v := range [...]int64{int64(g.Count), g.Pod.GPUs, g.Pod.GPUMilli, g.Pod.CPUMilli, g.Pod.MemoryMiB} {
			b = wire.AppendInt(b, v)
		}
	}
	b = appendStrings(b, q.Models)
	b = appendStrings(b, q.Nodes)
	return appendTime(b, q.Until)
}

func readRequest(r *wire.Reader) Request {
	q := Request{ID: r.String(), Claim: r.String(), Tenant: r.String()}
	for range r.Count(6) {
		g := Group{Name: r.String(), Count: readInt(r)}
		g.Pod = Pod{GPUs: r.Int(), GPUMilli: r.Int(), CPUMilli: r.Int(), MemoryMiB: r.Int()}
		q.Groups = append(q.Groups, g)
	}
	q.Models = readStrings[string](r)
	q.Nodes = readStrings[topology.NodeID](r)
	q.Until = readTime(r)
	return q
}

// readInt reads a number that must fit an int of any machine.
func readInt(r *wire.Reader) int {
	v := r.Int()
	if v != int64(int32(v)) {
		r.Fail("number %d is out of range", v)
		return 0
	}
	return int(v)
}

func appendInts(b []byte, v []int) []byte {
	b = wire.AppendUint(b, uint64(len(v)))
	for _, x := range v {
		b = wire.AppendInt(b, int64(x))
	}
	return b
}

func readInts(r *wire.Reader) []int {
	var v []int
	for range r.Count(1) {
		v = append(v, readInt(r))
	}
	return v
}

// corrupt puts what a reader found under this package's sentinel.
func corrupt(what string, err error) error {
	return fmt.Errorf("%w: %s: %w: restore another copy", ErrCorrupt, what, err)
}
