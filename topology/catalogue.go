// SPDX-License-Identifier: Apache-2.0

package topology

// Where the table's facts come from. Memory is what "nvidia-smi --query-gpu=memory.total" prints with ECC on, under
// drivers 535 to 595, read on public listings in 2026; it is less than the number on the box, and it is what a process can
// hope for. MIG capability: NVIDIA MIG User Guide, "Supported GPUs" (r580). NVLink: the data sheet named in the row.
const (
	srcP100   = "NVIDIA Tesla P100 PCIe data sheet (2016); nvidia-smi memory"
	srcV100   = "NVIDIA V100 data sheet (2020), SXM2 boards, 8 GPUs per DGX-1; nvidia-smi memory"
	srcT4     = "NVIDIA T4 data sheet (2019); nvidia-smi memory"
	srcA10    = "NVIDIA A10 data sheet (2021); nvidia-smi memory"
	srcA30    = "NVIDIA A30 data sheet (2021); MIG User Guide; nvidia-smi memory"
	srcA100   = "NVIDIA A100 data sheet (2021), HGX boards of 4, 8 and 16 GPUs; MIG User Guide; nvidia-smi memory"
	srcA100P  = "NVIDIA A100 data sheet (2021), bridge for 2 GPUs; MIG User Guide; nvidia-smi memory"
	srcH100   = "NVIDIA H100 data sheet (2023), HGX boards of 4 and 8 GPUs; MIG User Guide; nvidia-smi memory"
	srcH100P  = "NVIDIA H100 PCIe and NVL data sheets (2023), bridge for 2 GPUs; MIG User Guide; nvidia-smi memory"
	srcH200   = "NVIDIA H200 data sheet (2024), HGX boards of 4 and 8 GPUs; MIG User Guide; nvidia-smi memory"
	srcH200N  = "NVIDIA H200 data sheet (2024), NVL bridge for 2 or 4 GPUs; MIG User Guide; nvidia-smi memory"
	srcH20    = "HGX H20, 8 GPUs (no public data sheet); MIG User Guide; nvidia-smi memory"
	srcGH200  = "NVIDIA GH200 data sheet (2024), NVL2 joins 2 GPUs and NVL32 joins 32; MIG User Guide; nvidia-smi memory"
	srcB200   = "NVIDIA HGX B200 data sheet (2024), 8 GPUs; MIG User Guide; nvidia-smi memory"
	srcB300   = "NVIDIA HGX B300 data sheet (2025), 8 GPUs; MIG User Guide; nvidia-smi memory"
	srcGB200  = "NVIDIA GB200 NVL72 data sheet (2024), 72 GPUs per NVLink domain; MIG User Guide; nvidia-smi memory"
	srcGB300  = "NVIDIA GB300 NVL72 data sheet (2025), 72 GPUs per NVLink domain; MIG User Guide; nvidia-smi memory"
	srcAda    = "NVIDIA L4, L40 and L40S data sheets (2023); nvidia-smi memory"
	srcRTXPro = "NVIDIA RTX PRO 6000 Blackwell Server Edition data sheet (2025); MIG User Guide; nvidia-smi memory"
	srcOpenB  = "anonymised model of the Alibaba openb trace (2023); memory, generation and links are not published"
)

// catalogue is the table behind [Models]; treat it as constant.
var catalogue = []GPUModel{
	{Name: "P100", Vendor: "NVIDIA", Generation: "Pascal", MemoryMiB: 16384, NVLinkDomain: 1, Source: srcP100},
	{Name: "V100M16", Vendor: "NVIDIA", Generation: "Volta", MemoryMiB: 16384, NVLinkDomain: 8, Source: srcV100},
	{Name: "V100M32", Vendor: "NVIDIA", Generation: "Volta", MemoryMiB: 32768, NVLinkDomain: 8, Source: srcV100},
	{Name: "T4", Vendor: "NVIDIA", Generation: "Turing", MemoryMiB: 15360, NVLinkDomain: 1, Source: srcT4},
	{Name: "A10", Vendor: "NVIDIA", Generation: "Ampere", MemoryMiB: 23028, NVLinkDomain: 1, Source: srcA10},
	{Name: "A30", Vendor: "NVIDIA", Generation: "Ampere", MemoryMiB: 24576, MIG: true, NVLinkDomain: 2, NVLinkBridge: true, Source: srcA30},
	{Name: "A100-SXM4-40GB", Vendor: "NVIDIA", Generation: "Ampere", MemoryMiB: 40960, MIG: true, NVLinkDomain: 16, Source: srcA100},
	{Name: "A100-SXM4-80GB", Vendor: "NVIDIA", Generation: "Ampere", MemoryMiB: 81920, MIG: true, NVLinkDomain: 16, Source: srcA100},
	{Name: "A100-PCIE-40GB", Vendor: "NVIDIA", Generation: "Ampere", MemoryMiB: 40960, MIG: true, NVLinkDomain: 2, NVLinkBridge: true, Source: srcA100P},
	{Name: "A100-PCIE-80GB", Vendor: "NVIDIA", Generation: "Ampere", MemoryMiB: 81920, MIG: true, NVLinkDomain: 2, NVLinkBridge: true, Source: srcA100P},
	{Name: "H100-SXM5-80GB", Vendor: "NVIDIA", Generation: "Hopper", MemoryMiB: 81559, MIG: true, NVLinkDomain: 8, Source: srcH100},
	{Name: "H100-PCIE-80GB", Vendor: "NVIDIA", Generation: "Hopper", MemoryMiB: 81559, MIG: true, NVLinkDomain: 2, NVLinkBridge: true, Source: srcH100P},
	{Name: "H100-NVL-94GB", Vendor: "NVIDIA", Generation: "Hopper", MemoryMiB: 95830, MIG: true, NVLinkDomain: 2, NVLinkBridge: true, Source: srcH100P},
	{Name: "H200-SXM-141GB", Vendor: "NVIDIA", Generation: "Hopper", MemoryMiB: 143771, MIG: true, NVLinkDomain: 8, Source: srcH200},
	{Name: "H200-NVL-141GB", Vendor: "NVIDIA", Generation: "Hopper", MemoryMiB: 143771, MIG: true, NVLinkDomain: 4, NVLinkBridge: true, Source: srcH200N},
	{Name: "H20", Vendor: "NVIDIA", Generation: "Hopper", MemoryMiB: 97871, MIG: true, NVLinkDomain: 8, Source: srcH20},
	{Name: "GH200-96GB", Vendor: "NVIDIA", Generation: "Hopper", MemoryMiB: 97871, MIG: true, NVLinkDomain: 32, Source: srcGH200},
	{Name: "GH200-144GB", Vendor: "NVIDIA", Generation: "Hopper", MemoryMiB: 146831, MIG: true, NVLinkDomain: 32, Source: srcGH200},
	{Name: "B200-SXM-180GB", Vendor: "NVIDIA", Generation: "Blackwell", MemoryMiB: 183359, MIG: true, NVLinkDomain: 8, Source: srcB200},
	{Name: "B300", Vendor: "NVIDIA", Generation: "Blackwell Ultra", MemoryMiB: 275040, MIG: true, NVLinkDomain: 8, Source: srcB300},
	{Name: "GB200", Vendor: "NVIDIA", Generation: "Blackwell", MemoryMiB: 189471, MIG: true, NVLinkDomain: 72, Source: srcGB200},
	{Name: "GB300", Vendor: "NVIDIA", Generation: "Blackwell Ultra", MemoryMiB: 284208, MIG: true, NVLinkDomain: 72, Source: srcGB300},
	{Name: "L4", Vendor: "NVIDIA", Generation: "Ada Lovelace", MemoryMiB: 23034, NVLinkDomain: 1, Source: srcAda},
	{Name: "L40", Vendor: "NVIDIA", Generation: "Ada Lovelace", MemoryMiB: 46068, NVLinkDomain: 1, Source: srcAda},
	{Name: "L40S", Vendor: "NVIDIA", Generation: "Ada Lovelace", MemoryMiB: 46068, NVLinkDomain: 1, Source: srcAda},
	{Name: "RTX-PRO-6000", Vendor: "NVIDIA", Generation: "Blackwell", MemoryMiB: 97887, MIG: true, NVLinkDomain: 1, Source: srcRTXPro},
	{Name: "G2", Source: srcOpenB},
	{Name: "G3", Source: srcOpenB},
}
