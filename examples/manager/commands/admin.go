// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"time"

	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/topology"
)

// Fleet changes the hardware: nodes join, leave, or are replaced.
type Fleet struct{ Change topology.Change }

// Do changes topology, calendar and fleet together. Work on nodes that leave goes
// back into the queue.
func (c Fleet) Do(s *state.State, at time.Time) (FleetReport, error) {
	if err := s.SetCluster(at, c.Change); err != nil {
		return FleetReport{}, err
	}
	return FleetReport{Version: s.Cluster.Version(), Nodes: s.Cluster.Count(), GPUs: s.Cluster.GPUCount()}, nil
}

// A FleetReport says what the fleet is after a change.
type FleetReport struct {
	Version uint64 `json:"version"`
	Nodes   int    `json:"nodes"`
	GPUs    int64  `json:"gpus"`
}

// SetTenant creates or changes a tenant of the quota tree.
type SetTenant struct{ Tenant quota.Tenant }

// Do changes the tree. Lowering a limit takes nothing from anybody.
func (c SetTenant) Do(s *state.State, at time.Time) (quota.Tenant, error) {
	if err := s.Ledger.SetTenant(at, c.Tenant); err != nil {
		return quota.Tenant{}, err
	}
	t, _ := s.Ledger.Tenant(c.Tenant.Name)
	return t, nil
}
