// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/berth-gpu/berth/examples/manager/clock"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/strict"
	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/topology"
)

type serveCmd struct {
	Listen string `help:"Address of the page and the API." default:"127.0.0.1:7700"`
	Store  string `help:"Store file." default:"berth.db"`
	Fleet  string `help:"Fleet of a new store: a topology in berth's JSON, or an openb node list (.csv). None: an empty fleet." type:"existingfile"`
	Quota  string `help:"Tenants of a new store: JSON, a list of tenants. None: one tenant, org, with the whole fleet." type:"existingfile"`
	Tokens string `help:"Who may call: JSON, token to tenant; \"\" is an admin. Without it only loopback is served, to admins." type:"existingfile"`
}

// Run runs the manager until it is interrupted.
func (c *serveCmd) Run() error {
	viewer, err := c.viewer()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	d, err := openDaemon(c.Store, func(time.Time) clock.Clock { return clock.Wall{} }, c.fresh)
	if err != nil {
		return err
	}
	return d.serve(ctx, c.Listen, viewer, func(url string) {
		o := d.service.Overview("")
		fmt.Println(d.recovered(c.Store))
		fmt.Printf("fleet: %d nodes, %d GPUs\n", o.Nodes, o.GPUs)
		for _, line := range missing(d.cell.Load()) {
			fmt.Println(line)
		}
		fmt.Println("page and API:", url)
	}, func(ctx context.Context) error {
		t := time.NewTicker(time.Second)
		defer t.Stop()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return nil
			case <-t.C:
			}
			if _, err := d.service.Schedule(ctx, 0); err != nil {
				return err
			}
			if n%3600 == 3599 {
				if _, err := d.service.Housekeep(ctx, 7*24*time.Hour); err != nil {
					return err
				}
			}
		}
	})
}

// fresh is the state of a new store.
func (c *serveCmd) fresh() (*state.State, error) {
	cfg := state.Config{Pools: func(cl *topology.Cluster) []reservation.Pool { return state.PoolsByModel(cl, reservation.Policy{}) }}
	if c.Fleet != "" {
		fleet, err := readFleet(c.Fleet)
		if err != nil {
			return nil, err
		}
		cfg.Fleet = fleet
	}
	if c.Quota != "" {
		b, err := os.ReadFile(c.Quota)
		if err != nil {
			return nil, err
		}
		if err := strict.Decode(b, &cfg.Tenants); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Quota, err)
		}
	} else {
		cluster, err := topology.New(cfg.Fleet)
		if err != nil {
			return nil, fmt.Errorf("fleet: %w", err)
		}
		cfg.Tenants = []quota.Tenant{{Name: "org", Limits: whole(cfg.Pools(cluster))}}
	}
	s, err := state.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("new store %s: %w", c.Store, err)
	}
	return s, nil
}

// whole returns limits that allow the whole of a fleet's pools.
func whole(pools []reservation.Pool) []quota.Limit {
	var out []quota.Limit
	for _, p := range pools {
		key, perNode := state.NodePrice(p)
		i := slices.IndexFunc(out, func(l quota.Limit) bool { return l.Key == key })
		if i < 0 {
			i, out = len(out), append(out, quota.Limit{Key: key})
		}
		out[i].Nominal += int64(len(p.Units)) * perNode
	}
	return out
}

// missing says in what way a manager can run nothing, or not everything: without
// nodes, or without a quota for some of them.
func missing(s *state.State) []string {
	var out []string
	keys := map[quota.Key]bool{}
	for t := range s.Ledger.Tenants() {
		for _, l := range t.Limits {
			keys[l.Key] = keys[l.Key] || l.Nominal > 0
		}
	}
	nodes := false
	for p := range s.Calendar.Pools() {
		nodes = nodes || len(p.Units) > 0
		if key, _ := state.NodePrice(p); !keys[key] {
			out = append(out, fmt.Sprintf("no tenant has quota for pool %s: give one %q, with \"manager tenant <file>\"", p.Name, key))
		}
	}
	if !nodes {
		out = append(out, `no node is there: let some join with "manager fleet <file>", and give a tenant quota for them with "manager tenant <file>"`)
	}
	return out
}

func readFleet(path string) (topology.Config, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return topology.Config{}, err
	}
	var fleet topology.Config
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) {
		c, err := topology.Decode(b)
		if err != nil {
			return fleet, fmt.Errorf("%s: %w", path, err)
		}
		return c.Config(), nil
	}
	fleet, err = topology.ReadOpenB(bytes.NewReader(b))
	if err != nil {
		return fleet, fmt.Errorf("%s: %w", path, err)
	}
	return fleet, nil
}

// viewer returns who a request comes from.
func (c *serveCmd) viewer() (func(*http.Request) (string, error), error) {
	if c.Tokens == "" {
		host, _, err := net.SplitHostPort(c.Listen)
		if err != nil {
			return nil, fmt.Errorf("--listen %q: %w", c.Listen, err)
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return nil, usage("--listen", c.Listen, "without --tokens only a loopback address is served")
		}
		return nil, nil
	}
	b, err := os.ReadFile(c.Tokens)
	if err != nil {
		return nil, err
	}
	tokens := map[string]string{}
	if err := strict.Decode(b, &tokens); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Tokens, err)
	}
	for t := range tokens {
		if len(t) < 16 {
			return nil, fmt.Errorf("%s: a token has %d bytes, fewer than 16", c.Tokens, len(t))
		}
	}
	return bearer(tokens), nil
}
