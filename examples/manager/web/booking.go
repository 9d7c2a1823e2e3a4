// SPDX-License-Identifier: Apache-2.0

package web

import (
	"errors"
	"net/http"
	"time"

	"github.com/berth-gpu/berth/examples/manager/views"
)

// An answer is what the form was told.
type answer struct {
	Fits    bool
	Request views.BookRequest
	GPUs    int64
	Refusal *views.Refusal
	Offers  []offer
	HoldFor time.Duration
	Days    int
}

// An offer is a form of its own: it carries its own booking id.
type offer struct {
	views.Offer
	ID    string
	Owner string
	GPUs  int64
}

// StartField is the start as the form has it.
func (o offer) StartField() string { return o.Start.UTC().Format(fieldTime) }

// EndField is the end as the form has it.
func (o offer) EndField() string { return o.End.UTC().Format(fieldTime) }

// Same says that the offer is what was asked for.
func (o offer) Same() bool { return o.Kind == "exact" }

// book answers the form. A check and everything that goes wrong shows the
// page again with the form as it was; a booking leads to the page that shows
// it, so that a reload does not send the form again.
func (s *server) book(viewer string, r *http.Request) (result, error) {
	over := s.src.Overview(viewer)
	var f form
	req := f.read(r.PostForm, over)
	at := where{pool: f.Pool, days: s.opt.Days}
	action := r.PostForm.Get("action")
	switch action {
	case "check", "book":
	case "hold":
		req.HoldS = int64(s.opt.HoldFor / time.Second)
	default:
		return result{}, bad("action", action, "is not one of check, hold and book")
	}
	if err := at.readDays(r.PostForm.Get("days")); err != nil {
		return result{}, err
	}
	if !f.Valid() {
		return s.again(viewer, r, at, f, nil, http.StatusUnprocessableEntity)
	}
	_, err := s.src.Book(r.Context(), viewer, req, action == "check")
	if err == nil && action != "check" {
		at.booking, at.said = req.ID, map[string]string{"hold": "held", "book": "booked"}[action]
		at.reach(over.Now, req.End)
		return result{location: at.address() + "#booking"}, nil
	}
	ans := &answer{Request: req, HoldFor: s.opt.HoldFor, Days: at.days, GPUs: req.Nodes * perNode(over.Pools, req.Pool)}
	if err == nil {
		ans.Fits = true
		return s.again(viewer, r, at, f, ans, http.StatusOK)
	}
	if !errors.As(err, &ans.Refusal) {
		return result{}, err
	}
	if action != "check" {
		f.ID = newID() // the old one may be remembered as refused
	}
	offers := ans.Refusal.Offers
	if len(offers) == 0 {
		// The refusal is the answer; offers are an extra that may fail too.
		if o, err := s.src.Offers(viewer, req); err == nil {
			offers = o.Offers
		}
	}
	for _, o := range offers {
		ans.Offers = append(ans.Offers, offer{Offer: o, ID: newID(), Owner: req.Owner, GPUs: o.Nodes * perNode(over.Pools, o.Pool)})
	}
	return s.again(viewer, r, at, f, ans, statusOf(ans.Refusal))
}

// again shows the calendar with the form as it was sent and the answer to it;
// to the script, which asks while the form is being filled in, the answer only.
func (s *server) again(viewer string, r *http.Request, at where, f form, ans *answer, status int) (result, error) {
	if f.Errors["pool"] != "" {
		at.pool = ""
	}
	page, err := s.newCalendar(viewer, at)
	if err != nil {
		return result{}, err
	}
	page.Form, page.Answer = f, ans
	res := result{status: status, template: "calendar", data: page}
	if r.PostForm.Get("fragment") != "" {
		res.part = "answer"
	}
	return res, nil
}

func perNode(pools []views.Pool, name string) int64 {
	for _, p := range pools {
		if p.Name == name {
			return p.GPUsPerNode
		}
	}
	return 0
}

func (s *server) confirm(viewer string, r *http.Request) (result, error) {
	b, err := s.src.Confirm(r.Context(), viewer, r.PostForm.Get("id"))
	return s.done(r, b, err, "confirmed")
}

func (s *server) cancel(viewer string, r *http.Request) (result, error) {
	b, err := s.src.Cancel(r.Context(), viewer, r.PostForm.Get("id"))
	return s.done(r, b, err, "given-back")
}

// done leads back to the calendar that the button was on.
func (s *server) done(r *http.Request, b views.Booking, err error, said string) (result, error) {
	if err != nil {
		return result{}, err
	}
	at := where{pool: b.Pool, days: s.opt.Days, booking: r.PostForm.Get("id"), said: said}
	if pool := r.PostForm.Get("pool"); pool != "" {
		at.pool = pool
	}
	if err := at.readDays(r.PostForm.Get("days")); err != nil {
		at.days = s.opt.Days // it is done: a wrong length of view must not look like a failure
	}
	return result{location: at.address() + "#booking"}, nil
}
