// SPDX-License-Identifier: Apache-2.0

package nvmltest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/berth-gpu/berth/nvmlx"
)

// ErrNonconforming is matched by everything that [Check] finds.
var ErrNonconforming = errors.New("nvmltest: lister breaks the contract")

// Check tests a healthy machine against the contract of package nvmlx and joins everything it finds. It only reads, so it may be run
// against a real driver. A Lister that refuses Devices with [nvmlx.ErrUnsupported] conforms if it refuses its other calls too.
//
// Checked are X4 (inventory), X5 (errors), X7 (ended context) and X8 (capabilities), that two readings agree, and the ranges of all
// values.
//
// Possible errors: [ErrNonconforming].
func Check(ctx context.Context, lister nvmlx.Lister) error {
	f := &findings{}
	devices, err := lister.Devices(ctx)
	if errors.Is(err, nvmlx.ErrUnsupported) {
		f.checkUnsupported(ctx, lister)
		return errors.Join(f.errs...)
	}
	inventory, err := nvmlx.ReadInventory(ctx, lister)
	if err != nil {
		f.add("inventory: %v", err)
		return errors.Join(f.errs...)
	}
	if len(inventory.GPUs) != len(devices) {
		f.add("devices lists %d GPUs, then %d", len(devices), len(inventory.GPUs))
	}
	if inventory.Driver == "" || inventory.CUDA == "" {
		f.add("driver version %q, CUDA version %q: must not be empty", inventory.Driver, inventory.CUDA)
	}
	if again, err := nvmlx.ReadInventory(ctx, lister); err != nil || !reflect.DeepEqual(inventory, again) {
		f.add("second inventory is %+v (%v), first was %+v", again, err, inventory)
	}
	f.checkEnded(lister, devices)
	last := nvmlx.Index(-1)
	for _, device := range devices {
		index, err := device.Index(ctx)
		if err != nil || index <= last {
			f.add("index %d (%v) comes after %d: devices must be listed in ascending index", index, err, last)
		}
		last = index
		f.checkCapabilities(ctx, device)
	}
	f.checkEvents(ctx, lister)
	return errors.Join(f.errs...)
}

type findings struct{ errs []error }

func (f *findings) add(format string, args ...any) {
	f.errs = append(f.errs, fmt.Errorf("%w: "+format, append([]any{ErrNonconforming}, args...)...))
}

func (f *findings) checkUnsupported(ctx context.Context, lister nvmlx.Lister) {
	_, driverErr := lister.DriverVersion(ctx)
	_, cudaErr := lister.CUDAVersion(ctx)
	_, eventErr := nvmlx.As[nvmlx.EventSource](lister)
	for i, err := range []error{driverErr, cudaErr, eventErr} {
		if !errors.Is(err, nvmlx.ErrUnsupported) {
			op := [...]string{"driverVersion", "cudaVersion", "subscribe"}[i]
			f.add("devices is unsupported but %s gave %v", op, err)
		}
	}
}

// checkEnded makes every identity call with a context that has ended (X5, X7).
func (f *findings) checkEnded(lister nvmlx.Lister, devices []nvmlx.Device) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	calls := map[string]func() error{
		"devices":       func() error { _, err := lister.Devices(ended); return err },
		"driverVersion": func() error { _, err := lister.DriverVersion(ended); return err },
		"cudaVersion":   func() error { _, err := lister.CUDAVersion(ended); return err },
	}
	for i, device := range devices {
		name := func(op string) string { return fmt.Sprintf("%s of device %d", op, i) }
		calls[name("index")] = func() error { _, err := device.Index(ended); return err }
		calls[name("minor")] = func() error { _, err := device.Minor(ended); return err }
		calls[name("uuid")] = func() error { _, err := device.UUID(ended); return err }
		calls[name("pci")] = func() error { _, err := device.PCI(ended); return err }
		calls[name("name")] = func() error { _, err := device.Name(ended); return err }
		calls[name("memory")] = func() error { _, err := device.Memory(ended); return err }
	}
	for _, op := range slices.Sorted(maps.Keys(calls)) {
		err := calls[op]()
		if _, ok := errors.AsType[*nvmlx.Error](err); !ok || !errors.Is(err, nvmlx.ErrTimeout) || !errors.Is(err, context.Canceled) {
			f.add("%s with an ended context gave %v: want an *nvmlx.Error that is ErrTimeout and the context's error", op, err)
		}
	}
}

// refused reports whether a capability call gave no value; any refusal but ErrUnsupported is a finding on a healthy machine (X8).
func (f *findings) refused(op string, err error) bool {
	if err != nil && !errors.Is(err, nvmlx.ErrUnsupported) {
		f.add("%s: %v", op, err)
	}
	return err != nil
}
