// SPDX-License-Identifier: Apache-2.0

package state

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
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

// CPUPoolName returns the name of the pool of nodes without a GPU that have so
// much CPU: "cpu-64" for 64 cores, "cpu-1500m" for one and a half.
func CPUPoolName(cpuMilli int64) string {
	if cpuMilli%1000 == 0 {
		return fmt.Sprintf("cpu-%d", cpuMilli/1000)
	}
	return fmt.Sprintf("cpu-%dm", cpuMilli)
}

// cpuLabel is the label of a pool of nodes without a GPU, before their CPU in
// thousandths: the calendar keeps it for as long as the pool has bookings.
const cpuLabel = "cpu-milli/"

// cpuOf returns the CPU of each node of a pool, if its nodes have no GPU. Their
// GPUsPerUnit is 1 in the calendar, which knows no unit without one.
func cpuOf(p reservation.Pool) (milli int64, ok bool) {
	rest, ok := strings.CutPrefix(p.Label, cpuLabel)
	if !ok || p.GPUsPerUnit != 1 {
		return 0, false
	}
	milli, err := strconv.ParseInt(rest, 10, 64)
	return milli, err == nil && p.Name == CPUPoolName(milli)
}

// NodePrice returns what one node of a pool is charged under, and how much of it:
// thousandths of its model's GPUs, or of a CPU where it has no GPU.
func NodePrice(p reservation.Pool) (key quota.Key, perNode int64) {
	if milli, ok := cpuOf(p); ok {
		return CPUKey, max(milli, 1)
	}
	return GPUKey(p.Label), p.GPUsPerUnit * MilliPerGPU
}

// PoolsByModel makes one pool of all nodes that have the same GPU model and the
// same number of GPUs, and one of all nodes without a GPU that have as much CPU:
// units of a pool must be equal, or counts would not be exact.
func PoolsByModel(c *topology.Cluster, p reservation.Policy) []reservation.Pool {
	byName := map[string]*reservation.Pool{}
	for n := range c.Nodes() {
		shape := c.Shape(n)
		cpu := shape.CPUMilli()
		pool := &reservation.Pool{Name: CPUPoolName(cpu), Label: fmt.Sprint(cpuLabel, cpu), GPUsPerUnit: 1, Policy: p}
		if gpus := shape.GPUs(); gpus > 0 {
			model := shape.Model().Name
			pool = &reservation.Pool{Name: PoolName(model, gpus), Label: model, GPUsPerUnit: int64(gpus), Policy: p}
		}
		if known := byName[pool.Name]; known != nil {
			pool = known
		}
		byName[pool.Name] = pool
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
	model string // "" where nodes have no GPU
	gpus  int64
	key   quota.Key // see NodePrice
	price int64
	nodes []topology.NodeID
}

func indexPools(s *State) *poolIndex {
	x := &poolIndex{of: map[topology.NodeID]string{}, byName: map[string]poolEntry{}}
	for p := range s.Calendar.Pools() {
		e := poolEntry{name: p.Name, model: p.Label, gpus: p.GPUsPerUnit}
		if _, ok := cpuOf(p); ok {
			e.model, e.gpus = "", 0
		}
		e.key, e.price = NodePrice(p)
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

// PoolFacts returns the GPU model of a pool and the GPUs of each of its nodes:
// none, where they have no GPU.
func (s *State) PoolFacts(pool string) (model string, gpus int64, ok bool) {
	e, ok := s.pools.byName[pool]
	return e.model, e.gpus, ok
}

// PoolPrice returns what a node of a pool is charged under, see [NodePrice].
func (s *State) PoolPrice(pool string) (key quota.Key, perNode int64, ok bool) {
	e, ok := s.pools.byName[pool]
	return e.key, e.price, ok
}
