// SPDX-License-Identifier: Apache-2.0

package cdi

import (
	"errors"
	"maps"
	"slices"
	"strconv"
)

// Annotations that [New] writes. They are taken: a config that sets one is refused.
const (
	AnnotationLease = "berth.dev/lease"
	AnnotationEpoch = "berth.dev/epoch"
)

// Config is what a lease grants.
//
// A Config may be read by many goroutines while nobody changes it.
type Config struct {
	// Kind is vendor/class. Default [DefaultKind].
	Kind string
	// Lease is required.
	Lease Lease
	// Nodes are the device files, each with Type and numbers, so that no runtime has to look them up: a node that is missing on the host
	// must fail instead of meaning something else.
	Nodes []DeviceNode
	// Env has entries of the form NAME=value.
	Env []string
	// Annotations are added to the device, for readers of the document.
	Annotations map[string]string
}

// New builds the transient document of a lease: one device, exactly the nodes of the config (E2), no hook, no mount, and the lowest
// version that allows it. Cost: O(nodes).
//
// Possible errors: [ErrInvalidLease], [ErrInvalidSpec]; it joins everything that is wrong.
func New(config Config) (Spec, error) {
	if config.Kind == "" {
		config.Kind = DefaultKind
	}
	v := &validator{}
	name, err := config.Lease.DeviceName()
	if err != nil {
		v.errs = append(v.errs, err)
		name = "lease" // so that the rest of the document is checked too
	}
	for i, node := range config.Nodes {
		if node.Type == "" || node.Major == 0 {
			v.bad("nodes["+strconv.Itoa(i)+"]", node.Path, "needs its type and device numbers")
		}
	}
	if len(config.Nodes) == 0 {
		v.bad("nodes", "[]", "a lease grants at least one device node")
	}
	annotations := map[string]string{
		AnnotationLease: config.Lease.ID,
		AnnotationEpoch: strconv.FormatUint(config.Lease.Epoch, 10),
	}
	for _, key := range slices.Sorted(maps.Keys(config.Annotations)) {
		if _, taken := annotations[key]; taken {
			v.bad("annotations", key, "is written by New")
		}
		annotations[key] = config.Annotations[key]
	}
	spec := Spec{
		Kind: config.Kind,
		Devices: []Device{{
			Name:        name,
			Annotations: annotations,
			ContainerEdits: ContainerEdits{
				Env:         slices.Clone(config.Env),
				DeviceNodes: slices.Clone(config.Nodes),
			},
		}},
	}
	spec.Version = MinimumVersion(spec)
	if err := errors.Join(errors.Join(v.errs...), spec.Validate()); err != nil {
		return Spec{}, err
	}
	return spec, nil
}
