// SPDX-License-Identifier: Apache-2.0

package service

import (
	"context"
	"errors"
	"time"

	"github.com/berth-gpu/berth/examples/manager/commands"
	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/views"
	"github.com/berth-gpu/berth/health"
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
	b, err := do(ctx, s, Call{Command: "book", Actor: actor, Request: r, DryRun: dryRun}, seen(book(r).Do))
	if err != nil {
		refusal := Refuse(actor, err)
		if errors.Is(err, reservation.ErrConflict) {
			refusal.Offers, _ = s.Offers(actor, r)
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

func book(r views.BookRequest) commands.Book {
	return commands.Book{ID: r.ID, Owner: r.Owner, Pool: r.Pool, Nodes: r.Nodes, Start: r.Start, End: r.End,
		Hold: time.Duration(min(max(r.HoldS, -1), 1<<30)) * time.Second, Note: r.Reason}
}

// Offers answers "when could I?".
func (s *Service) Offers(viewer string, r views.BookRequest) ([]views.Offer, error) {
	if err := may(viewer, r.Owner); err != nil {
		return nil, err
	}
	if r.ID == "" {
		r.ID = "offer"
	}
	v, err := s.Cell.Try(func(st *state.State) (any, error) {
		at, err := st.Begin(state.Header{At: s.Clock.Now(), Command: "offers"})
		if err != nil {
			return nil, err
		}
		return book(r).Offers(st, at)
	})
	if err != nil {
		return nil, Refuse(viewer, err)
	}
	var out []views.Offer
	for _, o := range v.([]commands.Offer) {
		out = append(out, views.Offer{Kind: o.Kind, Pool: r.Pool, Nodes: o.Nodes, Start: o.Window.Start, End: o.Window.End})
	}
	return out, nil
}

// Confirm turns a held offer into a booking.
func (s *Service) Confirm(ctx context.Context, actor, id string) (views.Booking, error) {
	return s.booking(ctx, Call{Command: "confirm", Actor: actor}, commands.Confirm{ID: id, Owner: actor}.Do)
}

// Cancel gives a booking back.
func (s *Service) Cancel(ctx context.Context, actor, id string) (views.Booking, error) {
	return s.booking(ctx, Call{Command: "cancel", Actor: actor}, commands.Cancel{ID: id, Owner: actor}.Do)
}

// Extend moves the end of a booking.
func (s *Service) Extend(ctx context.Context, actor, key, id string, end time.Time, dryRun bool) (views.Booking, error) {
	return s.booking(ctx, Call{Command: "extend", Actor: actor, Key: key, Request: []any{id, end}, DryRun: dryRun},
		commands.Extend{ID: id, Owner: actor, End: end}.Do)
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

// Kill gives up a job.
func (s *Service) Kill(ctx context.Context, actor, id, why string) (views.Job, error) {
	got, err := do(ctx, s, Call{Command: "kill", Actor: actor}, commands.Kill{ID: id, Owner: actor, Why: why}.Do)
	if err != nil {
		return views.Job{}, Refuse(actor, err)
	}
	return job(s.Cell.Load(), got), nil
}

// Schedule makes due changes happen and starts waiting jobs; it returns how
// many were started.
func (s *Service) Schedule(ctx context.Context, budget int) (int, error) {
	return do(ctx, s, Call{Command: "schedule"}, commands.Schedule{Budget: budget}.Do)
}

// Cordon takes a node out of service. Only an admin may.
func (s *Service) Cordon(ctx context.Context, actor string, c commands.Cordon, dryRun bool) (health.Hold, error) {
	if err := may(actor, ""); err != nil {
		return health.Hold{}, err
	}
	h, err := do(ctx, s, Call{Command: "cordon", Request: c, DryRun: dryRun}, c.Do)
	if err != nil {
		return h, Refuse(actor, err)
	}
	return h, nil
}

// Uncordon gives up a hold. Only an admin may.
func (s *Service) Uncordon(ctx context.Context, actor string, c commands.Uncordon, dryRun bool) error {
	if err := may(actor, ""); err != nil {
		return err
	}
	_, err := do(ctx, s, Call{Command: "uncordon", Request: c, DryRun: dryRun}, func(st *state.State, at time.Time) (bool, error) {
		return true, c.Do(st, at)
	})
	if err != nil {
		return Refuse(actor, err)
	}
	return nil
}

// Housekeep forgets what has been over for longer than keep.
func (s *Service) Housekeep(ctx context.Context, keep time.Duration) (int, error) {
	return do(ctx, s, Call{Command: "housekeep"}, commands.Housekeep{Keep: keep}.Do)
}
