// SPDX-License-Identifier: Apache-2.0

package nvmltest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/nvmlx"
	"github.com/berth-gpu/berth/nvmlx/nvmltest"
	"github.com/berth-gpu/berth/topology"
)

func newNode(t testing.TB, config nvmltest.Config) *nvmltest.Node {
	t.Helper()
	node, err := nvmltest.New(config)
	require.NoError(t, err)
	return node
}

// F1: presets and odd machines pass the suite; so does a platform without NVML.
func TestNodePassesSuiteF1(t *testing.T) {
	reversed := nvmltest.DGXA100()
	reversed.MinorOf = nvmltest.ReversedMinors(8)
	for name, config := range map[string]nvmltest.Config{
		"zero":          {},
		"hgx":           nvmltest.HGXH100(),
		"dgx reversed":  reversed,
		"openb T4":      nvmltest.OpenB("n", "T4", 2),
		"openb unknown": nvmltest.OpenB("n", "G2", 8),
		"largest":       {GPUs: 248},
	} {
		t.Run(name, func(t *testing.T) {
			nvmltest.TestLister(t, func(t *testing.T) nvmlx.Lister { return newNode(t, config) })
		})
	}
	t.Run("unsupported", func(t *testing.T) {
		nvmltest.TestLister(t, func(*testing.T) nvmlx.Lister { return nvmlx.Unsupported{} })
	})
}

// F1, F2: any minors, any UUIDs: the machine conforms and answers what it was given; a second machine answers the same.
func TestAnyConfigF1F2(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 16).Draw(t, "gpus")
		config := nvmltest.Config{
			Node:    rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "node"),
			MinorOf: rapid.Permutation(nvmltest.ReversedMinors(n)).Draw(t, "minors"),
		}
		if rapid.Bool().Draw(t, "named") {
			config.UUIDs = rapid.SliceOfNDistinct(rapid.Map(rapid.StringMatching(`GPU-[0-9]{4}`),
				func(s string) nvmlx.UUID { return nvmlx.UUID(s) }), n, n, rapid.ID).Draw(t, "uuids")
		}
		node, err := nvmltest.New(config)
		require.NoError(t, err)
		require.NoError(t, nvmltest.Check(t.Context(), node))
		inventory, err := nvmlx.ReadInventory(t.Context(), node)
		require.NoError(t, err)
		for i, gpu := range inventory.GPUs {
			require.Equal(t, config.MinorOf[i], gpu.Minor)
			if config.UUIDs != nil {
				require.Equal(t, config.UUIDs[i], gpu.UUID)
			}
		}
		twin, err := nvmltest.New(config)
		require.NoError(t, err)
		same, err := nvmlx.ReadInventory(t.Context(), twin)
		require.NoError(t, err)
		require.Equal(t, inventory, same)
	})
}

// F2: two machines share no UUID.
func TestMachinesShareNoUUIDF2(t *testing.T) {
	seen := map[nvmlx.UUID]string{}
	for _, name := range []string{"node-1", "node-11", "node-1/1"} {
		inventory, err := nvmlx.ReadInventory(t.Context(), newNode(t, nvmltest.Config{Node: name, GPUs: 16}))
		require.NoError(t, err)
		for _, gpu := range inventory.GPUs {
			require.Regexp(t, `^GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, gpu.UUID)
			require.Empty(t, seen[gpu.UUID])
			seen[gpu.UUID] = name
		}
	}
}

// The models of the openb trace are those of topology; a wrong name here would silently lose the memory.
func TestOpenBKnowsTheModelsOfTheTrace(t *testing.T) {
	for _, name := range []string{"P100", "T4", "V100M16", "V100M32", "A10", "G2", "G3"} {
		model, ok := topology.ModelByName(name)
		require.True(t, ok, name)
		inventory, err := nvmlx.ReadInventory(t.Context(), newNode(t, nvmltest.OpenB("n", name, 2)))
		require.NoError(t, err)
		require.Equal(t, model.MemoryMiB, inventory.GPUs[1].MemoryMiB)
		require.Equal(t, name == "G2" || name == "G3", model.MemoryMiB == 0)
	}
}

func TestNewRefusesEverythingAtOnce(t *testing.T) {
	for _, c := range []struct {
		config   nvmltest.Config
		problems []string
	}{
		{nvmltest.Config{GPUs: -1}, []string{"GPUs -1: must be 1 to 248"}},
		{nvmltest.Config{GPUs: 249}, []string{"GPUs 249: must be 1 to 248"}},
		{
			nvmltest.Config{Model: "T4", GPUs: 2, MinorOf: []nvmlx.Minor{1}, UUIDs: []nvmlx.UUID{"a", "b", "c"}, MIGNeedsReset: true},
			[]string{"MinorOf has 1 entries", "UUIDs has 3 entries", "MIGNeedsReset true: set MIG too"},
		},
		{
			nvmltest.Config{Model: "T4", MemoryMiB: -1, MinorOf: []nvmlx.Minor{7, 7}, UUIDs: []nvmlx.UUID{"a", "a"}},
			[]string{"memoryMiB -1", "minor 7: is also that of gpus[0]", "uuid a: is also that of gpus[0]"},
		},
	} {
		_, err := nvmltest.New(c.config)
		require.ErrorIs(t, err, nvmltest.ErrInvalidConfig)
		for _, problem := range c.problems {
			require.ErrorContains(t, err, problem)
		}
	}
	require.Empty(t, nvmltest.ReversedMinors(0))
	require.Empty(t, nvmltest.ReversedMinors(-3))
}

func TestScriptRefusesUnknownNames(t *testing.T) {
	node := newNode(t, nvmltest.Config{GPUs: 2})
	for name, err := range map[string]error{
		"lose": node.Lose(2), "hang": node.Hang(-1), "heal": node.Heal(2), "xid": node.XID(2, 13), "reset": node.Reset(2),
		"ecc": node.SetECC(2, nvmlx.ECCErrors{}), "rows": node.SetRowRemap(2, nvmlx.RowRemap{}), "processes": node.SetProcesses(2),
	} {
		require.ErrorIs(t, err, nvmltest.ErrNoSuchGPU, name)
		require.True(t, strings.Contains(err.Error(), "the machine has 2 GPUs"), name)
	}
	require.NoError(t, node.Deny("memory"))
	require.ErrorIs(t, node.Deny("uuid", "Memory"), nvmltest.ErrNoSuchOp)
	_, err := nvmlx.ReadInventory(t.Context(), node)
	require.ErrorIs(t, err, nvmlx.ErrNoPermission) // the refused Deny changed nothing
	require.NoError(t, node.Deny())
	require.NoError(t, nvmltest.Check(t.Context(), node))
}
