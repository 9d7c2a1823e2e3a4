// SPDX-License-Identifier: Apache-2.0

package allocator_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/allocator/allocatortest"
	"github.com/berth-gpu/berth/topology"
)

// naive is the model: one record per node, lists that are searched, everything counted anew for each question.
type naive struct {
	c     *topology.Cluster
	nodes []naiveNode
	jobs  map[string]allocator.Placement
}

type naiveNode struct {
	cordons, failed map[string]bool // by owner; by owner and GPU
	reserved        string
	freeUntil       time.Time
}

// room counts how many more pods of one kind fit on a node for a request.
func (m *naive) room(i int, r allocator.Request) int {
	n, pod, shape := m.nodes[i], r.Groups[0].Pod, m.c.Shape(topology.NodeIndex(i))
	if r.Nodes != nil && !slices.Contains(r.Nodes, m.c.ID(topology.NodeIndex(i))) || len(n.cordons) > 0 ||
		n.reserved != "" && n.reserved != r.Tenant || r.Models != nil && pod.Milli() > 0 && !slices.Contains(r.Models, shape.Model().Name) {
		return 0
	}
	if r.Nodes == nil && !n.freeUntil.IsZero() && (r.Until.IsZero() && !start.Before(n.freeUntil) || r.Until.After(n.freeUntil)) {
		return 0
	}
	cpu, memory, gpus := shape.CPUMilli(), shape.MemoryMiB(), make([]int64, shape.GPUs())
	for g := range gpus {
		gpus[g] = 1000
		for _, owner := range []string{"human/oncall", "health"} {
			if n.failed[fmt.Sprint(owner, g)] {
				gpus[g] = 0
			}
		}
	}
	for _, p := range m.jobs {
		for _, a := range p.Assignments {
			if int(a.Node) != i {
				continue
			}
			if p.Request.Tenant != r.Tenant {
				return 0
			}
			q := p.Request.Groups[a.Group].Pod
			cpu, memory = cpu-q.CPUMilli, memory-q.MemoryMiB
			for _, g := range a.GPUs {
				gpus[g] = max(gpus[g]-q.Milli()/int64(len(a.GPUs)), 0)
			}
		}
	}
	room := int64(1 << 20)
	if pod.CPUMilli > 0 {
		room = min(room, cpu/pod.CPUMilli)
	}
	if pod.MemoryMiB > 0 {
		room = min(room, memory/pod.MemoryMiB)
	}
	var places int64
	for _, free := range gpus {
		if pod.GPUMilli > 0 {
			places += free / pod.GPUMilli
		} else if free == 1000 {
			places++
		}
	}
	if pod.GPUs > 0 {
		places /= pod.GPUs
	}
	if pod.Milli() > 0 {
		room = min(room, places)
	}
	return int(room)
}

func (m *naive) fits(r allocator.Request) bool {
	room := 0
	for i := range m.nodes {
		room += m.room(i, r)
	}
	return room >= r.Groups[0].Count
}

// TestModel drives a fleet and the naive model with the same commands. For gangs of one group the model knows whether they
// fit, since equal pods fit in whatever order they are placed (A8).
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := allocatortest.Clusters().Draw(t, "cluster")
		f, err := allocator.New(allocator.Config{Cluster: c})
		require.NoError(t, err)
		m := &naive{c: c, nodes: make([]naiveNode, c.Len()), jobs: map[string]allocator.Placement{}}
		for i := range m.nodes {
			m.nodes[i].cordons, m.nodes[i].failed = map[string]bool{}, map[string]bool{}
		}
		node := rapid.IntRange(0, c.Len()-1)
		owner := rapid.SampledFrom([]string{"human/oncall", "health"})
		id := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"})
		t.Repeat(map[string]func(*rapid.T){
			"place": func(t *rapid.T) {
				r := allocatortest.Requests(c, id.Draw(t, "id")).Draw(t, "request")
				r.Groups = r.Groups[:1]
				_, taken := m.jobs[r.ID]
				fits := m.fits(r)
				plan, errPlan := f.Plan(start, r)
				p, err := f.Place(start, r)
				switch {
				case taken:
					if err != nil {
						require.ErrorIs(t, err, allocator.ErrExists)
					}
				case fits:
					require.NoError(t, err, "A8: the model finds room")
					require.NoError(t, errPlan)
					require.Equal(t, plan.Assignments, p.Assignments)
					m.jobs[r.ID] = p
				default:
					require.ErrorIs(t, err, allocator.ErrUnplaceable, "A8: the model finds no room")
				}
			},
			"release": func(t *rapid.T) {
				id := id.Draw(t, "id")
				require.NoError(t, f.Release(start, id))
				delete(m.jobs, id)
			},
			"cordon": func(t *rapid.T) {
				i, o := node.Draw(t, "node"), owner.Draw(t, "owner")
				require.NoError(t, f.Cordon(start, c.ID(topology.NodeIndex(i)), o, ""))
				m.nodes[i].cordons[o] = true
			},
			"uncordon": func(t *rapid.T) {
				i, o := node.Draw(t, "node"), owner.Draw(t, "owner")
				require.NoError(t, f.Uncordon(start, c.ID(topology.NodeIndex(i)), o))
				delete(m.nodes[i].cordons, o)
			},
			"gpu": func(t *rapid.T) {
				i, o, g := node.Draw(t, "node"), owner.Draw(t, "owner"), rapid.IntRange(0, 8).Draw(t, "gpu")
				n := c.ID(topology.NodeIndex(i))
				switch key := fmt.Sprint(o, g); {
				case g >= c.Shape(topology.NodeIndex(i)).GPUs():
					require.ErrorIs(t, f.FailGPU(start, n, g, o), allocator.ErrInvalid)
				case rapid.Bool().Draw(t, "fail"):
					require.NoError(t, f.FailGPU(start, n, g, o))
					m.nodes[i].failed[key] = true
				default:
					require.NoError(t, f.RestoreGPU(start, n, g, o))
					delete(m.nodes[i].failed, key)
				}
			},
			"free until": func(t *rapid.T) {
				i := node.Draw(t, "node")
				until := rapid.SampledFrom([]time.Time{{}, start, start.Add(20 * time.Hour)}).Draw(t, "until")
				require.NoError(t, f.SetFreeUntil(start, c.ID(topology.NodeIndex(i)), until))
				m.nodes[i].freeUntil = until
			},
			"reserve": func(t *rapid.T) {
				i, tenant := node.Draw(t, "node"), rapid.SampledFrom(allocatortest.Tenants).Draw(t, "tenant")
				free := m.nodes[i].reserved == "" || m.nodes[i].reserved == tenant
				for _, p := range m.jobs {
					for _, a := range p.Assignments {
						free = free && (int(a.Node) != i || p.Request.Tenant == tenant)
					}
				}
				if err := f.Reserve(start, c.ID(topology.NodeIndex(i)), tenant); free {
					require.NoError(t, err)
					m.nodes[i].reserved = tenant
				} else {
					require.ErrorIs(t, err, allocator.ErrInUse)
				}
			},
			"unreserve": func(t *rapid.T) {
				i, tenant := node.Draw(t, "node"), rapid.SampledFrom(allocatortest.Tenants).Draw(t, "tenant")
				require.NoError(t, f.Unreserve(start, c.ID(topology.NodeIndex(i)), tenant))
				if m.nodes[i].reserved == tenant {
					m.nodes[i].reserved = ""
				}
			},
			"": func(t *rapid.T) {
				require.NoError(t, errors.Join(f.Check(), allocatortest.Check(f)))
				require.EqualValues(t, len(m.jobs), f.Totals().Placements)
			},
		})
	})
}
