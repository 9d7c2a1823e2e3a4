// SPDX-License-Identifier: Apache-2.0

package allocator_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/allocator/allocatortest"
)

// Fit says yes exactly when Plan has an answer, and with the same errors.
func TestFitIsPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := allocatortest.Fleets().Draw(t, "fleet")
		id := rapid.SampledFrom([]string{"asked", "p0", "p1"}).Draw(t, "id")
		r := allocatortest.Requests(f.Cluster(), id).Draw(t, "request")
		ok, err := f.Fit(r)
		_, perr := f.Plan(r)
		if perr == nil || errors.Is(perr, allocator.ErrUnplaceable) {
			require.NoError(t, err)
			require.Equal(t, perr == nil, ok)
			return
		}
		require.EqualError(t, err, perr.Error())
	})
}
