// SPDX-License-Identifier: Apache-2.0

package service

import (
	"errors"
	"fmt"
	"strings"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/views"
	"github.com/berth-gpu/berth/quota"
)

// explainWait says why a job waits: one line per booking and pool that would do,
// by name; those that lack the same share a line. The job itself is not named,
// for others like it wait for the same.
func explainWait(r *views.Refusal, viewer string, w *state.WaitError) {
	var lines, names []string // names[i] is who says lines[i]
	var noQuota, noRoom, never int
	for _, reason := range w.Reasons {
		name := reason.Pool
		if reason.Booking != "" {
			name = "booking " + reason.Booking
		}
		line := ""
		if e, ok := errors.AsType[*quota.ExceededError](reason.Err); ok {
			noQuota++
			line = quotaLine(r, seenBy(viewer, e))
		} else if e, ok := errors.AsType[*allocator.UnplaceableError](reason.Err); ok {
			noRoom++
			if e.Never {
				never++
			}
			line = roomLine(r, viewer, name, e)
		} else if parts := explain(r, viewer, reason.Err); len(parts) > 0 {
			noRoom++
			line = strings.Join(parts, ", ")
		} else {
			noRoom++
			line = "no room"
		}
		if n := len(lines); n > 0 && lines[n-1] == line {
			names[n-1] += ", " + name
			continue
		}
		lines, names = append(lines, line), append(names, name)
	}
	for i := range lines {
		lines[i] = names[i] + ": " + lines[i]
	}
	r.Detail = strings.Join(lines, "\n")
	switch {
	case len(w.Reasons) == 0:
		r.Title, r.Detail, r.Help = "waits: nothing would serve it", w.None, []string{"ask for less per pod, or for other models"}
	case never == len(w.Reasons):
		r.Title, r.Help = "waits: it never fits this fleet", []string{"ask for less, or for other hardware"}
	case noQuota > 0 && noRoom > 0:
		r.Title = "waits: no quota in some pools, no room in the others"
	case noQuota > 0:
		r.Title = "waits: no quota"
	default:
		r.Title = "waits: no room"
	}
}

var limitWords = map[quota.Kind]string{
	quota.Cap:                   "is at its cap",
	quota.BorrowLimit:           "may borrow no more",
	quota.RootQuota:             "has no more for anybody",
	quota.GuaranteedOverNominal: "would promise what others lend",
}

// quotaLine names the limits that are passed, and by how much.
func quotaLine(r *views.Refusal, e *quota.ExceededError) string {
	blockers(r, e)
	var parts []string
	for _, b := range e.Blockers {
		parts = append(parts, fmt.Sprintf("%s %s: %s of %s used, %s needed", tenantName(b.Tenant), limitWords[b.Kind],
			plainAmount(b.Key, b.Used), people(b.Key, b.Limit), plainAmount(b.Key, b.Need)))
	}
	return "no quota, " + strings.Join(parts, "; ")
}

// plainAmount is people without the unit.
func plainAmount(key quota.Key, n int64) string {
	s, _, _ := strings.Cut(people(key, n), " ")
	return s
}

// nodeWords say what so many nodes are or do.
var nodeWords = []struct {
	reason    allocator.Reason
	one, many string
}{
	{allocator.ReasonFits, "takes a pod", "take a pod"},
	{allocator.ReasonModel, "has another model", "have another model"},
	{allocator.ReasonGPU, "has too few free GPUs", "have too few free GPUs"},
	{allocator.ReasonGPUMilli, "has too little free on each GPU", "have too little free on each GPU"},
	{allocator.ReasonCPU, "lacks CPU", "lack CPU"},
	{allocator.ReasonMemory, "lacks memory", "lack memory"},
	{allocator.ReasonGPUFailed, "has failed GPUs", "have failed GPUs"},
	{allocator.ReasonUntil, "is not free for so long", "are not free for so long"},
	{allocator.ReasonTenant, "serves another tenant", "serve other tenants"},
	{allocator.ReasonCordoned, "is out of service or kept for a booking", "are out of service or kept for a booking"},
}

// roomLine says how many pods would have a place on the nodes of one pool or
// booking, and what its nodes lack. The fleet counts all its nodes; those that
// are not this pool's are not spoken of.
func roomLine(r *views.Refusal, viewer, name string, e *allocator.UnplaceableError) string {
	x := e.Explanation
	if viewer != "" {
		x = x.For(viewer)
	}
	nodes := 0
	counts := map[allocator.Reason]int{}
	for _, c := range x.Counts {
		if c.Reason != allocator.ReasonNotListed {
			counts[c.Reason] += c.Nodes
			nodes += c.Nodes
		}
	}
	if e.Never {
		return fmt.Sprintf("never, %s would not do even if empty", plural(nodes, "its only node", "its %d nodes"))
	}
	var parts []string
	for _, w := range nodeWords {
		if n := counts[w.reason]; n > 0 {
			parts = append(parts, plural(n, "1 "+w.one, "%d "+w.many))
		}
	}
	line := fmt.Sprintf("no room, place for %d of %s; of %s %s", x.Room, plural(x.Pods, "1 pod", "%d pods"), plural(nodes, "1 node", "%d nodes"), strings.Join(parts, ", "))
	for _, h := range x.Help {
		switch h.Kind {
		case allocator.HelpTenants:
			help(r, name+": nodes that serve other tenants")
		case allocator.HelpUncordon:
			help(r, name+": nodes that are out of service or kept for a booking")
		case allocator.HelpHeal:
			help(r, name+": the failed GPUs, repaired")
		case allocator.HelpRelease:
			help(r, name+": the end of work that runs")
		}
	}
	return line
}

// plural is one for 1, else many with the number in it.
func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}
