// SPDX-License-Identifier: Apache-2.0

package nvmltest

import (
	"context"
	"errors"

	"github.com/berth-gpu/berth/nvmlx"
)

// read asks for capability C and calls it; ok is false if either is refused.
func read[C, T any](f *findings, op string, from any, call func(C) (T, error)) (value T, ok bool) {
	capability, err := nvmlx.As[C](from)
	if f.refused(op, err) {
		return value, false
	}
	value, err = call(capability)
	return value, !f.refused(op, err)
}

func (f *findings) checkCapabilities(ctx context.Context, device nvmlx.Device) {
	if memory, err := device.Memory(ctx); !f.refused("memory", err) {
		if memory.TotalMiB <= 0 || memory.UsedMiB < 0 || memory.UsedMiB > memory.TotalMiB {
			f.add("memory %+v: want 0 <= used <= total and total > 0", memory)
		}
	}
	read(f, "migMode", device, func(c nvmlx.MIGControl) (nvmlx.MIGMode, error) { return c.MIGMode(ctx) })
	counts, _ := read(f, "eccErrors", device, func(c nvmlx.ECC) (nvmlx.ECCErrors, error) { return c.ECCErrors(ctx) })
	if min(counts.VolatileCorrected, counts.VolatileUncorrected, counts.AggregateCorrected, counts.AggregateUncorrected) < 0 {
		f.add("eccErrors %+v: counts must not be negative", counts)
	}
	rows, _ := read(f, "rowRemap", device, func(c nvmlx.RemappedRows) (nvmlx.RowRemap, error) { return c.RowRemap(ctx) })
	if min(rows.Correctable, rows.Uncorrectable) < 0 {
		f.add("rowRemap %+v: counts must not be negative", rows)
	}
	f.checkProcesses(ctx, device)
	f.checkLinks(ctx, device)
	heat, ok := read(f, "temperature", device, func(c nvmlx.Thermal) (nvmlx.Temperature, error) { return c.Temperature(ctx) })
	if ok && (heat.GPUCelsius < -50 || heat.GPUCelsius > 150) {
		f.add("temperature %+v: is not that of a working GPU", heat)
	}
	read(f, "fabricState", device, func(c nvmlx.Fabric) (nvmlx.FabricState, error) { return c.FabricState(ctx) })
}

func (f *findings) checkProcesses(ctx context.Context, device nvmlx.Device) {
	processes, _ := read(f, "runningProcesses", device, func(c nvmlx.Processes) ([]nvmlx.Process, error) { return c.RunningProcesses(ctx) })
	for i, process := range processes {
		if process.PID <= 0 || process.UsedMiB < -1 {
			f.add("process %+v: want pid > 0 and memory >= -1", process)
		}
		if i > 0 && process.PID < processes[i-1].PID {
			f.add("process %+v: must be listed in ascending PID", process)
		}
	}
}

func (f *findings) checkLinks(ctx context.Context, device nvmlx.Device) {
	links, _ := read(f, "nvLinks", device, func(c nvmlx.NVLink) ([]nvmlx.NVLinkState, error) { return c.NVLinks(ctx) })
	for i, link := range links {
		if link.Link < 0 || i > 0 && link.Link <= links[i-1].Link {
			f.add("nvLink %+v: must be listed in ascending number", link)
		}
	}
	link, ok := read(f, "pcieLink", device, func(c nvmlx.PCIe) (nvmlx.PCIeLink, error) { return c.PCIeLink(ctx) })
	if ok && (link.Generation < 1 || link.Generation > link.MaxGeneration || link.Width < 1 || link.Width > link.MaxWidth || link.Replays < 0) {
		f.add("pcieLink %+v: want 1 <= now <= max", link)
	}
	node, ok := read(f, "numaNode", device, func(c nvmlx.PCIe) (int, error) { return c.NUMANode(ctx) })
	if ok && node < -1 {
		f.add("numaNode %d: want -1 or more", node)
	}
}

// checkEvents opens and closes a subscription; it waits for no event.
func (f *findings) checkEvents(ctx context.Context, lister nvmlx.Lister) {
	subscription, ok := read(f, "subscribe", lister, func(c nvmlx.EventSource) (nvmlx.Subscription, error) { return c.Subscribe(ctx) })
	if !ok {
		return
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := subscription.Next(ended); !errors.Is(err, nvmlx.ErrTimeout) {
		f.add("Next with an ended context gave %v: want ErrTimeout", err)
	}
	for range 2 {
		if err := subscription.Close(); err != nil {
			f.add("Close gave %v: want nil, twice", err)
		}
	}
	if _, err := subscription.Next(ctx); !errors.Is(err, nvmlx.ErrNotInitialised) {
		f.add("Next after Close gave %v: want ErrNotInitialised", err)
	}
}
