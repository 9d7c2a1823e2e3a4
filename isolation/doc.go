// SPDX-License-Identifier: Apache-2.0

// Package isolation turns the GPUs of a lease into a plan of exactly what the tenant may touch on a node, and compares plans with hosts.
//
// # Model
//
//   - [Lease]: who holds which GPUs of one node, in which epoch and window.
//   - [Host]: the facts of the node that a plan needs: its inventory and its device majors.
//   - [Plan]: the device files, the environment and the CDI document of a lease. A Plan is data: it changes nothing.
//   - [Changes]: from one plan to the next, what to revoke and what to grant.
//   - [Observed]: what a host reports; [Verify] lists every [Difference] from the plan.
//
// # Usage
//
// As in the package example:
//
//	majors, err := isolation.ParseProcDevices(procDevices)
//	if err != nil {
//		return err
//	}
//	host := isolation.Host{Node: "node-17", Inventory: inventory, Majors: majors}
//	lease := isolation.Lease{
//		ID: "lease-7", Epoch: 1, Tenant: "vision", Node: "node-17",
//		GPUs: []topology.GPUID{inventory.GPUs[0].UUID, inventory.GPUs[1].UUID},
//	}
//	plan, err := lease.Plan(host)
//	if err != nil {
//		return err
//	}
//	if err := isolation.Disjoint([]isolation.Plan{plan}); err != nil {
//		return err
//	}
//	for _, device := range plan.Devices {
//		fmt.Println(device.Path, device.Major, device.Minor, device.Access)
//	}
//	document, err := plan.Document()
//	if err != nil {
//		return err
//	}
//	// the host writes document to /var/run/cdi/<plan.SpecFile>, mode 0600, by rename
//
// # Invariants
//
//   - E2: the CDI document of a plan grants exactly the plan's devices, and those are the GPUs of the lease and the control files every
//     GPU needs (nvidiactl, nvidia-uvm); nothing that could repartition or observe a GPU is ever among them.
//   - E3: plan and document are named by lease and epoch; what was written down for one epoch finds nothing in the next.
//   - H3: of plans that Disjoint accepts, wherever they come from, each grants in devices and document the GPUs of its lease and nothing
//     else, and no GPU and no GPU's device file is in two, except by milli-shares: those of one tenant, or of leases that are all
//     Trusted, up to 1000.
//   - I13: a plan does not depend on the order in which the lease or the inventory lists GPUs; both may come in any order.
//   - I14: exchanging minor numbers changes only device numbers and paths; exchanging indexes changes nothing.
//   - V1: Verify of a plan and a host that has exactly what the plan says is empty. Reported is any one change of the plan's devices,
//     environment, names or document, of the lease's id, epoch, tenant, node or GPUs, and of what the host says of these GPUs, of their
//     device files and the control files, and of CDI documents that grant them. Window, milli, Trusted and DedicatedNode leave no trace
//     on a host; [Diff] compares those.
//   - V2: Diff(p, p) is empty; applying Diff(p, q) to the devices of p gives those of q; Diff(q, p) is its reverse.
//
// E1 (what is written is read back unchanged) is that of package cdi.
//
// # Concurrency
//
// Every value is plain data: read it from any number of goroutines while nobody changes it. All functions are pure and change none of
// their arguments.
//
// # Errors and reasons
//
// [*FieldError] names a field, its value and what to do; it matches [ErrInvalidLease], [ErrInvalidHost], [ErrWrongNode], [ErrUnknownGPU],
// [ErrShareNotAllowed] or [ErrInvalidPlan]. A message repeats at most 100 bytes of a value. [*OverlapError] names two leases and what they share; it matches [ErrOverlap]. [ErrInvalidProcDevices] is for
// the kernel's list. All mistakes are joined. A [Difference] has a stable [Code].
//
// # Complexity
//
// With g GPUs in the inventory and l in the lease: Plan is O(g log g + l log l). With d devices in all plans: Disjoint is O(d log d).
// Diff is O(d). Verify is O(l · (g + f + n) + g log g + b) with f files, and n device nodes and mounts in b bytes of documents.
//
// # Limits and non-goals
//
// Whole GPUs and milli-shares only. A milli-share has no wall in hardware: the device file is that of the whole GPU, so it is allowed
// only where the lease says Trusted or DedicatedNode. Power, heat and PCIe bandwidth are shared by all GPUs of a node; a device file
// that a process has open stays open after its revocation. /dev/nvidia-modeset (graphics) and /dev/nvidia-uvm-tools (profiling of
// others) are never granted. Verify reads paths in documents as they are written: it follows no symbolic link and knows no hook's program. Nothing
// here writes a file: that is the host's.
package isolation
