// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"math/rand"
)

// inflation is how much demand arrives, in tenths of the capacity.
const inflation = 13

// arrivals gives the pods in the order in which they come, by the protocol of the USENIX ATC 2023 simulator: pods sorted by
// name, one number drawn and thrown away, a shuffle, then pods drawn again from the sorted list until the next one's share
// of a GPU would take the demand past 130 % of the capacity. Go keeps the sequence of a seeded math/rand.Rand.
func arrivals(sorted []pod, capacityMilli, seed int64) ([]pod, error) {
	demand, some := int64(0), false
	for _, p := range sorted {
		demand += p.need.Milli()
		some = some || p.need.Milli() > 0
	}
	if !some || capacityMilli == 0 {
		return nil, errors.New("the lists have no GPU, or no pod that needs one: nothing to measure")
	}
	r := rand.New(rand.NewSource(seed))
	r.Int()
	out := append([]pod(nil), sorted...)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	for {
		p := sorted[r.Intn(len(sorted))]
		perGPU := p.need.GPUMilli
		if p.need.GPUs > 0 {
			perGPU = 1000
		}
		if (demand+perGPU)*10 > capacityMilli*inflation {
			return out, nil
		}
		demand += p.need.Milli()
		out = append(out, p)
	}
}
