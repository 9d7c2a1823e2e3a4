// SPDX-License-Identifier: Apache-2.0

package service

import (
	"context"
	"fmt"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/examples/manager/commands"
	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/isolation"
	"github.com/berth-gpu/berth/nvmlx"
	"github.com/berth-gpu/berth/nvmlx/nvmltest"
	"github.com/berth-gpu/berth/topology"
)

// simulatedUVM is the major number of nvidia-uvm on a simulated node; on a real
// one the agent reads it from /proc/devices.
const simulatedUVM = 508

// Leases returns, for a running job, what each of its nodes must set up: device
// files and a CDI document. The nodes are simulated, so their inventories are.
func (s *Service) Leases(viewer, id string) ([]isolation.Plan, error) {
	st := s.Cell.Load()
	j, ok := st.Jobs.Find(id)
	if !ok || viewer != "" && viewer != j.Tenant {
		return nil, Refuse(viewer, fmt.Errorf("%w: job %q", commands.ErrNotFound, id))
	}
	if j.Phase != jobs.Running {
		return nil, Refuse(viewer, fmt.Errorf("%w: job %q is %s: leases exist while it runs", jobs.ErrState, id, j.Phase))
	}
	p, ok := st.Fleet.Placement(state.RunID(j))
	if !ok {
		return nil, fmt.Errorf("job %q runs without a placement", id)
	}
	plans, err := plansOf(st, j, p)
	if err != nil {
		return nil, Refuse(viewer, err)
	}
	return plans, nil
}

// plansOf plans the leases of one placement, one per node: the job's id, and its
// run as epoch.
func plansOf(st *state.State, j *jobs.Job, p allocator.Placement) ([]isolation.Plan, error) {
	byNode := map[topology.NodeIndex]*isolation.Lease{}
	var order []topology.NodeIndex
	hosts := map[topology.NodeIndex]isolation.Host{}
	for _, a := range p.Assignments {
		if len(a.GPUs) == 0 {
			continue // work without a GPU needs no device
		}
		l := byNode[a.Node]
		if l == nil {
			host, err := simulatedHost(st, a.Node)
			if err != nil {
				return nil, err
			}
			l = &isolation.Lease{ID: j.ID, Epoch: uint64(j.Preemptions) + 1, Tenant: p.Request.Tenant, Node: st.Cluster.ID(a.Node),
				Start: p.At, DedicatedNode: true}
			byNode[a.Node], hosts[a.Node] = l, host
			order = append(order, a.Node)
		}
		pod := p.Request.Groups[a.Group].Pod
		for _, g := range a.GPUs {
			uuid := hosts[a.Node].Inventory.GPUs[g].UUID
			if pod.GPUMilli > 0 {
				l.Shares = append(l.Shares, isolation.Share{GPU: uuid, Milli: pod.GPUMilli})
			} else {
				l.GPUs = append(l.GPUs, uuid)
			}
		}
	}
	var out []isolation.Plan
	for _, n := range order {
		plan, err := byNode[n].Plan(hosts[n])
		if err != nil {
			return nil, err
		}
		out = append(out, plan)
	}
	return out, nil
}

func simulatedHost(st *state.State, n topology.NodeIndex) (isolation.Host, error) {
	shape := st.Cluster.Shape(n)
	fake, err := nvmltest.New(nvmltest.OpenB(string(st.Cluster.ID(n)), shape.Model().Name, shape.GPUs()))
	if err != nil {
		return isolation.Host{}, err
	}
	inv, err := nvmlx.ReadInventory(context.Background(), fake)
	if err != nil {
		return isolation.Host{}, err
	}
	return isolation.Host{Node: st.Cluster.ID(n), Inventory: inv, Majors: isolation.Majors{UVM: simulatedUVM}}, nil
}

// A CheckReport says whether the contract between the engines holds.
type CheckReport struct {
	Seq uint64 `json:"seq"`
	OK  bool   `json:"ok"`
}

// Check verifies W1–W6 on the published state.
func (s *Service) Check() (CheckReport, error) {
	st := s.Cell.Load()
	if err := st.Check(); err != nil {
		return CheckReport{Seq: st.Seq()}, err
	}
	return CheckReport{Seq: st.Seq(), OK: true}, nil
}
