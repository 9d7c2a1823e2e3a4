// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-gpu/berth/isolation/cdi"
	"github.com/berth-gpu/berth/nvmlx"
	"github.com/berth-gpu/berth/topology"
)

// DeviceNode is a device file that a lease may use.
//
// A DeviceNode is immutable and safe for concurrent use.
type DeviceNode struct {
	// GPU is whose file it is; empty for a control file that every lease has.
	GPU   topology.GPUID `json:"gpu,omitempty"`
	Path  string         `json:"path"`
	Major int64          `json:"major"`
	Minor int64          `json:"minor"`
	// Access has the letters of the device cgroup: r(ead), w(rite). Never m(knod): a tenant has no need to make device files.
	Access string `json:"access"`
}

// Plan is everything that a node must set up for one lease. All device files are character devices.
//
// A Plan may be read by many goroutines while nobody changes it.
type Plan struct {
	// Lease is the lease with GPUs and shares sorted and times in UTC.
	Lease Lease `json:"lease"`
	// Devices are the GPUs in ascending GPU id, then nvidiactl and nvidia-uvm.
	Devices []DeviceNode `json:"devices"`
	// Env is set in every container of the lease.
	Env map[string]string `json:"env"`
	// Device is the qualified CDI name that a container asks for.
	Device string `json:"device"`
	// SpecFile is the base name of the document's file.
	SpecFile string `json:"specFile"`
	// Spec is the CDI document.
	Spec cdi.Spec `json:"spec"`
}

// Annotations of the CDI document beside those of package cdi.
const (
	AnnotationTenant = "berth.dev/tenant"
	AnnotationNode   = "berth.dev/node"
)

// Fixed parts of the NVIDIA driver's device files. Source: NVIDIA open-gpu-kernel-modules,
// NV_MINOR_DEVICE_NUMBER_CONTROL_DEVICE = 255 and NVIDIA_UVM_PRIMARY_MINOR_NUMBER = 0.
const (
	controlPath  = "/dev/nvidiactl"
	controlMinor = 255
	uvmPath      = "/dev/nvidia-uvm"
	uvmMinor     = 0
	access       = "rw"
)

// visibleDevices keeps the older NVIDIA container runtime from adding devices of its own beside those of the plan.
// Source: NVIDIA Container Toolkit, environment variables: "void" means none.
const visibleDevices, visibleNone = "NVIDIA_VISIBLE_DEVICES", "void"

// Plan says what the node of the host must set up for the lease. It is deterministic and does not depend on the order of GPUs (I13).
// Cost: O(g log g + l log l) for g GPUs of the host and l of the lease.
//
// Possible errors, all joined: [ErrInvalidLease], [ErrShareNotAllowed], [ErrInvalidHost], [ErrWrongNode], [ErrUnknownGPU].
func (l Lease) Plan(host Host) (Plan, error) {
	host = host.withDefaults()
	m := &mistakes{}
	l.check(m)
	host.check(m)
	if l.Node != host.Node {
		m.add(ErrWrongNode, "node", l.Node, fmt.Sprintf("the host is %q", cut(string(host.Node))))
	}
	gpus := map[topology.GPUID]nvmlx.GPU{}
	for _, gpu := range host.Inventory.GPUs {
		gpus[gpu.UUID] = gpu
	}
	for i, id := range l.GPUs {
		known(m, gpus, fmt.Sprintf("gpus[%d]", i), id, host.Node)
	}
	for i, share := range l.Shares {
		known(m, gpus, fmt.Sprintf("shares[%d].gpu", i), share.GPU, host.Node)
	}
	if err := m.join(); err != nil {
		return Plan{}, err
	}
	plan := Plan{
		Lease:   l.normal(),
		Devices: devices(l, host, gpus),
	}
	return plan.withSpec(host.Kind)
}

func known(m *mistakes, gpus map[topology.GPUID]nvmlx.GPU, field string, id topology.GPUID, node topology.NodeID) {
	if _, ok := gpus[id]; !ok && id != "" {
		m.add(ErrUnknownGPU, field, id, fmt.Sprintf("node %q has %d GPUs, none with this id; read its inventory again", cut(string(node)), len(gpus)))
	}
}

// devices lists by GPU id, so that a change of minors leaves every device at its place (I14).
func devices(l Lease, host Host, gpus map[topology.GPUID]nvmlx.GPU) []DeviceNode {
	ids := l.gpuIDs()
	nodes := make([]DeviceNode, 0, len(ids)+2)
	for _, id := range ids {
		minor := gpus[id].Minor
		nodes = append(nodes, DeviceNode{GPU: id, Path: gpuPath(minor), Major: host.Majors.GPU, Minor: int64(minor), Access: access})
	}
	return append(nodes,
		DeviceNode{Path: controlPath, Major: host.Majors.GPU, Minor: controlMinor, Access: access},
		DeviceNode{Path: uvmPath, Major: host.Majors.UVM, Minor: uvmMinor, Access: access},
	)
}

// gpuPath takes a Minor and nothing else: the index of a GPU names no device file.
func gpuPath(minor nvmlx.Minor) string { return fmt.Sprintf("/dev/nvidia%d", minor) }

// withSpec adds what follows from lease, devices and kind.
func (p Plan) withSpec(kind string) (Plan, error) {
	p.Env = map[string]string{visibleDevices: visibleNone}
	config := cdi.Config{
		Kind:        kind,
		Lease:       p.Lease.name(),
		Annotations: map[string]string{AnnotationTenant: p.Lease.Tenant, AnnotationNode: string(p.Lease.Node)},
	}
	for _, device := range p.Devices {
		config.Nodes = append(config.Nodes, cdi.DeviceNode{
			Path: device.Path, Type: "c", Major: device.Major, Minor: device.Minor, Permissions: device.Access,
		})
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		config.Env = append(config.Env, name+"="+p.Env[name])
	}
	var err error
	if p.Spec, err = cdi.New(config); err != nil {
		return Plan{}, fmt.Errorf("%w: document: %w", ErrInvalidLease, err)
	}
	if p.SpecFile, err = config.Lease.FileName(kind); err != nil {
		return Plan{}, fmt.Errorf("%w: file name: %w", ErrInvalidHost, err)
	}
	if p.Device, err = config.Lease.QualifiedName(kind); err != nil {
		return Plan{}, fmt.Errorf("%w: device name: %w", ErrInvalidHost, err)
	}
	return p, nil
}

// Document is the CDI document as bytes: the same plan gives the same bytes.
//
// Possible errors: [cdi.ErrInvalidSpec] for a plan that no Lease.Plan made.
func (p Plan) Document() ([]byte, error) { return cdi.Encode(p.Spec) }
