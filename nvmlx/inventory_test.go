// SPDX-License-Identifier: Apache-2.0

package nvmlx_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/nvmlx"
	"github.com/berth-gpu/berth/nvmlx/nvmltest"
)

func TestValidateReportsEverythingAtOnce(t *testing.T) {
	err := nvmlx.Inventory{GPUs: []nvmlx.GPU{
		{Index: 1, Minor: 1, UUID: "GPU-a", PCI: nvmlx.PCIAddress{Bus: 1}, Model: "H100"},
		{Index: 0, Minor: 1, UUID: "GPU-a", PCI: nvmlx.PCIAddress{Bus: 1}, Model: "H100"},
		{Index: -1, Minor: 248, MemoryMiB: -5},
		{Index: -1, Minor: -1, UUID: "GPU-b", PCI: nvmlx.PCIAddress{Bus: 2, Function: 9}, Model: "H100"},
	}}.Validate()
	require.ErrorIs(t, err, nvmlx.ErrInvalidInventory)
	require.Equal(t, []string{
		"gpus[1].index 0: sort GPUs by ascending index",
		"gpus[1].minor 1: is also that of gpus[0]",
		"gpus[1].uuid GPU-a: is also that of gpus[0]",
		"gpus[1].pci 0000:01:00.0: is also that of gpus[0]",
		"gpus[2].index -1: must not be negative",
		"gpus[2].index -1: sort GPUs by ascending index",
		"gpus[2].minor 248: must be 0 to 247",
		`gpus[2].uuid "": must not be empty`,
		"gpus[2].pci 0000:00:00.0: is not the address of a GPU",
		`gpus[2].model "": must not be empty`,
		"gpus[2].memoryMiB -5: must not be negative",
		"gpus[3].index -1: must not be negative",
		"gpus[3].minor -1: must be 0 to 247",
		"gpus[3].pci 0000:02:00.9: is not the address of a GPU",
		"gpus[3].index -1: is also that of gpus[2]",
	}, strings.Split(strings.ReplaceAll(err.Error(), "nvmlx: invalid inventory: ", ""), "\n"))
	require.NoError(t, nvmlx.Inventory{}.Validate())
}

func TestInventoryJSON(t *testing.T) {
	inventory := nvmlx.Inventory{Driver: "580.95.05", CUDA: "13.0", GPUs: []nvmlx.GPU{
		{Index: 0, Minor: 7, UUID: "GPU-a", PCI: nvmlx.PCIAddress{Bus: 0x17}, Model: "T4", MemoryMiB: 15360},
	}}
	data, err := json.Marshal(inventory)
	require.NoError(t, err)
	require.JSONEq(t, `{"driver":"580.95.05","cuda":"13.0","gpus":[
		{"index":0,"minor":7,"uuid":"GPU-a","pci":"0000:17:00.0","model":"T4","memoryMiB":15360}]}`, string(data))
	var read nvmlx.Inventory
	require.NoError(t, json.Unmarshal(data, &read))
	require.Equal(t, inventory, read)
	gpu, ok := read.Find("GPU-a")
	require.True(t, ok)
	require.Equal(t, nvmlx.Minor(7), gpu.Minor)
	_, ok = read.Find("GPU-b")
	require.False(t, ok)
}

// X4: whatever a machine answers, the inventory is valid; with every machine in order it holds exactly what was configured.
func TestReadInventoryX4(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "gpus")
		minors := rapid.Permutation(nvmltest.ReversedMinors(n)).Draw(t, "minors")
		lost := rapid.SliceOfDistinct(rapid.IntRange(0, n-1), rapid.ID).Draw(t, "lost")
		node, err := nvmltest.New(nvmltest.Config{MinorOf: minors})
		require.NoError(t, err)
		for _, i := range lost {
			require.NoError(t, node.Lose(nvmlx.Index(i)))
		}
		inventory, err := nvmlx.ReadInventory(context.Background(), node)
		require.NoError(t, inventory.Validate())
		require.Len(t, inventory.GPUs, n-len(lost))
		for _, gpu := range inventory.GPUs {
			require.Equal(t, minors[gpu.Index], gpu.Minor)
			require.NotContains(t, lost, int(gpu.Index))
		}
		if len(lost) == 0 {
			require.NoError(t, err)
			return
		}
		require.ErrorIs(t, err, nvmlx.ErrGPULost)
	})
}

// liar lists its first GPU twice.
type liar struct{ nvmlx.Lister }

func (l liar) Devices(ctx context.Context) ([]nvmlx.Device, error) {
	devices, err := l.Lister.Devices(ctx)
	return append(devices, devices[0], nil), err
}

// X4: a machine that contradicts itself yields no GPU, and a nil device is an error and no panic.
func TestReadInventoryRefusesContradictionX4(t *testing.T) {
	node, err := nvmltest.New(nvmltest.HGXH100())
	require.NoError(t, err)
	inventory, err := nvmlx.ReadInventory(t.Context(), liar{node})
	require.ErrorIs(t, err, nvmlx.ErrInvalidInventory)
	require.ErrorContains(t, err, "device is nil")
	require.ErrorContains(t, err, "gpus[1].minor 0: is also that of gpus[0]")
	require.Empty(t, inventory.GPUs)

	_, err = nvmlx.ReadInventory(t.Context(), nil)
	require.ErrorIs(t, err, nvmlx.ErrInvalidInventory)
}
