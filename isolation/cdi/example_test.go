// SPDX-License-Identifier: Apache-2.0

package cdi_test

import (
	"fmt"

	"github.com/berth-gpu/berth/isolation/cdi"
)

func Example() {
	lease := cdi.Lease{ID: "lease-7", Epoch: 3}
	spec, err := cdi.New(cdi.Config{
		Lease: lease,
		Nodes: []cdi.DeviceNode{{Path: "/dev/nvidia5", Type: "c", Major: 195, Minor: 5, Permissions: "rw"}},
		Env:   []string{"NVIDIA_VISIBLE_DEVICES=void"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := cdi.Encode(spec)
	if err != nil {
		fmt.Println(err)
		return
	}
	name, err := lease.FileName(spec.Kind)
	if err != nil {
		fmt.Println(err)
		return
	}
	// the host writes data to /var/run/cdi/<name> with mode 0600, by rename
	read, err := cdi.Parse(data)
	fmt.Println(name, read.Version, read.Devices[0].ContainerEdits.DeviceNodes[0].Path, err)
	// Output:
	// berth.dev-gpu_lease-7-e3.json 0.6.0 /dev/nvidia5 <nil>
}

func ExampleLease_QualifiedName() {
	name, err := cdi.Lease{ID: "lease-7", Epoch: 3}.QualifiedName(cdi.DefaultKind)
	fmt.Println(name, err)
	// Output:
	// berth.dev/gpu=lease-7-e3 <nil>
}

func ExampleParseDeviceName() {
	lease, err := cdi.ParseDeviceName("lease-7-e3")
	fmt.Println(lease.ID, lease.Epoch, err)
	// Output:
	// lease-7 3 <nil>
}
