// SPDX-License-Identifier: Apache-2.0

package web

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berth-gpu/berth/examples/manager/views"
)

// A form is the booking form as it was filled in, with what is wrong in it.
type form struct {
	ID     string // drawn by the server; it makes a repeated form one booking
	Owner  string
	Pool   string
	Nodes  string
	Start  string // as the browser's datetime-local has it, in UTC
	End    string
	Errors map[string]string // by field
}

const (
	fieldTime = "2006-01-02T15:04"
	maxNodes  = 1_000_000
)

var idRule = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// newID draws a booking id that nobody can guess or meet again.
func newID() string { return "web-" + strings.ToLower(rand.Text()) }

// newForm proposes a day, two to three days ahead: near enough to be on the
// chart, far enough not to be past when the demo's clock runs fast.
func newForm(o views.Overview, pool, viewer string) form {
	start := o.Now.UTC().Truncate(24 * time.Hour).Add(72 * time.Hour)
	f := form{ID: newID(), Pool: pool, Nodes: "1", Start: start.Format(fieldTime), End: start.Add(24 * time.Hour).Format(fieldTime)}
	switch {
	case viewer != "":
		f.Owner = viewer
	case len(o.Tenants) > 0:
		f.Owner = slices.Min(o.Tenants)
	}
	return f
}

// prefill takes over what an address says; anything else is left to the check
// of the form when it is sent.
func (f *form) prefill(q url.Values) {
	for name, field := range map[string]*string{"tenant": &f.Owner, "nodes": &f.Nodes, "start": &f.Start, "end": &f.End} {
		if v := q.Get(name); v != "" {
			*field = v
		}
	}
}

// read takes the form as it was sent and makes a request of it. All mistakes
// are found at once; each message has the value and says what would do.
func (f *form) read(q url.Values, o views.Overview) views.BookRequest {
	*f = form{ID: q.Get("id"), Owner: q.Get("tenant"), Pool: q.Get("pool"), Nodes: strings.TrimSpace(q.Get("nodes")),
		Start: q.Get("start"), End: q.Get("end"), Errors: map[string]string{}}
	req := views.BookRequest{ID: f.ID, Owner: f.Owner, Pool: f.Pool}
	if !idRule.MatchString(f.ID) {
		f.wrong("id", f.ID, "is no booking id; send the form from this page")
		f.ID = newID()
	}
	if !slices.Contains(o.Tenants, f.Owner) {
		f.wrong("tenant", f.Owner, "may not own a booking; choose one of the list")
	}
	if !slices.ContainsFunc(o.Pools, func(p views.Pool) bool { return p.Name == f.Pool }) {
		f.wrong("pool", f.Pool, "is no pool; choose one of the list")
	}
	n, err := strconv.ParseInt(f.Nodes, 10, 64)
	if err != nil || n < 1 || n > maxNodes {
		f.wrong("nodes", f.Nodes, "is no whole number from 1 to "+number(maxNodes))
	}
	req.Nodes = n
	req.Start = f.time("start", f.Start)
	req.End = f.time("end", f.End)
	if !req.Start.IsZero() && !req.End.IsZero() && !req.End.After(req.Start) {
		f.wrong("end", f.End, "is not after the start, "+f.Start)
	}
	return req
}

func (f *form) time(field, v string) time.Time {
	for _, layout := range []string{fieldTime, "2006-01-02T15:04:05"} {
		if t, err := time.ParseInLocation(layout, v, time.UTC); err == nil {
			if t.Year() < 1971 || t.Year() > 9000 {
				break
			}
			return t
		}
	}
	f.wrong(field, v, "is no date and time such as 2026-01-31T08:00")
	return time.Time{}
}

func (f *form) wrong(field, value, want string) {
	if r := []rune(value); len(r) > 80 {
		value = string(r[:80]) + "…"
	}
	f.Errors[field] = fmt.Sprintf("%s: %q %s", field, value, want)
}

// Valid says that nothing is wrong.
func (f form) Valid() bool { return len(f.Errors) == 0 }
