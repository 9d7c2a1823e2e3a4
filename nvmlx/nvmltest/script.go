// SPDX-License-Identifier: Apache-2.0

package nvmltest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/berth-gpu/berth/nvmlx"
)

// ErrNoSuchGPU is matched when a script names an index that the machine does not have.
var ErrNoSuchGPU = errors.New("nvmltest: no such GPU")

// ErrNoSuchOp is matched when [Node.Deny] names an operation that the fake does not have.
var ErrNoSuchOp = errors.New("nvmltest: no such operation")

// xidFallenOff is the XID of a GPU that has fallen off the bus. Source: NVIDIA XID Errors catalogue, code 79.
const xidFallenOff = 79

// ops are the operations that can be denied, named as in [nvmlx.Error].Op.
var ops = []string{
	"devices", "driverVersion", "cudaVersion", "subscribe", "index", "minor", "uuid", "pci", "name", "memory",
	"migMode", "setMIGMode", "eccErrors", "rowRemap", "runningProcesses",
}

// with runs change on one GPU under the lock.
func (n *Node) with(index nvmlx.Index, change func(*gpu) error) error {
	if index < 0 || int(index) >= len(n.gpus) {
		return fmt.Errorf("%w: index %d: the machine has %d GPUs", ErrNoSuchGPU, index, len(n.gpus))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return change(n.gpus[index])
}

// Lose lets a GPU fall off the bus: XID 79 is reported and every call but Index gives [nvmlx.ErrGPULost]. It stays in the list.
//
// Possible errors: [ErrNoSuchGPU].
func (n *Node) Lose(index nvmlx.Index) error {
	return n.with(index, func(g *gpu) error {
		if !g.lost {
			g.lost = true
			n.report(nvmlx.Event{Type: nvmlx.EventXID, GPU: g.identity.UUID, XID: xidFallenOff})
		}
		return nil
	})
}

// Hang lets every call but Index on a GPU block until its context ends or the GPU is healed.
//
// Possible errors: [ErrNoSuchGPU].
func (n *Node) Hang(index nvmlx.Index) error {
	return n.with(index, func(g *gpu) error {
		if g.hung == nil {
			g.hung = make(chan struct{})
		}
		return nil
	})
}

// Heal ends Lose and Hang of a GPU; calls that hang go on.
//
// Possible errors: [ErrNoSuchGPU].
func (n *Node) Heal(index nvmlx.Index) error {
	return n.with(index, func(g *gpu) error {
		g.lost = false
		if g.hung != nil {
			close(g.hung)
			g.hung = nil
		}
		return nil
	})
}

// Deny refuses the named operations with [nvmlx.ErrNoPermission] from now on, on every GPU. Names are those of [nvmlx.Error].Op. It
// replaces what was denied before: Deny() denies nothing.
//
// Possible errors: [ErrNoSuchOp]; then nothing has changed.
func (n *Node) Deny(names ...string) error {
	denied := map[string]bool{}
	for _, name := range names {
		if !slices.Contains(ops, name) {
			return fmt.Errorf("%w: %q: want one of %q", ErrNoSuchOp, name, ops)
		}
		denied[name] = true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.denied = denied
	return nil
}

// XID reports an XID of a GPU to every subscription.
//
// Possible errors: [ErrNoSuchGPU].
func (n *Node) XID(index nvmlx.Index, code int64) error {
	return n.with(index, func(g *gpu) error {
		n.report(nvmlx.Event{Type: nvmlx.EventXID, GPU: g.identity.UUID, XID: code})
		return nil
	})
}

// Reset resets a GPU: a pending row remap is done, volatile error counts start again, and the MIG mode becomes the pending one on a board
// that needs a reset, off on any other.
//
// Possible errors: [ErrNoSuchGPU]; [nvmlx.ErrInUse] while processes run.
func (n *Node) Reset(index nvmlx.Index) error {
	return n.with(index, func(g *gpu) error {
		if len(g.processes) > 0 {
			return &nvmlx.Error{
				Kind: nvmlx.KindInUse, Op: "reset", Device: string(g.identity.UUID),
				Detail: fmt.Sprintf("%d processes run", len(g.processes)),
			}
		}
		if !g.migNeedsReset {
			g.mode.Pending = false
		}
		g.mode.Current = g.mode.Pending
		g.rows.Pending = false
		g.ecc.VolatileCorrected, g.ecc.VolatileUncorrected = 0, 0
		return nil
	})
}

// SetECC sets the error counts of a GPU.
//
// Possible errors: [ErrNoSuchGPU].
func (n *Node) SetECC(index nvmlx.Index, counts nvmlx.ECCErrors) error {
	return n.with(index, func(g *gpu) error {
		g.ecc = counts
		return nil
	})
}

// SetRowRemap sets the replaced rows of a GPU.
//
// Possible errors: [ErrNoSuchGPU].
func (n *Node) SetRowRemap(index nvmlx.Index, rows nvmlx.RowRemap) error {
	return n.with(index, func(g *gpu) error {
		g.rows = rows
		return nil
	})
}

// SetProcesses sets who uses a GPU; the memory in use is their sum, at most what is installed.
//
// Possible errors: [ErrNoSuchGPU].
func (n *Node) SetProcesses(index nvmlx.Index, processes ...nvmlx.Process) error {
	return n.with(index, func(g *gpu) error {
		g.processes = slices.Clone(processes)
		slices.SortStableFunc(g.processes, func(a, b nvmlx.Process) int { return cmp.Compare(a.PID, b.PID) })
		g.usedMiB = 0
		for _, process := range g.processes {
			free := g.identity.MemoryMiB - g.usedMiB
			g.usedMiB += min(max(process.UsedMiB, 0), free)
		}
		return nil
	})
}
