// SPDX-License-Identifier: Apache-2.0

package nvmltest

import (
	"context"
	"sync"

	"github.com/berth-gpu/berth/nvmlx"
)

// Node is a machine with GPUs in memory.
//
// A Node is safe for concurrent use by multiple goroutines.
type Node struct {
	driver, cuda string
	gpus         []*gpu // never changes after New

	mu            sync.Mutex // guards all below and what the gpus say it guards
	denied        map[string]bool
	subscriptions map[*subscription]bool
}

// gpu is the state of one GPU; everything but identity and migNeedsReset is guarded by the node's mutex.
type gpu struct {
	identity      nvmlx.GPU
	mig           bool
	migNeedsReset bool

	mode      nvmlx.MIGMode
	lost      bool
	hung      chan struct{} // closed by Heal; nil if the GPU answers
	usedMiB   int64
	ecc       nvmlx.ECCErrors
	rows      nvmlx.RowRemap
	processes []nvmlx.Process
}

var (
	_ nvmlx.Lister      = (*Node)(nil)
	_ nvmlx.EventSource = (*Node)(nil)
)

// New builds the machine.
//
// Possible errors: [ErrInvalidConfig]; it joins everything that is wrong.
func New(config Config) (*Node, error) {
	inventory, err := config.inventory()
	if err != nil {
		return nil, err
	}
	node := &Node{
		driver:        inventory.Driver,
		cuda:          inventory.CUDA,
		denied:        map[string]bool{},
		subscriptions: map[*subscription]bool{},
	}
	for _, identity := range inventory.GPUs {
		node.gpus = append(node.gpus, &gpu{identity: identity, mig: config.MIG, migNeedsReset: config.MIGNeedsReset})
	}
	return node, nil
}

// Devices lists the GPUs, lost and hanging ones too.
//
// Possible errors: [nvmlx.ErrNoPermission], [nvmlx.ErrTimeout].
func (n *Node) Devices(ctx context.Context) ([]nvmlx.Device, error) {
	if err := n.enter(ctx, "devices", ""); err != nil {
		return nil, err
	}
	devices := make([]nvmlx.Device, len(n.gpus))
	for i, gpu := range n.gpus {
		devices[i] = &device{node: n, gpu: gpu}
	}
	return devices, nil
}

// DriverVersion is Config.Driver. Possible errors: [nvmlx.ErrNoPermission], [nvmlx.ErrTimeout].
func (n *Node) DriverVersion(ctx context.Context) (string, error) {
	if err := n.enter(ctx, "driverVersion", ""); err != nil {
		return "", err
	}
	return n.driver, nil
}

// CUDAVersion is Config.CUDA. Possible errors: [nvmlx.ErrNoPermission], [nvmlx.ErrTimeout].
func (n *Node) CUDAVersion(ctx context.Context) (string, error) {
	if err := n.enter(ctx, "cudaVersion", ""); err != nil {
		return "", err
	}
	return n.cuda, nil
}

// enter is what every call begins with; device is empty for a call on the machine.
func (n *Node) enter(ctx context.Context, op, device string) error {
	if err := ctx.Err(); err != nil {
		return &nvmlx.Error{Kind: nvmlx.KindTimeout, Op: op, Device: device, Cause: err}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.denied[op] {
		return &nvmlx.Error{Kind: nvmlx.KindNoPermission, Op: op, Device: device, Detail: "denied by the test"}
	}
	return nil
}
