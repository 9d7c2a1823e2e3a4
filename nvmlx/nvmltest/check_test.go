// SPDX-License-Identifier: Apache-2.0

package nvmltest_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/nvmlx"
	"github.com/berth-gpu/berth/nvmlx/nvmltest"
)

// broken is a good machine with one thing wrong.
type broken struct {
	nvmlx.Lister
	device  func(i int, d nvmlx.Device) nvmlx.Device
	list    func([]nvmlx.Device) []nvmlx.Device
	driver  func() (string, error)
	devices func() error
}

func (b broken) Devices(ctx context.Context) ([]nvmlx.Device, error) {
	if b.devices != nil {
		return nil, b.devices()
	}
	devices, err := b.Lister.Devices(ctx)
	if b.list != nil {
		devices = b.list(devices)
	}
	for i := range devices {
		if b.device != nil {
			devices[i] = b.device(i, devices[i])
		}
	}
	return devices, err
}

func (b broken) DriverVersion(ctx context.Context) (string, error) {
	if b.driver != nil {
		return b.driver()
	}
	return b.Lister.DriverVersion(ctx)
}

type sameMinor struct{ nvmlx.Device }

func (sameMinor) Minor(context.Context) (nvmlx.Minor, error) { return 1, nil }

type deaf struct{ nvmlx.Device }

func (d deaf) Memory(context.Context) (nvmlx.Memory, error) {
	return d.Device.Memory(context.Background())
}

type plain struct{ nvmlx.Device }

func (plain) Name(context.Context) (string, error) { return "", errors.New("no idea") }

type full struct{ nvmlx.Device }

func (f full) Memory(ctx context.Context) (nvmlx.Memory, error) {
	memory, err := f.Device.Memory(ctx)
	memory.UsedMiB = memory.TotalMiB + 1
	return memory, err
}

type forgetful struct {
	nvmlx.Device
	calls *int
}

func (f forgetful) PCI(ctx context.Context) (nvmlx.PCIAddress, error) {
	address, err := f.Device.PCI(ctx)
	*f.calls++
	address.Bus += uint8(*f.calls)
	return address, err
}

type hot struct{ nvmlx.Device }

func (hot) Temperature(context.Context) (nvmlx.Temperature, error) {
	return nvmlx.Temperature{GPUCelsius: 4096}, nil
}

type negative struct{ nvmlx.Device }

func (negative) ECCErrors(context.Context) (nvmlx.ECCErrors, error) {
	return nvmlx.ECCErrors{AggregateCorrected: -1}, nil
}

type refusing struct{ nvmlx.Device }

func (refusing) RowRemap(context.Context) (nvmlx.RowRemap, error) {
	return nvmlx.RowRemap{}, &nvmlx.Error{Kind: nvmlx.KindInUse, Op: "rowRemap"}
}

type unlinked struct{ nvmlx.Device }

func (unlinked) NVLinks(context.Context) ([]nvmlx.NVLinkState, error) {
	return []nvmlx.NVLinkState{{Link: 2}, {Link: 1}}, nil
}

func (unlinked) PCIeLink(context.Context) (nvmlx.PCIeLink, error) {
	return nvmlx.PCIeLink{Generation: 5, Width: 16, MaxGeneration: 4, MaxWidth: 16}, nil
}

func (unlinked) NUMANode(context.Context) (int, error) { return -2, nil }

// A suite that finds nothing is worth nothing: each broken machine must be found, for the right reason.
func TestCheckFindsBrokenListers(t *testing.T) {
	calls := 0
	each := func(wrap func(nvmlx.Device) nvmlx.Device) broken {
		return broken{device: func(_ int, d nvmlx.Device) nvmlx.Device { return wrap(d) }}
	}
	for name, c := range map[string]struct {
		broken broken
		reason string
	}{
		"minor twice":         {each(func(d nvmlx.Device) nvmlx.Device { return sameMinor{d} }), "minor 1: is also that of"},
		"ignores the context": {each(func(d nvmlx.Device) nvmlx.Device { return deaf{d} }), "memory of device 0 with an ended context gave <nil>"},
		"plain error":         {each(func(d nvmlx.Device) nvmlx.Device { return plain{d} }), "no idea"},
		"used above total":    {each(func(d nvmlx.Device) nvmlx.Device { return full{d} }), "want 0 <= used <= total"},
		"answers change":      {each(func(d nvmlx.Device) nvmlx.Device { return forgetful{d, &calls} }), "second inventory is"},
		"hot":                 {each(func(d nvmlx.Device) nvmlx.Device { return hot{d} }), "temperature"},
		"negative count":      {each(func(d nvmlx.Device) nvmlx.Device { return negative{d} }), "counts must not be negative"},
		"capability refuses":  {each(func(d nvmlx.Device) nvmlx.Device { return refusing{d} }), "rowRemap: nvmlx: device or instance is in use"},
		"links out of order":  {each(func(d nvmlx.Device) nvmlx.Device { return unlinked{d} }), "nvLink"},
		"link above its best": {each(func(d nvmlx.Device) nvmlx.Device { return unlinked{d} }), "pcieLink"},
		"numa":                {each(func(d nvmlx.Device) nvmlx.Device { return unlinked{d} }), "numaNode -2"},
		"out of order": {broken{list: func(d []nvmlx.Device) []nvmlx.Device {
			slices.Reverse(d)
			return d
		}}, "ascending index"},
		"no driver version": {broken{driver: func() (string, error) { return "", nil }}, `driver version ""`},
		"half unsupported":  {broken{devices: func() error { return nvmlx.ErrUnsupported }}, "devices is unsupported but driverVersion gave <nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			c.broken.Lister = newNode(t, nvmltest.HGXH100())
			err := nvmltest.Check(t.Context(), c.broken)
			require.ErrorIs(t, err, nvmltest.ErrNonconforming)
			require.ErrorContains(t, err, c.reason)
		})
	}
}
