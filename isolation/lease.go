// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/berth-gpu/berth/isolation/cdi"
	"github.com/berth-gpu/berth/topology"
)

// WholeMilli is a whole GPU in milli-GPUs.
const WholeMilli = 1000

// maxTenant bounds the name of a tenant in bytes.
const maxTenant = 4096

// Lease is the right of a tenant to GPUs of one node.
//
// A Lease may be read by many goroutines while nobody changes it.
type Lease struct {
	// ID is the claim's id. It becomes part of device and file names, so it has 1 to 128 letters, digits, "-", "_" and "."; the first and
	// the last are letters or digits.
	ID string `json:"id"`
	// Epoch is at least 1 and grows each time the lease changes hands.
	Epoch uint64 `json:"epoch"`
	// Tenant is the caller's name of the holder, without control characters.
	Tenant string          `json:"tenant"`
	Node   topology.NodeID `json:"node"`
	// GPUs are held whole.
	GPUs []topology.GPUID `json:"gpus,omitempty"`
	// Shares are parts of GPUs. They need Trusted or DedicatedNode.
	Shares []Share `json:"shares,omitempty"`
	// Start and End are the window [Start, End); a zero End is open. They are not part of the CDI document, so a renewal writes no file.
	Start time.Time `json:"start,omitzero"`
	End   time.Time `json:"end,omitzero"`
	// DedicatedNode says that the tenant has the node for itself; [Disjoint] holds the host to it.
	DedicatedNode bool `json:"dedicatedNode,omitempty"`
	// Trusted says that the pool lets tenants share a GPU without a wall between them.
	Trusted bool `json:"trusted,omitempty"`
}

// Share is a part of a GPU.
//
// A Share is immutable and safe for concurrent use.
type Share struct {
	GPU topology.GPUID `json:"gpu"`
	// Milli is the part in milli-GPUs, 1 to 999.
	Milli int64 `json:"milli"`
}

// Validate reports everything that is wrong with the lease by itself. Cost: O(GPUs).
//
// Possible errors: [ErrInvalidLease], [ErrShareNotAllowed].
func (l Lease) Validate() error {
	m := &mistakes{}
	l.check(m)
	return m.join()
}

func (l Lease) check(m *mistakes) {
	if err := (cdi.Lease{ID: l.ID, Epoch: 1}).Validate(); err != nil {
		m.add(ErrInvalidLease, "id", l.ID, fmt.Sprintf("want 1 to %d letters, digits, '-', '_' or '.', the first and the last a letter or digit", cdi.MaxLeaseID))
	}
	if l.Epoch == 0 {
		m.add(ErrInvalidLease, "epoch", l.Epoch, "the first epoch is 1")
	}
	checkText(m, ErrInvalidLease, "tenant", l.Tenant)
	checkText(m, ErrInvalidLease, "node", string(l.Node))
	if !l.End.IsZero() && !l.Start.Before(l.End) {
		m.add(ErrInvalidLease, "end", l.End.UTC().Format(time.RFC3339Nano), "must be after start "+l.Start.UTC().Format(time.RFC3339Nano))
	}
	if len(l.GPUs)+len(l.Shares) == 0 {
		m.add(ErrInvalidLease, "gpus", "[]", "a lease holds at least one GPU or share")
	}
	seen := map[topology.GPUID]string{}
	for i, id := range l.GPUs {
		once(m, seen, fmt.Sprintf("gpus[%d]", i), id)
	}
	for i, share := range l.Shares {
		field := fmt.Sprintf("shares[%d]", i)
		once(m, seen, field+".gpu", share.GPU)
		if share.Milli < 1 || share.Milli >= WholeMilli {
			m.add(ErrInvalidLease, field+".milli", share.Milli, "want 1 to 999; a whole GPU belongs into gpus")
		}
		if !l.Trusted && !l.DedicatedNode {
			m.add(ErrShareNotAllowed, field, share.GPU, "a share has no wall: set trusted or dedicatedNode, or lease the whole GPU")
		}
	}
}

func once(m *mistakes, seen map[topology.GPUID]string, field string, id topology.GPUID) {
	if id == "" {
		m.add(ErrInvalidLease, field, id, "must not be empty")
		return
	}
	if first, dup := seen[id]; dup {
		m.add(ErrInvalidLease, field, id, "is also "+first+"; name a GPU once")
		return
	}
	seen[id] = field
}

func checkText(m *mistakes, kind error, field, text string) {
	switch {
	case text == "" || len(text) > maxTenant:
		m.add(kind, field, text, fmt.Sprintf("want 1 to %d bytes", maxTenant))
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		m.add(kind, field, text, "must be UTF-8 without control characters")
	}
}

// normal is the lease in the one form that plans hold: GPUs and shares sorted, times in UTC without a monotonic reading.
func (l Lease) normal() Lease {
	l.GPUs = slices.Sorted(slices.Values(l.GPUs))
	l.Shares = slices.SortedFunc(slices.Values(l.Shares), func(a, b Share) int { return cmp.Compare(a.GPU, b.GPU) })
	l.Start, l.End = normalTime(l.Start), normalTime(l.End)
	return l
}

func normalTime(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.Round(0).UTC()
}

// gpuIDs are all GPUs of the lease, whole or shared, ascending.
func (l Lease) gpuIDs() []topology.GPUID {
	ids := slices.Clone(l.GPUs)
	for _, share := range l.Shares {
		ids = append(ids, share.GPU)
	}
	slices.Sort(ids)
	return ids
}

// name is the lease as package cdi knows it.
func (l Lease) name() cdi.Lease { return cdi.Lease{ID: l.ID, Epoch: l.Epoch} }
