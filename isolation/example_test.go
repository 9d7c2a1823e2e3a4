// SPDX-License-Identifier: Apache-2.0

package isolation_test

import (
	"context"
	"fmt"

	"github.com/berth-gpu/berth/isolation"
	"github.com/berth-gpu/berth/nvmlx"
	"github.com/berth-gpu/berth/nvmlx/nvmltest"
	"github.com/berth-gpu/berth/topology"
)

// exampleHost is a machine of four GPUs whose minor numbers run backwards, as a driver may number them.
func exampleHost() (isolation.Host, error) {
	config := nvmltest.OpenB("node-17", "V100M32", 4)
	config.MinorOf = nvmltest.ReversedMinors(4)
	config.UUIDs = []nvmlx.UUID{"GPU-a", "GPU-b", "GPU-c", "GPU-d"}
	node, err := nvmltest.New(config)
	if err != nil {
		return isolation.Host{}, err
	}
	inventory, err := nvmlx.ReadInventory(context.Background(), node)
	if err != nil {
		return isolation.Host{}, err
	}
	majors, err := isolation.ParseProcDevices([]byte("Character devices:\n195 nvidia\n508 nvidia-uvm\n"))
	return isolation.Host{Node: "node-17", Inventory: inventory, Majors: majors}, err
}

func Example() {
	host, err := exampleHost()
	if err != nil {
		fmt.Println(err)
		return
	}
	lease := isolation.Lease{
		ID: "lease-7", Epoch: 1, Tenant: "vision", Node: "node-17",
		GPUs: []topology.GPUID{host.Inventory.GPUs[0].UUID, host.Inventory.GPUs[1].UUID},
	}
	plan, err := lease.Plan(host)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := isolation.Disjoint([]isolation.Plan{plan}); err != nil {
		fmt.Println(err)
		return
	}
	for _, device := range plan.Devices {
		fmt.Println(device.Path, device.Major, device.Minor, device.Access)
	}
	document, err := plan.Document()
	if err != nil {
		fmt.Println(err)
		return
	}
	// the host writes document to /var/run/cdi/<plan.SpecFile>, mode 0600, by rename
	fmt.Println(plan.SpecFile, len(document) > 0)
	// Output:
	// /dev/nvidia3 195 3 rw
	// /dev/nvidia2 195 2 rw
	// /dev/nvidiactl 195 255 rw
	// /dev/nvidia-uvm 508 0 rw
	// berth.dev-gpu_lease-7-e1.json true
}

func ExampleDisjoint() {
	host, err := exampleHost()
	if err != nil {
		fmt.Println(err)
		return
	}
	var plans []isolation.Plan
	for _, id := range []string{"lease-7", "lease-8"} {
		lease := isolation.Lease{ID: id, Epoch: 1, Tenant: id, Node: "node-17", GPUs: []topology.GPUID{"GPU-c"}}
		plan, err := lease.Plan(host)
		if err != nil {
			fmt.Println(err)
			return
		}
		plans = append(plans, plan)
	}
	fmt.Println(isolation.Disjoint(plans))
	// Output:
	// isolation: plans overlap: gpu-twice: leases "lease-7" and "lease-8" on node "node-17", GPU "GPU-c": give one of them another GPU
}

func ExampleDiff() {
	host, err := exampleHost()
	if err != nil {
		fmt.Println(err)
		return
	}
	lease := isolation.Lease{ID: "lease-7", Epoch: 1, Tenant: "vision", Node: "node-17", GPUs: []topology.GPUID{"GPU-a", "GPU-b"}}
	old, err := lease.Plan(host)
	if err != nil {
		fmt.Println(err)
		return
	}
	lease.GPUs[1] = "GPU-d" // a replacement for a broken GPU
	next, err := lease.Plan(host)
	if err != nil {
		fmt.Println(err)
		return
	}
	changes := isolation.Diff(old, next)
	fmt.Println("revoke", changes.Revoke[0].Path)
	fmt.Println("grant", changes.Grant[0].Path)
	fmt.Println("write", changes.WriteSpec)
	// Output:
	// revoke /dev/nvidia2
	// grant /dev/nvidia0
	// write berth.dev-gpu_lease-7-e1.json
}

func ExampleVerify() {
	host, err := exampleHost()
	if err != nil {
		fmt.Println(err)
		return
	}
	lease := isolation.Lease{ID: "lease-7", Epoch: 1, Tenant: "vision", Node: "node-17", GPUs: []topology.GPUID{"GPU-a"}}
	plan, err := lease.Plan(host)
	if err != nil {
		fmt.Println(err)
		return
	}
	document, err := plan.Document()
	if err != nil {
		fmt.Println(err)
		return
	}
	observed := isolation.Observed{
		Node:      "node-17",
		Inventory: host.Inventory,
		Specs:     []isolation.SpecFile{{Name: plan.SpecFile, Data: document}},
		Files: []isolation.DeviceFile{
			{Path: "/dev/nvidia3", Type: "c", Major: 195, Minor: 3},
			{Path: "/dev/nvidiactl", Type: "c", Major: 195, Minor: 255},
			{Path: "/dev/nvidia-uvm", Type: "c", Major: 509, Minor: 0}, // the module was loaded again
		},
	}
	for _, difference := range isolation.Verify(plan, observed) {
		fmt.Printf("%s %s: want %s, have %s\n", difference.Code, difference.Subject, difference.Want, difference.Have)
	}
	// Output:
	// file-number /dev/nvidia-uvm: want c 508:0, have c 509:0
}
