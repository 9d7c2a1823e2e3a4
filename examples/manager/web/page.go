// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/berth-gpu/berth/examples/manager/views"
)

// base is what every page shows: the strip at its head.
type base struct {
	Title  string
	Active string // the entry of the navigation
	Viewer string
	Over   views.Overview
	Live   string // the address of the page's live parts; none if it has none
	Every  int    // least milliseconds between two refreshes
	palette
}

// A result is what a page's function decided: a template and its data, or
// where to go instead.
type result struct {
	status   int
	template string
	part     string // of the template; "" means the whole page
	data     any
	location string // 303 See Other, if not empty
}

// pageFunc answers one request of a viewer. An error that is a *problem or a
// *views.Refusal keeps its status, any other is answered 500.
type pageFunc func(viewer string, r *http.Request) (result, error)

// maxBody is far more than the form needs.
const maxBody = 64 << 10

func (s *server) page(f pageFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		viewer, err := s.opt.Viewer(r)
		if err != nil {
			s.fail(w, "", &problem{http.StatusUnauthorized, "Who are you?", err.Error()})
			return
		}
		if err := parse(r); err != nil {
			s.fail(w, viewer, err)
			return
		}
		res, err := f(viewer, r)
		if err != nil {
			s.fail(w, viewer, err)
			return
		}
		if res.location != "" {
			http.Redirect(w, r, res.location, http.StatusSeeOther)
			return
		}
		if res.part == "" {
			res.part = "layout"
			if r.Form.Get("fragment") != "" && r.Method == http.MethodGet {
				res.part = "fragment"
			}
		}
		s.render(w, res)
	}
}

// parse reads the query and the form.
func parse(r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return &problem{http.StatusRequestEntityTooLarge, "Too much", fmt.Sprintf("a form may have %d bytes", large.Limit)}
		}
		return &problem{http.StatusBadRequest, "Not a form", err.Error()}
	}
	return nil
}

// render executes the template before anything is sent, so that a mistake in
// the middle does not leave half a page with status 200.
func (s *server) render(w http.ResponseWriter, res result) {
	var buf bytes.Buffer
	if err := s.pages[res.template].ExecuteTemplate(&buf, res.part, res.data); err != nil {
		http.Error(w, "the page could not be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	head := w.Header()
	head.Set("Content-Type", "text/html; charset=utf-8")
	head.Set("Content-Length", strconv.Itoa(buf.Len()))
	w.WriteHeader(max(res.status, http.StatusOK))
	_, _ = buf.WriteTo(w) // the client has gone: nobody to tell
}

// base reads the overview that the strip shows.
func (s *server) base(viewer, title, active string) base {
	over := s.src.Overview(viewer)
	return base{Title: title, Active: active, Viewer: viewer, Over: over, Every: int(s.opt.Pace / time.Millisecond),
		palette: newPalette(over.Tenants)}
}

// live sets the address of the page's live parts.
func (b *base) live(path string, q url.Values) {
	if q == nil {
		q = url.Values{}
	}
	q.Set("fragment", "1")
	b.Live = path + "?" + q.Encode()
}

// Progress tells how far the demo is, in one line.
func (b base) Progress() string {
	d := b.Over.Demo
	if d == nil {
		return ""
	}
	pace := fmt.Sprintf("%s×", strconv.FormatFloat(d.Speed, 'f', -1, 64))
	if d.Paused {
		pace = "wall speed while an offer is held"
	}
	return fmt.Sprintf("trace: %s of %s jobs, round %d, %s", number(int64(d.Arrived)), number(int64(d.Total)), d.Round, pace)
}

// A problem is a refusal of the page itself.
type problem struct {
	status int
	title  string
	detail string
}

func (p *problem) Error() string { return p.title + ": " + p.detail }

// bad names a parameter and the value it cannot have.
func bad(field, value, want string) error {
	return &problem{http.StatusBadRequest, "That cannot be shown", fmt.Sprintf("%s: %q %s", field, value, want)}
}

// errorPage is what is shown instead of a page.
type errorPage struct {
	base
	Status  int
	Detail  string
	Refusal *views.Refusal
}

func (s *server) fail(w http.ResponseWriter, viewer string, err error) {
	page := errorPage{Status: http.StatusInternalServerError, Detail: err.Error()}
	page.Title = "The manager could not answer"
	var p *problem
	var refusal *views.Refusal
	switch {
	case errors.As(err, &p):
		page.Status, page.Title, page.Detail = p.status, p.title, p.detail
	case errors.As(err, &refusal):
		page.Status, page.Title, page.Detail, page.Refusal = statusOf(refusal), refusal.Title, refusal.Detail, refusal
	}
	if page.Status != http.StatusUnauthorized { // a stranger is shown nothing
		page.base = s.base(viewer, page.Title, "")
	}
	s.render(w, result{status: page.Status, template: "error", part: "layout", data: page})
}

// statusOf keeps a refusal's status if it is one of a refusal.
func statusOf(r *views.Refusal) int {
	if r.Status >= 400 && r.Status < 600 {
		return r.Status
	}
	return http.StatusConflict
}

// notFound answers whatever no page answers, such as a page asked with a method
// it does not have.
func notFound(_ string, r *http.Request) (result, error) {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost:
	default:
		return result{}, &problem{http.StatusMethodNotAllowed, "That cannot be done", fmt.Sprintf("%s %q: pages know GET and POST", r.Method, r.URL.Path)}
	}
	return result{}, &problem{http.StatusNotFound, "There is no such page", fmt.Sprintf("%s %q", r.Method, r.URL.Path)}
}

func foreign(string, *http.Request) (result, error) {
	return result{}, &problem{http.StatusForbidden, "Refused",
		"the request was sent by a page of another site, and nothing was changed; use the form on this page"}
}
