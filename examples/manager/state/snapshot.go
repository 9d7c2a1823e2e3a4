// SPDX-License-Identifier: Apache-2.0

package state

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/health"
	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/topology"
)

// Snapshot encodes the whole state; the same state has the same bytes.
func (s *State) Snapshot() ([]byte, error) {
	var b []byte
	parts := []struct {
		sec    section
		encode func() ([]byte, error)
	}{
		{secHeader, func() ([]byte, error) { return json.Marshal(Header{At: s.at, Command: "snapshot"}) }},
		{secTopology, s.Cluster.MarshalJSON},
		{secHealth, s.Health.MarshalBinary},
		{secCalendar, s.Calendar.MarshalBinary},
		{secQuota, s.Ledger.MarshalBinary},
		{secFleet, s.Fleet.MarshalBinary},
		{secJobs, s.Jobs.MarshalJSON},
		{secKeys, func() ([]byte, error) { return json.Marshal(s.keys.list()) }},
	}
	for _, p := range parts {
		body, err := p.encode()
		if err != nil {
			return nil, fmt.Errorf("snapshot section %d: %w", p.sec, err)
		}
		b = appendSection(b, p.sec, body)
	}
	return b, nil
}

// Restore reads a snapshot; seq is the record it was taken after.
func Restore(seq uint64, b []byte) (*State, error) {
	s := &State{seq: seq, keys: newRequestKeys()}
	err := eachSection(b, func(sec section, body []byte) (err error) {
		switch sec {
		case secHeader:
			var h Header
			err = json.Unmarshal(body, &h)
			s.at, s.stepped = h.At, h.At
		case secTopology:
			s.Cluster, err = topology.Decode(body)
		case secHealth:
			s.Health, err = health.Restore(body)
		case secCalendar:
			s.Calendar, err = reservation.Restore(body)
		case secQuota:
			s.Ledger, err = quota.Restore(body)
		case secFleet:
			if s.Cluster == nil {
				return fmt.Errorf("%w: fleet before topology", errCut)
			}
			s.Fleet, err = allocator.Restore(body, s.Cluster)
		case secJobs:
			s.Jobs, err = jobs.Restore(body)
		case secKeys:
			var list []Header
			err = json.Unmarshal(body, &list)
			for _, h := range list {
				s.keys.put(h)
			}
		default:
			return fmt.Errorf("%w: unknown section: written by a newer release?", errCut)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if s.Cluster == nil || s.Ledger == nil || s.Calendar == nil || s.Fleet == nil || s.Health == nil || s.Jobs == nil {
		return nil, fmt.Errorf("%w: a part of the snapshot is missing", errCut)
	}
	s.pools = indexPools(s)
	return s, nil
}

// next says when the state next changes by itself.
func (s *State) next() (time.Time, bool) {
	var next time.Time
	found := false
	for _, f := range []func() (time.Time, bool){s.Health.Next, s.Calendar.Next, s.Ledger.Next, s.Fleet.Next, s.nextBinding, s.nextCleanup, s.nextRenewal} {
		if t, ok := f(); ok && (!found || t.Before(next)) {
			next, found = t, true
		}
	}
	return next, found
}
