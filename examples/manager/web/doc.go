// SPDX-License-Identifier: Apache-2.0

// Package web is the manager's web page: what there is, when it is free, who
// has it and why something waits, with a form that books it.
//
// Every page is a function of a [views.Source] and the request. Pages are
// rendered on the server (html/template, and SVG made here), so that reading
// and booking work without JavaScript. The one script, static/app.js, adds
// comfort: it refreshes the parts marked data-live when the source says that
// something changed, checks the form while it is filled in, and lets a window
// be drawn on the chart. Nothing is loaded from elsewhere, and the content
// security policy forbids it; for the same reason no page has an inline style.
//
// # Pages
//
//	GET  /            overview: figures, every GPU model's and every pool's next days
//	GET  /calendar    one pool: chart, bookings, form (pool, days, booking);
//	                  or all pools of one GPU model: chart (model, days)
//	POST /book        action=check, hold or book
//	POST /confirm     keep a held booking
//	POST /cancel      give a booking back
//	GET  /fleet       every node (pool)
//	GET  /node        one node (id)
//	GET  /quota       the tree of tenants
//	GET  /queue       waiting and running jobs (limit)
//	GET  /events      server-sent events: "changed", at most one per Options.Pace
//
// Any page asked with fragment=1 answers only its live parts.
//
// # Safety
//
// The form carries a booking id that the server drew when it rendered the
// form, and the source answers a repeated id as before: a form sent twice
// books once. Requests from other origins that could change something are
// refused with 403 ([http.CrossOriginProtection]). A stream of events ends
// with its request; a host that shuts down cancels its server's base context.
package web
