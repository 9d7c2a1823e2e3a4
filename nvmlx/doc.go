// SPDX-License-Identifier: Apache-2.0

// Package nvmlx describes the GPUs of one machine as Go values and small interfaces, without cgo and without an NVIDIA library.
//
// # Model
//
//   - [Lister]: one machine; it lists its devices and knows its driver.
//   - [Device]: one GPU; it answers for its identity.
//   - Capability: a small interface more ([MIGControl], [ECC], [Processes] …) that a Device or a Lister may have; [As] finds it.
//   - [Inventory]: the identity of all GPUs of one machine as plain data.
//   - [Error]: a refused call, with a [Kind] that is the same on every driver.
//
// The fake in nvmltest and [Unsupported] are Listers, so everything above this package runs on a machine without a GPU. There is no
// adapter around NVML here yet: a program that reads real GPUs brings its own Lister, and nvmltest.TestLister judges it.
//
// Index and minor number are different types on purpose. NVML numbers GPUs by PCI order ([Index]); the kernel names device files by
// [Minor]; the two differ on real machines. Code that opens or grants /dev/nvidia<index> gives a tenant somebody else's GPU
// (gVisor issue 9389; k8s-test-infra pull request 823 repairs the same mistake).
//
// # Usage
//
// As in the package example, where node is any Lister:
//
//	inventory, err := nvmlx.ReadInventory(ctx, node)
//	if err != nil {
//		fmt.Println(err) // inventory still holds the GPUs that answered
//	}
//	for _, gpu := range inventory.GPUs {
//		fmt.Println(gpu.Index, gpu.Minor, gpu.PCI, gpu.Model, gpu.MemoryMiB)
//	}
//
//	devices, err := node.Devices(ctx)
//	if err != nil {
//		return err
//	}
//	control, err := nvmlx.As[nvmlx.MIGControl](devices[0])
//	if err != nil {
//		return err // this adapter knows nothing of MIG
//	}
//	if _, err := control.MIGMode(ctx); errors.Is(err, nvmlx.ErrUnsupported) {
//		fmt.Println("these GPUs cannot be sliced")
//	}
//
// # Invariants
//
//   - X4: an Inventory that ReadInventory returns is valid: sorted by Index; no Index, Minor, UUID or PCI address occurs twice.
//   - X5: every refused call of a Lister or Device is an [*Error], so errors.Is finds exactly one of this package's sentinels.
//   - X6: ParsePCIAddress(a.String()) == a for every valid address, and equal addresses have equal text.
//   - X7: a call returns when its context ends; it then matches ErrTimeout and the context's own error.
//   - X8: a capability that is missing, and a capability that the board refuses, give the same sentinel: ErrUnsupported.
//
// X1 to X3 are for an adapter around NVML: a symbol that the driver lacks never ends the process, a library that lies about counts
// is an error and no panic, and a call before initialisation is an error.
//
// # Concurrency
//
// Data types are plain values. Every Lister and Device is safe for concurrent use by multiple goroutines; an implementation that is not
// breaks the contract, and nvmltest.TestLister finds it under the race detector. This package starts no goroutine.
//
// # Errors and reasons
//
// A refused call is an [*Error] with a stable [Kind], the operation, the device and what the driver said. Sentinels: [ErrUnsupported],
// [ErrNotInitialised], [ErrNoPermission], [ErrInUse], [ErrInsufficient], [ErrGPULost], [ErrResetRequired], [ErrTimeout],
// [ErrLibraryMissing], [ErrSymbolMissing], [ErrUnknown]. Bad data gives [ErrInvalidInventory] or [ErrInvalidPCIAddress].
//
// # Complexity
//
// With n GPUs: ReadInventory makes 6 calls for each GPU, one after the other, and O(n log n) comparisons. As is O(depth of wrapping),
// at most 16.
//
// # Limits and non-goals
//
// NVML has no call that resets a GPU, so there is none here. Interfaces name what other packages use; they do not mirror NVML. GPU
// instances (MIG slices) are not described here, only the MIG mode of a GPU. Time is not read: a host that wants a bound puts it
// into the context.
package nvmlx
