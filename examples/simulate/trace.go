// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/topology"
)

// pod is one line of a pod list.
type pod struct {
	name   string
	need   allocator.Pod
	models []string // nil: any
}

// readNodes reads an openb node list as a cluster.
func readNodes(r io.Reader) (*topology.Cluster, error) {
	cfg, err := topology.ReadOpenB(r)
	if err != nil {
		return nil, err
	}
	return topology.New(cfg)
}

// readPods reads an openb pod list, ordered by name. It needs the columns name, cpu_milli, num_gpu and gpu_milli; gpu_spec
// is optional, and the others are not part of the protocol.
func readPods(r io.Reader) ([]pod, error) {
	lines := csv.NewReader(r)
	lines.ReuseRecord = true
	header, err := lines.Read()
	if err != nil {
		return nil, fmt.Errorf("pod list: header: %w", err)
	}
	column := map[string]int{}
	for i, name := range header {
		column[strings.TrimPrefix(name, "\ufeff")] = i
	}
	var errs []error
	for _, name := range []string{"name", "cpu_milli", "num_gpu", "gpu_milli"} {
		if _, ok := column[name]; !ok {
			errs = append(errs, fmt.Errorf("pod list: the header lacks the column %q", name))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var pods []pod
	for {
		record, err := lines.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("pod list: %w", err)
		}
		p, err := readPod(record, column)
		if err != nil {
			line, _ := lines.FieldPos(0)
			if errs = append(errs, fmt.Errorf("pod list: line %d: %w", line, err)); len(errs) == 20 {
				break
			}
			continue
		}
		pods = append(pods, p)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	slices.SortStableFunc(pods, func(a, b pod) int { return strings.Compare(a.name, b.name) })
	return pods, nil
}

func readPod(record []string, column map[string]int) (pod, error) {
	p := pod{name: record[column["name"]]}
	if p.name == "" {
		return p, errors.New("name is empty")
	}
	var num, milli int64
	for _, f := range []struct {
		name string
		to   *int64
		most int64
	}{{"cpu_milli", &p.need.CPUMilli, allocator.MaxAmount}, {"num_gpu", &num, topology.MaxGPUsPerNode}, {"gpu_milli", &milli, 1000}} {
		text := record[column[f.name]]
		if text == "" { // the lists leave gpu_milli empty where num_gpu is 0
			continue
		}
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil || v < 0 || v > f.most {
			return p, fmt.Errorf("%s is %q: it must be 0 to %d", f.name, text, f.most)
		}
		*f.to = v
	}
	switch {
	case num > 0 && milli == 1000:
		p.need.GPUs = num
	case num == 1 && milli > 0:
		p.need.GPUMilli = milli
	case num > 0:
		return p, fmt.Errorf("gpu_milli is %d with num_gpu %d: several GPUs are whole ones, of 1000 milli each", milli, num)
	case p.need.CPUMilli == 0:
		return p, errors.New("the pod asks for nothing")
	}
	if i, ok := column["gpu_spec"]; ok && record[i] != "" && num > 0 {
		p.models = strings.Split(record[i], "|")
	}
	return p, nil
}
