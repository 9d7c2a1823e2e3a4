// SPDX-License-Identifier: Apache-2.0

package allocatortest

import (
	"time"

	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/allocator"
)

// Fleets draws a fleet of [Clusters] in use and in trouble: up to six placements with ids p0 to p5, and cordons by "human/oncall",
// GPUs failed by "health", reservations and ends of free time in between. Its present is [Start].
func Fleets() *rapid.Generator[*allocator.Fleet] {
	return rapid.Custom(func(t *rapid.T) *allocator.Fleet {
		c := Clusters().Draw(t, "cluster")
		f, err := allocator.New(allocator.Config{Cluster: c, Tenancy: allocator.Tenancy(rapid.IntRange(0, 1).Draw(t, "tenancy"))})
		must(t, err)
		must(t, f.Cordon(Start, "n0", "human/oncall", "")) // so that the present is Start, whatever is drawn
		must(t, f.Uncordon(Start, "n0", "human/oncall"))
		for _, id := range []string{"p0", "p1", "p2", "p3", "p4", "p5"} {
			_, _ = f.Place(Start, Requests(c, id).Draw(t, "placed")) // many find no place
			if id == "p2" {
				trouble(t, f)
			}
		}
		return f
	})
}

func trouble(t *rapid.T, f *allocator.Fleet) {
	for i := range f.Cluster().Nodes() {
		id := f.Cluster().ID(i)
		switch rapid.IntRange(0, 9).Draw(t, "trouble") {
		case 0:
			must(t, f.Cordon(Start, id, "human/oncall", ""))
		case 1, 2:
			if n := f.Cluster().Shape(i).GPUs(); n > 0 {
				must(t, f.FailGPU(Start, id, rapid.IntRange(0, n-1).Draw(t, "gpu"), "health"))
			}
		case 3:
			must(t, f.SetFreeUntil(Start, id, Start.Add(time.Duration(rapid.IntRange(-1, 48).Draw(t, "free"))*time.Hour)))
		case 4:
			_ = f.Reserve(Start, id, rapid.SampledFrom(Tenants).Draw(t, "owner")) // refused where others lie
		}
	}
}

func must(t *rapid.T, err error) {
	if err != nil {
		t.Fatalf("bug in allocatortest: please report: %v", err)
	}
}
