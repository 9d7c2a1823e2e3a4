// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"slices"
)

// A Link says how two GPUs of one node reach each other, closest first, in the classes of "nvidia-smi topo -m" (legend of
// that command, driver 580). A Link is immutable and safe for concurrent use.
type Link uint8

// The classes. Smaller is closer.
const (
	LinkSelf   Link = iota // the same GPU ("X")
	LinkNVLink             // NVLink, direct or through an NVSwitch ("NV#")
	LinkPIX                // at most one PCIe bridge
	LinkPXB                // several PCIe bridges, not the host bridge
	LinkPHB                // through a PCIe host bridge, typically the CPU
	LinkNode               // across host bridges of one NUMA node
	LinkSys                // across the interconnect between NUMA nodes
)

func linkNames() []string { return []string{"X", "NV", "PIX", "PXB", "PHB", "NODE", "SYS"} }

// String gives the class as nvidia-smi prints it, without the number of NVLinks.
func (l Link) String() string {
	if l > LinkSys {
		return fmt.Sprintf("Link(%d)", uint8(l))
	}
	return linkNames()[l]
}

// MarshalText gives the class as [Link.String] does. Possible errors: [ErrInvalid].
func (l Link) MarshalText() ([]byte, error) {
	if l > LinkSys {
		return nil, &FieldError{Field: "link", Value: l.String(), Reason: ErrInvalid, Hint: "use one of the Link constants"}
	}
	return []byte(l.String()), nil
}

// UnmarshalText reads what [Link.MarshalText] writes. Possible errors: [ErrInvalid].
func (l *Link) UnmarshalText(text []byte) error {
	at := slices.Index(linkNames(), string(text))
	if at < 0 {
		return &FieldError{Field: "link", Value: string(text), Reason: ErrInvalid, Hint: "use X, NV, PIX, PXB, PHB, NODE or SYS"}
	}
	*l = Link(at)
	return nil
}
