// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/berth-gpu/berth/topology"
)

// Limits on text, in bytes of UTF-8. Whatever names a node in package topology can be held.
const (
	MaxNodeBytes   = 512
	MaxGPUBytes    = 1024
	MaxOwnerBytes  = 256
	MaxReasonBytes = 1024
)

// A Component is what a hold takes out of service: a whole node, or one GPU of it.
//
// A Component is immutable and safe for concurrent use.
type Component struct {
	Node topology.NodeID `json:"node"`
	GPU  topology.GPUID  `json:"gpu,omitempty"` // "" is the whole node
}

// WholeNode reports whether c is a whole node.
func (c Component) WholeNode() bool { return c.GPU == "" }

// compare orders by node, then the whole node before its GPUs, then by GPU.
func (c Component) compare(d Component) int {
	if n := cmp.Compare(c.Node, d.Node); n != 0 {
		return n
	}
	return cmp.Compare(c.GPU, d.GPU)
}

// An Owner is who holds a component: a kind and, after "/", a name. The kinds that berth itself uses are "health/<finding>",
// "human/<name>", "maintenance", "handover" and "external" (cordoned by another system, which alone ends it); others are welcome.
//
// An Owner is immutable and safe for concurrent use.
type Owner string

// Kind returns what stands before the first "/", or all of o: the part that a tenant may see.
func (o Owner) Kind() string {
	kind, _, _ := strings.Cut(string(o), "/")
	return kind
}

// key is the identity of a hold (H1).
type key struct {
	Component
	owner Owner
}

func (k key) compare(l key) int {
	if n := k.Component.compare(l.Component); n != 0 {
		return n
	}
	return cmp.Compare(k.owner, l.owner)
}

// problems appends one error for each mistake in k.
func (k key) problems(errs []error) []error {
	errs = appendProblem(errs, "Node", string(k.Node), 1, MaxNodeBytes)
	errs = appendProblem(errs, "GPU", string(k.GPU), 0, MaxGPUBytes)
	errs = appendProblem(errs, "Owner", string(k.owner), 1, MaxOwnerBytes)
	if kind, name, cut := strings.Cut(string(k.owner), "/"); cut && (kind == "" || name == "") {
		errs = append(errs, fmt.Errorf("%w: Owner %q lacks a part: write kind/name, such as %q", ErrInvalid, k.owner, "human/oncall"))
	}
	return errs
}

// appendProblem appends an error if s is not text of least to most bytes.
func appendProblem(errs []error, field, s string, least, most int) []error {
	switch {
	case len(s) < least:
		return append(errs, fmt.Errorf("%w: %s %q is empty: name it", ErrInvalid, field, s))
	case len(s) > most:
		// Cut, because the value may be as long as the caller likes.
		return append(errs, fmt.Errorf("%w: %s %q… has %d bytes: use at most %d", ErrInvalid, field, s[:64], len(s), most))
	case !utf8.ValidString(s):
		return append(errs, fmt.Errorf("%w: %s %q is not UTF-8", ErrInvalid, field, s))
	case strings.IndexFunc(s, unicode.IsControl) >= 0:
		return append(errs, fmt.Errorf("%w: %s %q contains a control character: remove it", ErrInvalid, field, s))
	}
	return errs
}
