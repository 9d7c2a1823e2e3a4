// SPDX-License-Identifier: Apache-2.0

package topology

import "fmt"

// DGXA100 gives an NVIDIA DGX A100 640GB: 8 GPUs on NVSwitches, 2 × 64 cores in 8 NUMA nodes, 2 TiB, 8 network ports, two GPUs
// and two ports below each PCIe switch. Source: NVIDIA DGX A100 data sheet and user guide (2021), nvidia-smi topo -m there.
func DGXA100() ShapeSpec {
	s := eightGPUs("DGX-A100", "A100-SXM4-80GB", 256_000, 2<<20, "NVIDIA DGX A100 data sheet and user guide (2021)")
	s.NUMANodes, s.NUMA = 8, []int{3, 3, 1, 1, 7, 7, 5, 5}
	s.PCIeSwitch = []int{0, 0, 1, 1, 2, 2, 3, 3}
	return s
}

// DGXH100 gives an NVIDIA DGX H100: 8 GPUs on NVSwitches, 2 × 56 cores, 2 TiB, 8 network ports of 400 Gb/s.
// Source: NVIDIA DGX H100 data sheet (2023).
func DGXH100() ShapeSpec {
	return eightGPUs("DGX-H100", "H100-SXM5-80GB", 224_000, 2<<20, "NVIDIA DGX H100 data sheet (2023)")
}

// DGXH200 gives an NVIDIA DGX H200: a [DGXH100] with H200 GPUs. Source: NVIDIA DGX H200 data sheet (2024).
func DGXH200() ShapeSpec {
	return eightGPUs("DGX-H200", "H200-SXM-141GB", 224_000, 2<<20, "NVIDIA DGX H200 data sheet (2024)")
}

// DGXB200 gives an NVIDIA DGX B200: 8 GPUs on NVSwitches, 2 × 56 cores, 2 TiB, 8 network ports of 400 Gb/s.
// Source: NVIDIA DGX B200 data sheet (2024).
func DGXB200() ShapeSpec {
	return eightGPUs("DGX-B200", "B200-SXM-180GB", 224_000, 2<<20, "NVIDIA DGX B200 data sheet (2024)")
}

// HGXH100 gives a server of any maker around an NVIDIA HGX H100 board of 8 GPUs; CPU and memory are the server's.
func HGXH100(cpuMilli, memoryMiB int64) ShapeSpec {
	return hgx("HGX-H100", "H100-SXM5-80GB", cpuMilli, memoryMiB)
}

// HGXH200 gives a server of any maker around an NVIDIA HGX H200 board of 8 GPUs; CPU and memory are the server's.
func HGXH200(cpuMilli, memoryMiB int64) ShapeSpec {
	return hgx("HGX-H200", "H200-SXM-141GB", cpuMilli, memoryMiB)
}

// HGXB200 gives a server of any maker around an NVIDIA HGX B200 board of 8 GPUs; CPU and memory are the server's.
func HGXB200(cpuMilli, memoryMiB int64) ShapeSpec {
	return hgx("HGX-B200", "B200-SXM-180GB", cpuMilli, memoryMiB)
}

func hgx(name, model string, cpuMilli, memoryMiB int64) ShapeSpec {
	return eightGPUs(fmt.Sprintf("%s %dm %dMi", name, cpuMilli, memoryMiB), model, cpuMilli, memoryMiB, "NVIDIA HGX platform data sheet (2024)")
}

// eightGPUs is the common plan of DGX and HGX: all GPUs on one set of NVSwitches, four below each CPU socket, each with a
// network port and so a rail of its own.
func eightGPUs(name, model string, cpuMilli, memoryMiB int64, source string) ShapeSpec {
	return ShapeSpec{Name: name, Model: model, GPUs: 8, CPUMilli: cpuMilli, MemoryMiB: memoryMiB, NICs: 8,
		NUMANodes: 2, NUMA: []int{0, 0, 0, 0, 1, 1, 1, 1}, NVSwitch: make([]int, 8), Rail: []int{0, 1, 2, 3, 4, 5, 6, 7}, Source: source}
}

// GB200Tray gives one compute tray of an NVIDIA GB200 NVL72: 4 GPUs and 2 Grace CPUs of 72 cores and 480 GB each, 4 network
// ports. Source: NVIDIA GB200 NVL72 data sheet (2024).
func GB200Tray() ShapeSpec {
	return tray("GB200-tray", "GB200", "NVIDIA GB200 NVL72 data sheet (2024)")
}

// GB300Tray gives one compute tray of an NVIDIA GB300 NVL72. Source: NVIDIA GB300 NVL72 data sheet (2025).
func GB300Tray() ShapeSpec {
	return tray("GB300-tray", "GB300", "NVIDIA GB300 NVL72 data sheet (2025)")
}

func tray(name, model, source string) ShapeSpec {
	return ShapeSpec{Name: name, Model: model, GPUs: 4, CPUMilli: 144_000, MemoryMiB: 960 << 10, NICs: 4,
		NUMANodes: 2, NUMA: []int{0, 0, 1, 1}, NVSwitch: make([]int, 4), Rail: []int{0, 1, 2, 3}, Source: source}
}
