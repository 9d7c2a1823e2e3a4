// SPDX-License-Identifier: Apache-2.0

package nvmlx

import "github.com/berth-gpu/berth/topology"

// Index is the position of a GPU in NVML's list, from 0. It follows the PCI order and may change at a reboot. It never names a device
// file: that is [Minor].
//
// An Index is immutable and safe for concurrent use.
type Index int

// Minor is the minor number of a GPU's device file: the GPU is /dev/nvidia<Minor>, 195:<Minor>. It may change at a reboot and when the
// MIG mode changes.
//
// A Minor is immutable and safe for concurrent use.
type Minor int

// MaxMinor is the largest minor number a GPU can have. 254 and 255 are /dev/nvidia-modeset and /dev/nvidiactl.
// Source: NV_MINOR_DEVICE_NUMBER_REGULAR_MAX = 247, NVIDIA open-gpu-kernel-modules.
const MaxMinor Minor = 247

// UUID is the name of a GPU that never changes, as NVML prints it ("GPU-…"). It is the id that [topology] uses.
type UUID = topology.GPUID

// MIGMode says whether a GPU can be cut into slices now, and whether it will be after the change that is under way. Current and Pending
// differ until the GPU has been reset.
//
// A MIGMode is immutable and safe for concurrent use.
type MIGMode struct {
	Current bool `json:"current"`
	Pending bool `json:"pending"`
}

// Memory is the frame buffer of one GPU in MiB (2^20 bytes), rounded down.
//
// A Memory is immutable and safe for concurrent use.
type Memory struct {
	// TotalMiB is what the board reports as installed; a little less than its name promises.
	TotalMiB int64 `json:"totalMiB"`
	// UsedMiB is in use, by processes and by the driver itself.
	UsedMiB int64 `json:"usedMiB"`
}
