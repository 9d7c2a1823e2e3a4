// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
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

// replay lets the pods come one by one, and stay. Memory is ignored, as the protocol has it. Demand counts whether or not
// the pod finds a place. step is told after every 256 pods.
func replay(c *topology.Cluster, pods []pod, policy allocator.Policy, step func(done int)) (curve, error) {
	var out curve
	fleet, err := allocator.New(allocator.Config{Cluster: c, Policy: policy})
	if err != nil {
		return out, err
	}
	capacity := fleet.Totals().CapacityMilli
	arrived, next := int64(0), 0
	share := func() float64 { return 100 * float64(fleet.Totals().AllocatedMilli) / float64(capacity) }
	for k, p := range pods {
		_, err := fleet.Place(begin.Add(time.Duration(k)*time.Second), allocator.Request{
			ID: fmt.Sprintf("%s/%d", p.name, k), Tenant: "openb", Models: p.models,
			Groups: []allocator.Group{{Count: 1, Pod: p.need}},
		})
		if err != nil && !errors.Is(err, allocator.ErrUnplaceable) {
			return out, err
		}
		fleet.TakeEvents()
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
