// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"github.com/berth-gpu/berth/nvmlx"
	"github.com/berth-gpu/berth/topology"
)

// Observed is what a host has read from itself. What is left out counts as absent, so a host that could not look never looks right.
//
// An Observed may be read by many goroutines while nobody changes it.
type Observed struct {
	Node      topology.NodeID `json:"node"`
	Inventory nvmlx.Inventory `json:"inventory"`
	// Files are the device files found, at least those of the plan.
	Files []DeviceFile `json:"files"`
	// Specs are all documents in the CDI directories, of whatever vendor.
	Specs []SpecFile `json:"specs"`
}

// DeviceFile is what stat says of a file below /dev.
//
// A DeviceFile is immutable and safe for concurrent use.
type DeviceFile struct {
	Path string `json:"path"`
	// Type is "c" for a character device, "b" for a block device, and empty for anything else.
	Type  string `json:"type"`
	Major int64  `json:"major"`
	Minor int64  `json:"minor"`
}

// SpecFile is a CDI document on disk.
//
// A SpecFile may be read by many goroutines while nobody changes it.
type SpecFile struct {
	// Name is the base name.
	Name string `json:"name"`
	Data []byte `json:"data"`
}

// Code is the class of a [Difference]. The texts are stable.
type Code string

// The codes, in the order in which [Verify] lists them.
const (
	// DiffPlan: the plan is not that of its lease (see [Plan.Validate]), so it describes no host; nothing else was compared.
	DiffPlan Code = "plan-invalid"
	// DiffNode: the host is another node; nothing else was compared.
	DiffNode Code = "wrong-node"
	// DiffInventory: the inventory contradicts itself, for example two GPUs have one minor number.
	DiffInventory Code = "inventory-invalid"
	// DiffGPUMissing: the driver does not list a GPU of the lease.
	DiffGPUMissing Code = "gpu-missing"
	// DiffMinorMoved: a GPU has another minor number than planned; the planned device file is another GPU's, or nobody's.
	DiffMinorMoved Code = "minor-moved"
	// DiffFileMissing: a device file does not exist.
	DiffFileMissing Code = "file-missing"
	// DiffFileTwice: a device file is listed twice, so nobody knows which one is true.
	DiffFileTwice Code = "file-twice"
	// DiffFileNumber: a device file has another type or other numbers.
	DiffFileNumber Code = "file-number"
	// DiffSpecMissing: the document does not exist.
	DiffSpecMissing Code = "spec-missing"
	// DiffSpecContent: the document says something else.
	DiffSpecContent Code = "spec-content"
	// DiffSpecStale: a document of another epoch of the lease exists.
	DiffSpecStale Code = "spec-stale"
	// DiffSpecTwice: another document has the lease's device too; a runtime resolves neither.
	DiffSpecTwice Code = "spec-twice"
	// DiffForeignGrant: another document grants a whole GPU of the lease, as a device or by a mount.
	DiffForeignGrant Code = "foreign-grant"
	// DiffSpecUnreadable: a document could not be read, so nobody knows what it grants.
	DiffSpecUnreadable Code = "spec-unreadable"
)

// Difference is one way in which a host is not what the plan says.
//
// A Difference is immutable and safe for concurrent use.
type Difference struct {
	Code Code `json:"code"`
	// Subject is the field of the plan, the node, the GPU id, the path or the document's name.
	Subject string `json:"subject"`
	Want    string `json:"want"`
	Have    string `json:"have"`
}
