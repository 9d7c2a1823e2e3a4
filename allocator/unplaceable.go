// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"fmt"
	"strings"
	"time"
)

// An UnplaceableError says that a request has no place and why. It is [ErrUnplaceable].
// An UnplaceableError may be read by many goroutines while nobody changes it.
type UnplaceableError struct {
	ID          string      `json:"id"`
	Tenant      string      `json:"tenant"`
	Never       bool        `json:"never"` // not even on the empty, healthy fleet: ask for less, or for other hardware
	Explanation Explanation `json:"explanation"`
}

// Is says that the error is [ErrUnplaceable].
func (e *UnplaceableError) Is(target error) bool { return target == ErrUnplaceable }

// Error gives one line: what has no place, why, and what would help.
func (e *UnplaceableError) Error() string {
	x := &e.Explanation
	var b strings.Builder
	fmt.Fprintf(&b, "%v: request %.80q: group %d has room for %d of %d pods; %d nodes:", ErrUnplaceable, e.ID, x.Group, x.Room, x.Pods, x.Nodes)
	for i, c := range x.Counts {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " %d %s", c.Nodes, c.Reason)
	}
	if x.Near != nil {
		fmt.Fprintf(&b, "; nearest is node %.80q%s", x.Near.Node, x.Near.lacks())
	}
	if e.Never {
		b.WriteString("; it never fits this fleet: ask for less, or for other hardware")
		return b.String()
	}
	for i, h := range x.Help {
		if i == 0 {
			b.WriteString("; what would help: ")
		} else {
			b.WriteString(", or ")
		}
		b.WriteString(h.words())
	}
	if len(x.Help) == 0 {
		b.WriteString("; no single change helps")
		if len(x.Counts) > 1 {
			b.WriteString(": several reasons stand together")
		}
	}
	return b.String()
}

func (n *Near) lacks() string {
	var b strings.Builder
	gpus := "GPUs"
	if n.GPUs == 1 {
		gpus = "GPU"
	}
	for _, x := range []struct {
		amount int64
		unit   string
	}{{n.GPUs, gpus}, {n.GPUMilli, "milli-GPU on one GPU"}, {n.CPUMilli, "milli-CPU"}, {n.MemoryMiB, "MiB of memory"}} {
		if x.amount > 0 {
			fmt.Fprintf(&b, ", %d %s short", x.amount, x.unit)
		}
	}
	if n.FailedGPUs > 0 {
		fmt.Fprintf(&b, ", %d unhealthy", n.FailedGPUs)
	}
	return b.String()
}

func (h Help) words() string {
	switch h.Kind {
	case HelpHeal:
		return fmt.Sprintf("restore failed GPUs (%d nodes)", h.Nodes)
	case HelpUntil:
		return "end by " + h.Until.Format(time.RFC3339)
	case HelpTenants:
		return fmt.Sprintf("nodes of other tenants (%d nodes)", h.Nodes)
	case HelpUncordon:
		return fmt.Sprintf("end cordons (%d nodes)", h.Nodes)
	}
	return "wait until running work is released"
}

// For gives the refusal as a tenant may see it. Counts are sums already; the nearest node is left out when it is another
// tenant's, and the id when the request is.
func (e *UnplaceableError) For(tenant string) *UnplaceableError {
	out := *e
	if e.Tenant != tenant {
		out.ID, out.Tenant = "", ""
	}
	out.Explanation = e.Explanation.For(tenant)
	return &out
}

// For gives the explanation as a tenant may see it, see [UnplaceableError.For].
func (x Explanation) For(tenant string) Explanation {
	if x.Near != nil && x.Near.Tenant != "" && x.Near.Tenant != tenant {
		x.Near = nil
	}
	return x
}

func (f *Fleet) unplaceable(r *Request, at int64) error {
	x, err := f.explain(r, at)
	if err != nil {
		return err
	}
	return &UnplaceableError{ID: r.ID, Tenant: r.Tenant, Never: x.Never, Explanation: x}
}
