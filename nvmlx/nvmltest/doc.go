// SPDX-License-Identifier: Apache-2.0

// Package nvmltest is a machine with GPUs that exists only in memory, and the suite that every [nvmlx.Lister] must pass.
//
// # Model
//
//   - [Config]: what the machine is made of; [HGXH100], [DGXA100] and [OpenB] are presets.
//   - [Node]: the machine. It is an [nvmlx.Lister] and an [nvmlx.EventSource]; its devices have [nvmlx.MIGControl], [nvmlx.ECC],
//     [nvmlx.RemappedRows] and [nvmlx.Processes].
//   - Script: the methods of Node that make things happen to a GPU: Lose, Hang, Deny, XID, Reset, Heal and the Set methods.
//   - Suite: [Check] and [TestLister].
//
// # Usage
//
// As in the package example:
//
//	config := nvmltest.HGXH100()
//	config.MinorOf = nvmltest.ReversedMinors(8)
//	node, err := nvmltest.New(config)
//	if err != nil {
//		return err
//	}
//	if err := node.Lose(3); err != nil {
//		return err
//	}
//	inventory, err := nvmlx.ReadInventory(ctx, node)
//	fmt.Println(len(inventory.GPUs), errors.Is(err, nvmlx.ErrGPULost)) // 7 true
//
// # Invariants
//
//   - F1: a Node passes [TestLister], with any permutation of minors.
//   - F2: equal Configs give equal answers; two machines with different Config.Node share no UUID.
//   - F3: what the fake does not model is missing, so that [nvmlx.As] says ErrUnsupported; it never answers with an invented value.
//   - F4: a fault of one GPU changes no answer of another.
//
// # Concurrency
//
// A Node is safe for concurrent use by multiple goroutines. It starts none.
//
// # Errors and reasons
//
// Calls of the nvmlx interfaces give [*nvmlx.Error]. New and the script give [ErrInvalidConfig] and [ErrNoSuchGPU].
//
// # Complexity
//
// Every call is O(1), except Devices and New, O(GPUs).
//
// # Limits and non-goals
//
// NVLink, PCIe, temperature, fabric and MIG slices are not modelled. The MIG mode is: on a board that needs a reset (A100, A30) the
// change stays pending until Reset and then lasts; on newer boards it is in force at once and Reset falls back to off. The fake keeps
// the minor number when the mode changes; a driver need not.
package nvmltest
