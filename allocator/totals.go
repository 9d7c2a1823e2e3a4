// SPDX-License-Identifier: Apache-2.0

package allocator

// Totals are sums over the fleet. Of the nodes that are present, CapacityMilli = AllocatedMilli + FreeMilli +
// UnavailableMilli (A2). A Totals is immutable and safe for concurrent use.
type Totals struct {
	Nodes              int64 `json:"nodes"`              // present
	CordonedNodes      int64 `json:"cordonedNodes"`      // present and cordoned
	GPUs               int64 `json:"gpus"`               // of present nodes
	FailedGPUs         int64 `json:"failedGPUs"`         // of present nodes
	CapacityMilli      int64 `json:"capacityMilli"`      // thousandths of a GPU, of present nodes
	AllocatedMilli     int64 `json:"allocatedMilli"`     // in use on present nodes
	FreeMilli          int64 `json:"freeMilli"`          // free on healthy GPUs of nodes that are not cordoned
	UnavailableMilli   int64 `json:"unavailableMilli"`   // not in use, but failed or cordoned
	CPUMilli           int64 `json:"cpuMilli"`           // CPU capacity of present nodes
	AllocatedCPUMilli  int64 `json:"allocatedCPUMilli"`  // in use on present nodes
	MemoryMiB          int64 `json:"memoryMiB"`          // memory capacity of present nodes
	AllocatedMemoryMiB int64 `json:"allocatedMemoryMiB"` // in use on present nodes
	StrandedMilli      int64 `json:"strandedMilli"`      // thousandths of a GPU in use on nodes that left
	Placements         int64 `json:"placements"`         // stranded ones included
	Pods               int64 `json:"pods"`               // stranded ones included
}

// count adds what one node contributes (sign 1) or takes it away (sign -1).
func (t *Totals) count(n *node, sign int64) {
	t.Pods += sign * int64(n.pods)
	var used int64
	for _, u := range n.used {
		used += int64(u)
	}
	if n.shape == nil {
		t.StrandedMilli += sign * used
		return
	}
	capacity := int64(len(n.used)) * gpuMilli
	free := n.milli
	if n.cordoned {
		free = 0
		t.CordonedNodes += sign
	}
	for _, f := range n.failed {
		if f {
			t.FailedGPUs += sign
		}
	}
	t.Nodes += sign
	t.GPUs += sign * int64(len(n.used))
	t.CapacityMilli += sign * capacity
	t.AllocatedMilli += sign * used
	t.FreeMilli += sign * free
	t.UnavailableMilli += sign * (capacity - used - free)
	t.CPUMilli += sign * n.shape.CPUMilli()
	t.AllocatedCPUMilli += sign * (n.shape.CPUMilli() - n.cpu)
	t.MemoryMiB += sign * n.shape.MemoryMiB()
	t.AllocatedMemoryMiB += sign * (n.shape.MemoryMiB() - n.memory)
}
