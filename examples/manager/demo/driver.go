// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/berth-gpu/berth/examples/manager/clock"
	"github.com/berth-gpu/berth/examples/manager/commands"
	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/examples/manager/service"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/views"
	"github.com/berth-gpu/berth/health"
	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/reservation"
)

// Teams of the demo and their share of the fleet, in percent.
var Teams = []struct {
	Name  string
	Share int64
}{{"vision", 40}, {"language", 30}, {"speech", 20}, {"robotics", 10}}

// Start is where the demo's clock begins.
var Start = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// Tenants returns the quota tree: an organisation with four teams, which lend
// what they do not use and borrow from one another.
func Tenants(pools []reservation.Pool) []quota.Tenant {
	total := map[quota.Key]int64{state.CPUKey: 120_000_000}
	for _, p := range pools {
		key, perNode := state.NodePrice(p)
		total[key] += int64(len(p.Units)) * perNode
	}
	out := []quota.Tenant{{Name: "org"}}
	for _, t := range Teams {
		team := quota.Tenant{Name: t.Name, Parent: "org"}
		for _, k := range slices.Sorted(mapKeys(total)) {
			team.Limits = append(team.Limits, quota.Limit{Key: k, Nominal: total[k] * t.Share / 100})
		}
		out = append(out, team)
	}
	return out
}

func mapKeys(m map[quota.Key]int64) func(func(quota.Key) bool) {
	return func(yield func(quota.Key) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// Policy is the demo's rule for every pool: five minutes of grace, ten of
// hand-over, and bookings up to 30 days ahead.
var Policy = reservation.Policy{Grace: 5 * time.Minute, Cleanup: 10 * time.Minute, ReclaimLead: 15 * time.Minute,
	MinLength: 10 * time.Minute, Horizon: 30 * 24 * time.Hour}

// How long the demo's jobs run, compared with the trace.
const (
	Stretch  = 24
	Shortest = time.Hour
	Longest  = 48 * time.Hour
)

// MaxWaiting is the length of the queue at which nobody submits any more.
const MaxWaiting = 1000

func stretched(length time.Duration) time.Duration {
	return min(max(length*Stretch, Shortest), Longest)
}

// Config is how fast and how full the demo is.
type Config struct {
	Speed float64 // seconds of the manager's clock per second of the wall's
	Load  float64 // GPU time asked for, as a share of the fleet's
	Seed  uint64
}

// A Driver feeds the manager.
//
// A Driver is for one goroutine, but Progress may be called by any.
type Driver struct {
	s     *service.Service
	clock *clock.Fast
	cfg   Config
	trace []TraceJob
	gap   time.Duration // between arrivals
	rand  *rand.Rand

	next    time.Time // of the next arrival
	kind    string    // "openb", or "warm" for what is there before the clock starts
	arrived int       // in this round
	round   int
	ends    endings
	started map[string]time.Time // of jobs whose end is in ends

	mu       sync.Mutex
	progress views.DemoProgress
}

// New returns a driver for a manager whose fleet has so many GPUs.
func New(s *service.Service, c *clock.Fast, trace []TraceJob, gpus int64, cfg Config) *Driver {
	var work float64 // GPU seconds
	for _, j := range trace {
		work += float64(j.Job.GPUs*1000+j.Job.GPUMilli) / 1000 * stretched(j.Length).Seconds()
	}
	gap := time.Duration(work / (float64(gpus) * cfg.Load) / float64(len(trace)) * float64(time.Second))
	d := &Driver{s: s, clock: c, cfg: cfg, trace: trace, gap: max(gap, time.Millisecond), next: c.Now(), kind: "openb", round: 1,
		rand: rand.New(rand.NewPCG(cfg.Seed, 1)), started: map[string]time.Time{}}
	d.resume()
	return d
}

// resume takes up what a store from an earlier run holds.
func (d *Driver) resume() {
	st := d.s.Cell.Load()
	for j := range st.Jobs.All() {
		if kind, round, i, ok := parse(j.ID); ok && kind == "openb" {
			if round > d.round {
				d.round, d.arrived = round, 0
			}
			if round == d.round {
				d.arrived = max(d.arrived, i+1)
			}
		}
	}
}

// Progress returns how far the demo is.
func (d *Driver) Progress() *views.DemoProgress {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.progress
	return &p
}

// Prefill submits and places the first share of the trace at once, so that the
// page shows a busy cluster from the start. It passes over tasks that would be
// gone soon: what is found running at any moment is mostly long.
func (d *Driver) Prefill(ctx context.Context, share float64) error {
	want := int64(share * float64(d.s.Overview("").Capacity))
	d.kind = "warm"
	for asked := int64(0); asked < want; {
		var batch []jobs.Job
		for len(batch) < 256 && asked < want {
			j := d.take()
			if d.length(j.ID) < 6*time.Hour {
				continue
			}
			asked += j.Milli()
			batch = append(batch, j)
		}
		if err := d.submit(ctx, batch); err != nil {
			return err
		}
		for {
			n, err := d.s.Schedule(ctx, 1024)
			if err != nil {
				return err
			}
			if n == 0 {
				break
			}
		}
	}
	d.kind, d.arrived, d.round = "openb", 0, 1
	d.next = d.clock.Now()
	return nil
}

// take returns the next job of the trace.
func (d *Driver) take() jobs.Job {
	if d.arrived == len(d.trace) {
		d.arrived, d.round = 0, d.round+1
	}
	j := d.trace[d.arrived].Job
	j.ID = fmt.Sprintf("%s-%d-%04d", d.kind, d.round, d.arrived)
	// Teams submit in proportion to their share, a little unevenly.
	n := (d.arrived*37 + d.round*11) % 100
	for _, t := range Teams {
		if n -= int(t.Share); n < 0 {
			j.Tenant = t.Name
			break
		}
	}
	d.arrived++
	return j
}

// parse takes the id of one of the driver's jobs apart.
func parse(id string) (kind string, round, i int, ok bool) {
	parts := strings.Split(id, "-")
	if len(parts) != 3 {
		return "", 0, 0, false
	}
	round, err1 := strconv.Atoi(parts[1])
	i, err2 := strconv.Atoi(parts[2])
	return parts[0], round, i, err1 == nil && err2 == nil && round > 0 && i >= 0
}

func (d *Driver) length(id string) time.Duration {
	if _, _, i, ok := parse(id); ok && i < len(d.trace) {
		return stretched(d.trace[i].Length)
	}
	return time.Hour
}

// submit queues jobs side by side, so that one append stores them all.
func (d *Driver) submit(ctx context.Context, batch []jobs.Job) error {
	errs := make([]error, len(batch))
	var wg sync.WaitGroup
	for i, j := range batch {
		wg.Go(func() {
			_, err := d.s.Submit(ctx, "", j, false)
			if r, ok := errors.AsType[*views.Refusal](err); ok && r.Code == "id-taken" {
				return // somebody has used the name of a task: then it does not run
			}
			errs[i] = err
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Run feeds the manager until ctx ends.
func (d *Driver) Run(ctx context.Context) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	bookings := Start
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		d.pace()
		now := d.clock.Now()
		if err := d.turn(ctx, now); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if !now.Before(bookings) {
			d.book(ctx, now)
			d.breakNode(ctx)
			if _, err := d.s.Housekeep(ctx, 24*time.Hour); err != nil && ctx.Err() == nil {
				return err
			}
			bookings = now.Add(3 * time.Hour)
		}
	}
}

// turn ends what is over, submits what has arrived, and starts what fits.
func (d *Driver) turn(ctx context.Context, now time.Time) error {
	if err := d.finish(ctx, now); err != nil {
		return err
	}
	var batch []jobs.Job
	_, waiting, _ := d.s.Cell.Load().Jobs.Counts()
	if waiting > MaxWaiting {
		d.next = now // those who would submit see the queue and stay away
	}
	for !d.next.After(now) && len(batch) < 512 {
		batch = append(batch, d.take())
		d.next = d.next.Add(d.gap)
	}
	if err := d.submit(ctx, batch); err != nil {
		return err
	}
	if _, err := d.s.Schedule(ctx, 0); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.progress.Arrived, d.progress.Total, d.progress.Round, d.progress.Speed = d.arrived, len(d.trace), d.round, d.clock.Speed()
	return nil
}

// pace slows the clock to wall speed while a person holds an offer, or it would
// run out in the blink of an eye.
func (d *Driver) pace() {
	held := false
	for b := range d.s.Cell.Load().Calendar.Bookings("", reservation.Window{}) {
		held = held || b.Phase == reservation.Held
	}
	speed := d.cfg.Speed
	if held {
		speed = min(speed, 1)
	}
	if d.clock.Speed() != speed {
		d.clock.SetSpeed(speed)
	}
	d.mu.Lock()
	d.progress.Paused = held
	d.mu.Unlock()
}

// finish ends the jobs that have run as long as they did in the trace.
func (d *Driver) finish(ctx context.Context, now time.Time) error {
	st := d.s.Cell.Load()
	for j := range st.Jobs.Running() {
		if !d.started[j.ID].Equal(j.Started) {
			d.started[j.ID] = j.Started
			heap.Push(&d.ends, ending{at: j.Started.Add(d.length(j.ID)), id: j.ID, started: j.Started})
		}
	}
	var due []string
	for len(d.ends) > 0 && !d.ends[0].at.After(now) && len(due) < 512 {
		e := heap.Pop(&d.ends).(ending)
		if j, ok := st.Jobs.Find(e.id); ok && j.Phase == jobs.Running && j.Started.Equal(e.started) {
			due = append(due, e.id)
			delete(d.started, e.id)
		}
	}
	errs := make([]error, len(due))
	var wg sync.WaitGroup
	for i, id := range due {
		wg.Go(func() {
			// It may have been preempted meanwhile; then it runs again and ends later.
			if err := d.s.Finish(ctx, id); err != nil && !errors.Is(err, jobs.ErrState) {
				errs[i] = err
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// book lets the teams book nodes over the next 14 days. A refusal is a normal
// answer: the calendar is full there, or the quota is.
func (d *Driver) book(ctx context.Context, now time.Time) {
	live := len(d.s.Bookings(""))
	pools := d.s.Overview("").Pools
	day := now.Truncate(time.Hour)
	for n := live; n < 60; n++ {
		team := Teams[d.rand.IntN(len(Teams))]
		p := pools[d.rand.IntN(len(pools))]
		nodes := 1 + d.rand.Int64N(max(p.Nodes*team.Share/250, 1))
		start := day.Add(time.Duration(1+d.rand.IntN(14*24-12)) * time.Hour)
		length := time.Duration(2+d.rand.IntN(70)) * time.Hour
		id := fmt.Sprintf("%s-%s-%d", team.Name, p.Name, d.rand.Uint32())
		_, _ = d.s.Book(ctx, team.Name, views.BookRequest{ID: id, Owner: team.Name, Pool: p.Name, Nodes: nodes, Start: start, End: start.Add(length)}, false)
	}
}

// breakNode takes a random node out and gives repaired ones back.
func (d *Driver) breakNode(ctx context.Context) {
	st := d.s.Cell.Load()
	var held int
	for h := range st.Health.Holds("") {
		held++
		if h.Owner == "health/demo" && (h.Slips > 0 || d.rand.IntN(4) == 0) {
			_ = d.s.UncordonAs(ctx, service.Call{}, commands.Uncordon{Node: string(h.Node), Owner: "health/demo"})
		}
	}
	if held > 12 {
		return
	}
	nodes := slices.Collect(st.Cluster.Nodes())
	if len(nodes) == 0 {
		return
	}
	step := []health.Step{health.StepReset, health.StepReboot, health.StepDiag, health.StepRMA}[d.rand.IntN(4)]
	id := string(st.Cluster.ID(nodes[d.rand.IntN(len(nodes))]))
	_, _ = d.s.CordonAs(ctx, service.Call{}, commands.Cordon{Node: id, Owner: "health/demo", Step: step, Reason: "a fault of the demo"})
}

// endings is a heap of jobs by the instant they end.
type ending struct {
	at, started time.Time
	id          string
}

type endings []ending

func (e endings) Len() int { return len(e) }
func (e endings) Less(i, j int) bool {
	return cmp.Or(e[i].at.Compare(e[j].at), cmp.Compare(e[i].id, e[j].id)) < 0
}
func (e endings) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *endings) Push(x any)   { *e = append(*e, x.(ending)) }
func (e *endings) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}
