// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berth-gpu/berth/examples/manager/views"
)

// calendarPage is one pool over time, with the form that books it.
type calendarPage struct {
	base
	views.Availability
	Days    int
	Spans   []spanned
	Wide    template.HTML
	Narrow  template.HTML
	GanttW  template.HTML
	GanttN  template.HTML
	Table   []dayRow
	Own     []views.Booking // with an id: the viewer may act on them
	OwnMore int             // not in Own, which is cut
	Others  int
	OthersN int64
	Words   string
	Form    form
	Answer  *answer
	Focus   *focus
	HoldFor time.Duration
}

// maxBookingRows is as many bookings as anybody reads in a table.
const maxBookingRows = 100

// A dayRow is one line of the table that says what the chart shows.
type dayRow struct {
	Day                time.Time
	Min, Max, Capacity int64
}

// A focus is the booking that the address names: the one just made.
type focus struct {
	ID    string
	Said  string         // what was done last
	Found *views.Booking // nil: it is not there any more
	Left  time.Duration  // of the hold, on the manager's clock
	Wall  float64        // seconds of the manager's clock per second of the reader's
}

// where is what the address of a calendar page says.
type where struct {
	pool    string
	days    int
	booking string
	said    string
}

func (s *server) calendar(viewer string, r *http.Request) (result, error) {
	if model := r.Form.Get("model"); model != "" {
		return s.model(viewer, r, model)
	}
	at := where{pool: r.Form.Get("pool"), days: s.opt.Days, booking: r.Form.Get("booking"), said: r.Form.Get("said")}
	if err := at.readDays(r.Form.Get("days")); err != nil {
		return result{}, err
	}
	page, err := s.newCalendar(viewer, at)
	if err != nil {
		return result{}, err
	}
	page.Form.prefill(r.Form)
	return result{template: "calendar", data: page}, nil
}

func (w *where) readDays(v string) error {
	if v == "" {
		return nil
	}
	days, err := strconv.Atoi(v)
	if _, ok := spanOf(days); err != nil || !ok {
		return bad("days", v, "is not one of 2, 7, 14, 30, 90 and 366")
	}
	w.days = days
	return nil
}

// address is the page that shows this.
func (w where) address() string {
	q := url.Values{"pool": {w.pool}, "days": {strconv.Itoa(w.days)}}
	if w.booking != "" {
		q.Set("booking", w.booking)
	}
	if w.said != "" {
		q.Set("said", w.said)
	}
	return "/calendar?" + q.Encode()
}

// reach widens the view until it shows end.
func (w *where) reach(now, end time.Time) {
	for _, s := range spans {
		if s.Days < w.days {
			continue
		}
		w.days = s.Days
		if _, to, _ := s.window(now); !end.After(to) {
			return
		}
	}
}

func (s *server) newCalendar(viewer string, at where) (*calendarPage, error) {
	page := &calendarPage{base: s.base(viewer, "Calendar", "calendar"), Days: at.days, Spans: spans, HoldFor: s.opt.HoldFor}
	pools := page.Over.Pools
	if at.pool == "" {
		if len(pools) == 0 {
			page.live("/calendar", nil)
			return page, nil // the page says that nodes are missing
		}
		at.pool = largest(pools)
	}
	if !slices.ContainsFunc(pools, func(p views.Pool) bool { return p.Name == at.pool }) {
		return nil, noPool(pools, at.pool)
	}
	spread, _ := spanOf(at.days)
	from, to, bins := spread.window(page.Over.Now)
	a, err := s.src.Availability(viewer, at.pool, from, to, bins)
	if err != nil {
		return nil, err
	}
	now := page.Over.Now
	page.Availability, page.Title, page.Words = a, at.pool+" calendar", inNodes(a).words()
	page.Wide, page.Narrow = chart(inNodes(a), now, wide), chart(inNodes(a), now, narrow)
	page.GanttW, page.GanttN = gantt(a, now, page.palette, wide), gantt(a, now, page.palette, narrow)
	page.Table = byDay(a.Bins)
	for _, b := range a.Bookings {
		switch {
		case over(b.Phase):
		case b.ID == "":
			page.Others++
			page.OthersN += b.Nodes
		case len(page.Own) == maxBookingRows:
			page.OwnMore++
		default:
			page.Own = append(page.Own, b)
		}
	}
	if at.booking != "" {
		page.Focus = focusOn(at, a.Bookings, page.Over)
	}
	page.Form = newForm(page.Over, at.pool, viewer)
	q := url.Values{"pool": {at.pool}, "days": {strconv.Itoa(at.days)}}
	if at.booking != "" {
		q.Set("booking", at.booking)
		q.Set("said", at.said)
	}
	page.live("/calendar", q)
	return page, nil
}

// noPool says what pools there are instead.
func noPool(pools []views.Pool, name string) error {
	names := make([]string, 0, len(pools))
	for _, p := range pools[:min(len(pools), 40)] {
		names = append(names, p.Name)
	}
	detail := fmt.Sprintf("pool: %q; the pools are %s", name, strings.Join(names, ", "))
	if len(names) == 0 {
		detail = "there is no pool yet"
	}
	return &problem{http.StatusNotFound, "There is no such pool", detail}
}

// largest is the pool with most GPUs: what a stranger sees first.
func largest(pools []views.Pool) string {
	best := pools[0]
	for _, p := range pools[1:] {
		if p.Capacity > best.Capacity {
			best = p
		}
	}
	return best.Name
}

func focusOn(at where, bookings []views.Booking, o views.Overview) *focus {
	f := &focus{ID: at.booking, Said: at.said, Wall: 1}
	if o.Demo != nil && !o.Demo.Paused && o.Demo.Speed > 0 {
		f.Wall = o.Demo.Speed
	}
	for _, b := range bookings {
		if b.ID == at.booking && !over(b.Phase) {
			f.Found = &b
			f.Left = max(b.Expires.Sub(o.Now), 0)
		}
	}
	return f
}

// byDay sums up the bins of each day, UTC.
func byDay(bins []views.Bin) []dayRow {
	var out []dayRow
	for _, b := range bins {
		day := b.Start.UTC().Truncate(24 * time.Hour)
		if n := len(out); n > 0 && out[n-1].Day.Equal(day) {
			d := &out[n-1]
			d.Min, d.Max, d.Capacity = min(d.Min, b.Min), max(d.Max, b.Max), min(d.Capacity, b.Capacity)
			continue
		}
		out = append(out, dayRow{day, b.Min, b.Max, b.Capacity})
	}
	return out
}
