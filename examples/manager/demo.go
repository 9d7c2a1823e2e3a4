// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/berth-gpu/berth/examples/manager/clock"
	"github.com/berth-gpu/berth/examples/manager/demo"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/topology"
)

type demoCmd struct {
	Listen  string        `help:"Address of the page and the API." default:"127.0.0.1:7700"`
	Store   string        `help:"Store file; default: a new one in a temporary directory, removed at the end."`
	Speed   float64       `help:"Seconds of the manager's clock per second of the wall's." default:"600"`
	Load    float64       `help:"GPU time asked for, as a share of the fleet's." default:"0.85"`
	Prefill float64       `help:"Share of the fleet that is asked for before the clock starts." default:"0.78"`
	For     time.Duration `help:"Stop after so long; 0: at Ctrl-C."`
	Check   bool          `help:"Verify the contract between the engines after every command (slow)."`
	Seed    uint64        `help:"Of bookings and faults." default:"1"`
}

// Run runs the demo until it is interrupted.
func (c *demoCmd) Run() error {
	if !(c.Speed > 0 && c.Speed <= 100_000) {
		return usage("--speed", c.Speed, "must be above 0 and at most 100000")
	}
	if !(c.Load > 0 && c.Load <= 4) {
		return usage("--load", c.Load, "must be above 0 and at most 4")
	}
	if !(c.Prefill >= 0 && c.Prefill <= 1) {
		return usage("--prefill", c.Prefill, "must be 0 to 1")
	}
	path := c.Store
	if path == "" {
		dir, err := os.MkdirTemp("", "berth-demo-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		path = filepath.Join(dir, "berth.db")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if c.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.For)
		defer cancel()
	}
	var fast *clock.Fast
	d, err := openDaemon(path, func(at time.Time) clock.Clock {
		if at.Before(demo.Start) {
			at = demo.Start
		}
		fast = clock.NewFast(at, c.Speed)
		return fast
	}, newDemo)
	if err != nil {
		return err
	}
	trace, err := demo.Trace()
	if err != nil {
		return err
	}
	driver := demo.New(d.service, fast, trace, d.cell.Load().Cluster.GPUCount(), demo.Config{Speed: c.Speed, Load: c.Load, Seed: c.Seed})
	d.service.Progress = driver.Progress
	d.service.CheckAll = c.Check
	o := d.service.Overview("")
	if d.found > 0 {
		fmt.Println(d.recovered(path))
	}
	fmt.Printf("fleet: %d nodes, %d GPUs in %d pools (openb trace, 2023)\n", o.Nodes, o.GPUs, len(o.Pools))
	return d.serve(ctx, c.Listen, nil, func(url string) {
		fmt.Printf("page and API: %s   (Ctrl-C stops)\n", url)
	}, func(ctx context.Context) error {
		if o.Running == 0 {
			if err := driver.Prefill(ctx, c.Prefill); err != nil {
				return err
			}
		}
		go progressLine(ctx, d, driver)
		return driver.Run(ctx)
	})
}

// newDemo is the state of a new demo store.
func newDemo() (*state.State, error) {
	fleet, err := demo.Fleet()
	if err != nil {
		return nil, err
	}
	pools := func(c *topology.Cluster) []reservation.Pool { return state.PoolsByModel(c, demo.Policy) }
	cluster, err := topology.New(fleet)
	if err != nil {
		return nil, err
	}
	var tenants []quota.Tenant = demo.Tenants(pools(cluster))
	return state.New(state.Config{Fleet: fleet, Tenants: tenants, Pools: pools})
}

// progressLine says every two seconds where the demo is: on a terminal in one
// line that is rewritten, elsewhere every ten seconds in a line of its own.
func progressLine(ctx context.Context, d *daemon, driver *demo.Driver) {
	every, end := 10*time.Second, "\n"
	if st, err := os.Stdout.Stat(); err == nil && st.Mode()&os.ModeCharDevice != 0 {
		every, end = 2*time.Second, "\033[K\r"
	}
	line := func() {
		o, p := d.service.Overview(""), driver.Progress()
		speed := fmt.Sprintf("%.0f×", p.Speed)
		if p.Paused {
			speed = "wall speed while an offer is held"
		}
		fmt.Printf("%s  trace %d/%d round %d  %s  GPUs busy %.1f %%  running %d  waiting %d  bookings %d  held nodes %d  record %d%s",
			o.Now.Format("Mon 2 Jan 15:04"), p.Arrived, p.Total, p.Round, speed,
			100*float64(o.Busy)/float64(max(o.Capacity, 1)), o.Running, o.Waiting, o.Bookings, o.Held, o.Seq, end)
	}
	t := time.NewTicker(every)
	defer t.Stop()
	first := time.After(3 * time.Second)
	for {
		select {
		case <-ctx.Done():
			return
		case <-first:
			line()
		case <-t.C:
			line()
		}
	}
}
