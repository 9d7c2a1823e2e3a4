// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"sync"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/topology"
)

// contender is a policy to be measured; the seed is that of the arrivals.
type contender struct {
	label  string
	policy func(seed int64) allocator.Policy
}

// contenders are the two references of the published study, best fit as it is commonly understood, and the allocator's own.
var contenders = []contender{
	{"random", func(seed int64) allocator.Policy { return Random{seed} }},
	{"sim-best-fit", func(seed int64) allocator.Policy { return SimBestFit{seed} }},
	{"best-fit, plain", func(int64) allocator.Policy { return allocator.BestFit{KeepCPUMilli: -1} }},
	{"best-fit", func(int64) allocator.Policy { return allocator.BestFit{} }},
}

// result is one policy over all seeds.
type result struct {
	label string
	mean  curve
	sd    float64 // at the end, over the seeds
}

// study replays every contender under every seed, some at once.
func study(c *topology.Cluster, pods []pod, seeds []int64, who []contender, workers int, p progress) ([]result, error) {
	type job struct{ contender, seed int }
	capacity := c.GPUCount() * 1000
	curves := make([][]curve, len(who))
	errs := make([]error, len(who)*len(seeds))
	jobs := make(chan job, len(errs))
	for s := range seeds {
		for w := range who {
			jobs <- job{w, s}
		}
	}
	close(jobs)
	for w := range curves {
		curves[w] = make([]curve, len(seeds))
	}
	p.begin(len(errs))
	defer p.end()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for j := range jobs {
				arriving, err := arrivals(pods, capacity, seeds[j.seed])
				if err == nil {
					curves[j.contender][j.seed], err = replay(c, arriving, who[j.contender].policy(seeds[j.seed]), func(done int) {
						p.step(float64(done) / float64(len(arriving)))
					})
				}
				errs[j.contender*len(seeds)+j.seed] = err
				p.done(who[j.contender].label, seeds[j.seed], curves[j.contender][j.seed][lastPercent])
			}
		})
	}
	wg.Wait()
	var out []result
	for w := range who {
		for _, err := range errs[w*len(seeds) : (w+1)*len(seeds)] {
			if err != nil {
				return nil, err
			}
		}
		out = append(out, summarise(who[w].label, curves[w]))
	}
	return out, nil
}

func summarise(label string, curves []curve) result {
	r := result{label: label}
	n := float64(len(curves))
	for _, c := range curves {
		for i := range c {
			r.mean[i] += c[i] / n
		}
	}
	for _, c := range curves {
		d := c[lastPercent] - r.mean[lastPercent]
		r.sd += d * d
	}
	if len(curves) > 1 {
		r.sd = math.Sqrt(r.sd / (n - 1))
	}
	return r
}
