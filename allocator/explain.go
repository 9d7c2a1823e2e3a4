// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/topology"
)

// An Explanation says why a request has no place, or that it has one.
// An Explanation may be read by many goroutines while nobody changes it.
type Explanation struct {
	Fits   bool    `json:"fits"`           // every pod has a place
	Never  bool    `json:"never"`          // not even with everything released, healed, uncordoned and unreserved
	Group  int     `json:"group"`          // the group spoken of: the first that found no place, in the order of search
	Pods   int     `json:"pods"`           // pods of that group
	Room   int     `json:"room"`           // how many of them have a place together
	Nodes  int     `json:"nodes"`          // nodes of the cluster
	Counts []Count `json:"counts"`         // why nodes take no pod of the group, or that they do; the sum is Nodes (A15)
	Near   *Near   `json:"near,omitempty"` // the node that lacks the least
	Help   []Help  `json:"help,omitempty"` // each by itself makes the request fit
}

// A Count is a number of nodes with one reason. A Count is immutable and safe for concurrent use.
type Count struct {
	Reason Reason `json:"reason"`
	Nodes  int    `json:"nodes"`
}

// A Near is the node that lacks the least for one more pod, among those whose hardware would hold it; zero amounts are not
// lacking. A Near is immutable and safe for concurrent use.
type Near struct {
	Node       topology.NodeID `json:"node"`
	Tenant     string          `json:"tenant,omitempty"`     // whose node it is; "" nobody's
	GPUs       int64           `json:"gpus,omitempty"`       // whole GPUs missing, failed ones included
	GPUMilli   int64           `json:"gpuMilli,omitempty"`   // share missing on the GPU that has the most free
	CPUMilli   int64           `json:"cpuMilli,omitempty"`   // CPU missing
	MemoryMiB  int64           `json:"memoryMiB,omitempty"`  // memory missing
	FailedGPUs int             `json:"failedGPUs,omitempty"` // failed GPUs of the node
}

// A Help is a change after which the request fits. A Help is immutable and safe for concurrent use.
type Help struct {
	Kind  HelpKind  `json:"kind"`
	Nodes int       `json:"nodes,omitempty"` // nodes it concerns: those counted under the reason
	Until time.Time `json:"until,omitzero"`  // for HelpUntil: the latest declared end with which the request fits
}

// A HelpKind is a stable code for what would help. A HelpKind is immutable and safe for concurrent use.
type HelpKind string

// The kinds of help, in the order in which they are given.
const (
	HelpHeal     HelpKind = "heal"     // restore failed GPUs
	HelpUntil    HelpKind = "end-by"   // declare an end not later than Help.Until
	HelpTenants  HelpKind = "tenants"  // get nodes that serve or are reserved for other tenants
	HelpUncordon HelpKind = "uncordon" // end cordons
	HelpRelease  HelpKind = "release"  // wait until, or see to it that, running work is released
)

// Explain says whether a request fits at that instant, and if not, why. It changes nothing. Of several groups it speaks of
// the first that found no place while the larger ones had theirs. An id in use does not matter here; otherwise it fits
// exactly when [Fleet.Plan] has an answer.
// It costs what eight calls of [Fleet.Plan] cost, and where FreeUntil stands in the way log₂ of the number of different
// instants more.
//
// Possible errors: [ErrInvalid], [ErrUnknownNode], [ErrPolicy].
func (f *Fleet) Explain(at time.Time, r Request) (Explanation, error) {
	if err := r.check(); err != nil {
		return Explanation{}, err
	}
	r = r.canonical()
	if err := f.core.S.known(&r); err != nil {
		return Explanation{}, err
	}
	now := f.present(at)
	if err := r.begins(now); err != nil {
		return Explanation{}, err
	}
	return f.explain(&r, now)
}

func (f *Fleet) explain(r *Request, at int64) (Explanation, error) {
	q := f.newSearch(r, at, relax{})
	_, failed, err := q.run()
	if err != nil {
		return Explanation{}, err
	}
	x := Explanation{Fits: failed == nil, Group: r.order()[0], Nodes: f.core.S.cluster.Count()}
	if failed != nil {
		x.Group, x.Room = failed.group, failed.room
		x.Near = q.near(failed)
		q.undo(failed)
	} else {
		x.Room = r.Groups[x.Group].Count
		q.tentative = nil
	}
	x.Pods = r.Groups[x.Group].Count
	counts := q.counts(x.Group)
	for _, reason := range reasons {
		if n := counts[reason]; n > 0 {
			x.Counts = append(x.Counts, Count{reason, n})
		}
	}
	if failed == nil {
		return x, nil
	}
	possible, err := f.fitsIf(r, at, emptyFleet)
	if err != nil {
		return Explanation{}, err
	}
	x.Never = !possible
	if possible {
		x.Help, err = f.help(r, at, counts)
	}
	return x, err
}

func (f *Fleet) fitsIf(r *Request, at int64, x relax) (bool, error) {
	_, failed, err := f.newSearch(r, at, x).run()
	return failed == nil && err == nil, err
}

// counts gives the reason of every present node, with the pods of the other groups in place.
func (q *search) counts(g int) map[Reason]int {
	out := map[Reason]int{}
	for i := range q.s.cluster.Nodes() {
		out[q.why(q.node(i), q.req.Groups[g].Pod)]++
	}
	return out
}

// undo takes the pods of the failed group back.
func (q *search) undo(failed *failure) {
	for _, a := range failed.placed {
		if a.Group == failed.group && q.tentative[a.Node] != nil {
			q.tentative[a.Node].put(q.req.Groups[a.Group].Pod, a.GPUs, -1)
		}
	}
}

// help tries what could be changed, one thing at a time, where the counts say that it stands in the way.
func (f *Fleet) help(r *Request, at int64, counts map[Reason]int) ([]Help, error) {
	tries := []struct {
		reason Reason
		kind   HelpKind
		relax  relax
	}{
		{ReasonGPUFailed, HelpHeal, relax{healthy: true}},
		{ReasonUntil, HelpUntil, relax{forever: true}},
		{ReasonTenant, HelpTenants, relax{tenants: true}},
		{ReasonCordoned, HelpUncordon, relax{cordons: true}},
	}
	var out []Help
	for _, t := range tries {
		if counts[t.reason] == 0 {
			continue
		}
		ok, err := f.fitsIf(r, at, t.relax)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		h := Help{Kind: t.kind, Nodes: counts[t.reason]}
		if t.kind == HelpUntil {
			if h.Until, ok = f.latestEnd(r, at); !ok {
				continue
			}
		}
		out = append(out, h)
	}
	ok, err := f.fitsIf(r, at, relax{idle: true})
	if ok {
		out = append(out, Help{Kind: HelpRelease, Nodes: counts[ReasonGPU] + counts[ReasonGPUMilli] + counts[ReasonCPU] + counts[ReasonMemory]})
	}
	return out, err
}

// latestEnd gives the latest declared end with which the request fits. Fewer nodes are free for longer, so the ends that
// matter are the nodes' own, and binary search finds the last that fits.
func (f *Fleet) latestEnd(r *Request, at int64) (time.Time, bool) {
	var ends []int64
	for _, n := range f.core.S.nodesRef() {
		if n.shape != nil && n.freeUntil > at && n.freeUntil < r.until() {
			ends = append(ends, n.freeUntil)
		}
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	fits := func(end int64) bool {
		shorter := *r
		shorter.Until = tick.Time(end)
		ok, _ := f.fitsIf(&shorter, at, relax{})
		return ok
	}
	k, _ := slices.BinarySearchFunc(ends, true, func(end int64, _ bool) int {
		if fits(end) {
			return -1
		}
		return 1
	})
	if k == 0 {
		return time.Time{}, false
	}
	return tick.Time(ends[k-1]), true
}
