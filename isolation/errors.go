// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/berth-gpu/berth/topology"
)

// What a [*FieldError] or an [*OverlapError] matches.
var (
	ErrInvalidLease    = errors.New("isolation: invalid lease")
	ErrInvalidHost     = errors.New("isolation: invalid host")
	ErrWrongNode       = errors.New("isolation: lease is for another node")
	ErrUnknownGPU      = errors.New("isolation: node has no such GPU")
	ErrShareNotAllowed = errors.New("isolation: milli-share not allowed")
	ErrInvalidPlan     = errors.New("isolation: plan is not that of its lease")
	ErrOverlap         = errors.New("isolation: plans overlap")
)

// FieldError is one mistake in a lease, a host or a plan.
//
// A FieldError is immutable and safe for concurrent use.
type FieldError struct {
	// Field is the JSON path, for example "shares[1].milli".
	Field string `json:"field"`
	// Value is cut after 100 bytes.
	Value string `json:"value"`
	// Problem says what is wrong and what is wanted.
	Problem string `json:"problem"`

	kind error
}

// Error names the field, its value and the problem.
func (e *FieldError) Error() string {
	kind := e.kind
	if kind == nil {
		kind = ErrInvalidLease
	}
	return fmt.Sprintf("%v: %s %q: %s", kind, e.Field, e.Value, e.Problem)
}

// Is reports whether target is the sentinel of this mistake.
func (e *FieldError) Is(target error) bool { return e.kind != nil && target == e.kind }

// OverlapReason says why two plans may not stand beside one another. The texts are stable.
type OverlapReason string

// The reasons, most general first.
const (
	// OverlapLease: two plans of one lease; one of them is stale.
	OverlapLease OverlapReason = "lease-twice"
	// OverlapNode: another tenant is on a node that a lease has for itself.
	OverlapNode OverlapReason = "dedicated-node"
	// OverlapGPU: a whole GPU is in two plans.
	OverlapGPU OverlapReason = "gpu-twice"
	// OverlapTenant: two tenants share a GPU and not both leases are Trusted.
	OverlapTenant OverlapReason = "shared-by-tenants"
	// OverlapMilli: the shares of a GPU exceed 1000.
	OverlapMilli OverlapReason = "shares-above-whole"
	// OverlapDevice: two GPUs have the same device file, or one GPU has two; a minor number has moved since one of the plans was made.
	OverlapDevice OverlapReason = "device-twice"
)

// OverlapError is one pair of plans that may not stand beside one another.
//
// An OverlapError is immutable and safe for concurrent use.
type OverlapError struct {
	Reason OverlapReason   `json:"reason"`
	Node   topology.NodeID `json:"node"`
	// Leases are the two ids in ascending order; equal for [OverlapLease].
	Leases [2]string `json:"leases"`
	// GPU is empty for [OverlapLease] and [OverlapNode].
	GPU topology.GPUID `json:"gpu,omitempty"`
	// Path is the device file of an [OverlapDevice].
	Path string `json:"path,omitempty"`
}

// Error names the two leases, what they share and the reason.
func (e *OverlapError) Error() string {
	what := fmt.Sprintf("node %q", cut(string(e.Node)))
	if e.GPU != "" {
		what += fmt.Sprintf(", GPU %q", cut(string(e.GPU)))
	}
	if e.Path != "" {
		what += ", " + cut(e.Path)
	}
	advice := map[OverlapReason]string{
		OverlapLease:  "drop the plan of the older epoch",
		OverlapNode:   "move one of them to another node",
		OverlapGPU:    "give one of them another GPU",
		OverlapTenant: "mark both leases Trusted or give one of them another GPU",
		OverlapMilli:  "lower a share or move it to another GPU",
		OverlapDevice: "read the inventory again and plan both leases anew",
	}[e.Reason]
	return fmt.Sprintf("%v: %s: leases %q and %q on %s: %s", ErrOverlap, e.Reason, cut(e.Leases[0]), cut(e.Leases[1]), what, advice)
}

// Is reports whether target is [ErrOverlap].
func (e *OverlapError) Is(target error) bool { return target == ErrOverlap }

// mistakes collects field errors.
type mistakes struct{ errs []error }

func (m *mistakes) add(kind error, field string, value any, problem string) {
	m.errs = append(m.errs, &FieldError{Field: field, Value: cut(fmt.Sprint(value)), Problem: problem, kind: kind})
}

// shown is how many bytes of a value a message repeats: ids and texts may be of any length.
const shown = 100

// cut shortens a text for a message, at the end of a character.
func cut(text string) string {
	if len(text) <= shown {
		return text
	}
	end := shown
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

func (m *mistakes) join() error { return errors.Join(m.errs...) }
