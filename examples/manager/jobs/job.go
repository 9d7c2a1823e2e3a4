// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Sentinel errors, returned wrapped with the job's id.
var (
	ErrExists  = errors.New("jobs: id is taken by another job")
	ErrUnknown = errors.New("jobs: unknown job")
	ErrState   = errors.New("jobs: not possible in this state")
	ErrInvalid = errors.New("jobs: invalid job")
)

// A Phase is where a job stands.
type Phase string

// The phases of a job.
const (
	Queued    Phase = "queued"
	Running   Phase = "running"
	Ended     Phase = "ended"
	Cancelled Phase = "cancelled"
)

// A Job is one unit of work: Count equal pods, placed whole or not at all.
// A Job value is immutable once it is in a [Queue].
type Job struct {
	ID        string   `json:"id"`
	Tenant    string   `json:"tenant"`
	Count     int      `json:"count"`
	GPUs      int64    `json:"gpus,omitempty"`       // whole GPUs per pod
	GPUMilli  int64    `json:"gpu_milli,omitempty"`  // or a share of one GPU, in thousandths
	CPUMilli  int64    `json:"cpu_milli,omitempty"`  // per pod
	MemoryMiB int64    `json:"memory_mib,omitempty"` // per pod
	Models    []string `json:"models,omitempty"`     // GPU models that will do; none given: any

	Phase       Phase     `json:"phase"`
	Submitted   time.Time `json:"submitted"`
	Started     time.Time `json:"started,omitzero"`
	Ended       time.Time `json:"ended,omitzero"`
	Claim       string    `json:"claim,omitempty"` // of the running job: the booking or Standby claim it lies in
	Key         string    `json:"key,omitempty"`   // of the running job: the quota key it is charged under, "" inside a booking
	Preemptions int       `json:"preemptions,omitempty"`
	Why         string    `json:"why,omitempty"` // of the last preemption or cancellation
}

// Milli returns the GPU demand of the whole job in thousandths of a GPU.
func (j *Job) Milli() int64 { return int64(j.Count) * (j.GPUs*1000 + j.GPUMilli) }

// Validate reports everything that is wrong with a job to be submitted.
func (j *Job) Validate() error {
	var errs []error
	bad := func(field string, value any, rule string) {
		errs = append(errs, fmt.Errorf("%w: %s is %v: %s", ErrInvalid, field, value, rule))
	}
	if err := ValidID(j.ID); err != nil {
		bad("id", fmt.Sprintf("%.100q", j.ID), err.Error())
	}
	if j.Tenant == "" || len(j.Tenant) > MaxID {
		bad("tenant", fmt.Sprintf("%.100q", j.Tenant), "must name a tenant")
	}
	if j.Count < 1 || j.Count > 10_000 {
		bad("count", j.Count, "must be 1 to 10000")
	}
	if j.GPUs < 0 || j.GPUs > 1024 {
		bad("gpus", j.GPUs, "must be 0 to 1024 per pod")
	}
	if j.GPUMilli < 0 || j.GPUMilli > 999 || j.GPUMilli > 0 && j.GPUs > 0 {
		bad("gpu_milli", j.GPUMilli, "must be 1 to 999, and not together with gpus")
	}
	if j.CPUMilli < 0 || j.CPUMilli > 1<<40 {
		bad("cpu_milli", j.CPUMilli, "must be 0 to 2^40")
	}
	if j.MemoryMiB < 0 || j.MemoryMiB > 1<<40 {
		bad("memory_mib", j.MemoryMiB, "must be 0 to 2^40")
	}
	if total := int64(j.Count) * j.CPUMilli; j.Count > 0 && j.Count <= 10_000 && j.CPUMilli <= 1<<40 && total > 1<<40 {
		bad("cpu_milli", j.CPUMilli, "count times it must be at most 2^40")
	}
	if len(j.Models) > MaxModels {
		bad("models", fmt.Sprintf("a list of %d", len(j.Models)), fmt.Sprintf("must have at most %d names", MaxModels))
	}
	for _, m := range j.Models {
		if m == "" || len(m) > MaxID || !utf8.ValidString(m) || strings.ContainsFunc(m, unicode.IsControl) {
			bad("models", fmt.Sprintf("%.100q", j.Models), "must be names of GPU models")
			break
		}
	}
	if j.GPUs+j.GPUMilli+j.CPUMilli+j.MemoryMiB == 0 {
		bad("gpus", 0, "a job must ask for something")
	}
	return errors.Join(errs...)
}

// Bounds of what a caller may choose.
const (
	MaxID     = 128
	MaxModels = 64
)

// ValidID says whether a caller may give that id to a job or a booking: 1 to
// MaxID letters, digits, "-", "_" and ".", the first and last a letter or digit.
// So ids fit into paths, file names and device names, and can never be one that
// the manager makes itself, which have a "/".
func ValidID(id string) error {
	const rule = `must have 1 to 128 letters, digits, "-", "_" or ".", the first and last a letter or digit`
	if id == "" || len(id) > MaxID {
		return errors.New(rule)
	}
	for i := range len(id) {
		c := id[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && (i == 0 || i == len(id)-1 || c != '-' && c != '_' && c != '.') {
			return errors.New(rule)
		}
	}
	return nil
}

// same reports whether two submissions ask for the same.
func (j *Job) same(o *Job) bool {
	if len(j.Models) != len(o.Models) {
		return false
	}
	for i := range j.Models {
		if j.Models[i] != o.Models[i] {
			return false
		}
	}
	return j.Tenant == o.Tenant && j.Count == o.Count && j.GPUs == o.GPUs && j.GPUMilli == o.GPUMilli &&
		j.CPUMilli == o.CPUMilli && j.MemoryMiB == o.MemoryMiB
}
