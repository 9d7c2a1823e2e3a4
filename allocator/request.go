// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/topology"
)

// A Pod is what one member of a gang needs, all of it on one node: whole GPUs, or a part of one GPU, or no GPU at all.
// A Pod is immutable and safe for concurrent use.
type Pod struct {
	GPUs      int64 `json:"gpus,omitempty"`      // whole GPUs; not together with GPUMilli
	GPUMilli  int64 `json:"gpuMilli,omitempty"`  // thousandths of one GPU, 1 to 999
	CPUMilli  int64 `json:"cpuMilli,omitempty"`  // thousandths of a logical CPU
	MemoryMiB int64 `json:"memoryMiB,omitempty"` // host memory
}

// Milli gives the GPU share of the pod in thousandths of a GPU.
func (p Pod) Milli() int64 { return p.GPUs*gpuMilli + p.GPUMilli }

// gpus gives how many GPU indexes an assignment of the pod names.
func (p Pod) gpus() int64 {
	if p.GPUMilli > 0 {
		return 1
	}
	return p.GPUs
}

// larger orders pods by size: GPUs, GPU share, CPU, memory.
func (p Pod) larger(o Pod) int {
	return cmp.Or(cmp.Compare(o.GPUs, p.GPUs), cmp.Compare(o.GPUMilli, p.GPUMilli),
		cmp.Compare(o.CPUMilli, p.CPUMilli), cmp.Compare(o.MemoryMiB, p.MemoryMiB))
}

// A Group is a number of equal pods. A Group is immutable and safe for concurrent use.
type Group struct {
	Name  string `json:"name,omitempty"` // for people; unique within the request unless empty
	Count int    `json:"count"`          // pods, at least 1
	Pod   Pod    `json:"pod"`            // what each needs
}

// A Request is a gang: all of its pods get a place, or none does.
// A Request may be read by many goroutines while nobody changes it.
type Request struct {
	ID     string            `json:"id"`               // the request key; also the name of the placement
	Claim  string            `json:"claim,omitempty"`  // the claim that the placement occupies; "" when the host has none
	Tenant string            `json:"tenant"`           // whose work it is
	Groups []Group           `json:"groups"`           // at least one; together at most MaxPods pods
	Models []string          `json:"models,omitempty"` // GPU models accepted for pods with GPUs, at most MaxModels; nil: any
	Nodes  []topology.NodeID `json:"nodes,omitempty"`  // only these, for example the seats of the claim; nil: any
	Until  time.Time         `json:"until,omitzero"`   // declared end, whole seconds; zero: open-ended
}

// Pods gives the number of pods of all groups.
func (r Request) Pods() int {
	n := 0
	for _, g := range r.Groups {
		n += g.Count
	}
	return n
}

// canonical gives a deep copy in the one form that is stored and compared: lists sorted and unique, time in UTC.
func (r Request) canonical() Request {
	r.Groups = slices.Clone(r.Groups)
	r.Models = sortedUnique(r.Models)
	r.Nodes = sortedUnique(r.Nodes)
	if r.Until.IsZero() {
		r.Until = time.Time{}
	} else {
		r.Until = r.Until.Round(0).UTC()
	}
	return r
}

func sortedUnique[T cmp.Ordered](v []T) []T {
	v = slices.Clone(v)
	slices.Sort(v)
	return slices.Compact(v)
}

// equal compares canonical requests.
func (r Request) equal(o Request) bool {
	return r.ID == o.ID && r.Claim == o.Claim && r.Tenant == o.Tenant && slices.Equal(r.Groups, o.Groups) &&
		slices.Equal(r.Models, o.Models) && slices.Equal(r.Nodes, o.Nodes) && r.Until.Equal(o.Until)
}

// until gives the declared end as a tick, Forever when there is none.
func (r Request) until() int64 {
	if r.Until.IsZero() {
		return tick.Forever
	}
	return tick.Floor(r.Until)
}

// begins checks that the request does not end before it begins at that tick.
func (r Request) begins(at int64) error {
	if r.until() <= at {
		return refuse(ErrInvalid, "Until", r.Until.Format(time.RFC3339), fmt.Sprintf("it would begin at %s; give a later end", tick.Time(at).Format(time.RFC3339)))
	}
	return nil
}

// check reports every mistake of the request at once. Whether the nodes exist is not judged here.
func (r Request) check() error {
	errs := []error{badText("ID", r.ID, false), badText("Claim", r.Claim, true), badText("Tenant", r.Tenant, false)}
	if len(r.Groups) == 0 {
		errs = append(errs, refuse(ErrInvalid, "Groups", "empty", "give at least one group of pods"))
	}
	pods, names := 0, map[string]int{}
	for i, g := range r.Groups {
		field := fmt.Sprintf("Groups[%d]", i)
		errs = append(errs, badText(field+".Name", g.Name, true), g.Pod.check(field+".Pod"))
		if first, twice := names[g.Name]; twice && g.Name != "" {
			errs = append(errs, refuse(ErrInvalid, field+".Name", g.Name, fmt.Sprintf("group %d has that name already", first)))
		}
		names[g.Name] = i
		if g.Count < 1 || g.Count > MaxPods {
			errs = append(errs, refuse(ErrInvalid, field+".Count", g.Count, fmt.Sprintf("give 1 to %d pods", MaxPods)))
			continue
		}
		if pods += g.Count; pods > MaxPods {
			errs = append(errs, refuse(ErrInvalid, field+".Count", g.Count, fmt.Sprintf("the request has %d pods so far; give at most %d", pods, MaxPods)))
			break
		}
	}
	if r.Models != nil && len(r.Models) == 0 {
		errs = append(errs, refuse(ErrInvalid, "Models", "an empty list", "give nil to accept any model"))
	}
	if len(r.Models) > MaxModels {
		errs = append(errs, refuse(ErrInvalid, "Models", fmt.Sprintf("a list of %d", len(r.Models)), fmt.Sprintf("give at most %d, or nil to accept any model", MaxModels)))
	} else {
		for i, m := range r.Models {
			errs = append(errs, badText(fmt.Sprintf("Models[%d]", i), m, false))
		}
	}
	if r.Nodes != nil && len(r.Nodes) == 0 {
		errs = append(errs, refuse(ErrInvalid, "Nodes", "an empty list", "give nil to accept any node"))
	}
	if !r.Until.IsZero() {
		if _, err := tick.Exact(r.Until); err != nil {
			errs = append(errs, fmt.Errorf("%w: Until: %w: give whole seconds", ErrInvalid, err))
		}
	}
	return errors.Join(errs...)
}

func (p Pod) check(field string) error {
	var errs []error
	amounts := []struct {
		name  string
		value int64
	}{{"GPUs", p.GPUs}, {"GPUMilli", p.GPUMilli}, {"CPUMilli", p.CPUMilli}, {"MemoryMiB", p.MemoryMiB}}
	for _, a := range amounts {
		if a.value < 0 || a.value > MaxAmount {
			errs = append(errs, refuse(ErrInvalid, field+"."+a.name, a.value, fmt.Sprintf("give 0 to %d", int64(MaxAmount))))
		}
	}
	switch {
	case p.GPUMilli >= gpuMilli && p.GPUMilli <= MaxAmount:
		errs = append(errs, refuse(ErrInvalid, field+".GPUMilli", p.GPUMilli, "give 1 to 999, and whole GPUs as GPUs"))
	case p.GPUMilli > 0 && p.GPUs > 0:
		errs = append(errs, refuse(ErrInvalid, field+".GPUMilli", p.GPUMilli, "a pod has whole GPUs or a part of one, not both"))
	case p == Pod{}:
		errs = append(errs, refuse(ErrInvalid, field, "empty", "ask for GPUs, GPUMilli, CPUMilli or MemoryMiB"))
	}
	return errors.Join(errs...)
}
