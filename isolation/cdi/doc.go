// SPDX-License-Identifier: Apache-2.0

// Package cdi writes and reads Container Device Interface documents, one transient document per lease.
//
// # Model
//
//   - [Spec]: a CDI document, all of schema 1.1.0.
//   - [Device]: what a container asks for by name, with its [ContainerEdits]: device nodes, environment, mounts and the rest.
//   - [Lease]: id and epoch; from them come the device name and the file name.
//   - Kind: vendor and class of a device, "berth.dev/gpu" by default.
//
// A container runtime finds a device by its qualified name, kind=device. Because the device name holds lease and epoch, a name that was
// written down for an earlier holder finds nothing.
//
// # Usage
//
// As in the package example:
//
//	lease := cdi.Lease{ID: "lease-7", Epoch: 3}
//	spec, err := cdi.New(cdi.Config{
//		Lease: lease,
//		Nodes: []cdi.DeviceNode{{Path: "/dev/nvidia5", Type: "c", Major: 195, Minor: 5, Permissions: "rw"}},
//		Env:   []string{"NVIDIA_VISIBLE_DEVICES=void"},
//	})
//	if err != nil {
//		return err
//	}
//	data, err := cdi.Encode(spec)
//	if err != nil {
//		return err
//	}
//	name, err := lease.FileName(spec.Kind)
//	// the host writes data to /var/run/cdi/<name> with mode 0600, by rename
//	read, err := cdi.Parse(data)
//
// # Invariants
//
//   - E1: Parse(Encode(x)) = x for every valid x, where an absent list and an empty one are the same; equal specs give equal bytes.
//   - E2: a Spec made by New grants exactly the device nodes it was given, through one device, and has no hook and no mount.
//   - E3: the device name holds lease and epoch; two leases, or two epochs of one lease, never share a device name, nor a file name
//     under one kind.
//   - E4: Encode writes, and Parse returns, only what Validate accepts; a document names at least the version that its fields need.
//
// # Concurrency
//
// A Spec is a plain value: read it from any number of goroutines while nobody changes it. All functions are pure.
//
// # Errors and reasons
//
// [ErrInvalidSpec] for a document, [ErrInvalidLease] for an id or epoch; both name the field and the value (at most 100 bytes of it), and all mistakes are
// joined.
//
// # Complexity
//
// With b bytes of document: Encode and Parse are O(b). Parse refuses more than [MaxBytes].
//
// # Limits and non-goals
//
// JSON only; the runtimes also read YAML. Nothing here touches a file: writing by rename, mode and removal are the host's. New writes no
// hook on purpose (hooks ran with the container's environment in CVE-2025-23266). Facts about CDI: CNCF Tag Runtime, "Container Device
// Interface Specification" 1.1.0, and the checks of its Go library v1.1.2.
package cdi
