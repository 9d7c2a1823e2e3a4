// SPDX-License-Identifier: Apache-2.0

package nvmlx_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/nvmlx"
	"github.com/berth-gpu/berth/nvmlx/nvmltest"
)

// wrapper hides every capability of the device inside but leads to it.
type wrapper struct{ nvmlx.Device }

func (w wrapper) Unwrap() nvmlx.Device { return w.Device }

// coolWrapper adds a capability.
type coolWrapper struct{ wrapper }

func (coolWrapper) Temperature(context.Context) (nvmlx.Temperature, error) {
	return nvmlx.Temperature{GPUCelsius: 31}, nil
}

type listerWrapper struct{ nvmlx.Lister }

func (w listerWrapper) Unwrap() nvmlx.Lister { return w.Lister }

// endless unwraps to itself.
type endless struct{ nvmlx.Device }

func (e endless) Unwrap() nvmlx.Device { return e }

// X8: a missing capability is ErrUnsupported through any number of wrappers, and never a panic.
func TestAsX8(t *testing.T) {
	node, err := nvmltest.New(nvmltest.HGXH100())
	require.NoError(t, err)
	devices, err := node.Devices(t.Context())
	require.NoError(t, err)

	wrapped := wrapper{coolWrapper{wrapper{devices[0]}}}
	control, err := nvmlx.As[nvmlx.MIGControl](wrapped)
	require.NoError(t, err)
	mode, err := control.MIGMode(t.Context())
	require.NoError(t, err)
	require.Equal(t, nvmlx.MIGMode{}, mode)
	_, err = nvmlx.As[nvmlx.Thermal](wrapped)
	require.NoError(t, err)
	_, err = nvmlx.As[nvmlx.EventSource](listerWrapper{node})
	require.NoError(t, err)

	for _, value := range []any{devices[0], endless{devices[0]}, wrapper{}, nil, 7} {
		_, err = nvmlx.As[nvmlx.Fabric](value)
		require.ErrorIs(t, err, nvmlx.ErrUnsupported)
		require.ErrorContains(t, err, "no nvmlx.Fabric")
	}
}

func TestUnsupportedSaysWhy(t *testing.T) {
	_, err := nvmlx.ReadInventory(t.Context(), nvmlx.Unsupported{Reason: "built without cgo"})
	require.ErrorIs(t, err, nvmlx.ErrUnsupported)
	require.ErrorContains(t, err, "built without cgo")
	_, err = nvmlx.Unsupported{}.Devices(t.Context())
	require.ErrorContains(t, err, "no NVML on this platform")
}
