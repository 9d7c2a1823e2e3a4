// SPDX-License-Identifier: Apache-2.0

package web

import (
	"html/template"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/berth-gpu/berth/examples/manager/views"
)

// Options adjusts the page. Zero and negative fields mean the default.
type Options struct {
	// Viewer tells on whose behalf a request comes: a tenant, or "" for an
	// admin. An error is answered 401. Default: everybody is an admin.
	Viewer func(*http.Request) (viewer string, err error)

	HoldFor    time.Duration // how long "Hold" keeps an offer; default 5 minutes, in whole seconds
	Days       int           // what the calendar shows unless asked otherwise; one of 2, 7, 14, 30, 90, 366; default 14
	QueueRows  int           // rows of each table of the queue unless asked otherwise; default 100, at most 1000
	Pace       time.Duration // least time between two events on one stream; default 500 ms
	MaxStreams int           // event streams at one time, the next is answered 503; default 500
}

func (o Options) withDefaults() Options {
	if o.Viewer == nil {
		o.Viewer = func(*http.Request) (string, error) { return "", nil }
	}
	if o.HoldFor < time.Second {
		o.HoldFor = 5 * time.Minute
	}
	if _, ok := spanOf(o.Days); !ok {
		o.Days = 14
	}
	if o.QueueRows <= 0 || o.QueueRows > maxQueueRows {
		o.QueueRows = 100
	}
	if o.Pace <= 0 {
		o.Pace = 500 * time.Millisecond
	}
	if o.MaxStreams <= 0 {
		o.MaxStreams = 500
	}
	return o
}

// A server answers the requests. It keeps nothing between them but the number
// of open streams.
type server struct {
	src     views.Source
	opt     Options
	pages   map[string]*template.Template
	streams atomic.Int64
}

// Handler returns the page over src. It wants to be mounted at the root of a
// host; a more specific pattern beside it (such as /v1/) takes precedence.
//
// The handler is safe for concurrent use by multiple goroutines.
func Handler(src views.Source, opt Options) http.Handler {
	s := &server{src: src, opt: opt.withDefaults(), pages: parsePages()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page(s.overview))
	mux.HandleFunc("GET /calendar", s.page(s.calendar))
	mux.HandleFunc("GET /fleet", s.page(s.fleet))
	mux.HandleFunc("GET /node", s.page(s.node))
	mux.HandleFunc("GET /quota", s.page(s.quota))
	mux.HandleFunc("GET /queue", s.page(s.queue))
	mux.HandleFunc("POST /book", s.page(s.book))
	mux.HandleFunc("POST /confirm", s.page(s.confirm))
	mux.HandleFunc("POST /cancel", s.page(s.cancel))
	for _, post := range []string{"/book", "/confirm", "/cancel"} { // a reader reloads or shares the address
		mux.Handle("GET "+post, http.RedirectHandler("/calendar", http.StatusSeeOther))
	}
	mux.HandleFunc("GET /events", s.events)
	mux.Handle("GET /static/", static())
	mux.HandleFunc("/", s.page(notFound))

	same := http.NewCrossOriginProtection()
	same.SetDenyHandler(s.page(foreign))
	return secured(same.Handler(mux))
}

// secured sets the headers that every answer carries. The referrer policy is
// same-origin rather than none: without a referrer a browser sends "Origin:
// null" with a form, and the check of the origin would refuse it where there
// is no TLS.
func secured(h http.Handler) http.Handler {
	const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; " +
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Content-Security-Policy", policy)
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Referrer-Policy", "same-origin")
		head.Set("Cross-Origin-Opener-Policy", "same-origin")
		head.Set("Cache-Control", "private, no-store")
		h.ServeHTTP(w, r)
	})
}
