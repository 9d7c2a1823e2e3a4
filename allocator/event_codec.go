// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"encoding/json"
	"errors"

	"github.com/berth-gpu/berth/internal/wire"
	"github.com/berth-gpu/berth/topology"
)

// Kind numbers. A layout never changes; a new layout takes a new number.
const (
	kindPlaced = iota + 1
	kindReleased
	kindCordoned
	kindUncordoned
	kindGPUFailed
	kindGPURestored
	kindFreeUntilSet
	kindReserved
	kindUnreserved
	kindClusterChanged
)

func head(b []byte, kind uint64, at int64) []byte {
	return wire.AppendInt(wire.AppendUint(b, kind), at)
}

func onNode(b []byte, kind uint64, at int64, node topology.NodeID, more ...string) []byte {
	b = wire.AppendString(head(b, kind, at), node)
	for _, s := range more {
		b = wire.AppendString(b, s)
	}
	return b
}

// AppendBinary appends the event in its binary form.
func (e Placed) AppendBinary(b []byte) ([]byte, error) {
	b = appendRequest(head(b, kindPlaced, e.instant()), &e.Request)
	b = wire.AppendUint(b, uint64(len(e.Seats)))
	for _, s := range e.Seats {
		b = wire.AppendInt(wire.AppendInt(b, int64(s.Group)), int64(s.Pod))
		b = appendInts(wire.AppendString(b, s.Node), s.GPUs)
	}
	return b, nil
}

// AppendBinary appends the event in its binary form.
func (e Released) AppendBinary(b []byte) ([]byte, error) {
	return wire.AppendString(head(b, kindReleased, e.instant()), e.ID), nil
}

// AppendBinary appends the event in its binary form.
func (e Cordoned) AppendBinary(b []byte) ([]byte, error) {
	return onNode(b, kindCordoned, e.instant(), e.Node, e.Owner, e.Reason), nil
}

// AppendBinary appends the event in its binary form.
func (e Uncordoned) AppendBinary(b []byte) ([]byte, error) {
	return onNode(b, kindUncordoned, e.instant(), e.Node, e.Owner), nil
}

// AppendBinary appends the event in its binary form.
func (e GPUFailed) AppendBinary(b []byte) ([]byte, error) {
	return wire.AppendInt(onNode(b, kindGPUFailed, e.instant(), e.Node, e.Owner), int64(e.GPU)), nil
}

// AppendBinary appends the event in its binary form.
func (e GPURestored) AppendBinary(b []byte) ([]byte, error) {
	return wire.AppendInt(onNode(b, kindGPURestored, e.instant(), e.Node, e.Owner), int64(e.GPU)), nil
}

// AppendBinary appends the event in its binary form.
func (e FreeUntilSet) AppendBinary(b []byte) ([]byte, error) {
	return appendTime(onNode(b, kindFreeUntilSet, e.instant(), e.Node), e.Until), nil
}

// AppendBinary appends the event in its binary form.
func (e Reserved) AppendBinary(b []byte) ([]byte, error) {
	return onNode(b, kindReserved, e.instant(), e.Node, e.Tenant), nil
}

// AppendBinary appends the event in its binary form.
func (e Unreserved) AppendBinary(b []byte) ([]byte, error) {
	return onNode(b, kindUnreserved, e.instant(), e.Node), nil
}

// AppendBinary appends the event in its binary form, which holds the version and content of the cluster and not the cluster.
func (e ClusterChanged) AppendBinary(b []byte) ([]byte, error) {
	return append(wire.AppendUint(head(b, kindClusterChanged, e.instant()), e.Version), e.Content[:]...), nil
}

// DecodeEvent reads what AppendBinary of an event wrote. Whether the event makes sense is judged by [Fleet.Apply].
//
// Possible errors: [ErrCorrupt].
func DecodeEvent(b []byte) (Event, error) {
	r := wire.NewReader(b)
	kind := r.Uint()
	at := readTick(r)
	node := func() topology.NodeID { return topology.NodeID(r.String()) }
	var e Event
	switch kind {
	case kindPlaced:
		p := Placed{At: at, Request: readRequest(r)}
		for range r.Count(4) {
			p.Seats = append(p.Seats, Seat{Group: readInt(r), Pod: readInt(r), Node: node(), GPUs: readInts(r)})
		}
		e = p
	case kindReleased:
		e = Released{At: at, ID: r.String()}
	case kindCordoned:
		e = Cordoned{At: at, Node: node(), Owner: r.String(), Reason: r.String()}
	case kindUncordoned:
		e = Uncordoned{At: at, Node: node(), Owner: r.String()}
	case kindGPUFailed:
		e = GPUFailed{At: at, Node: node(), Owner: r.String(), GPU: readInt(r)}
	case kindGPURestored:
		e = GPURestored{At: at, Node: node(), Owner: r.String(), GPU: readInt(r)}
	case kindFreeUntilSet:
		e = FreeUntilSet{At: at, Node: node(), Until: readTime(r)}
	case kindReserved:
		e = Reserved{At: at, Node: node(), Tenant: r.String()}
	case kindUnreserved:
		e = Unreserved{At: at, Node: node()}
	case kindClusterChanged:
		e = ClusterChanged{At: at, Version: r.Uint(), Content: readContent(r)}
	default:
		r.Fail("kind %d is not known to this release", kind)
	}
	if err := r.Done(); err != nil {
		return nil, corrupt("event", err)
	}
	return e, nil
}

// EventJSON gives an event for people: its fields, with "kind" first.
//
// Possible errors: [ErrInvalid] for a nil event and a pointer to one.
func EventJSON(e Event) ([]byte, error) {
	if err := sound(e); err != nil {
		return nil, err
	}
	body, err := json.Marshal(e)
	if err != nil {
		return nil, errors.Join(ErrInvalid, err)
	}
	kind, err := json.Marshal(e.Kind())
	if err != nil {
		return nil, errors.Join(ErrInvalid, err)
	}
	out := append([]byte(`{"kind":`), kind...)
	return append(append(out, ','), body[1:]...), nil
}
