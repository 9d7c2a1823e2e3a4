// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/topology"
)

// lastPercent is the arrived demand at which a replay ends, in percent of the capacity.
const lastPercent = 10 * inflation

// curve is the allocated share in percent of the capacity when the arrived demand first reached 0, 1, … 130 % of it.
type curve [lastPercent + 1]float64

// begin is when a replay begins; pods come one a second. Nothing depends on it.
var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// kin are pods that need the same and so find a place, or none, alike.
type kin struct {
	need   allocator.Pod
	models string
}

// replay lets the pods come one by one, and stay. Memory is ignored, as the protocol has it. Demand counts whether or not
// the pod finds a place. Since no pod leaves, room only shrinks: where one pod has found no place, its kin are not asked for
// again, which spares the allocator thousands of explanations (its invariants A7 and A8; whatever the policy, a pod of its
// own finds a place whenever there is one). step is told after every 256 pods.
func replay(c *topology.Cluster, pods []pod, policy allocator.Policy, step func(done int)) (curve, error) {
	var out curve
	fleet, err := allocator.New(allocator.Config{Cluster: c, Policy: policy})
	if err != nil {
		return out, err
	}
	capacity := fleet.Totals().CapacityMilli
	arrived, next := int64(0), 0
	share := func() float64 { return 100 * float64(fleet.Totals().AllocatedMilli) / float64(capacity) }
	refused := map[kin]bool{}
	for k, p := range pods {
		if err := arrive(fleet, k, p, refused); err != nil {
			return out, err
		}
		arrived += p.need.Milli()
		for next <= lastPercent && arrived*100 >= capacity*int64(next) {
			out[next] = share()
			next++
		}
		if k%256 == 255 {
			step(256)
		}
	}
	for ; next <= lastPercent; next++ { // the last pod that fits under 130 % leaves the demand just below
		out[next] = share()
	}
	return out, fleet.Check()
}

// arrive places pod k of a replay, unless its kin are known to find no place.
func arrive(fleet *allocator.Fleet, k int, p pod, refused map[kin]bool) error {
	like := kin{p.need, strings.Join(p.models, "|")}
	if refused[like] {
		return nil
	}
	_, err := fleet.Place(begin.Add(time.Duration(k)*time.Second), allocator.Request{
		ID: fmt.Sprintf("%s/%d", p.name, k), Tenant: "openb", Models: p.models,
		Groups: []allocator.Group{{Count: 1, Pod: p.need}},
	})
	fleet.TakeEvents()
	if errors.Is(err, allocator.ErrUnplaceable) {
		refused[like] = true
		return nil
	}
	return err
}
