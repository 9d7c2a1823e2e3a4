// SPDX-License-Identifier: Apache-2.0

package allocatortest

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/topology"
)

// Start is the instant at which the generated worlds begin.
var Start = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

// Tenants are the tenants of the generated requests.
var Tenants = []string{"ants", "bees", "crows"}

// Clusters draws clusters of 1 to 6 nodes with up to 8 GPUs of three models, CPU-only nodes among them.
func Clusters() *rapid.Generator[*topology.Cluster] {
	return rapid.Custom(func(t *rapid.T) *topology.Cluster {
		var cfg topology.Config
		for i, gpus := range []int{0, 1, 2, 4, 8} {
			s := topology.ShapeSpec{Name: fmt.Sprintf("s%d", gpus), GPUs: gpus, CPUMilli: 16_000 + 8_000*int64(gpus), MemoryMiB: 65_536}
			if gpus > 0 {
				s.Model = []string{"T4", "A10", "P100"}[i%3]
			}
			cfg.Shapes = append(cfg.Shapes, s)
		}
		for i := range rapid.IntRange(1, 6).Draw(t, "nodes") {
			shape := rapid.SampledFrom(cfg.Shapes).Draw(t, "shape")
			cfg.Nodes = append(cfg.Nodes, topology.NodeSpec{ID: topology.NodeID(fmt.Sprintf("n%d", i)), Shape: shape.Name})
		}
		c, err := topology.New(cfg)
		if err != nil {
			t.Fatalf("bug in allocatortest: please report: %v", err)
		}
		return c
	})
}

// Pods draws what one pod needs: whole GPUs, a part of one, or none.
func Pods() *rapid.Generator[allocator.Pod] {
	return rapid.Custom(func(t *rapid.T) allocator.Pod {
		p := allocator.Pod{
			CPUMilli:  1000 * rapid.Int64Range(1, 12).Draw(t, "cpus"),
			MemoryMiB: 1024 * rapid.Int64Range(0, 24).Draw(t, "GiB"),
		}
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0, 1:
			p.GPUs = rapid.SampledFrom([]int64{1, 1, 1, 2, 4, 8}).Draw(t, "gpus")
		case 2, 3:
			p.GPUMilli = rapid.SampledFrom([]int64{100, 250, 333, 500, 810, 999}).Draw(t, "milli")
		}
		return p
	})
}

// Requests draws valid requests with the given id for a cluster: one to three groups, sometimes with models, listed nodes
// and a declared end after [Start].
func Requests(c *topology.Cluster, id string) *rapid.Generator[allocator.Request] {
	return rapid.Custom(func(t *rapid.T) allocator.Request {
		r := allocator.Request{ID: id, Claim: "claim-" + id, Tenant: rapid.SampledFrom(Tenants).Draw(t, "tenant")}
		for range rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "groups") {
			g := allocator.Group{Count: rapid.SampledFrom([]int{1, 1, 2, 3, 5}).Draw(t, "count"), Pod: Pods().Draw(t, "pod")}
			r.Groups = append(r.Groups, g)
		}
		if rapid.IntRange(0, 3).Draw(t, "models") == 0 {
			r.Models = rapid.SampledFrom([][]string{{"T4"}, {"A10", "P100"}, {"L4"}}).Draw(t, "which")
		}
		if rapid.IntRange(0, 4).Draw(t, "listed") == 0 {
			for i := range c.Nodes() {
				if rapid.Bool().Draw(t, "list") {
					r.Nodes = append(r.Nodes, c.ID(i))
				}
			}
		}
		if rapid.Bool().Draw(t, "ends") {
			r.Until = Start.Add(time.Duration(rapid.IntRange(1, 72).Draw(t, "hours")) * time.Hour)
		}
		return r
	})
}
