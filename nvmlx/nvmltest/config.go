// SPDX-License-Identifier: Apache-2.0

package nvmltest

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/berth-gpu/berth/nvmlx"
	"github.com/berth-gpu/berth/topology"
)

// ErrInvalidConfig is matched by every refusal of [New].
var ErrInvalidConfig = errors.New("nvmltest: invalid config")

// Config describes a machine of equal GPUs. The zero value is [HGXH100].
//
// A Config may be read by many goroutines while nobody changes it.
type Config struct {
	// Node makes the UUIDs of this machine differ from those of others. Default "node-0".
	Node string
	// Model is the product name. Default "NVIDIA H100 80GB HBM3", with 81,559 MiB and MIG.
	Model string
	// MemoryMiB of each GPU; 0 with a Model means that the board does not tell, and Memory is refused with ErrUnsupported.
	MemoryMiB int64
	// MIG says that the board has a MIG mode; MIGNeedsReset that a change waits for a reset.
	MIG           bool
	MIGNeedsReset bool
	// GPUs is their number, 1 to 248. Default: the length of MinorOf or UUIDs, else 8.
	GPUs int
	// MinorOf gives the minor number of each index. Default: the index itself.
	MinorOf []nvmlx.Minor
	// UUIDs gives the UUID of each index. Default: derived from Node and index.
	UUIDs []nvmlx.UUID
	// Driver and CUDA are the versions. Defaults "580.95.05" and "13.0".
	Driver string
	CUDA   string
}

// HGXH100 is a board of eight H100 SXM GPUs with 80 GB. Memory as nvidia-smi shows it.
func HGXH100() Config {
	return Config{Model: "NVIDIA H100 80GB HBM3", MemoryMiB: 81559, MIG: true, GPUs: 8}
}

// DGXA100 is a machine of eight A100 SXM GPUs with 80 GB, whose MIG mode needs a reset. Memory as nvidia-smi shows it.
func DGXA100() Config {
	return Config{Model: "NVIDIA A100-SXM4-80GB", MemoryMiB: 81920, MIG: true, MIGNeedsReset: true, GPUs: 8}
}

// OpenB is a node of the openb trace (Alibaba clusterdata, cluster-trace-gpu-v2023): the model named as the trace and [topology] name it,
// its memory as [topology.ModelByName] knows it. A model of unknown size (G2 and G3 are anonymised) does not tell its memory. None of the
// trace's nodes uses MIG, so these have none.
func OpenB(node, model string, gpus int) Config {
	known, _ := topology.ModelByName(model)
	return Config{Node: node, Model: model, MemoryMiB: known.MemoryMiB, GPUs: gpus}
}

// ReversedMinors is n-1 … 0: every GPU of a machine with an even number of them has a minor that is not its index. Nil if n < 1.
func ReversedMinors(n int) []nvmlx.Minor {
	var minors []nvmlx.Minor
	for minor := n - 1; minor >= 0; minor-- {
		minors = append(minors, nvmlx.Minor(minor))
	}
	return minors
}

// inventory fills in the defaults and is the identity of the machine.
func (c *Config) inventory() (nvmlx.Inventory, error) {
	if c.Model == "" && c.MemoryMiB == 0 {
		whole := HGXH100()
		c.Model, c.MemoryMiB, c.MIG = whole.Model, whole.MemoryMiB, true
	}
	orDefault(&c.Node, "node-0")
	orDefault(&c.Driver, "580.95.05")
	orDefault(&c.CUDA, "13.0")
	if c.GPUs == 0 {
		c.GPUs = max(len(c.MinorOf), len(c.UUIDs))
	}
	if c.GPUs == 0 {
		c.GPUs = 8
	}
	var errs []error
	if c.GPUs < 1 || c.GPUs > int(nvmlx.MaxMinor)+1 {
		return nvmlx.Inventory{}, fmt.Errorf("%w: GPUs %d: must be 1 to %d", ErrInvalidConfig, c.GPUs, nvmlx.MaxMinor+1)
	}
	if n := len(c.MinorOf); n != 0 && n != c.GPUs {
		errs = append(errs, fmt.Errorf("%w: MinorOf has %d entries: want one for each of %d GPUs", ErrInvalidConfig, n, c.GPUs))
	}
	if n := len(c.UUIDs); n != 0 && n != c.GPUs {
		errs = append(errs, fmt.Errorf("%w: UUIDs has %d entries: want one for each of %d GPUs", ErrInvalidConfig, n, c.GPUs))
	}
	if c.MIGNeedsReset && !c.MIG {
		errs = append(errs, fmt.Errorf("%w: MIGNeedsReset true: set MIG too", ErrInvalidConfig))
	}
	if len(errs) > 0 {
		return nvmlx.Inventory{}, errors.Join(errs...)
	}
	inventory := nvmlx.Inventory{Driver: c.Driver, CUDA: c.CUDA}
	for i := range c.GPUs {
		inventory.GPUs = append(inventory.GPUs, c.gpu(i))
	}
	if err := inventory.Validate(); err != nil {
		return nvmlx.Inventory{}, fmt.Errorf("%w: %w", ErrInvalidConfig, err)
	}
	return inventory, nil
}

// busesPerDomain spreads the GPUs over bus numbers 8, 16 … 248 in each PCI domain; the order of indexes is the order of addresses.
const busesPerDomain = 31

func (c *Config) gpu(i int) nvmlx.GPU {
	gpu := nvmlx.GPU{
		Index:     nvmlx.Index(i),
		Minor:     nvmlx.Minor(i),
		PCI:       nvmlx.PCIAddress{Domain: uint32(i / busesPerDomain), Bus: uint8(8 * (1 + i%busesPerDomain))},
		Model:     c.Model,
		MemoryMiB: c.MemoryMiB,
	}
	if len(c.MinorOf) > 0 {
		gpu.Minor = c.MinorOf[i]
	}
	if len(c.UUIDs) > 0 {
		gpu.UUID = c.UUIDs[i]
	} else {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", c.Node, i))
		gpu.UUID = nvmlx.UUID(fmt.Sprintf("GPU-%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]))
	}
	return gpu
}

func orDefault(field *string, value string) {
	if *field == "" {
		*field = value
	}
}
