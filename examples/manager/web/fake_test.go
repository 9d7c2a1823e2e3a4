// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/berth-gpu/berth/examples/manager/views"
)

// day0 is the fake's clock: a Tuesday.
var day0 = time.Date(2026, 3, 10, 9, 37, 0, 0, time.UTC)

const hour, day = time.Hour, 24 * time.Hour

// A fake is a manager in memory with the node counts of the openb trace. It is
// the same at every start and really changes when somebody books.
type fake struct {
	mu       sync.Mutex
	now      time.Time
	tenants  []string
	pools    []views.Pool
	bookings []views.Booking
	outages  map[string][]views.Outage
	fleet    map[string][]views.Node
	queue    views.Queue
	booked   int // how often Book changed something
	changed  chan struct{}
	broken   error // what every question with an error is answered
}

func newFake() *fake {
	f := &fake{now: day0, tenants: []string{"vision", "speech", "search", "ads"},
		outages: map[string][]views.Outage{}, fleet: map[string][]views.Node{}, changed: make(chan struct{})}
	for _, p := range []struct {
		model       string
		gpus, nodes int64
	}{{"G2", 8, 549}, {"T4", 2, 387}, {"P100", 2, 131}, {"G3", 8, 39}, {"V100M16", 4, 28}, {"V100M32", 8, 21},
		{"V100M16", 1, 19}, {"T4", 4, 17}, {"V100M32", 4, 9}, {"V100M16", 8, 8}, {"P100", 1, 3}, {"A10", 1, 2}} {
		name := fmt.Sprintf("%sx%d", p.model, p.gpus)
		f.pools = append(f.pools, views.Pool{Name: name, Model: p.model, GPUsPerNode: p.gpus, Nodes: p.nodes, Capacity: 1000 * p.gpus * p.nodes})
		f.furnish(f.pools[len(f.pools)-1])
	}
	f.pools = append(f.pools, views.Pool{Name: "cpu-96", Nodes: 12, CPUMilliPerNode: 96_000})
	f.furnish(f.pools[len(f.pools)-1])
	for i := range 24 {
		f.queue.Waiting = append(f.queue.Waiting, waitingJob(i, f.tenants[i%4]))
		f.queue.Running = append(f.queue.Running, views.Job{ID: fmt.Sprintf("openb-pod-%04d", 5100-i), Tenant: f.tenants[i*3%4], Ask: "1 pod × 1 GPU of T4",
			Milli: 1000, Phase: "running", Started: day0.Add(-time.Duration(i*17+3) * time.Minute), Nodes: []string{fmt.Sprintf("T4x2-%04d", i)}})
	}
	f.queue.WaitingTotal, f.queue.RunningTotal = 137, 2816
	return f
}

// furnish gives a pool its bookings over two weeks, outages and nodes in use.
func (f *fake) furnish(p views.Pool) {
	for i := range int64(11) {
		nodes := p.Nodes * (i%4 + 1) / 13
		if nodes == 0 {
			continue
		}
		start := day0.Truncate(hour).Add(time.Duration(i*29-20) * hour)
		b := views.Booking{ID: fmt.Sprintf("%s-%02d", p.Name, i), Owner: f.tenants[(i*7+p.Nodes)%4], Pool: p.Name, Nodes: nodes, GPUs: nodes * p.GPUsPerNode,
			Start: start, End: start.Add(time.Duration(30+i*13%50) * hour), Phase: "confirmed"}
		if !start.After(day0) {
			b.Phase = "active"
		}
		f.bookings = append(f.bookings, b)
	}
	if p.Name == "T4x2" { // many small ones
		for i := range 70 {
			start := day0.Truncate(hour).Add(time.Duration(i*5%90+8) * hour)
			f.bookings = append(f.bookings, views.Booking{ID: fmt.Sprintf("small-%02d", i), Owner: f.tenants[i%4], Pool: p.Name, Nodes: 2, GPUs: 4,
				Start: start, End: start.Add(time.Duration(60+i*31%150) * hour), Phase: "confirmed"})
		}
	}
	if p.Name == "V100M16x8" { // more breaks than is free
		f.outages[p.Name] = []views.Outage{{ID: "o3", Owner: "health", Reason: "power", Nodes: []string{"a", "b", "c", "d", "e", "f"}, Start: day0.Add(3 * day), End: day0.Add(5 * day)}}
		f.bookings[len(f.bookings)-1].Shortfall = 1
	}
	if p.Nodes > 8 {
		f.outages[p.Name] = []views.Outage{
			{ID: "o1", Owner: "health", Reason: "reboot after XID 79", Nodes: []string{p.Name + "-0003"}, Start: day0.Add(-hour), End: day0.Add(5 * hour)},
			{ID: "o2", Owner: "maintenance", Reason: "firmware", Nodes: []string{p.Name + "-0004", p.Name + "-0005"}, Start: day0.Add(6 * day), End: day0.Add(7 * day)},
		}
	}
	for i := range p.Nodes {
		n := views.Node{ID: fmt.Sprintf("%s-%04d", p.Name, i), Pool: p.Name, Model: p.Model, GPUs: make([]int64, p.GPUsPerNode), CPU: 96_000, CPUFree: 24500, MemFree: 131072}
		if i%7 != 6 {
			n.Tenant = f.tenants[i/9%4]
			for g := range n.GPUs {
				n.GPUs[g] = []int64{1000, 1000, 500, 0, 1000, 250, 1000, 0}[(int(i)*5+g)%8]
			}
			n.Jobs = []string{fmt.Sprintf("openb-pod-%04d", i)}
		}
		if i == 3 {
			n.Holds = []views.Hold{{Owner: "health", Step: "reboot", Reason: "XID 79: GPU has fallen off the bus", Since: day0.Add(-hour), Expected: day0.Add(5 * hour)}}
			n.GPUs = make([]int64, p.GPUsPerNode)
		}
		f.fleet[p.Name] = append(f.fleet[p.Name], n)
	}
}

func waitingJob(i int, tenant string) views.Job {
	reasons := []*views.Refusal{
		{Code: "no-seat", Title: "No node is free", Detail: "G2x8: 2 whole nodes are needed, 0 are free until Wed 11 Mar 04:00", Help: []string{"Wait until Wed 11 Mar 04:00.", "Ask for fewer GPUs per pod."}},
		{Code: "quota", Title: "The quota is used up", Detail: tenant + " uses 64 of 64 GPUs of V100M32 and nobody lends", Help: []string{"End a job of " + tenant + "."}},
		{Code: "fragmented", Title: "Free GPUs lie apart", Detail: "4 GPUs of one node are needed; the best node has 3 free"},
	}
	j := views.Job{ID: fmt.Sprintf("openb-pod-%04d", 5200+i), Tenant: tenant, Ask: "2 pods × 8 GPUs of G2", Milli: 16000, Phase: "queued",
		Submitted: day0.Add(-time.Duration(140-i*5) * time.Minute), Reason: reasons[i*7/2%3]}
	if i == 4 {
		j.Preemptions = 1
	}
	return j
}

// freeAt is the naive model: count everything that is there at one instant.
func (f *fake) freeAt(p views.Pool, t time.Time) (free, capacity int64) {
	capacity = p.Nodes
	for _, o := range f.outages[p.Name] {
		if !t.Before(o.Start) && (o.End.IsZero() || t.Before(o.End)) {
			capacity -= int64(len(o.Nodes))
		}
	}
	free = capacity
	for _, b := range f.bookings {
		if b.Pool == p.Name && !t.Before(b.Start) && t.Before(b.End) {
			free -= b.Nodes
		}
	}
	return free, capacity
}

func (f *fake) bin(p views.Pool, from, to time.Time) views.Bin {
	free, capacity := f.freeAt(p, from)
	b := views.Bin{Start: from, End: to, Min: free, Max: free, Capacity: capacity}
	see := func(t time.Time) {
		if t.After(from) && t.Before(to) {
			v, c := f.freeAt(p, t)
			b.Min, b.Max, b.Capacity = min(b.Min, v), max(b.Max, v), min(b.Capacity, c)
		}
	}
	for _, k := range f.bookings {
		if k.Pool == p.Name {
			see(k.Start)
			see(k.End)
		}
	}
	for _, o := range f.outages[p.Name] {
		see(o.Start)
		see(o.End)
	}
	return b
}

func (f *fake) pool(name string) (views.Pool, error) {
	for _, p := range f.pools {
		if p.Name != name {
			continue
		}
		free, capacity := f.freeAt(p, f.now)
		p.FreeNow, p.BookedNow, p.OutNow = free, capacity-free, p.Nodes-capacity
		for _, n := range f.fleet[name] {
			for _, m := range n.GPUs {
				p.Busy += m
			}
		}
		return p, nil
	}
	return views.Pool{}, &views.Refusal{Code: "unknown-pool", Title: "There is no such pool", Detail: fmt.Sprintf("pool: %q", name), Status: 404}
}

func (f *fake) Overview(viewer string) views.Overview {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := views.Overview{Now: f.now, Running: f.queue.RunningTotal, Waiting: f.queue.WaitingTotal, Bookings: len(f.bookings), Held: 9,
		Tenants: f.tenants, Demo: &views.DemoProgress{Arrived: 5120, Total: 8152, Round: 1, Speed: 600}}
	if viewer != "" {
		o.Tenants = []string{viewer}
	}
	for _, b := range f.bookings {
		o.Demo.Paused = o.Demo.Paused || b.Phase == "held"
	}
	for _, p := range f.pools {
		p, _ = f.pool(p.Name)
		o.Pools = append(o.Pools, p)
		o.Nodes += p.Nodes
		o.GPUs += p.Nodes * p.GPUsPerNode
		o.Busy += p.Busy
		o.Capacity += p.Capacity
	}
	return o
}

func (f *fake) Availability(viewer, pool string, from, to time.Time, bins int) (views.Availability, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, err := f.pool(pool)
	if err != nil || f.broken != nil {
		return views.Availability{}, cmpErr(f.broken, err)
	}
	a := views.Availability{Pool: p, From: from, To: to, Outages: f.outages[pool]}
	step := to.Sub(from) / time.Duration(bins)
	for i := range bins {
		start := from.Add(time.Duration(i) * step)
		a.Bins = append(a.Bins, f.bin(p, start, start.Add(step)))
	}
	for _, b := range f.bookings {
		if b.Pool == pool && b.Start.Before(to) && b.End.After(from) {
			a.Bookings = append(a.Bookings, redact(viewer, b))
		}
	}
	return a, nil
}

func cmpErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func redact(viewer string, b views.Booking) views.Booking {
	if viewer != "" && viewer != b.Owner {
		b.ID, b.Owner = "", "other tenants"
	}
	return b
}

func (f *fake) least(p views.Pool, from, to time.Time) int64 { return f.bin(p, from, to).Min }

func (f *fake) Offers(_ string, r views.BookRequest) (views.Offers, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return views.Offers{Offers: f.offers(r)}, nil
}

func (f *fake) ModelAvailability(_, model string, from, to time.Time, bins int) (views.ModelAvailability, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := views.ModelAvailability{Model: model, From: from, To: to}
	for _, p := range f.pools {
		if p.Model == model {
			p, _ = f.pool(p.Name)
			m.Pools = append(m.Pools, p)
			m.GPUs += p.Nodes * p.GPUsPerNode
		}
	}
	if len(m.Pools) == 0 || f.broken != nil {
		return m, cmpErr(f.broken, &views.Refusal{Code: "not-found", Title: "not found", Detail: fmt.Sprintf("GPU model %q", model), Status: 404})
	}
	step := to.Sub(from) / time.Duration(bins)
	for i := range bins {
		b := views.Bin{Start: from.Add(time.Duration(i) * step), End: from.Add(time.Duration(i+1) * step)}
		for _, p := range m.Pools { // the sum of the pools' own is near enough for a picture
			x := f.bin(p, b.Start, b.End)
			b.Min, b.Max, b.Capacity = b.Min+x.Min*p.GPUsPerNode, b.Max+x.Max*p.GPUsPerNode, b.Capacity+x.Capacity*p.GPUsPerNode
		}
		m.Bins = append(m.Bins, b)
	}
	return m, nil
}

func (f *fake) offers(r views.BookRequest) (out []views.Offer) {
	p, err := f.pool(r.Pool)
	if err != nil {
		return nil
	}
	if free := f.least(p, r.Start, r.End); free > 0 && free < r.Nodes {
		out = append(out, views.Offer{Kind: "smaller", Pool: r.Pool, Nodes: free, Start: r.Start, End: r.End})
	}
	length := r.End.Sub(r.Start)
	for t := later(r.Start, f.now.Truncate(hour).Add(hour)); t.Before(f.now.Add(20 * day)); t = t.Add(hour) {
		if f.least(p, t, t.Add(length)) >= r.Nodes {
			return append(out, views.Offer{Kind: "later", Pool: r.Pool, Nodes: r.Nodes, Start: t, End: t.Add(length)})
		}
	}
	return out
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (f *fake) Book(_ context.Context, actor string, r views.BookRequest, dryRun bool) (views.Booking, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, err := f.pool(r.Pool)
	if err != nil || f.broken != nil {
		return views.Booking{}, cmpErr(f.broken, err)
	}
	for _, b := range f.bookings {
		if b.ID == r.ID {
			return b, nil // a repeated request is answered as before
		}
	}
	if r.Start.Before(f.now) {
		return views.Booking{}, &views.Refusal{Code: "past", Title: "The window lies in the past", Detail: "start: " + r.Start.Format(time.RFC3339), Status: 422, Offers: f.offers(r)}
	}
	if free := f.least(p, r.Start, r.End); free < r.Nodes {
		return views.Booking{}, &views.Refusal{Code: "capacity", Title: "Not enough free nodes", Status: 409, Offers: f.offers(r),
			Detail:   fmt.Sprintf("%d nodes of %s are needed, at the tightest moment %d are free", r.Nodes, p.Name, free),
			Blockers: []views.Blocker{{Where: p.Name, Kind: "capacity", Limit: p.Nodes, Used: p.Nodes - free, Need: r.Nodes, Deficit: r.Nodes - free}},
			Help:     []string{"Choose another window.", "Ask for fewer nodes."}}
	}
	b := views.Booking{ID: r.ID, Owner: r.Owner, Pool: r.Pool, Nodes: r.Nodes, GPUs: r.Nodes * p.GPUsPerNode, Start: r.Start, End: r.End, Phase: "confirmed"}
	if r.HoldS > 0 {
		b.Phase, b.Expires = "held", f.now.Add(time.Duration(r.HoldS)*time.Second)
	}
	if !dryRun {
		f.bookings = append(f.bookings, b)
		f.booked++
		f.publish()
	}
	return b, nil
}

func (f *fake) act(actor, id string, do func(i int)) (views.Booking, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.bookings, func(b views.Booking) bool { return b.ID == id && (actor == "" || actor == b.Owner) })
	if i < 0 {
		return views.Booking{}, &views.Refusal{Code: "unknown-booking", Title: "There is no such booking", Detail: fmt.Sprintf("booking: %q", id), Status: 404}
	}
	b := f.bookings[i]
	do(i)
	f.publish()
	return b, nil
}

func (f *fake) Confirm(_ context.Context, actor, id string) (views.Booking, error) {
	return f.act(actor, id, func(i int) { f.bookings[i].Phase = "confirmed" })
}

func (f *fake) Cancel(_ context.Context, actor, id string) (views.Booking, error) {
	return f.act(actor, id, func(i int) { f.bookings = slices.Delete(f.bookings, i, i+1) })
}

func (f *fake) Quota(string) []views.QuotaNode {
	node := func(tenant, parent string, depth int, share int64) views.QuotaNode {
		n := views.QuotaNode{Tenant: tenant, Parent: parent, Depth: depth}
		for i, key := range []string{"gpu-milli/G2", "gpu-milli/G3", "gpu-milli/NVIDIA-A100-SXM4-80GB", "gpu-milli/T4", "gpu-milli/V100M32", "cpu-milli"} {
			// Figures as large as they get: a hundred thousand GPUs, a million cores.
			nominal := share * []int64{4392, 312, 99_999, 842, 204, 1_234_567}[i] * 10
			used := nominal / 100 * []int64{91, 40, 117, 66}[(i+len(tenant))%4]
			k := views.QuotaKey{Key: key, Nominal: nominal, Used: used, Guaranteed: min(used, nominal) * 3 / 5}
			k.Borrowed = max(used-nominal, 0)
			k.Idle = max(nominal-used, 0)
			if i == 1 {
				k.Lent, k.Idle = k.Idle/2, k.Idle-k.Idle/2
			}
			k.Available = k.Idle + 1500
			n.Keys = append(n.Keys, k)
		}
		return n
	}
	return []views.QuotaNode{node("company", "", 0, 100), node("research", "company", 1, 60), node(f.tenants[0], "research", 2, 35), node("speech", "research", 2, 25),
		node("product", "company", 1, 40), node("search", "product", 2, 25), node("ads", "product", 2, 15)}
}

func (f *fake) Queue(_ string, limit int) views.Queue {
	q := f.queue
	q.Waiting, q.Running = q.Waiting[:min(limit, len(q.Waiting))], q.Running[:min(limit, len(q.Running))]
	return q
}

func (f *fake) Fleet(_, pool string) (views.FleetMap, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var m views.FleetMap
	for _, p := range f.pools {
		if pool == "" || p.Name == pool {
			p, _ = f.pool(p.Name)
			m.Pools = append(m.Pools, views.FleetPool{Pool: p, Nodes: f.fleet[p.Name]})
		}
	}
	if m.Pools == nil {
		_, err := f.pool(pool)
		return m, err
	}
	return m, nil
}

func (f *fake) Node(_, id string) (views.Node, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, nodes := range f.fleet {
		for _, n := range nodes {
			if n.ID == id {
				return n, nil
			}
		}
	}
	return views.Node{}, &views.Refusal{Code: "unknown-node", Title: "There is no such node", Detail: fmt.Sprintf("node: %q", id), Status: 404}
}

func (f *fake) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed
}

// publish tells that something changed; the caller holds the lock.
func (f *fake) publish() {
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *fake) touch() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.publish()
}
