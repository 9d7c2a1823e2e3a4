// SPDX-License-Identifier: Apache-2.0

package nvmlx_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/nvmlx"
)

var sentinels = map[nvmlx.Kind]error{
	nvmlx.KindUnsupported:    nvmlx.ErrUnsupported,
	nvmlx.KindNotInitialised: nvmlx.ErrNotInitialised,
	nvmlx.KindNoPermission:   nvmlx.ErrNoPermission,
	nvmlx.KindInUse:          nvmlx.ErrInUse,
	nvmlx.KindInsufficient:   nvmlx.ErrInsufficient,
	nvmlx.KindGPULost:        nvmlx.ErrGPULost,
	nvmlx.KindResetRequired:  nvmlx.ErrResetRequired,
	nvmlx.KindTimeout:        nvmlx.ErrTimeout,
	nvmlx.KindLibraryMissing: nvmlx.ErrLibraryMissing,
	nvmlx.KindSymbolMissing:  nvmlx.ErrSymbolMissing,
	nvmlx.KindUnknown:        nvmlx.ErrUnknown,
}

// X5: each kind matches its own sentinel and no other.
func TestErrorMatchesOneSentinelX5(t *testing.T) {
	for kind := range sentinels {
		err := error(&nvmlx.Error{Kind: kind, Op: "memory", Device: "GPU-1"})
		for other, sentinel := range sentinels {
			require.Equal(t, kind == other, errors.Is(err, sentinel), "%s against %s", kind, other)
		}
		require.ErrorContains(t, err, sentinels[kind].Error()+`: memory of GPU "GPU-1"`)
	}
	require.ErrorIs(t, &nvmlx.Error{Kind: "from a later release"}, nvmlx.ErrUnknown)
}

func TestErrorText(t *testing.T) {
	err := &nvmlx.Error{Kind: nvmlx.KindUnknown, Op: "uuid", Device: "index 3", Code: 999, Detail: "driver said no", Cause: context.DeadlineExceeded}
	require.Equal(t,
		`nvmlx: unknown error of the driver: uuid of GPU "index 3": code 999: driver said no: context deadline exceeded (look up the code in nvml.h)`,
		err.Error())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	data, jsonErr := json.Marshal(err)
	require.NoError(t, jsonErr)
	require.JSONEq(t, `{"kind":"unknown","op":"uuid","device":"index 3","code":999,"detail":"driver said no"}`, string(data))
}
