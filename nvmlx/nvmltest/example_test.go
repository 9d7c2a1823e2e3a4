// SPDX-License-Identifier: Apache-2.0

package nvmltest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/berth-gpu/berth/nvmlx"
	"github.com/berth-gpu/berth/nvmlx/nvmltest"
)

func Example() {
	ctx := context.Background()
	config := nvmltest.HGXH100()
	config.MinorOf = nvmltest.ReversedMinors(8)
	node, err := nvmltest.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := node.Lose(3); err != nil {
		fmt.Println(err)
		return
	}
	inventory, err := nvmlx.ReadInventory(ctx, node)
	fmt.Println(len(inventory.GPUs), errors.Is(err, nvmlx.ErrGPULost))
	fmt.Println("index", inventory.GPUs[0].Index, "is /dev/nvidia", inventory.GPUs[0].Minor)
	// Output:
	// 7 true
	// index 0 is /dev/nvidia 7
}

func ExampleNode_Deny() {
	node, err := nvmltest.New(nvmltest.DGXA100())
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := node.Deny("setMIGMode"); err != nil {
		fmt.Println(err)
		return
	}
	devices, err := node.Devices(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	control, err := nvmlx.As[nvmlx.MIGControl](devices[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = control.SetMIGMode(context.Background(), true)
	fmt.Println(errors.Is(err, nvmlx.ErrNoPermission))
	// Output:
	// true
}

// The author of an adapter runs the suite from a test of her own.
func ExampleTestLister() {
	testAdapter := func(t *testing.T) {
		nvmltest.TestLister(t, func(t *testing.T) nvmlx.Lister {
			node, err := nvmltest.New(nvmltest.HGXH100()) // here: open the adapter
			if err != nil {
				t.Fatal(err)
			}
			return node
		})
	}
	_ = testAdapter
}
