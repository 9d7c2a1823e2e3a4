// SPDX-License-Identifier: Apache-2.0

package nvmlx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
)

// ErrInvalidInventory is matched by every refusal of [Inventory.Validate].
var ErrInvalidInventory = errors.New("nvmlx: invalid inventory")

// GPU is the identity of one GPU as plain data.
//
// A GPU is immutable and safe for concurrent use.
type GPU struct {
	Index Index      `json:"index"`
	Minor Minor      `json:"minor"`
	UUID  UUID       `json:"uuid"`
	PCI   PCIAddress `json:"pci"`
	// Model is the product name that the driver reports.
	Model string `json:"model"`
	// MemoryMiB is the installed memory in MiB; 0 where the board has none of its own or it is not known.
	MemoryMiB int64 `json:"memoryMiB"`
}

// Inventory is the identity of all GPUs of one machine, sorted by Index.
//
// An Inventory may be read by many goroutines while nobody changes it; a copy of the value shares its GPUs.
type Inventory struct {
	Driver string `json:"driver"`
	CUDA   string `json:"cuda"`
	GPUs   []GPU  `json:"gpus"`
}

// ReadInventory asks the machine for its GPUs, one call after the other. The context bounds the whole: a GPU that hangs uses up what is
// left of it, so a host that suspects one reads each device alone with [ReadGPU].
//
// On an error the Inventory holds the GPUs that answered and is valid (X4), so that seven good GPUs stay usable beside a lost one;
// the error joins every refusal. If the answers contradict one another (a minor twice), no GPU is kept.
//
// Possible errors: [ErrInvalidInventory], and those of the [Lister] and its devices.
func ReadInventory(ctx context.Context, lister Lister) (Inventory, error) {
	if lister == nil {
		return Inventory{}, fmt.Errorf("%w: lister is nil: give an adapter, a fake or Unsupported", ErrInvalidInventory)
	}
	var inventory Inventory
	var errs []error
	var err error
	if inventory.Driver, err = lister.DriverVersion(ctx); err != nil {
		errs = append(errs, err)
	}
	if inventory.CUDA, err = lister.CUDAVersion(ctx); err != nil {
		errs = append(errs, err)
	}
	devices, err := lister.Devices(ctx)
	if err != nil {
		errs = append(errs, err)
	}
	for _, device := range devices {
		gpu, err := ReadGPU(ctx, device)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		inventory.GPUs = append(inventory.GPUs, gpu)
	}
	slices.SortStableFunc(inventory.GPUs, func(a, b GPU) int { return cmp.Compare(a.Index, b.Index) })
	if err := inventory.Validate(); err != nil {
		errs = append(errs, err)
		inventory.GPUs = nil
	}
	return inventory, errors.Join(errs...)
}

// ReadGPU asks one device for its identity. A device without memory of its own has MemoryMiB 0. It stops at the first refusal: a GPU of
// which half is known is of no use.
//
// Possible errors: [ErrInvalidInventory] for a nil device, and those of the device.
func ReadGPU(ctx context.Context, device Device) (GPU, error) {
	if device == nil {
		return GPU{}, fmt.Errorf("%w: device is nil", ErrInvalidInventory)
	}
	var gpu GPU
	var err error
	if gpu.Index, err = device.Index(ctx); err != nil {
		return GPU{}, err
	}
	if gpu.Minor, err = device.Minor(ctx); err != nil {
		return GPU{}, err
	}
	if gpu.UUID, err = device.UUID(ctx); err != nil {
		return GPU{}, err
	}
	if gpu.PCI, err = device.PCI(ctx); err != nil {
		return GPU{}, err
	}
	if gpu.Model, err = device.Name(ctx); err != nil {
		return GPU{}, err
	}
	memory, err := device.Memory(ctx)
	if err != nil && !errors.Is(err, ErrUnsupported) {
		return GPU{}, err
	}
	gpu.MemoryMiB = memory.TotalMiB
	return gpu, nil
}

// Find returns the GPU with this UUID. Cost: O(GPUs).
func (v Inventory) Find(id UUID) (GPU, bool) {
	i := slices.IndexFunc(v.GPUs, func(gpu GPU) bool { return gpu.UUID == id })
	if i < 0 {
		return GPU{}, false
	}
	return v.GPUs[i], true
}

// Validate reports everything that is wrong: a number out of range, an empty name, a GPU out of order, and an index, minor, UUID or PCI
// address that occurs twice. An empty list of GPUs is valid. Cost: O(GPUs).
//
// Possible errors: [ErrInvalidInventory].
func (v Inventory) Validate() error {
	var errs []error
	bad := func(i int, field string, value any, problem string) {
		errs = append(errs, fmt.Errorf("%w: gpus[%d].%s %.100s: %s", ErrInvalidInventory, i, field, fmt.Sprint(value), problem))
	}
	indexes, minors := map[Index]int{}, map[Minor]int{}
	uuids, addresses := map[UUID]int{}, map[PCIAddress]int{}
	for i, gpu := range v.GPUs {
		if gpu.Index < 0 {
			bad(i, "index", gpu.Index, "must not be negative")
		}
		if i > 0 && gpu.Index < v.GPUs[i-1].Index {
			bad(i, "index", gpu.Index, "sort GPUs by ascending index")
		}
		if gpu.Minor < 0 || gpu.Minor > MaxMinor {
			bad(i, "minor", gpu.Minor, fmt.Sprintf("must be 0 to %d", MaxMinor))
		}
		if gpu.UUID == "" {
			bad(i, "uuid", `""`, "must not be empty")
		}
		if gpu.PCI == (PCIAddress{}) || !gpu.PCI.Valid() {
			bad(i, "pci", gpu.PCI, "is not the address of a GPU")
		}
		if gpu.Model == "" {
			bad(i, "model", `""`, "must not be empty")
		}
		if gpu.MemoryMiB < 0 {
			bad(i, "memoryMiB", gpu.MemoryMiB, "must not be negative")
		}
		twice(indexes, gpu.Index, i, "index", bad)
		twice(minors, gpu.Minor, i, "minor", bad)
		twice(uuids, gpu.UUID, i, "uuid", bad)
		twice(addresses, gpu.PCI, i, "pci", bad)
	}
	return errors.Join(errs...)
}

func twice[K comparable](seen map[K]int, key K, i int, field string, bad func(int, string, any, string)) {
	if first, dup := seen[key]; dup {
		bad(i, field, key, fmt.Sprintf("is also that of gpus[%d]", first))
		return
	}
	seen[key] = i
}
