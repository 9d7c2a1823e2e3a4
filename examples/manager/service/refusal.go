// SPDX-License-Identifier: Apache-2.0

package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/examples/manager/cell"
	"github.com/berth-gpu/berth/examples/manager/commands"
	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/views"
	"github.com/berth-gpu/berth/health"
	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/topology"
)

// Refuse turns an error into what viewer may see of it. It returns nil for nil.
func Refuse(viewer string, err error) *views.Refusal {
	if err == nil {
		return nil
	}
	if r, ok := errors.AsType[*views.Refusal](err); ok {
		return r
	}
	r := &views.Refusal{}
	r.Code, r.Title, r.Status = classify(err)
	r.Detail = strings.TrimPrefix(err.Error(), r.Title+": ") // the title says it already
	if r.Status == http.StatusInternalServerError || r.Status == http.StatusServiceUnavailable {
		return r
	}
	if w, ok := errors.AsType[*state.WaitError](err); ok {
		explainWait(r, viewer, w)
		return r
	}
	if details := explain(r, viewer, err); len(details) > 0 {
		r.Detail = strings.Join(details, "; ")
	}
	return r
}

// explain adds the facts of the typed refusals inside err, as viewer may see them.
// The ids are left out: whoever asked knows what for.
func explain(r *views.Refusal, viewer string, err error) []string {
	var out []string
	if e, ok := errors.AsType[*quota.ExceededError](err); ok {
		e = seenBy(viewer, e)
		out = append(out, e.Error())
		blockers(r, e)
	}
	if e, ok := errors.AsType[*reservation.ConflictError](err); ok {
		if viewer != "" {
			e = e.For(viewer)
		}
		plain := *e
		plain.ID = ""
		out = append(out, plain.Error())
		r.Blockers = append(r.Blockers, views.Blocker{Where: e.Pool, Kind: fmt.Sprint(e.Reason), Used: e.Need - e.Shortfall, Need: e.Need, Deficit: e.Shortfall})
		for _, o := range e.Offers {
			r.Offers = append(r.Offers, offer(o))
		}
	}
	return out
}

func seenBy(viewer string, e *quota.ExceededError) *quota.ExceededError {
	if viewer != "" {
		e = e.For(viewer)
	}
	plain := *e
	plain.ID = ""
	return &plain
}

// blockers adds the limits that are in the way, each once.
func blockers(r *views.Refusal, e *quota.ExceededError) {
	for _, b := range e.Blockers {
		v := views.Blocker{Where: b.Tenant, Kind: fmt.Sprint(b.Kind), Limit: b.Limit, Used: b.Used, Need: b.Need, Deficit: b.Deficit}
		if !slices.Contains(r.Blockers, v) {
			r.Blockers = append(r.Blockers, v)
		}
		help(r, fmt.Sprintf("free or add %s at %s", people(b.Key, b.Deficit), tenantName(b.Tenant)))
	}
}

func help(r *views.Refusal, what string) {
	if !slices.Contains(r.Help, what) {
		r.Help = append(r.Help, what)
	}
}

func tenantName(name string) string {
	if name == "" {
		return others
	}
	return fmt.Sprintf("%q", name)
}

// people shows an amount of a key: GPUs and cores where the key counts
// thousandths of them.
func people(key quota.Key, n int64) string {
	unit, milli := "of "+string(key), false
	if model, ok := strings.CutPrefix(string(key), string(state.GPUKey(""))); ok {
		unit, milli = model+" GPUs", true
	}
	if key == state.CPUKey {
		unit, milli = "CPU cores", true
	}
	if !milli {
		return fmt.Sprint(n, " ", unit)
	}
	return fmt.Sprintf("%s %s", strconv.FormatFloat(float64(n)/state.MilliPerGPU, 'f', -1, 64), unit)
}

// classes maps sentinels to codes, first match wins.
var classes = []struct {
	is     error
	code   string
	title  string
	status int
}{
	{state.ErrWaits, "waits", "the job waits", http.StatusConflict},
	{quota.ErrExceeded, "quota-exceeded", "not within quota", http.StatusConflict},
	{reservation.ErrConflict, "no-capacity", "not free in that window", http.StatusConflict},
	{allocator.ErrUnplaceable, "unplaceable", "no place for it", http.StatusConflict},
	{commands.ErrNotFound, "not-found", "not found", http.StatusNotFound},
	{state.ErrKeyReused, "key-reused", "the request key belongs to another request", http.StatusUnprocessableEntity},
	{reservation.ErrExists, "id-taken", "the id is taken", http.StatusConflict},
	{quota.ErrExists, "id-taken", "the id is taken", http.StatusConflict},
	{jobs.ErrExists, "id-taken", "the id is taken", http.StatusConflict},
	{reservation.ErrExpired, "hold-expired", "the hold has expired", http.StatusConflict},
	{quota.ErrExpired, "hold-expired", "the hold has expired", http.StatusConflict},
	{reservation.ErrVersion, "changed", "it has changed meanwhile", http.StatusPreconditionFailed},
	{reservation.ErrState, "wrong-state", "not possible now", http.StatusConflict},
	{quota.ErrState, "wrong-state", "not possible now", http.StatusConflict},
	{jobs.ErrState, "wrong-state", "not possible now", http.StatusConflict},
	{reservation.ErrUnknown, "not-found", "not found", http.StatusNotFound},
	{quota.ErrUnknown, "unknown-tenant", "unknown tenant", http.StatusUnprocessableEntity},
	{jobs.ErrUnknown, "not-found", "not found", http.StatusNotFound},
	{state.ErrInvalid, "invalid", "the request is not valid", http.StatusUnprocessableEntity},
	{jobs.ErrInvalid, "invalid", "the request is not valid", http.StatusUnprocessableEntity},
	{quota.ErrInvalid, "invalid", "the request is not valid", http.StatusUnprocessableEntity},
	{reservation.ErrInvalid, "invalid", "the request is not valid", http.StatusUnprocessableEntity},
	{reservation.ErrEmptyWindow, "invalid", "the window is empty", http.StatusUnprocessableEntity},
	{reservation.ErrUnaligned, "invalid", "times are whole seconds", http.StatusUnprocessableEntity},
	{reservation.ErrHorizon, "invalid", "the window has begun already", http.StatusUnprocessableEntity},
	{allocator.ErrInvalid, "invalid", "the request is not valid", http.StatusUnprocessableEntity},
	{health.ErrPast, "invalid", "the date is not in the future", http.StatusUnprocessableEntity},
	{allocator.ErrInUse, "in-use", "work is in the way", http.StatusConflict},
	{topology.ErrUnknown, "invalid", "the fleet is not valid", http.StatusUnprocessableEntity},
	{topology.ErrDuplicate, "invalid", "the fleet is not valid", http.StatusUnprocessableEntity},
	{topology.ErrConflict, "invalid", "the fleet is not valid", http.StatusUnprocessableEntity},
	{topology.ErrTooLarge, "invalid", "the fleet is not valid", http.StatusUnprocessableEntity},
	{cell.ErrTooLarge, "too-large", "it would decide too much at once", http.StatusUnprocessableEntity},
	{health.ErrInvalid, "invalid", "the request is not valid", http.StatusUnprocessableEntity},
	{topology.ErrInvalid, "invalid", "the fleet is not valid", http.StatusUnprocessableEntity},
	{cell.ErrClosed, "closed", "the manager is stopping", http.StatusServiceUnavailable},
	{context.DeadlineExceeded, "timeout", "it took too long", http.StatusServiceUnavailable},
	{context.Canceled, "timeout", "the caller went away", http.StatusServiceUnavailable},
}

func classify(err error) (code, title string, status int) {
	for _, c := range classes {
		if errors.Is(err, c.is) {
			return c.code, c.title, c.status
		}
	}
	return "internal", "something is broken in the manager", http.StatusInternalServerError
}
