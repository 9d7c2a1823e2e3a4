// SPDX-License-Identifier: Apache-2.0

package nvmlx_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/berth-gpu/berth/nvmlx"
	"github.com/berth-gpu/berth/nvmlx/nvmltest"
)

func Example() {
	ctx := context.Background()
	config := nvmltest.OpenB("node-17", "V100M32", 4)
	config.MinorOf = nvmltest.ReversedMinors(4)
	node, err := nvmltest.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}

	inventory, err := nvmlx.ReadInventory(ctx, node)
	if err != nil {
		fmt.Println(err)
	}
	for _, gpu := range inventory.GPUs {
		fmt.Println(gpu.Index, gpu.Minor, gpu.PCI, gpu.Model, gpu.MemoryMiB)
	}

	devices, err := node.Devices(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	control, err := nvmlx.As[nvmlx.MIGControl](devices[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := control.MIGMode(ctx); errors.Is(err, nvmlx.ErrUnsupported) {
		fmt.Println("these GPUs cannot be sliced")
	}
	// Output:
	// 0 3 0000:08:00.0 V100M32 32768
	// 1 2 0000:10:00.0 V100M32 32768
	// 2 1 0000:18:00.0 V100M32 32768
	// 3 0 0000:20:00.0 V100M32 32768
	// these GPUs cannot be sliced
}

func ExampleParsePCIAddress() {
	for _, text := range []string{"00000000:17:00.0", "PCI:0000:17:00", "17:00.0"} {
		address, err := nvmlx.ParsePCIAddress(text)
		fmt.Println(address, err)
	}
	// Output:
	// 0000:17:00.0 <nil>
	// 0000:17:00.0 <nil>
	// 0000:00:00.0 nvmlx: invalid PCI address "17:00.0": want domain:bus:device.function, for example 0000:17:00.0
}

func ExampleUnsupported() {
	_, err := nvmlx.ReadInventory(context.Background(), nvmlx.Unsupported{Reason: "built without cgo"})
	refusal, _ := errors.AsType[*nvmlx.Error](err)
	fmt.Println(refusal.Kind, refusal.Op)
	// Output:
	// unsupported driverVersion
}

func ExampleReadInventory_lostGPU() {
	node, err := nvmltest.New(nvmltest.HGXH100())
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := node.Lose(3); err != nil {
		fmt.Println(err)
		return
	}
	inventory, err := nvmlx.ReadInventory(context.Background(), node)
	fmt.Println(len(inventory.GPUs), "GPUs stay usable")
	fmt.Println(err)
	// Output:
	// 7 GPUs stay usable
	// nvmlx: GPU is lost: minor of GPU "index 3": the GPU has fallen off the bus (take the node out of service and reset or reboot it)
}
