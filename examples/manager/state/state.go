// SPDX-License-Identifier: Apache-2.0

package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/health"
	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/topology"
)

// ErrInvalid marks a command or configuration that cannot be carried out as
// given; the message names the field and the value.
var ErrInvalid = errors.New("invalid")

// A State is everything the manager knows. Commands change a fork of it.
//
// A State may be read by many goroutines while nobody changes it; Fork is safe
// whenever reading is.
type State struct {
	Cluster  *topology.Cluster
	Ledger   *quota.Ledger
	Calendar *reservation.Calendar
	Fleet    *allocator.Fleet
	Health   *health.Record
	Jobs     *jobs.Queue

	at           time.Time // of the newest command
	seq          uint64
	keys         *requestKeys
	pools        *poolIndex                       // derived from Calendar and Cluster
	poolsChanged bool                             // while a record is applied
	active       map[string][]reservation.Booking // by tenant, for one scheduling pass
	refused      map[poolTenant][]demand          // in one scheduling pass
	explain      bool                             // refusals are to be explained
	cleanup      time.Time                        // see nextCleanup
	cleanupKnown bool
	stepped      time.Time // up to when what is due has happened: the instant of the newest command, or of the step in progress
	header       *Header   // of the command in progress
	change       *topology.Change
	noted        bool // the record is written even if it has no events
}

// A Header says which command decided a record's events.
type Header struct {
	At      time.Time       `json:"at"`
	Command string          `json:"command"`
	Actor   string          `json:"actor,omitempty"`
	Key     string          `json:"key,omitempty"`    // request key of the API's caller
	Digest  string          `json:"digest,omitempty"` // of the request under that key
	Answer  json.RawMessage `json:"answer,omitempty"` // what a retry under that key is answered
}

// Config is what a new manager starts with.
type Config struct {
	Fleet   topology.Config
	Tenants []quota.Tenant
	Pools   func(*topology.Cluster) []reservation.Pool // nil: [PoolsByModel] with the default policy
}

// New returns the state before the first record. Everything that is wrong with
// the configuration is reported at once.
func New(c Config) (*State, error) {
	cluster, err := topology.New(c.Fleet)
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	pools := c.Pools
	if pools == nil {
		pools = func(cl *topology.Cluster) []reservation.Pool { return PoolsByModel(cl, reservation.Policy{}) }
	}
	calendar, err1 := reservation.New(reservation.Config{Pools: pools(cluster)})
	ledger, err2 := quota.New(quota.Config{Tenants: c.Tenants})
	fleet, err3 := allocator.New(allocator.Config{Cluster: cluster})
	record, err4 := health.New(health.Config{})
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	s := &State{Cluster: cluster, Ledger: ledger, Calendar: calendar, Fleet: fleet, Health: record, Jobs: jobs.New(), keys: newRequestKeys()}
	s.pools = indexPools(s)
	return s, nil
}

// Fork returns an independent copy in near constant time, with nothing decided.
func (s *State) Fork() *State {
	f := *s
	f.Ledger, f.Calendar, f.Fleet, f.Health, f.Jobs = s.Ledger.Fork(), s.Calendar.Fork(), s.Fleet.Fork(), s.Health.Fork(), s.Jobs.Fork()
	f.keys = s.keys.fork()
	f.header, f.change, f.active, f.refused, f.noted = nil, nil, nil, nil, false
	return &f
}

// At returns the instant of the newest command.
func (s *State) At() time.Time { return s.at }

// Seq returns the sequence number of the newest record.
func (s *State) Seq() uint64 { return s.seq }

// Sealed tells the fork the number its record got.
func (s *State) Sealed(seq uint64) { s.seq = seq }

// Begin opens a command on a fork: it notes the header and makes happen what is
// due. A clock that went back counts as the newest instant.
func (s *State) Begin(h Header) (time.Time, error) {
	h.At = h.At.UTC().Truncate(time.Second)
	if h.At.Before(s.at) {
		h.At = s.at
	}
	if err := s.advance(h.At); err != nil {
		return h.At, fmt.Errorf("bug, please report: %w", err)
	}
	s.header = &h
	s.at, s.stepped = h.At, h.At
	return h.At, nil
}

// Note makes the command's record be written even if it decides nothing.
func (s *State) Note() { s.noted = true }

// Answer notes what a retry of this command under its request key is told.
func (s *State) Answer(v any) error {
	if s.header == nil || s.header.Key == "" {
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("answer of %s: %w", s.header.Command, err)
	}
	s.header.Answer = b
	s.keys.put(*s.header)
	return nil
}

// Retried returns the answer given before under a request key. A key used for
// another request is an error. Every actor has keys of its own.
func (s *State) Retried(actor, key, digest string) (json.RawMessage, bool, error) {
	return s.keys.find(actor, key, digest)
}

// SetCluster changes the hardware: one command over topology, calendar, fleet and
// health. Work on nodes that leave goes back into the queue, and their holds end.
func (s *State) SetCluster(at time.Time, c topology.Change) error {
	next, err := s.Cluster.Apply(c)
	if err != nil {
		return err
	}
	for _, id := range c.Remove {
		if err := s.letGo(at, id); err != nil {
			return err
		}
	}
	if err := s.Fleet.SetCluster(at, next); err != nil {
		return err
	}
	want := PoolsByModel(next, reservation.Policy{})
	var perr error
	if err := s.evictReclaimed(at, func() { perr = s.setPools(at, want) }); err != nil || perr != nil {
		return errors.Join(perr, err)
	}
	s.Cluster = next
	s.change = &c
	s.pools = indexPools(s)
	return s.Reconcile(at)
}

// letGo takes everything off a node that leaves.
func (s *State) letGo(at time.Time, id topology.NodeID) error {
	n, ok := s.Cluster.Index(id)
	if !ok || !s.Cluster.Present(n) {
		return nil
	}
	if err := s.evict(at, string(id), func(string) bool { return true }, fmt.Sprintf("node %s leaves the fleet", id)); err != nil {
		return err
	}
	var owners []health.Hold
	for h := range s.Health.Holds(id) {
		owners = append(owners, h)
	}
	for _, h := range owners {
		if err := s.Health.Release(at, h.Component, h.Owner); err != nil {
			return err
		}
	}
	return s.MirrorHolds(at, id)
}

// setPools brings the calendar's pools to what the hardware is now. A pool keeps
// its rules; nodes leave before others join, so a node can change its pool.
func (s *State) setPools(at time.Time, want []reservation.Pool) error {
	units := map[string][]reservation.Unit{}
	for _, p := range want {
		units[p.Name] = p.Units
	}
	var have []reservation.Pool
	for p := range s.Calendar.Pools() {
		have = append(have, p)
	}
	for _, p := range have {
		stay := map[string]bool{}
		for _, u := range units[p.Name] {
			stay[u.Name] = true
		}
		p.Units = slices.DeleteFunc(p.Units, func(u reservation.Unit) bool { return !stay[u.Name] })
		if err := s.Calendar.SetPool(at, p); err != nil {
			return err
		}
	}
	for _, p := range want {
		if old, ok := s.Calendar.Pool(p.Name); ok {
			p.Policy = old.Policy
		} else if len(have) > 0 {
			p.Policy = have[0].Policy
		}
		if err := s.Calendar.SetPool(at, p); err != nil {
			return err
		}
	}
	return nil
}
