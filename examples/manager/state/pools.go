// SPDX-License-Identifier: Apache-2.0

package state

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/topology"
)

// Units of the ledger: GPU time is charged in thousandths of a GPU, so that
// whole GPUs and shares add up exactly.
const (
	MilliPerGPU = 1000
	keyPrefix   = "gpu-milli/"
	// CPUKey is charged by work without a GPU.
	CPUKey quota.Key = "cpu-milli"
)

// GPUKey returns the quota key of a GPU model.
func GPUKey(model string) quota.Key { return quota.Key(keyPrefix + model) }

// PoolName returns the name of the pool of nodes with so many GPUs of a model.
func PoolName(model string, gpus int) string {
	return fmt.Sprintf("%s-x%d", model, gpus)
}

// PoolsByModel makes one pool of all nodes that have the same GPU model and the
// same number of GPUs: units of a pool must be equal, or counts would not be
// exact. Nodes without a GPU are in no pool: nobody books them.
func PoolsByModel(c *topology.Cluster, p reservation.Policy) []reservation.Pool {
	byName := map[string]*reservation.Pool{}
	for n := range c.Nodes() {
		shape := c.Shape(n)
		if shape.GPUs() == 0 {
			continue
		}
		name := PoolName(shape.Model().Name, shape.GPUs())
		pool := byName[name]
		if pool == nil {
			pool = &reservation.Pool{Name: name, Label: shape.Model().Name, GPUsPerUnit: int64(shape.GPUs()), Policy: p}
			byName[name] = pool
		}
		spare, _ := c.Label(n, SpareLabel)
		pool.Units = append(pool.Units, reservation.Unit{Name: string(c.ID(n)), Spare: spare == "true"})
	}
	out := make([]reservation.Pool, 0, len(byName))
	for _, p := range byName {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b reservation.Pool) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// SpareLabel, with the value "true", keeps a node back for repairs.
const SpareLabel = "berth.dev/spare"

// poolIndex answers "which pool is this node in" and "which nodes has this
// pool". It is immutable and shared by forks; no answer depends on its history.
type poolIndex struct {
	ordered []poolEntry // as jobs try them: fewest GPUs per node first, then name
	of      map[topology.NodeID]string
	byName  map[string]poolEntry
	// how long before and after its window a booking concerns the fleet, at most
	lead, tail time.Duration
}

type poolEntry struct {
	name  string
	model string
	gpus  int64
	nodes []topology.NodeID
}

func indexPools(s *State) *poolIndex {
	x := &poolIndex{of: map[topology.NodeID]string{}, byName: map[string]poolEntry{}}
	for p := range s.Calendar.Pools() {
		e := poolEntry{name: p.Name, model: p.Label, gpus: p.GPUsPerUnit}
		for _, u := range p.Units {
			x.of[topology.NodeID(u.Name)] = p.Name
			if !u.Spare {
				e.nodes = append(e.nodes, topology.NodeID(u.Name))
			}
		}
		x.ordered = append(x.ordered, e)
		x.byName[e.name] = e
		x.lead = max(x.lead, p.Policy.Prep+p.Policy.Defaults().BindLead+15*time.Minute)
		x.tail = max(x.tail, p.Policy.Grace+p.Policy.Cleanup)
	}
	slices.SortFunc(x.ordered, func(a, b poolEntry) int {
		return cmp.Or(cmp.Compare(a.gpus, b.gpus), cmp.Compare(a.name, b.name))
	})
	return x
}

// PoolOf returns the pool of a node.
func (s *State) PoolOf(n topology.NodeID) (string, bool) {
	p, ok := s.pools.of[n]
	return p, ok
}

// PoolFacts returns the GPU model of a pool and the GPUs of each of its nodes.
func (s *State) PoolFacts(pool string) (model string, gpus int64, ok bool) {
	e, ok := s.pools.byName[pool]
	return e.model, e.gpus, ok
}

// key returns the quota key that a pool's GPUs are charged under.
func (e poolEntry) key() quota.Key { return GPUKey(e.model) }
