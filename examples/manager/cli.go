// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/berth-gpu/berth/examples/manager/api"
	"github.com/berth-gpu/berth/examples/manager/commands"
	"github.com/berth-gpu/berth/examples/manager/service"
	"github.com/berth-gpu/berth/examples/manager/views"
	"github.com/berth-gpu/berth/health"
	"github.com/berth-gpu/berth/isolation"
	"github.com/berth-gpu/berth/quota"
)

type clientCmds struct {
	Pools        poolsCmd        `cmd:"" help:"Pools and how busy they are."`
	Availability availabilityCmd `cmd:"" help:"Free nodes of a pool over time."`
	Offers       offersCmd       `cmd:"" help:"When could I have nodes of a pool?"`
	Book         bookCmd         `cmd:"" help:"Book nodes of a pool for a window, or hold them."`
	Confirm      bookingCmd      `cmd:"" help:"Turn a held offer into a booking."`
	Cancel       bookingCmd      `cmd:"" help:"Give back a hold, a booking, or the rest of an active one."`
	Extend       extendCmd       `cmd:"" help:"Move the end of a booking."`
	Bookings     bookingsCmd     `cmd:"" help:"Live bookings."`
	Submit       submitCmd       `cmd:"" help:"Submit a job."`
	Queue        queueCmd        `cmd:"" help:"Waiting jobs and why they wait."`
	Explain      explainCmd      `cmd:"" help:"Where a job is, or why it waits."`
	Kill         killCmd         `cmd:"" help:"Give up a job."`
	Quota        quotaCmd        `cmd:"" help:"The quota tree."`
	Nodes        nodesCmd        `cmd:"" help:"Nodes of a pool."`
	Leases       leasesCmd       `cmd:"" help:"What the nodes of a running job must set up."`
	Cordon       cordonCmd       `cmd:"" help:"Take a node out of service."`
	Uncordon     uncordonCmd     `cmd:"" help:"Give up a hold on a node."`
	Fleet        fleetCmd        `cmd:"" help:"Change the fleet: nodes join, leave, are replaced."`
	Tenant       tenantCmd       `cmd:"" help:"Create or change a tenant of the quota tree."`
	Check        checkCmd        `cmd:"" help:"Verify the contract between the engines."`
}

// show prints v as JSON, or as a table.
func (c *remote) show(v any, table func(w *tabwriter.Writer)) error {
	if c.Output == "json" {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(v)
	}
	w := tabwriter.NewWriter(os.Stdout, 2, 8, 2, ' ', 0)
	table(w)
	return w.Flush()
}

func row(w *tabwriter.Writer, cells ...any) {
	for i, c := range cells {
		if i > 0 {
			fmt.Fprint(w, "\t")
		}
		if t, ok := c.(time.Time); ok {
			c = stamp(t)
		}
		fmt.Fprint(w, c)
	}
	fmt.Fprintln(w)
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04Z")
}

type poolsCmd struct{ remote }

// Run lists the pools.
func (c *poolsCmd) Run() error {
	var out []views.Pool
	if err := c.call("GET", "/v1/pools", nil, nil, &out); err != nil {
		return err
	}
	return c.show(out, func(w *tabwriter.Writer) {
		row(w, "POOL", "MODEL", "GPUS/NODE", "NODES", "FREE", "BOOKED", "OUT", "BUSY")
		for _, p := range out {
			row(w, p.Name, p.Model, p.GPUsPerNode, p.Nodes, p.FreeNow, p.BookedNow, p.OutNow, percent(p.Busy, p.Capacity))
		}
	})
}

func percent(a, b int64) string { return fmt.Sprintf("%.1f%%", 100*float64(a)/float64(max(b, 1))) }

type availabilityCmd struct {
	remote
	Pool string    `arg:""`
	From time.Time `help:"RFC 3339; default now."`
	Days int       `default:"14"`
}

// Run prints one line per day.
func (c *availabilityCmd) Run() error {
	if c.Days < 1 || c.Days > 400 {
		return usage("--days", c.Days, "must be 1 to 400")
	}
	q := url.Values{"pool": {c.Pool}, "bins": {strconv.Itoa(c.Days)}}
	if !c.From.IsZero() {
		q.Set("from", c.From.Format(time.RFC3339))
		q.Set("to", c.From.AddDate(0, 0, c.Days).Format(time.RFC3339))
	} else {
		var o views.Overview
		if err := c.call("GET", "/v1/overview", nil, nil, &o); err != nil {
			return err
		}
		q.Set("from", o.Now.Format(time.RFC3339))
		q.Set("to", o.Now.AddDate(0, 0, c.Days).Format(time.RFC3339))
	}
	var a views.Availability
	if err := c.call("GET", "/v1/availability", q, nil, &a); err != nil {
		return err
	}
	return c.show(a, func(w *tabwriter.Writer) {
		row(w, "FROM", "TO", "FREE AT LEAST", "FREE AT MOST", "NODES")
		for _, b := range a.Bins {
			row(w, b.Start, b.End, b.Min, b.Max, b.Capacity)
		}
	})
}

// want is a wish for nodes.
type want struct {
	ID    string        `help:"Id of the booking; a retry with the same id is answered as before. Default: a random one."`
	Owner string        `help:"Tenant." required:""`
	Pool  string        `help:"Pool." required:""`
	Nodes int64         `help:"Number of nodes." default:"1"`
	Start time.Time     `help:"RFC 3339." required:""`
	End   time.Time     `help:"RFC 3339; or give --for."`
	For   time.Duration `help:"Length, instead of --end."`
}

func (c *want) request() (views.BookRequest, error) {
	r := views.BookRequest{ID: c.ID, Owner: c.Owner, Pool: c.Pool, Nodes: c.Nodes, Start: c.Start, End: c.End}
	switch {
	case c.For != 0 && !c.End.IsZero():
		return r, usage("--for", c.For, "give --end or --for, not both")
	case c.For != 0:
		r.End = c.Start.Add(c.For)
	case c.End.IsZero():
		return r, usage("--end", "missing", "give --end or --for")
	}
	if r.ID == "" {
		r.ID = "cli-" + strings.ToLower(rand.Text()[:12])
	}
	return r, nil
}

type offersCmd struct {
	remote
	want
}

// Run lists what could be had, and why the wish cannot. If there is nothing at
// all, it fails with that reason.
func (c *offersCmd) Run() error {
	r, err := c.request()
	if err != nil {
		return err
	}
	var out views.Offers
	if err := c.call("POST", "/v1/offers", nil, r, &out); err != nil {
		return err
	}
	err = c.show(out, func(w *tabwriter.Writer) {
		if len(out.Offers) > 0 {
			offerTable(w, out.Offers)
		}
		if out.Refusal != nil && len(out.Offers) > 0 {
			fmt.Fprintln(w, "not as asked:", out.Refusal)
		}
	})
	if err == nil && len(out.Offers) == 0 && out.Refusal != nil {
		return out.Refusal
	}
	return err
}

func offerTable(w *tabwriter.Writer, offers []views.Offer) {
	row(w, "OFFER", "POOL", "NODES", "START", "END")
	for _, o := range offers {
		row(w, o.Kind, o.Pool, o.Nodes, o.Start, o.End)
	}
}

type bookCmd struct {
	remote
	want
	Hold time.Duration `help:"Hold for so long instead of booking at once."`
	Note string        `help:"For people."`
}

// Run books; if it cannot be had, the offers are printed.
func (c *bookCmd) Run() error {
	r, err := c.request()
	if err != nil {
		return err
	}
	r.HoldS, r.Reason = int64(c.Hold/time.Second), c.Note
	var b views.Booking
	if err := c.call("POST", "/v1/bookings", nil, r, &b); err != nil {
		if refusal, ok := err.(*views.Refusal); ok && len(refusal.Offers) > 0 && c.Output == "table" {
			w := tabwriter.NewWriter(os.Stdout, 2, 8, 2, ' ', 0)
			offerTable(w, refusal.Offers)
			_ = w.Flush()
		}
		return err
	}
	return c.show(b, func(w *tabwriter.Writer) { bookingTable(w, []views.Booking{b}) })
}

func bookingTable(w *tabwriter.Writer, list []views.Booking) {
	row(w, "BOOKING", "OWNER", "POOL", "NODES", "GPUS", "START", "END", "PHASE", "SHORT", "VERSION")
	for _, b := range list {
		row(w, b.ID, b.Owner, b.Pool, b.Nodes, b.GPUs, b.Start, b.End, b.Phase, b.Shortfall, b.Version)
	}
}

// ifVersion is for commands that change a booking.
type ifVersion struct {
	IfVersion uint64 `help:"Do it only if the booking still has this version."`
}

func (c ifVersion) query() url.Values {
	if c.IfVersion == 0 {
		return nil
	}
	return url.Values{"if_version": {strconv.FormatUint(c.IfVersion, 10)}}
}

type bookingCmd struct {
	remote
	ifVersion
	ID string `arg:""`
}

// Run confirms or cancels: the command's name says which.
func (c *bookingCmd) Run(ctx *kongContext) error {
	method, path := "POST", "/v1/confirm/"
	if strings.HasPrefix(ctx.Command(), "cancel") {
		method, path = "DELETE", "/v1/bookings/"
	}
	var b views.Booking
	if err := c.call(method, path+escape(c.ID), c.query(), nil, &b); err != nil {
		return err
	}
	return c.show(b, func(w *tabwriter.Writer) { bookingTable(w, []views.Booking{b}) })
}

// escape makes an id fit for a path; ids may contain slashes.
func escape(id string) string {
	parts := strings.Split(id, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

type extendCmd struct {
	remote
	ifVersion
	ID  string    `arg:""`
	End time.Time `help:"RFC 3339." required:""`
}

// Run moves the end.
func (c *extendCmd) Run() error {
	var b views.Booking
	if err := c.call("POST", "/v1/extend/"+escape(c.ID), c.query(), map[string]time.Time{"end": c.End}, &b); err != nil {
		return err
	}
	return c.show(b, func(w *tabwriter.Writer) { bookingTable(w, []views.Booking{b}) })
}

type bookingsCmd struct{ remote }

// Run lists the bookings.
func (c *bookingsCmd) Run() error {
	var out []views.Booking
	if err := c.call("GET", "/v1/bookings", nil, nil, &out); err != nil {
		return err
	}
	return c.show(out, func(w *tabwriter.Writer) { bookingTable(w, out) })
}

type submitCmd struct {
	remote
	ID       string   `help:"Id of the job." required:""`
	Tenant   string   `help:"Tenant." required:""`
	Count    int      `help:"Pods, placed together or not at all." default:"1"`
	GPUs     int64    `name:"gpus" help:"Whole GPUs per pod."`
	GPUMilli int64    `name:"gpu-milli" help:"Or thousandths of one GPU."`
	CPU      int64    `name:"cpu-milli" help:"Thousandths of a CPU per pod."`
	Memory   int64    `name:"memory-mib" help:"MiB per pod."`
	Models   []string `help:"GPU models that will do."`
}

// Run submits the job.
func (c *submitCmd) Run() error {
	var j views.Job
	r := api.SubmitRequest{ID: c.ID, Tenant: c.Tenant, Count: c.Count, GPUs: c.GPUs, GPUMilli: c.GPUMilli, CPUMilli: c.CPU, MemoryMiB: c.Memory, Models: c.Models}
	if err := c.call("POST", "/v1/jobs", nil, r, &j); err != nil {
		return err
	}
	return c.show(j, func(w *tabwriter.Writer) { jobTable(w, []views.Job{j}) })
}

func jobTable(w *tabwriter.Writer, list []views.Job) {
	row(w, "JOB", "TENANT", "ASKS", "PHASE", "SUBMITTED", "STARTED", "NODES", "WHY")
	for _, j := range list {
		why := ""
		if j.Reason != nil {
			why = j.Reason.Title
		}
		row(w, j.ID, j.Tenant, j.Ask, j.Phase, j.Submitted, j.Started, strings.Join(j.Nodes, ","), why)
	}
}

type queueCmd struct {
	remote
	Limit int `default:"30"`
}

// Run lists the waiting jobs.
func (c *queueCmd) Run() error {
	var q views.Queue
	if err := c.call("GET", "/v1/jobs", url.Values{"limit": {strconv.Itoa(c.Limit)}}, nil, &q); err != nil {
		return err
	}
	return c.show(q, func(w *tabwriter.Writer) {
		jobTable(w, q.Waiting)
		fmt.Fprintf(w, "%d waiting, %d running\n", q.WaitingTotal, q.RunningTotal)
	})
}

type explainCmd struct {
	remote
	ID string `arg:""`
}

// Run explains one job.
func (c *explainCmd) Run() error {
	var j views.Job
	if err := c.call("GET", "/v1/jobs/"+escape(c.ID), nil, nil, &j); err != nil {
		return err
	}
	return c.show(j, func(w *tabwriter.Writer) {
		jobTable(w, []views.Job{j})
		if j.Reason != nil {
			fmt.Fprintln(w, j.Reason.Detail)
			for _, h := range j.Reason.Help {
				fmt.Fprintln(w, "what would help:", h)
			}
		}
	})
}

type killCmd struct {
	remote
	ID  string `arg:""`
	Why string
}

// Run gives up a job.
func (c *killCmd) Run() error {
	var j views.Job
	if err := c.call("DELETE", "/v1/jobs/"+escape(c.ID), url.Values{"why": {c.Why}}, nil, &j); err != nil {
		return err
	}
	return c.show(j, func(w *tabwriter.Writer) { jobTable(w, []views.Job{j}) })
}

type quotaCmd struct{ remote }

// Run prints the quota tree.
func (c *quotaCmd) Run() error {
	var out []views.QuotaNode
	if err := c.call("GET", "/v1/quota", nil, nil, &out); err != nil {
		return err
	}
	return c.show(out, func(w *tabwriter.Writer) {
		row(w, "TENANT", "KEY", "NOMINAL", "USED", "GUARANTEED", "BORROWED", "LENT", "IDLE", "AVAILABLE")
		for _, n := range out {
			for _, k := range n.Keys {
				row(w, strings.Repeat("  ", n.Depth)+n.Tenant, k.Key, k.Nominal, k.Used, k.Guaranteed, k.Borrowed, k.Lent, k.Idle, k.Available)
			}
		}
	})
}

type nodesCmd struct {
	remote
	Pool string `arg:"" optional:""`
}

// Run lists nodes.
func (c *nodesCmd) Run() error {
	var m views.FleetMap
	q := url.Values{}
	if c.Pool != "" {
		q.Set("pool", c.Pool)
	}
	if err := c.call("GET", "/v1/nodes", q, nil, &m); err != nil {
		return err
	}
	return c.show(m, func(w *tabwriter.Writer) {
		row(w, "NODE", "POOL", "TENANT", "GPUS IN USE (THOUSANDTHS)", "BOOKING", "HELD BY")
		for _, p := range m.Pools {
			for _, n := range p.Nodes {
				var held []string
				for _, h := range n.Holds {
					held = append(held, h.Owner)
				}
				row(w, n.ID, n.Pool, n.Tenant, fmt.Sprint(n.GPUs), n.Booking, strings.Join(held, ","))
			}
		}
	})
}

type leasesCmd struct {
	remote
	ID string `arg:""`
}

// Run prints the lease plans of a job.
func (c *leasesCmd) Run() error {
	var plans []isolation.Plan
	if err := c.call("GET", "/v1/leases/"+escape(c.ID), nil, nil, &plans); err != nil {
		return err
	}
	return c.show(plans, func(w *tabwriter.Writer) {
		row(w, "NODE", "DEVICE", "MAJOR", "MINOR", "CDI NAME")
		for _, p := range plans {
			for _, d := range p.Devices {
				row(w, p.Lease.Node, d.Path, d.Major, d.Minor, p.Device)
			}
		}
	})
}

type cordonCmd struct {
	remote
	Node     string    `arg:""`
	Owner    string    `help:"Who holds it, like human/oncall or maintenance." required:""`
	Step     string    `help:"none, reset, reboot, diag or rma." default:"none"`
	Reason   string    `help:"For people."`
	Expected time.Time `help:"RFC 3339; default: from the step."`
}

// Run takes a node out.
func (c *cordonCmd) Run() error {
	var h health.Hold
	if err := c.call("POST", "/v1/cordon/"+escape(c.Node), nil, api.CordonRequest{Owner: c.Owner, Step: c.Step, Reason: c.Reason, Expected: c.Expected}, &h); err != nil {
		return err
	}
	return c.show(h, func(w *tabwriter.Writer) {
		row(w, "NODE", "OWNER", "STEP", "SINCE", "EXPECTED BACK")
		row(w, h.Node, h.Owner, h.Step, h.Since, h.Expected)
	})
}

type uncordonCmd struct {
	remote
	Node  string `arg:""`
	Owner string `required:""`
}

// Run gives up a hold.
func (c *uncordonCmd) Run() error {
	var out map[string]bool
	if err := c.call("POST", "/v1/uncordon/"+escape(c.Node), nil, map[string]string{"owner": c.Owner}, &out); err != nil {
		return err
	}
	return c.show(out, func(w *tabwriter.Writer) { row(w, "node", c.Node, "is no longer held by", c.Owner) })
}

type fleetCmd struct {
	remote
	File string `arg:"" help:"A change of the fleet, as JSON." type:"existingfile"`
}

// Run sends the change.
func (c *fleetCmd) Run() error {
	var out commands.FleetReport
	if err := c.send("/v1/fleet", c.File, &out); err != nil {
		return err
	}
	return c.show(out, func(w *tabwriter.Writer) {
		row(w, "FLEET VERSION", "NODES", "GPUS")
		row(w, out.Version, out.Nodes, out.GPUs)
	})
}

// send posts a file of JSON as it is.
func (c *remote) send(path, file string, out any) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return c.call("POST", path, nil, json.RawMessage(b), out)
}

type tenantCmd struct {
	remote
	File string `arg:"" help:"A tenant with its limits, as JSON." type:"existingfile"`
}

// Run sends the tenant.
func (c *tenantCmd) Run() error {
	var out quota.Tenant
	if err := c.send("/v1/tenants", c.File, &out); err != nil {
		return err
	}
	return c.show(out, func(w *tabwriter.Writer) {
		row(w, "TENANT", "KEY", "NOMINAL")
		for _, l := range out.Limits {
			row(w, out.Name, l.Key, l.Nominal)
		}
	})
}

type checkCmd struct{ remote }

// Run verifies the running manager.
func (c *checkCmd) Run() error {
	var out service.CheckReport
	if err := c.call("GET", "/v1/check", nil, nil, &out); err != nil {
		return err
	}
	return c.show(out, func(w *tabwriter.Writer) { row(w, "the contract between the engines holds at record", out.Seq) })
}
