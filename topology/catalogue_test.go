// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"testing"

	"github.com/berth-gpu/berth/topology"
	"github.com/stretchr/testify/require"
)

// Where the figures of this test come from. They were not taken from the catalogue; those that name a document
// without a page were written down from knowledge of it.
const (
	migGuide  = "NVIDIA MIG User Guide, Supported GPUs, columns Product, Architecture and Memory Size (v590 and 610, read December 2026)"
	sheet     = "NVIDIA product data sheet"
	hgx       = "NVIDIA HGX platform data sheet (2024): boards of 8 GPUs on NVSwitches"
	hgxA100   = "NVIDIA HGX A100 data sheet (2021): boards of 4, 8 and, joined in pairs, 16 GPUs"
	nvl72     = "NVIDIA GB200 and GB300 NVL72 data sheets: 72 GPUs in one NVLink domain"
	gh200     = "NVIDIA GH200 data sheet (2024): GH200 NVL32 joins 32"
	dgx1      = "NVIDIA DGX-1 with V100 data sheet (2017): 8 GPUs in a hybrid cube mesh"
	bridge2   = "data sheet of the card: NVLink bridge for 2 GPUs"
	bridge4   = "NVIDIA H200 NVL data sheet (2024): 2- or 4-way NVLink bridge"
	noNVLink  = "data sheet of the card: PCIe only"
	smiListed = "github.com/modal-labs/modal-client pull request 2797 (January 2025), which lists nvidia-smi's totals"
)

// TestCatalogueFigures holds the catalogue against published figures. The memory on the box is in GB or GiB, depending on the
// model, and the driver keeps some for itself, so what it reports is at most the figure read as GiB and at least 93 % of it;
// where a listing of the driver's own figure was found, it is exact.
func TestCatalogueFigures(t *testing.T) {
	type row struct {
		name, generation string
		printed          int64  // GB on the box
		printedIn        string // source of the above
		reported         int64  // MiB that nvidia-smi prints with ECC on; 0: no listing found
		nvlink           int
		bridge           bool
		nvlinkIn         string
	}
	rows := []row{
		{"P100", "Pascal", 16, sheet, 0, 1, false, noNVLink},
		{"V100M16", "Volta", 16, sheet, 0, 8, false, dgx1},
		{"V100M32", "Volta", 32, sheet, 0, 8, false, dgx1},
		{"T4", "Turing", 16, sheet, 15_360, 1, false, noNVLink},
		{"A10", "Ampere", 24, sheet, 23_028, 1, false, noNVLink},
		{"A30", "Ampere", 24, migGuide, 0, 2, true, bridge2},
		{"A100-SXM4-40GB", "Ampere", 40, migGuide, 40_960, 16, false, hgxA100},
		{"A100-SXM4-80GB", "Ampere", 80, migGuide, 81_920, 16, false, hgxA100},
		{"A100-PCIE-40GB", "Ampere", 40, migGuide, 0, 2, true, bridge2},
		{"A100-PCIE-80GB", "Ampere", 80, migGuide, 0, 2, true, bridge2},
		{"H100-SXM5-80GB", "Hopper", 80, migGuide, 81_559, 8, false, hgx},
		{"H100-PCIE-80GB", "Hopper", 80, migGuide, 0, 2, true, bridge2},
		{"H100-NVL-94GB", "Hopper", 94, migGuide, 0, 2, true, bridge2},
		{"H200-SXM-141GB", "Hopper", 141, migGuide, 0, 8, false, hgx},
		{"H200-NVL-141GB", "Hopper", 141, migGuide, 0, 4, true, bridge4},
		{"H20", "Hopper", 96, migGuide, 0, 8, false, hgx},
		{"GH200-96GB", "Hopper", 96, migGuide, 0, 32, false, gh200},
		{"GH200-144GB", "Hopper", 144, sheet, 0, 32, false, gh200},
		{"B200-SXM-180GB", "Blackwell", 180, migGuide, 0, 8, false, hgx},
		{"B300", "Blackwell Ultra", 288, sheet, 0, 8, false, hgx},
		{"GB200", "Blackwell", 186, migGuide, 0, 72, false, nvl72},
		{"GB300", "Blackwell Ultra", 288, sheet, 0, 72, false, nvl72},
		{"L4", "Ada Lovelace", 24, sheet, 23_034, 1, false, noNVLink},
		{"L40", "Ada Lovelace", 48, sheet, 0, 1, false, noNVLink},
		{"L40S", "Ada Lovelace", 48, sheet, 46_068, 1, false, noNVLink},
		{"RTX-PRO-6000", "Blackwell", 96, migGuide, 0, 1, false, noNVLink},
	}
	var names []string
	for _, want := range rows {
		names = append(names, want.name)
		got, ok := topology.ModelByName(want.name)
		require.True(t, ok, want.name)
		require.Equal(t, "NVIDIA", got.Vendor, want.name)
		require.Equal(t, want.generation, got.Generation, want.name)
		require.LessOrEqual(t, got.MemoryMiB, want.printed*1024, "%s: %s", want.name, want.printedIn)
		require.GreaterOrEqual(t, got.MemoryMiB*100, want.printed*1024*93, "%s: %s", want.name, want.printedIn)
		if want.reported > 0 {
			require.Equal(t, want.reported, got.MemoryMiB, "%s: %s", want.name, smiListed)
		}
		// Every GPU of the guide's table can be cut; of those taken from elsewhere only these, by its later pages.
		later := map[string]bool{"GH200-144GB": true, "B300": true, "GB300": true}
		require.Equal(t, want.printedIn == migGuide || later[want.name], got.MIG, "%s: %s", want.name, migGuide)
		require.Equal(t, want.nvlink, got.NVLinkDomain, "%s: %s", want.name, want.nvlinkIn)
		require.Equal(t, want.bridge, got.NVLinkBridge, "%s: %s", want.name, want.nvlinkIn)
	}
	for m := range topology.Models() {
		if m.Name != "G2" && m.Name != "G3" { // anonymised in their trace: nothing is published
			require.Contains(t, names, m.Name, "a model whose figures nothing guards")
		}
	}
}
