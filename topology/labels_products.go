// SPDX-License-Identifier: Apache-2.0

package topology

import "strings"

// products maps nvidia.com/gpu.product to models; treat it as constant. The label is the name that NVML gives the GPU with
// blanks turned into "-" (GPU Feature Discovery); names were read on public node listings in 2026. Drivers before 510 leave
// out the "NVIDIA-" in front, so the table does too.
var products = map[string]string{
	"Tesla-P100-PCIE-16GB":                  "P100",
	"Tesla-V100-SXM2-16GB":                  "V100M16",
	"Tesla-V100-SXM2-32GB":                  "V100M32",
	"Tesla-T4":                              "T4",
	"A10":                                   "A10",
	"A10G":                                  "A10",
	"A30":                                   "A30",
	"A100-SXM4-40GB":                        "A100-SXM4-40GB",
	"A100-SXM4-80GB":                        "A100-SXM4-80GB",
	"A100-PCIE-40GB":                        "A100-PCIE-40GB",
	"A100-80GB-PCIe":                        "A100-PCIE-80GB",
	"A100-PCIE-80GB":                        "A100-PCIE-80GB",
	"H100-80GB-HBM3":                        "H100-SXM5-80GB",
	"H100-PCIe":                             "H100-PCIE-80GB",
	"H100-NVL":                              "H100-NVL-94GB",
	"H200":                                  "H200-SXM-141GB",
	"H200-NVL":                              "H200-NVL-141GB",
	"H20":                                   "H20",
	"GH200-480GB":                           "GH200-96GB", // 480 GB is the memory of the CPU
	"GH200-144G-HBM3e":                      "GH200-144GB",
	"B200":                                  "B200-SXM-180GB",
	"B300-SXM6-AC":                          "B300",
	"GB200":                                 "GB200",
	"GB300":                                 "GB300",
	"L4":                                    "L4",
	"L40":                                   "L40",
	"L40S":                                  "L40S",
	"RTX-PRO-6000-Blackwell-Server-Edition": "RTX-PRO-6000",
	"RTX-PRO-6000-Blackwell-Workstation-Edition": "RTX-PRO-6000",
}

func productModel(product string) (string, bool) {
	name, ok := products[strings.TrimPrefix(product, "NVIDIA-")]
	return name, ok
}
