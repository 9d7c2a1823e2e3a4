// SPDX-License-Identifier: Apache-2.0

package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/berth-gpu/berth/examples/manager/commands"
	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/views"
	"github.com/berth-gpu/berth/health"
	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/reservation"
)

// ErrForbidden is returned when an actor asks for what is another tenant's.
var ErrForbidden = &views.Refusal{Code: "forbidden", Title: "not allowed", Detail: "a tenant acts for itself only", Status: 403}

// may says whether an actor may act for a tenant; an admin ("") may for all.
func may(actor, tenant string) error {
	if actor != "" && actor != tenant {
		return ErrForbidden
	}
	return nil
}

// Book books or holds nodes. The booking's id is its request key.
func (s *Service) Book(ctx context.Context, actor string, r views.BookRequest, dryRun bool) (views.Booking, error) {
	if err := may(actor, r.Owner); err != nil {
		return views.Booking{}, err
	}
	if err := checkHold(r); err != nil {
		return views.Booking{}, Refuse(actor, err)
	}
	b, err := do(ctx, s, Call{Command: "book", Actor: actor, Request: r, DryRun: dryRun}, seen(book(r).Do))
	if err != nil {
		refusal := Refuse(actor, err)
		if errors.Is(err, reservation.ErrConflict) || errors.Is(err, quota.ErrExceeded) {
			// The refusal is the answer; what could be had instead is an extra.
			if o, err := s.Offers(actor, r); err == nil {
				refusal.Offers = o.Offers
			}
		}
		return views.Booking{}, refusal
	}
	return b, nil
}

// seen makes a command answer with the view of its booking, as it is right
// after the command: that is also what a retry is answered.
func seen(f func(*state.State, time.Time) (reservation.Booking, error)) func(*state.State, time.Time) (views.Booking, error) {
	return func(st *state.State, at time.Time) (views.Booking, error) {
		b, err := f(st, at)
		if err != nil {
			return views.Booking{}, err
		}
		return booking(st, b), nil
	}
}

// checkHold keeps a number of seconds that is no hold from becoming one.
func checkHold(r views.BookRequest) error {
	if r.HoldS < 0 || r.HoldS > int64(commands.MaxHold/time.Second) {
		return fmt.Errorf("%w: hold_seconds is %d: must be 0 to %d", state.ErrInvalid, r.HoldS, int64(commands.MaxHold/time.Second))
	}
	return nil
}

func book(r views.BookRequest) commands.Book {
	return commands.Book{ID: r.ID, Owner: r.Owner, Pool: r.Pool, Nodes: r.Nodes, Start: r.Start, End: r.End,
		Hold: time.Duration(r.HoldS) * time.Second, Note: r.Reason}
}

// Offers answers "when could I?": what could be had, and why not the wish itself.
func (s *Service) Offers(viewer string, r views.BookRequest) (views.Offers, error) {
	out := views.Offers{Offers: []views.Offer{}}
	if err := may(viewer, r.Owner); err != nil {
		return out, err
	}
	if err := checkHold(r); err != nil {
		return out, Refuse(viewer, err)
	}
	_, err := s.Cell.Try(func(st *state.State) (any, error) {
		at, err := st.Begin(state.Header{At: s.Clock.Now(), Command: "offers"})
		if err != nil {
			return nil, err
		}
		list, why, err := book(r).Offers(st, at)
		for _, o := range list {
			out.Offers = append(out.Offers, views.Offer{Kind: o.Kind, Pool: r.Pool, Nodes: o.Nodes, Start: o.Window.Start, End: o.Window.End})
		}
		out.Refusal = Refuse(viewer, why)
		return nil, err
	})
	if err != nil {
		return views.Offers{Offers: []views.Offer{}}, Refuse(viewer, err)
	}
	return out, nil
}

// Confirm turns a held offer into a booking.
func (s *Service) Confirm(ctx context.Context, actor, id string) (views.Booking, error) {
	return s.ConfirmAs(ctx, Call{Actor: actor}, id)
}

// ConfirmAs is Confirm with a request key, of one version, or as a dry run.
func (s *Service) ConfirmAs(ctx context.Context, c Call, id string) (views.Booking, error) {
	c.Command, c.Request = "confirm", id
	return s.booking(ctx, c, commands.Confirm{ID: id, Owner: c.Actor, IfVersion: c.IfVersion}.Do)
}

// Cancel gives a booking back.
func (s *Service) Cancel(ctx context.Context, actor, id string) (views.Booking, error) {
	return s.CancelAs(ctx, Call{Actor: actor}, id)
}

// CancelAs is Cancel with a request key, of one version, or as a dry run.
func (s *Service) CancelAs(ctx context.Context, c Call, id string) (views.Booking, error) {
	c.Command, c.Request = "cancel", id
	return s.booking(ctx, c, commands.Cancel{ID: id, Owner: c.Actor, IfVersion: c.IfVersion}.Do)
}

// ExtendAs moves the end of a booking.
func (s *Service) ExtendAs(ctx context.Context, c Call, id string, end time.Time) (views.Booking, error) {
	c.Command, c.Request = "extend", []any{id, end}
	return s.booking(ctx, c, commands.Extend{ID: id, Owner: c.Actor, End: end, IfVersion: c.IfVersion}.Do)
}

func (s *Service) booking(ctx context.Context, c Call, f func(*state.State, time.Time) (reservation.Booking, error)) (views.Booking, error) {
	b, err := do(ctx, s, c, seen(f))
	if err != nil {
		return views.Booking{}, Refuse(c.Actor, err)
	}
	return b, nil
}

// Submit queues a job. The job's id is its request key.
func (s *Service) Submit(ctx context.Context, actor string, j jobs.Job, dryRun bool) (views.Job, error) {
	if err := may(actor, j.Tenant); err != nil {
		return views.Job{}, err
	}
	got, err := do(ctx, s, Call{Command: "submit", Actor: actor, DryRun: dryRun}, commands.Submit{Job: j}.Do)
	if err != nil {
		return views.Job{}, Refuse(actor, err)
	}
	return job(s.Cell.Load(), got), nil // a job's nodes, if it has any by now, are in the newest state
}

// Finish notes that a job is done.
func (s *Service) Finish(ctx context.Context, id string) error {
	_, err := do(ctx, s, Call{Command: "finish"}, commands.Finish{ID: id}.Do)
	return err
}

// KillAs gives up a job.
func (s *Service) KillAs(ctx context.Context, c Call, id, why string) (views.Job, error) {
	c.Command, c.Request = "kill", []any{id, why}
	v, err := do(ctx, s, c, func(st *state.State, at time.Time) (views.Job, error) {
		j, err := commands.Kill{ID: id, Owner: c.Actor, Why: why}.Do(st, at)
		if err != nil {
			return views.Job{}, err
		}
		return job(st, j), nil
	})
	if err != nil {
		return v, Refuse(c.Actor, err)
	}
	return v, nil
}

// Schedule makes due changes happen and starts waiting jobs; it returns how
// many were started.
func (s *Service) Schedule(ctx context.Context, budget int) (int, error) {
	return do(ctx, s, Call{Command: "schedule"}, commands.Schedule{Budget: budget}.Do)
}

// admin runs a command that only an admin may ask for.
func admin[T any](ctx context.Context, s *Service, c Call, f func(*state.State, time.Time) (T, error)) (T, error) {
	var none T
	if err := may(c.Actor, ""); err != nil {
		return none, err
	}
	v, err := do(ctx, s, c, f)
	if err != nil {
		return none, Refuse(c.Actor, err)
	}
	return v, nil
}

// CordonAs takes a node out of service.
func (s *Service) CordonAs(ctx context.Context, c Call, cordon commands.Cordon) (health.Hold, error) {
	c.Command, c.Request = "cordon", cordon
	return admin(ctx, s, c, cordon.Do)
}

// UncordonAs gives up a hold.
func (s *Service) UncordonAs(ctx context.Context, c Call, uncordon commands.Uncordon) error {
	c.Command, c.Request = "uncordon", uncordon
	_, err := admin(ctx, s, c, func(st *state.State, at time.Time) (bool, error) { return true, uncordon.Do(st, at) })
	return err
}

// FleetAs changes the hardware.
func (s *Service) FleetAs(ctx context.Context, c Call, fleet commands.Fleet) (commands.FleetReport, error) {
	c.Command, c.Request = "fleet", fleet
	return admin(ctx, s, c, fleet.Do)
}

// TenantAs creates or changes a tenant.
func (s *Service) TenantAs(ctx context.Context, c Call, tenant commands.SetTenant) (quota.Tenant, error) {
	c.Command, c.Request = "tenant", tenant
	return admin(ctx, s, c, tenant.Do)
}

// catchUpSlice bounds how much time one record makes up for after downtime.
const catchUpSlice = 6 * time.Hour

// CatchUp makes happen what became due while the manager was down, in records of
// a few hours each. The manager calls it before it serves.
func (s *Service) CatchUp(ctx context.Context) error {
	for now := s.Clock.Now(); ; {
		at := s.Cell.Load().At()
		if at.IsZero() || !at.Add(catchUpSlice).Before(now) {
			return nil
		}
		to := at.Add(catchUpSlice)
		_, _, err := s.Cell.Do(ctx, func(st *state.State) (any, error) {
			if _, err := st.Begin(state.Header{At: to, Command: "catch-up"}); err != nil {
				return nil, err
			}
			st.Note() // the time itself is the news, also where nothing was due
			return nil, nil
		})
		if err != nil {
			return err
		}
	}
}

// Housekeep forgets what has been over for longer than keep.
func (s *Service) Housekeep(ctx context.Context, keep time.Duration) (int, error) {
	return do(ctx, s, Call{Command: "housekeep"}, commands.Housekeep{Keep: keep}.Do)
}
