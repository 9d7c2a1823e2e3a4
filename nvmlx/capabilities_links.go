// SPDX-License-Identifier: Apache-2.0

package nvmlx

import "context"

// NVLink is the capability of a [Device] to report its NVLinks.
//
// An NVLink is safe for concurrent use by multiple goroutines.
type NVLink interface {
	// NVLinks lists the links in ascending number.
	NVLinks(ctx context.Context) ([]NVLinkState, error)
}

// NVLinkState is one link of a GPU.
//
// An NVLinkState is immutable and safe for concurrent use.
type NVLinkState struct {
	Link   int  `json:"link"`
	Active bool `json:"active"`
	// Switch is true if the other end is an NVSwitch, false if it is a GPU.
	Switch bool `json:"switch"`
	// Remote is the PCI address of the other end; the zero value where the driver does not say (NVL72 hides its switches).
	Remote PCIAddress `json:"remote"`
}

// PCIe is the capability of a [Device] to report its PCIe link.
//
// A PCIe is safe for concurrent use by multiple goroutines.
type PCIe interface {
	PCIeLink(ctx context.Context) (PCIeLink, error)
	// NUMANode is the memory node nearest to the GPU; -1 where the machine has only one and does not number it.
	NUMANode(ctx context.Context) (int, error)
}

// PCIeLink is the speed of a link now and at best. An idle GPU lowers its generation by itself, never its width.
//
// A PCIeLink is immutable and safe for concurrent use.
type PCIeLink struct {
	Generation    int `json:"generation"`
	Width         int `json:"width"`
	MaxGeneration int `json:"maxGeneration"`
	MaxWidth      int `json:"maxWidth"`
	// Replays counts resent packets since the driver was loaded.
	Replays int64 `json:"replays"`
}

// Thermal is the capability of a [Device] to report heat.
//
// A Thermal is safe for concurrent use by multiple goroutines.
type Thermal interface {
	Temperature(ctx context.Context) (Temperature, error)
}

// Temperature is in degrees Celsius.
//
// A Temperature is immutable and safe for concurrent use.
type Temperature struct {
	GPUCelsius int64 `json:"gpuCelsius"`
	// SlowdownCelsius is where the hardware begins to throttle; 0 where the driver does not say.
	SlowdownCelsius int64 `json:"slowdownCelsius"`
}

// Fabric is the capability of a [Device] that belongs to an NVLink fabric of several nodes.
//
// A Fabric is safe for concurrent use by multiple goroutines.
type Fabric interface {
	FabricState(ctx context.Context) (FabricState, error)
}

// FabricState is the registration of a GPU with its fabric manager. GPUs with equal Cluster and Clique reach one another over NVLink.
//
// A FabricState is immutable and safe for concurrent use.
type FabricState struct {
	// Registered is true once the fabric manager has completed the registration without an error.
	Registered bool `json:"registered"`
	// Cluster is the UUID of the fabric.
	Cluster string `json:"cluster"`
	// Clique is the number of the partition inside the cluster.
	Clique uint32 `json:"clique"`
}
