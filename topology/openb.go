// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

const openbHeader = "sn,cpu_milli,memory_mib,gpu,model"

// ReadOpenB reads the node list of the Alibaba "openb" trace: CSV without quotes (a line with one is refused), with the header
// sn,cpu_milli,memory_mib,gpu,model. A node without GPUs has gpu 0 and no model; models are those of [Models]. Nodes with
// equal figures share a shape named after them. The trace says nothing about place, so nodes are in no domain.
// The first 100 wrong lines are reported, each with its number. Memory is bounded by the good lines, of which there may be
// [MaxNodes]; a line may have 64 KiB.
//
// Possible errors: [ErrSyntax], [ErrInvalid], [ErrUnknown], [ErrDuplicate], [ErrTooLarge], or the reader's own.
func ReadOpenB(r io.Reader) (Config, error) {
	m := mistakes{max: readerErrors}
	if r == nil {
		m.add(ErrInvalid, "reader", "nil", "give the reader of a node list")
		return Config{}, m.err()
	}
	cfg := Config{}
	shapes := map[string]bool{}
	first := map[NodeID]int{}
	lines := bufio.NewScanner(r)
	no := 0
	for lines.Scan() {
		no++
		text := strings.TrimSuffix(lines.Text(), "\r")
		switch {
		case no == 1:
			if strings.TrimPrefix(text, "\ufeff") != openbHeader {
				m.addLine(no, ErrSyntax, "header", text, "the first line must be "+openbHeader)
				return Config{}, m.err()
			}
			continue
		case text == "":
			continue
		case len(cfg.Nodes) >= MaxNodes:
			m.addLine(no, ErrTooLarge, "sn", "", fmt.Sprintf("a list has at most %d nodes", MaxNodes))
			return Config{}, m.err()
		}
		node, shape, ok := openbLine(text, no, &m)
		if !ok {
			continue
		}
		if at, twice := first[node.ID]; twice {
			m.addLine(no, ErrDuplicate, "sn", string(node.ID), fmt.Sprintf("line %d has this node; name it once", at))
			continue
		}
		first[node.ID] = no
		if !shapes[shape.Name] {
			shapes[shape.Name] = true
			cfg.Shapes = append(cfg.Shapes, shape)
		}
		cfg.Nodes = append(cfg.Nodes, node)
	}
	if err := lines.Err(); err != nil {
		m.addLine(no+1, ErrSyntax, "line", "", "the line cannot be read: "+err.Error())
		return Config{}, fmt.Errorf("%w: %w", m.err(), err)
	}
	if no == 0 {
		m.addLine(1, ErrSyntax, "header", "", "the first line must be "+openbHeader)
	}
	if m.any() {
		return Config{}, m.err()
	}
	return cfg, nil
}

func openbLine(text string, no int, m *mistakes) (NodeSpec, ShapeSpec, bool) {
	before := m.count()
	col := strings.Split(text, ",")
	if strings.Contains(text, `"`) {
		m.addLine(no, ErrSyntax, "line", text, "write the columns without quotes")
		return NodeSpec{}, ShapeSpec{}, false
	}
	if len(col) != 5 {
		m.addLine(no, ErrSyntax, "line", text, "give five columns: "+openbHeader)
		return NodeSpec{}, ShapeSpec{}, false
	}
	number := func(name, value string, most int64) int64 {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 || n > most {
			m.addLine(no, ErrInvalid, name, value, fmt.Sprintf("use a whole number from 0 to %d", most))
		}
		return n
	}
	if !validName(col[0]) {
		m.addLine(no, ErrInvalid, "sn", col[0], nameHint)
	}
	cpu, mem := number("cpu_milli", col[1], math.MaxInt64), number("memory_mib", col[2], math.MaxInt64)
	gpus, model := int(number("gpu", col[3], MaxGPUsPerNode)), col[4]
	switch _, known := ModelByName(model); {
	case gpus == 0 && model != "":
		m.addLine(no, ErrInvalid, "model", model, "a node without GPUs has no model; leave it empty")
	case gpus > 0 && !known:
		m.addLine(no, ErrUnknown, "model", model, "use a name of Models()")
	}
	if m.count() != before {
		return NodeSpec{}, ShapeSpec{}, false
	}
	shape := ShapeSpec{Name: plainShapeName(model, gpus, cpu, mem), Model: strings.Clone(model), GPUs: gpus, CPUMilli: cpu, MemoryMiB: mem}
	return NodeSpec{ID: NodeID(strings.Clone(col[0])), Shape: shape.Name}, shape, true
}

// plainShapeName names a shape of which only the figures are known.
func plainShapeName(model string, gpus int, cpuMilli, memoryMiB int64) string {
	if gpus == 0 {
		return fmt.Sprintf("cpu %dm %dMi", cpuMilli, memoryMiB)
	}
	return fmt.Sprintf("%s x%d %dm %dMi", model, gpus, cpuMilli, memoryMiB)
}
