// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/berth-gpu/berth/examples/manager/commands"
	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/examples/manager/service"
	"github.com/berth-gpu/berth/examples/manager/strict"
	"github.com/berth-gpu/berth/examples/manager/views"
	"github.com/berth-gpu/berth/health"
	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/topology"
)

const (
	maxBody = 1 << 20
	timeout = 30 * time.Second // of one command
)

// Options says who may call.
type Options struct {
	// Viewer names the caller: "" for an admin, else a tenant. Nil: everybody is
	// an admin, which is for loopback only.
	Viewer func(*http.Request) (string, error)
}

type server struct {
	s      *service.Service
	viewer func(*http.Request) (string, error)
}

// Handler serves /v1/.
func Handler(s *service.Service, opt Options) http.Handler {
	h := &server{s: s, viewer: opt.Viewer}
	if h.viewer == nil {
		h.viewer = func(*http.Request) (string, error) { return "", nil }
	}
	mux := http.NewServeMux()
	for _, r := range h.routes() {
		mux.Handle(r.Pattern, r.handler)
	}
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		problem(w, &views.Refusal{Code: "no-route", Title: "no such call", Detail: r.Method + " " + r.URL.Path, Status: http.StatusNotFound})
	})
	return mux
}

// A Route is one call of the API.
type Route struct {
	Pattern string
	Mutates bool
	Admin   bool // refused to tenants
	handler http.Handler
}

// Routes lists every call, for tests and documentation.
func Routes(s *service.Service) []Route { return (&server{s: s}).routes() }

type call struct {
	ctx    context.Context
	viewer string
	r      *http.Request
	dryRun bool
	key    string

	ifVersion uint64
}

func (h *server) routes() []Route {
	get := func(pattern string, f func(call) (any, error)) Route {
		return Route{Pattern: "GET " + pattern, handler: h.handle(f, false, false)}
	}
	change := func(pattern string, f func(call) (any, error)) Route {
		return Route{Pattern: pattern, Mutates: true, handler: h.handle(f, false, false)}
	}
	// A booking has a version; whoever changes one may say which it has seen.
	versioned := func(pattern string, f func(call) (any, error)) Route {
		return Route{Pattern: pattern, Mutates: true, handler: h.handle(f, false, true)}
	}
	admin := func(pattern string, mutates bool, f func(call) (any, error)) Route {
		return Route{Pattern: pattern, Mutates: mutates, Admin: true, handler: h.handle(f, true, false)}
	}
	return []Route{
		get("/v1/overview", func(c call) (any, error) { return h.s.Overview(c.viewer), nil }),
		get("/v1/pools", func(c call) (any, error) { return h.s.Overview(c.viewer).Pools, nil }),
		get("/v1/availability", h.availability),
		{Pattern: "POST /v1/offers", handler: h.handle(h.offers, false, false)},
		get("/v1/bookings", func(c call) (any, error) { return h.s.Bookings(c.viewer), nil }),
		get("/v1/bookings/{id...}", func(c call) (any, error) { return h.s.Booking(c.viewer, c.r.PathValue("id")) }),
		change("POST /v1/bookings", h.book),
		versioned("POST /v1/confirm/{id...}", func(c call) (any, error) { return h.s.ConfirmAs(c.ctx, c.as(), c.r.PathValue("id")) }),
		versioned("POST /v1/extend/{id...}", h.extend),
		versioned("DELETE /v1/bookings/{id...}", func(c call) (any, error) { return h.s.CancelAs(c.ctx, c.as(), c.r.PathValue("id")) }),
		get("/v1/quota", func(c call) (any, error) { return h.s.Quota(c.viewer), nil }),
		get("/v1/jobs", func(c call) (any, error) {
			n, err := number(c.r, "limit", 100, service.MaxRows)
			if err != nil {
				return nil, err
			}
			return h.s.Queue(c.viewer, n), nil
		}),
		get("/v1/jobs/{id...}", func(c call) (any, error) { return h.s.Job(c.viewer, c.r.PathValue("id")) }),
		change("POST /v1/jobs", h.submit),
		change("DELETE /v1/jobs/{id...}", func(c call) (any, error) {
			return h.s.KillAs(c.ctx, c.as(), c.r.PathValue("id"), c.r.URL.Query().Get("why"))
		}),
		get("/v1/nodes", func(c call) (any, error) { return h.s.Fleet(c.viewer, c.r.URL.Query().Get("pool")) }),
		get("/v1/nodes/{id...}", func(c call) (any, error) { return h.s.Node(c.viewer, c.r.PathValue("id")) }),
		get("/v1/leases/{id...}", func(c call) (any, error) { return h.s.Leases(c.viewer, c.r.PathValue("id")) }),
		admin("POST /v1/cordon/{id...}", true, h.cordon),
		admin("POST /v1/uncordon/{id...}", true, h.uncordon),
		admin("POST /v1/fleet", true, h.fleet),
		admin("POST /v1/tenants", true, func(c call) (any, error) {
			var t quota.Tenant
			if err := body(c.r, &t); err != nil {
				return nil, err
			}
			return h.s.TenantAs(c.ctx, c.as(), commands.SetTenant{Tenant: t})
		}),
		admin("GET /v1/check", false, func(call) (any, error) { return h.s.Check() }),
	}
}

// as is who calls, under which request key, for which version, and whether for real.
func (c call) as() service.Call {
	return service.Call{Actor: c.viewer, Key: c.key, DryRun: c.dryRun, IfVersion: c.ifVersion}
}

func (h *server) handle(f func(call) (any, error), admin, versioned bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		viewer, err := h.viewer(r)
		if err != nil {
			w.Header().Set("WWW-Authenticate", `Bearer realm="berth"`)
			problem(w, &views.Refusal{Code: "unauthorised", Title: "who are you?", Detail: err.Error(), Status: http.StatusUnauthorized})
			return
		}
		if admin && viewer != "" {
			problem(w, service.ErrForbidden)
			return
		}
		if r.Method == http.MethodPost && r.ContentLength != 0 && !isJSON(r.Header.Get("Content-Type")) {
			problem(w, &views.Refusal{Code: "not-json", Title: "send JSON", Detail: fmt.Sprintf("Content-Type is %q: must be application/json", r.Header.Get("Content-Type")),
				Status: http.StatusUnsupportedMediaType})
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), timeout)
		defer cancel()
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		c := call{ctx: ctx, viewer: viewer, r: r, key: r.Header.Get("Idempotency-Key")}
		switch v := r.URL.Query().Get("dry_run"); v {
		case "", "false":
		case "true":
			c.dryRun = true
		default:
			problem(w, invalid("dry_run", v, "say true or false"))
			return
		}
		if v := r.URL.Query().Get("if_version"); v != "" {
			if c.ifVersion, err = strconv.ParseUint(v, 10, 64); err != nil || c.ifVersion == 0 || !versioned {
				problem(w, invalid("if_version", v, "give the version of a booking, 1 or more, where one is changed"))
				return
			}
		}
		v, err := f(c)
		if err != nil {
			problem(w, service.Refuse(viewer, err))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_ = json.NewEncoder(w).Encode(v) // the caller went away: nobody to tell
	})
}

// isJSON keeps forms of other sites out: a browser sends JSON across origins only
// after asking.
func isJSON(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	return err == nil && t == "application/json"
}

func problem(w http.ResponseWriter, r *views.Refusal) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(r.Status)
	_ = json.NewEncoder(w).Encode(r)
}

func invalid(field, value, rule string) *views.Refusal {
	return &views.Refusal{Code: "invalid", Title: "the request is not valid", Detail: fmt.Sprintf("%s is %q: %s", field, value, rule),
		Status: http.StatusUnprocessableEntity}
}

// body reads the request's JSON into v, with nothing unknown or repeated in it.
func body(r *http.Request, v any) error {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return &views.Refusal{Code: "too-large", Title: "the request is too large", Detail: fmt.Sprintf("more than %d bytes", e.Limit), Status: http.StatusRequestEntityTooLarge}
		}
		return &views.Refusal{Code: "invalid", Title: "the body could not be read", Detail: err.Error(), Status: http.StatusBadRequest}
	}
	if err := strict.Decode(b, v); err != nil {
		return &views.Refusal{Code: "invalid", Title: "the body is not valid JSON for this call", Detail: err.Error(), Status: http.StatusBadRequest}
	}
	return nil
}

// number reads a whole number from 1 to most.
func number(r *http.Request, name string, def, most int) (int, error) {
	v := r.URL.Query().Get(name)
	if v == "" {
		return def, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > most {
		return 0, invalid(name, v, fmt.Sprintf("must be a whole number from 1 to %d", most))
	}
	return n, nil
}

func instant(r *http.Request, name string, def time.Time) (time.Time, error) {
	v := r.URL.Query().Get(name)
	if v == "" {
		return def, nil
	}
	t, err := time.Parse(time.RFC3339, v)
	if err != nil {
		return t, invalid(name, v, "must be an instant like 2026-03-01T08:00:00Z")
	}
	return t, nil
}

func (h *server) availability(c call) (any, error) {
	now := h.s.Overview(c.viewer).Now
	from, err1 := instant(c.r, "from", now)
	to, err2 := instant(c.r, "to", from.Add(14*24*time.Hour))
	bins, err3 := number(c.r, "bins", 14*24, service.MaxBins)
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			return nil, err
		}
	}
	q := c.r.URL.Query()
	switch model, pool := q.Get("model"), q.Get("pool"); {
	case model != "" && pool != "":
		return nil, invalid("model", model, "give a pool or a model, not both")
	case model != "":
		return h.s.ModelAvailability(c.viewer, model, from, to, bins)
	default:
		return h.s.Availability(c.viewer, pool, from, to, bins)
	}
}

func (h *server) offers(c call) (any, error) {
	var b views.BookRequest
	if err := body(c.r, &b); err != nil {
		return nil, err
	}
	return h.s.Offers(c.viewer, b)
}

func (h *server) book(c call) (any, error) {
	var b views.BookRequest
	if err := body(c.r, &b); err != nil {
		return nil, err
	}
	return h.s.Book(c.ctx, c.viewer, b, c.dryRun)
}

func (h *server) extend(c call) (any, error) {
	var b struct {
		End time.Time `json:"end"`
	}
	if err := body(c.r, &b); err != nil {
		return nil, err
	}
	return h.s.ExtendAs(c.ctx, c.as(), c.r.PathValue("id"), b.End)
}

// A SubmitRequest is the body of POST /v1/jobs.
type SubmitRequest struct {
	ID        string   `json:"id"`
	Tenant    string   `json:"tenant"`
	Count     int      `json:"count"`
	GPUs      int64    `json:"gpus"`
	GPUMilli  int64    `json:"gpu_milli"`
	CPUMilli  int64    `json:"cpu_milli"`
	MemoryMiB int64    `json:"memory_mib"`
	Models    []string `json:"models"`
}

func (h *server) submit(c call) (any, error) {
	var b SubmitRequest
	if err := body(c.r, &b); err != nil {
		return nil, err
	}
	return h.s.Submit(c.ctx, c.viewer, jobs.Job{ID: b.ID, Tenant: b.Tenant, Count: b.Count, GPUs: b.GPUs, GPUMilli: b.GPUMilli,
		CPUMilli: b.CPUMilli, MemoryMiB: b.MemoryMiB, Models: b.Models}, c.dryRun)
}

// A CordonRequest is the body of POST /v1/cordon/{node}.
type CordonRequest struct {
	Owner    string    `json:"owner"`
	Step     string    `json:"step"` // none, reset, reboot, diag, rma
	Reason   string    `json:"reason"`
	Expected time.Time `json:"expected,omitzero"`
}

func (h *server) cordon(c call) (any, error) {
	var b CordonRequest
	if err := body(c.r, &b); err != nil {
		return nil, err
	}
	var step health.Step
	if b.Step != "" {
		if err := step.UnmarshalText([]byte(b.Step)); err != nil {
			return nil, err
		}
	}
	return h.s.CordonAs(c.ctx, c.as(), commands.Cordon{Node: c.r.PathValue("id"), Owner: b.Owner, Step: step, Reason: b.Reason, Expected: b.Expected})
}

func (h *server) uncordon(c call) (any, error) {
	var b struct {
		Owner string `json:"owner"`
	}
	if err := body(c.r, &b); err != nil {
		return nil, err
	}
	err := h.s.UncordonAs(c.ctx, c.as(), commands.Uncordon{Node: c.r.PathValue("id"), Owner: b.Owner})
	return struct {
		OK bool `json:"ok"`
	}{err == nil}, err
}

// fleet reads a change of the fleet. A body is at most 1 MiB: a large fleet joins
// in several changes.
func (h *server) fleet(c call) (any, error) {
	b, err := io.ReadAll(c.r.Body)
	if err != nil {
		return nil, &views.Refusal{Code: "too-large", Title: "the request is too large", Detail: err.Error(), Status: http.StatusRequestEntityTooLarge}
	}
	change, err := topology.DecodeChange(b)
	if err != nil {
		return nil, &views.Refusal{Code: "invalid", Title: "the body is not a change of the fleet", Detail: err.Error(), Status: http.StatusUnprocessableEntity}
	}
	return h.s.FleetAs(c.ctx, c.as(), commands.Fleet{Change: change})
}
