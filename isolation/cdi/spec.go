// SPDX-License-Identifier: Apache-2.0

package cdi

// Spec is a CDI document: devices of one kind.
//
// A Spec may be read by many goroutines while nobody changes it.
type Spec struct {
	// Version is the schema version, at least [MinimumVersion].
	Version string `json:"cdiVersion"`
	// Kind is vendor/class, for example "berth.dev/gpu".
	Kind string `json:"kind"`
	// Annotations are for readers of the document; no container sees them.
	Annotations map[string]string `json:"annotations,omitempty"`
	Devices     []Device          `json:"devices"`
	// ContainerEdits are made for every device of the document.
	ContainerEdits ContainerEdits `json:"containerEdits,omitzero"`
}

// Device is what a container asks for, as kind=name.
//
// A Device may be read by many goroutines while nobody changes it.
type Device struct {
	Name           string            `json:"name"`
	Annotations    map[string]string `json:"annotations,omitempty"`
	ContainerEdits ContainerEdits    `json:"containerEdits"`
}

// ContainerEdits are the changes to a container that make a device usable in it.
//
// A ContainerEdits may be read by many goroutines while nobody changes it.
type ContainerEdits struct {
	// Env has entries of the form NAME=value.
	Env            []string     `json:"env,omitempty"`
	DeviceNodes    []DeviceNode `json:"deviceNodes,omitempty"`
	NetDevices     []NetDevice  `json:"netDevices,omitempty"`
	Hooks          []Hook       `json:"hooks,omitempty"`
	Mounts         []Mount      `json:"mounts,omitempty"`
	IntelRDT       *IntelRDT    `json:"intelRdt,omitempty"`
	AdditionalGIDs []uint32     `json:"additionalGids,omitempty"`
}

// IsZero reports whether there is nothing to do.
func (e ContainerEdits) IsZero() bool {
	return len(e.Env) == 0 && len(e.DeviceNodes) == 0 && len(e.NetDevices) == 0 && len(e.Hooks) == 0 &&
		len(e.Mounts) == 0 && e.IntelRDT == nil && len(e.AdditionalGIDs) == 0
}

// DeviceNode is a device file in the container. Major and Minor are written even if 0: minor 0 is a GPU like any other. If Type is empty
// or a device's Major is 0, the runtime takes the numbers of the file that it finds on the host.
//
// A DeviceNode may be read by many goroutines while nobody changes it.
type DeviceNode struct {
	Path string `json:"path"`
	// HostPath is the file on the host; empty means Path.
	HostPath string `json:"hostPath,omitempty"`
	// Type is "c" or "u" (character), "b" (block) or "p" (pipe).
	Type  string `json:"type,omitempty"`
	Major int64  `json:"major"`
	Minor int64  `json:"minor"`
	// FileMode has the permission bits, as a number; nil means those of the host's file.
	FileMode *uint32 `json:"fileMode,omitempty"`
	// Permissions are letters of "rwm"; empty means all three, "none" means none.
	Permissions string  `json:"permissions,omitempty"`
	UID         *uint32 `json:"uid,omitempty"`
	GID         *uint32 `json:"gid,omitempty"`
}

// NetDevice is a network interface that moves from the host into the container.
//
// A NetDevice is immutable and safe for concurrent use.
type NetDevice struct {
	HostInterfaceName string `json:"hostInterfaceName"`
	Name              string `json:"name"`
}

// Hook is a program that the runtime starts at one point of a container's life.
//
// A Hook may be read by many goroutines while nobody changes it.
type Hook struct {
	HookName string   `json:"hookName"`
	Path     string   `json:"path"`
	Args     []string `json:"args,omitempty"`
	Env      []string `json:"env,omitempty"`
	// Timeout is in seconds.
	Timeout *int64 `json:"timeout,omitempty"`
}

// Mount is a file or directory of the host in the container.
//
// A Mount may be read by many goroutines while nobody changes it.
type Mount struct {
	HostPath      string   `json:"hostPath"`
	ContainerPath string   `json:"containerPath"`
	Options       []string `json:"options,omitempty"`
	Type          string   `json:"type,omitempty"`
}

// IntelRDT are the cache and memory bandwidth settings of the container.
//
// An IntelRDT may be read by many goroutines while nobody changes it.
type IntelRDT struct {
	ClosID           string   `json:"closID,omitempty"`
	L3CacheSchema    string   `json:"l3CacheSchema,omitempty"`
	MemBwSchema      string   `json:"memBwSchema,omitempty"`
	Schemata         []string `json:"schemata,omitempty"`
	EnableMonitoring bool     `json:"enableMonitoring,omitempty"`
}

// edits are those of the document and of each device, with the name of the field.
func (s *Spec) edits() []namedEdits {
	all := []namedEdits{{"containerEdits", &s.ContainerEdits}}
	for i := range s.Devices {
		all = append(all, namedEdits{deviceField(i, "containerEdits"), &s.Devices[i].ContainerEdits})
	}
	return all
}

type namedEdits struct {
	field string
	*ContainerEdits
}
