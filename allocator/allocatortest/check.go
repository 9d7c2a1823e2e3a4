// SPDX-License-Identifier: Apache-2.0

package allocatortest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/topology"
)

// use is what lies on one node.
type use struct {
	cpu, memory int64
	milli       map[int]int64
	tenants     map[string]bool
	ids         []string
}

// Check recounts a fleet from its placements and its cluster, and compares with what the fleet says: no GPU, CPU or memory
// is given twice (A1), free and used make up the capacity (A2), every gang is whole (A5), and lies on nodes that it may use,
// beside nobody it must not meet (A6).
func Check(f *allocator.Fleet) error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	uses := map[topology.NodeIndex]*use{}
	var placements, pods int64
	for p := range f.Placements() {
		placements++
		pods += int64(len(p.Assignments))
		errs = append(errs, checkGang(f.Cluster(), p.Request, p.Assignments))
		for _, a := range p.Assignments {
			u := uses[a.Node]
			if u == nil {
				u = &use{milli: map[int]int64{}, tenants: map[string]bool{}}
				uses[a.Node] = u
			}
			u.add(p.Request.Groups[a.Group].Pod, a.GPUs)
			u.tenants[p.Request.Tenant] = true
			if !slices.Contains(u.ids, p.ID()) {
				u.ids = append(u.ids, p.ID())
			}
		}
	}
	total := f.Totals()
	if placements != total.Placements || pods != total.Pods {
		wrong("A2: %d placements with %d pods, the totals say %+v", placements, pods, total)
	}
	var capacity, used, stranded int64
	for i := range topology.NodeIndex(f.Cluster().Len()) {
		u := uses[i]
		if u == nil {
			u = &use{}
		}
		node, free := f.Cluster().ID(i), f.Free(i)
		var ids []string
		for p := range f.OnNode(i) {
			ids = append(ids, p.ID())
		}
		if !slices.Equal(ids, u.ids) {
			wrong("A2: node %s has %v, the fleet lists %v", node, u.ids, ids)
		}
		if f.Tenancy() == allocator.DedicatedNodes && len(u.tenants) > 1 || free.Reserved && len(u.tenants) > 0 && !u.tenants[free.Tenant] {
			wrong("A6: node %s of %q serves %v", node, free.Tenant, u.tenants)
		}
		if !free.Present {
			stranded += u.sum()
			continue
		}
		shape := f.Cluster().Shape(i)
		if shape.CPUMilli()-u.cpu != free.CPUMilli || free.CPUMilli < 0 || shape.MemoryMiB()-u.memory != free.MemoryMiB || free.MemoryMiB < 0 {
			wrong("A1: node %s: %+v of %d milli-CPU and %d MiB, the fleet says %+v", node, *u, shape.CPUMilli(), shape.MemoryMiB(), free)
		}
		failed := failedGPUs(f, node)
		for g, have := range free.GPUMilli {
			want := 1000 - u.milli[g]
			if failed[g] {
				want = 0
			}
			if u.milli[g] > 1000 || have != want {
				wrong("A1: node %s GPU %d: %d milli in use, %d free", node, g, u.milli[g], have)
			}
		}
		capacity += 1000 * int64(shape.GPUs())
		used += u.sum()
	}
	if capacity != total.CapacityMilli || used != total.AllocatedMilli || stranded != total.StrandedMilli ||
		total.FreeMilli+total.UnavailableMilli+used != capacity || total.FreeMilli < 0 || total.UnavailableMilli < 0 {
		wrong("A2: capacity %d, used %d, stranded %d, the totals say %+v", capacity, used, stranded, total)
	}
	return errors.Join(errs...)
}

func (u *use) add(pod allocator.Pod, gpus []int) {
	u.cpu += pod.CPUMilli
	u.memory += pod.MemoryMiB
	share := pod.GPUMilli
	if share == 0 {
		share = 1000
	}
	for _, g := range gpus {
		u.milli[g] += share
	}
}

func (u *use) sum() int64 {
	var sum int64
	for _, m := range u.milli {
		sum += m
	}
	return sum
}

func failedGPUs(f *allocator.Fleet, node topology.NodeID) map[int]bool {
	out := map[int]bool{}
	for c := range f.Cordons() {
		if c.Node == node && c.GPU >= 0 {
			out[c.GPU] = true
		}
	}
	return out
}

// checkGang checks that every pod is there once, with different GPUs of the right number, on a node it may use.
func checkGang(c *topology.Cluster, r allocator.Request, as []allocator.Assignment) error {
	seen := map[[2]int]bool{}
	for _, a := range as {
		if a.Group < 0 || a.Group >= len(r.Groups) || a.Pod < 0 || a.Pod >= r.Groups[a.Group].Count || seen[[2]int{a.Group, a.Pod}] {
			return fmt.Errorf("A5: %s: no such pod, or placed twice: %+v", r.ID, a)
		}
		seen[[2]int{a.Group, a.Pod}] = true
		pod := r.Groups[a.Group].Pod
		want := int(pod.GPUs)
		if pod.GPUMilli > 0 {
			want = 1
		}
		if gpus := slices.Compact(slices.Clone(a.GPUs)); len(gpus) != want || !slices.IsSorted(gpus) {
			return fmt.Errorf("A6: %s: %+v has GPUs %v, needs %d", r.ID, a, a.GPUs, want)
		}
		if r.Nodes != nil && !slices.Contains(r.Nodes, c.ID(a.Node)) {
			return fmt.Errorf("A6: %s: node %s is not listed", r.ID, c.ID(a.Node))
		}
	}
	if len(seen) != r.Pods() {
		return fmt.Errorf("A5: %s: %d of %d pods are placed", r.ID, len(seen), r.Pods())
	}
	return nil
}

// CheckPlan judges a new plan against what the fleet says of its nodes now, all constraints of the request included (A6).
func CheckPlan(f *allocator.Fleet, p allocator.Plan) error {
	r := p.Request
	errs := []error{checkGang(f.Cluster(), r, p.Assignments)}
	uses := map[topology.NodeIndex]*use{}
	for _, a := range p.Assignments {
		u := uses[a.Node]
		if u == nil {
			u = &use{milli: map[int]int64{}}
			uses[a.Node] = u
		}
		u.add(r.Groups[a.Group].Pod, a.GPUs)
		model := f.Cluster().Shape(a.Node).Model().Name
		if r.Models != nil && len(a.GPUs) > 0 && !slices.Contains(r.Models, model) {
			errs = append(errs, fmt.Errorf("A6: %s: model %s is not accepted", r.ID, model))
		}
	}
	for i, u := range uses {
		free := f.Free(i)
		fits := free.Present && !free.Cordoned && u.cpu <= free.CPUMilli && u.memory <= free.MemoryMiB && (free.Tenant == "" || free.Tenant == r.Tenant)
		for g, m := range u.milli {
			fits = fits && g < len(free.GPUMilli) && m <= free.GPUMilli[g]
		}
		if r.Nodes == nil && !r.Until.IsZero() && !free.FreeUntil.IsZero() && r.Until.After(free.FreeUntil) {
			fits = false
		}
		if !fits {
			errs = append(errs, fmt.Errorf("A6: %s puts %+v on node %s, which has %+v", r.ID, *u, f.Cluster().ID(i), free))
		}
	}
	return errors.Join(errs...)
}
