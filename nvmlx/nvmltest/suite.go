// SPDX-License-Identifier: Apache-2.0

package nvmltest

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/nvmlx"
)

// TestLister runs the suite that every [nvmlx.Lister] must pass. Each part gets a fresh one from the factory. Run it with -race: the
// last part reads from many goroutines. It only reads, so it may be run against a real driver.
func TestLister(t *testing.T, factory func(t *testing.T) nvmlx.Lister) {
	t.Run("contract", func(t *testing.T) {
		require.NoError(t, Check(t.Context(), factory(t)))
	})
	t.Run("readers", func(t *testing.T) {
		lister := factory(t)
		want, wantErr := nvmlx.ReadInventory(context.Background(), lister)
		const readers = 8
		got, errs := make([]nvmlx.Inventory, readers), make([]error, readers)
		var group sync.WaitGroup
		for i := range readers {
			group.Go(func() { got[i], errs[i] = nvmlx.ReadInventory(context.Background(), lister) })
		}
		group.Wait()
		for i := range readers {
			require.Equal(t, want, got[i], "reader %d", i)
			require.Equal(t, wantErr == nil, errs[i] == nil, "reader %d: %v", i, errs[i])
		}
	})
}
