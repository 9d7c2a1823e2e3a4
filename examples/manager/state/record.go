// SPDX-License-Identifier: Apache-2.0

package state

import (
	"encoding/json"
	"fmt"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/health"
	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/topology"
)

// binaryEvent is what the engines' events have in common.
type binaryEvent interface {
	AppendBinary([]byte) ([]byte, error)
}

// Record encodes what was decided since the fork; nil if nothing was.
func (s *State) Record() ([]byte, error) {
	var body []byte
	var err error
	if s.change != nil {
		b, err := json.Marshal(s.change)
		if err != nil {
			return nil, fmt.Errorf("topology change: %w", err)
		}
		body = appendSection(body, secTopology, b)
	}
	if body, err = appendEvents(body, secHealth, s.Health.Events()); err != nil {
		return nil, err
	}
	if body, err = appendEvents(body, secCalendar, s.Calendar.Events()); err != nil {
		return nil, err
	}
	if body, err = appendEvents(body, secQuota, s.Ledger.Events()); err != nil {
		return nil, err
	}
	if body, err = appendEvents(body, secFleet, s.Fleet.Events()); err != nil {
		return nil, err
	}
	for _, e := range s.Jobs.Events() {
		b, err := json.Marshal(e)
		if err != nil {
			return nil, fmt.Errorf("job event: %w", err)
		}
		body = appendSection(body, secJobs, b)
	}
	if body == nil && !s.noted && (s.header == nil || s.header.Answer == nil) {
		return nil, nil
	}
	head, err := json.Marshal(s.header)
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	return append(appendSection(nil, secHeader, head), body...), nil
}

func appendEvents[E binaryEvent](b []byte, s section, events []E) ([]byte, error) {
	var scratch []byte
	for _, e := range events {
		var err error
		if scratch, err = e.AppendBinary(scratch[:0]); err != nil {
			return nil, fmt.Errorf("section %d: %w", s, err)
		}
		b = appendSection(b, s, scratch)
	}
	return b, nil
}

// Apply takes over a record: afterwards s is what the fork was that made it.
// On an error s must be thrown away.
func (s *State) Apply(seq uint64, record []byte) error {
	err := eachSection(record, func(sec section, b []byte) error {
		switch sec {
		case secHeader:
			return s.applyHeader(b)
		case secTopology:
			return s.applyTopology(b)
		case secHealth:
			return apply(b, health.DecodeEvent, s.Health.Apply)
		case secCalendar:
			return apply(b, reservation.DecodeEvent, s.applyCalendar)
		case secQuota:
			return apply(b, quota.DecodeEvent, s.Ledger.Apply)
		case secFleet:
			return apply(b, allocator.DecodeEvent, s.applyFleet)
		case secJobs:
			var e jobs.Event
			if err := json.Unmarshal(b, &e); err != nil {
				return err
			}
			return s.Jobs.Apply(e)
		default:
			return fmt.Errorf("%w: unknown section: written by a newer release?", errCut)
		}
	})
	if err != nil {
		return err
	}
	s.seq, s.cleanupKnown = seq, false
	if s.poolsChanged {
		s.pools, s.poolsChanged = indexPools(s), false
	}
	return nil
}

func apply[E any](b []byte, decode func([]byte) (E, error), do func(E) error) error {
	e, err := decode(b)
	if err != nil {
		return err
	}
	return do(e)
}

func (s *State) applyHeader(b []byte) error {
	var h Header
	if err := json.Unmarshal(b, &h); err != nil {
		return err
	}
	s.at, s.stepped = h.At, h.At
	if h.Key != "" && h.Answer != nil {
		s.keys.put(h)
	}
	return nil
}

func (s *State) applyTopology(b []byte) error {
	var c topology.Change
	if err := json.Unmarshal(b, &c); err != nil {
		return err
	}
	next, err := s.Cluster.Apply(c)
	if err != nil {
		return err
	}
	s.Cluster = next
	return nil
}

func (s *State) applyCalendar(e reservation.Event) error {
	switch e.(type) {
	case reservation.PoolSet, reservation.PoolRemoved:
		s.poolsChanged = true
	}
	return s.Calendar.Apply(e)
}

// applyFleet hands the fleet its new cluster, which the topology section before
// it has made.
func (s *State) applyFleet(e allocator.Event) error {
	if c, ok := e.(allocator.ClusterChanged); ok {
		e = c.On(s.Cluster)
	}
	return s.Fleet.Apply(e)
}

// A Summary is a record for people: the audit log.
type Summary struct {
	Seq    uint64            `json:"seq"`
	Header Header            `json:"header"`
	Events []json.RawMessage `json:"events"`
}

// Describe turns a record into JSON for people.
func Describe(seq uint64, record []byte) (Summary, error) {
	out := Summary{Seq: seq}
	add := func(b []byte, err error) error {
		out.Events = append(out.Events, b)
		return err
	}
	err := eachSection(record, func(sec section, b []byte) error {
		switch sec {
		case secHeader:
			return json.Unmarshal(b, &out.Header)
		case secHealth:
			return describe(b, health.DecodeEvent, health.EventJSON, add)
		case secCalendar:
			return describe(b, reservation.DecodeEvent, reservation.EventJSON, add)
		case secQuota:
			return describe(b, quota.DecodeEvent, quota.EventJSON, add)
		case secFleet:
			return describe(b, allocator.DecodeEvent, allocator.EventJSON, add)
		default:
			return add(append([]byte(nil), b...), nil)
		}
	})
	return out, err
}

func describe[E any](b []byte, decode func([]byte) (E, error), text func(E) ([]byte, error), add func([]byte, error) error) error {
	e, err := decode(b)
	if err != nil {
		return err
	}
	return add(text(e))
}
