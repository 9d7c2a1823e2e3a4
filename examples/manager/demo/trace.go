// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/topology"
)

//go:embed testdata/openb_node_list_gpu_node.csv testdata/openb_pod_list_default.csv
var data embed.FS

// Fleet returns the 1,213 GPU nodes of the openb list.
func Fleet() (topology.Config, error) {
	f, err := data.Open("testdata/openb_node_list_gpu_node.csv")
	if err != nil {
		return topology.Config{}, err
	}
	defer func() { _ = f.Close() }()
	return topology.ReadOpenB(f)
}

// A TraceJob is one task of the trace.
type TraceJob struct {
	Name    string
	Created int64 // seconds since the trace began
	Length  time.Duration
	Job     jobs.Job // without id and tenant
}

// Trace returns the tasks of the openb list in order of arrival.
func Trace() ([]TraceJob, error) {
	f, err := data.Open("testdata/openb_pod_list_default.csv")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return ReadTrace(f)
}

var columns = []string{"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec", "qos", "pod_phase", "creation_time", "deletion_time", "scheduled_time"}

// ReadTrace reads a pod list in the openb format. Errors name the line.
func ReadTrace(r io.Reader) ([]TraceJob, error) {
	c := csv.NewReader(r)
	c.ReuseRecord = true
	head, err := c.Read()
	if err != nil {
		return nil, fmt.Errorf("trace: header: %w", err)
	}
	if !slices.Equal(head, columns) {
		return nil, fmt.Errorf("trace: line 1: columns are %q, want %q", head, columns)
	}
	var out []TraceJob
	for {
		row, err := c.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("trace: %w", err)
		}
		line, _ := c.FieldPos(0)
		j, err := parseRow(row)
		if err != nil {
			return nil, fmt.Errorf("trace: line %d: %w", line, err)
		}
		out = append(out, j)
	}
	slices.SortStableFunc(out, func(a, b TraceJob) int {
		if a.Created != b.Created {
			return int(a.Created - b.Created)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out, nil
}

func parseRow(row []string) (TraceJob, error) {
	var errs []error
	n := func(i int) int64 {
		if row[i] == "" {
			return 0
		}
		v, err := strconv.ParseInt(row[i], 10, 64)
		if err != nil || v < 0 || v > 1<<40 {
			errs = append(errs, fmt.Errorf("%s is %q: must be a whole number, 0 to 2^40", columns[i], row[i]))
		}
		return v
	}
	j := TraceJob{Name: strings.Clone(row[0]), Created: n(8)}
	gpus, milli := n(3), n(4)
	j.Job = jobs.Job{Count: 1, CPUMilli: n(1), MemoryMiB: n(2)}
	switch {
	case gpus == 1 && milli > 0 && milli < 1000:
		j.Job.GPUMilli = milli
	default:
		j.Job.GPUs = gpus
	}
	if row[5] != "" {
		j.Job.Models = strings.Split(strings.Clone(row[5]), "|")
	}
	begun := n(10)
	if row[10] == "" {
		begun = j.Created
	}
	j.Length = time.Duration(max(n(9)-begun, 60)) * time.Second
	if j.Name == "" {
		errs = append(errs, errors.New("name is empty"))
	}
	return j, errors.Join(errs...)
}
