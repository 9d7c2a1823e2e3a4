// SPDX-License-Identifier: Apache-2.0

package nvmltest

import (
	"context"
	"fmt"
	"slices"

	"github.com/berth-gpu/berth/nvmlx"
)

// device is a handle; all handles of a GPU share its state.
type device struct {
	node *Node
	gpu  *gpu
}

var (
	_ nvmlx.Device       = (*device)(nil)
	_ nvmlx.MIGControl   = (*device)(nil)
	_ nvmlx.ECC          = (*device)(nil)
	_ nvmlx.RemappedRows = (*device)(nil)
	_ nvmlx.Processes    = (*device)(nil)
)

// call runs read under the node's lock unless the GPU is denied, lost or hanging.
func call[T any](ctx context.Context, d *device, op string, read func(*gpu) (T, error)) (T, error) {
	var none T
	for {
		if err := d.node.enter(ctx, op, string(d.gpu.identity.UUID)); err != nil {
			return none, err
		}
		d.node.mu.Lock()
		hung := d.gpu.hung
		if hung == nil {
			break
		}
		d.node.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-hung:
		}
	}
	defer d.node.mu.Unlock()
	if d.gpu.lost {
		return none, d.refuse(nvmlx.KindGPULost, op, "the GPU has fallen off the bus")
	}
	return read(d.gpu)
}

func (d *device) refuse(kind nvmlx.Kind, op, detail string) error {
	name := string(d.gpu.identity.UUID)
	if kind == nvmlx.KindGPULost { // a lost GPU cannot be asked for its UUID
		name = fmt.Sprintf("index %d", d.gpu.identity.Index)
	}
	return &nvmlx.Error{Kind: kind, Op: op, Device: name, Detail: detail}
}

// Index is answered even by a lost GPU: it is the place in the list from which the handle came.
func (d *device) Index(ctx context.Context) (nvmlx.Index, error) {
	if err := d.node.enter(ctx, "index", string(d.gpu.identity.UUID)); err != nil {
		return 0, err
	}
	return d.gpu.identity.Index, nil
}

func (d *device) Minor(ctx context.Context) (nvmlx.Minor, error) {
	return call(ctx, d, "minor", func(g *gpu) (nvmlx.Minor, error) { return g.identity.Minor, nil })
}

func (d *device) UUID(ctx context.Context) (nvmlx.UUID, error) {
	return call(ctx, d, "uuid", func(g *gpu) (nvmlx.UUID, error) { return g.identity.UUID, nil })
}

func (d *device) PCI(ctx context.Context) (nvmlx.PCIAddress, error) {
	return call(ctx, d, "pci", func(g *gpu) (nvmlx.PCIAddress, error) { return g.identity.PCI, nil })
}

func (d *device) Name(ctx context.Context) (string, error) {
	return call(ctx, d, "name", func(g *gpu) (string, error) { return g.identity.Model, nil })
}

func (d *device) Memory(ctx context.Context) (nvmlx.Memory, error) {
	return call(ctx, d, "memory", func(g *gpu) (nvmlx.Memory, error) {
		if g.identity.MemoryMiB == 0 {
			return nvmlx.Memory{}, d.refuse(nvmlx.KindUnsupported, "memory", "this model does not tell its memory")
		}
		return nvmlx.Memory{TotalMiB: g.identity.MemoryMiB, UsedMiB: g.usedMiB}, nil
	})
}

func (d *device) MIGMode(ctx context.Context) (nvmlx.MIGMode, error) {
	return call(ctx, d, "migMode", func(g *gpu) (nvmlx.MIGMode, error) {
		if !g.mig {
			return nvmlx.MIGMode{}, d.refuse(nvmlx.KindUnsupported, "migMode", "this model has no MIG")
		}
		return g.mode, nil
	})
}

func (d *device) SetMIGMode(ctx context.Context, enabled bool) (nvmlx.MIGChange, error) {
	return call(ctx, d, "setMIGMode", func(g *gpu) (nvmlx.MIGChange, error) {
		if !g.mig {
			return nvmlx.MIGChange{}, d.refuse(nvmlx.KindUnsupported, "setMIGMode", "this model has no MIG")
		}
		g.mode.Pending = enabled
		var waits nvmlx.Kind
		switch {
		case g.mode.Current == enabled:
		case len(g.processes) > 0:
			waits = nvmlx.KindInUse
		case g.migNeedsReset:
			waits = nvmlx.KindResetRequired
		default:
			g.mode.Current = enabled
		}
		return nvmlx.MIGChange{MIGMode: g.mode, Waits: waits}, nil
	})
}

func (d *device) ECCErrors(ctx context.Context) (nvmlx.ECCErrors, error) {
	return call(ctx, d, "eccErrors", func(g *gpu) (nvmlx.ECCErrors, error) { return g.ecc, nil })
}

func (d *device) RowRemap(ctx context.Context) (nvmlx.RowRemap, error) {
	return call(ctx, d, "rowRemap", func(g *gpu) (nvmlx.RowRemap, error) { return g.rows, nil })
}

func (d *device) RunningProcesses(ctx context.Context) ([]nvmlx.Process, error) {
	return call(ctx, d, "runningProcesses", func(g *gpu) ([]nvmlx.Process, error) { return slices.Clone(g.processes), nil })
}
