// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/berth-gpu/berth/isolation/cdi"
	"github.com/berth-gpu/berth/nvmlx"
	"github.com/berth-gpu/berth/topology"
)

// Host is what a plan must know of a node.
//
// A Host may be read by many goroutines while nobody changes it.
type Host struct {
	Node topology.NodeID `json:"node"`
	// Inventory must be fresh: a minor number may change at a reboot and with the MIG mode. GPUs may come in any order.
	Inventory nvmlx.Inventory `json:"inventory"`
	// Majors are those of the running kernel, from [ParseProcDevices].
	Majors Majors `json:"majors"`
	// Kind of the CDI devices. Default [cdi.DefaultKind].
	Kind string `json:"kind,omitempty"`
}

// Majors are the device majors of the NVIDIA drivers.
//
// A Majors is immutable and safe for concurrent use.
type Majors struct {
	// GPU is that of the GPUs and nvidiactl. Default 195, which is reserved for it (Linux devices.txt, "Nvidia graphics devices").
	GPU int64 `json:"gpu,omitempty"`
	// UVM is that of nvidia-uvm. The kernel chooses it when the module is loaded, so there is no default.
	UVM int64 `json:"uvm"`
}

// defaultGPUMajor is reserved for NVIDIA in Linux devices.txt.
const defaultGPUMajor = 195

// maxMajor is the largest major a Linux device number can hold (12 bits).
const maxMajor = 1<<12 - 1

// withDefaults fills in what the zero values mean.
func (h Host) withDefaults() Host {
	if h.Kind == "" {
		h.Kind = cdi.DefaultKind
	}
	if h.Majors.GPU == 0 {
		h.Majors.GPU = defaultGPUMajor
	}
	return h
}

// inOrder is the inventory sorted by index: a plan does not depend on the order in which GPUs are listed (I13).
func inOrder(v nvmlx.Inventory) nvmlx.Inventory {
	v.GPUs = slices.SortedStableFunc(slices.Values(v.GPUs), func(a, b nvmlx.GPU) int { return cmp.Compare(a.Index, b.Index) })
	return v
}

// check is called after withDefaults.
func (h Host) check(m *mistakes) {
	checkText(m, ErrInvalidHost, "host.node", string(h.Node))
	if err := inOrder(h.Inventory).Validate(); err != nil {
		m.errs = append(m.errs, fmt.Errorf("%w: inventory: %w", ErrInvalidHost, err))
	}
	if h.Majors.GPU < 1 || h.Majors.GPU > maxMajor {
		m.add(ErrInvalidHost, "host.majors.gpu", h.Majors.GPU, "want 1 to 4095")
	}
	if h.Majors.UVM < 1 || h.Majors.UVM > maxMajor || h.Majors.UVM == h.Majors.GPU {
		m.add(ErrInvalidHost, "host.majors.uvm", h.Majors.UVM, "want the number of nvidia-uvm in /proc/devices; load the module if it has none")
	}
	if _, err := (cdi.Lease{ID: "x", Epoch: 1}).FileName(h.Kind); err != nil {
		m.errs = append(m.errs, fmt.Errorf("%w: kind: %w", ErrInvalidHost, err))
	}
}
