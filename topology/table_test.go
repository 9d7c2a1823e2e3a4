// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestTable compares the table with a Go map, with hashes that collide often.
func TestTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		coarse := rapid.SampledFrom([]uint64{0, 1, 7, 1<<64 - 1}).Draw(t, "mask")
		var tab table
		var names []string
		model := map[string]int32{}
		at := func(name string) uint64 { return hash(3, name) & coarse }
		for range rapid.IntRange(0, 100).Draw(t, "names") {
			name := fmt.Sprint(rapid.IntRange(0, 60).Draw(t, "name"))
			want, known := model[name]
			got, ok := tab.find(at(name), func(x int32) bool { return names[x] == name })
			require.Equal(t, known, ok)
			if known {
				require.Equal(t, want, got)
				continue
			}
			before := tab.clone()
			names = append(names, name)
			model[name] = int32(len(names) - 1)
			tab.add(at(name), model[name], func(x int32) uint64 { return at(names[x]) })
			require.Equal(t, len(names)-1, before.used, "a clone keeps its own slots")
		}
		for name, want := range model {
			got, ok := tab.find(at(name), func(x int32) bool { return names[x] == name })
			require.True(t, ok)
			require.Equal(t, want, got)
		}
	})
}
