// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/manager/views"
	"github.com/berth-gpu/berth/examples/manager/web"
)

func get(h http.Handler, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
	return w
}

func post(h http.Handler, target string, q url.Values, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, target, strings.NewReader(q.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// wanted is a form that fits: 3 of 39 nodes, ten days ahead.
func wanted(action string) url.Values {
	return url.Values{"action": {action}, "id": {"web-test-1"}, "tenant": {"speech"}, "pool": {"G3x8"}, "nodes": {"3"},
		"start": {"2026-03-20T00:00"}, "end": {"2026-03-21T12:00"}}
}

func TestPages(t *testing.T) {
	h := web.Handler(newFake(), web.Options{})
	for _, c := range []struct {
		target string
		status int
		says   string
	}{
		{"/", 200, "trace: 5,120 of 8,152 jobs, round 1, 600×"},
		{"/", 200, `href="/calendar?pool=V100M16x8"`},
		{"/calendar", 200, "<h1>G2x8"},
		{"/calendar?pool=T4x2&days=30", 200, "The chart as a table"},
		{"/calendar?pool=none", 404, "pool: &#34;none&#34;"},
		{"/calendar?pool=T4x2&days=3", 400, "days: &#34;3&#34; is not one of"},
		{"/calendar?pool=T4x2&booking=gone&said=held", 200, "The hold is over"},
		{"/", 200, `href="/calendar?model=V100M16"`},
		{"/calendar?model=V100M16", 200, `href="/calendar?pool=V100M16x8&amp;days=14"`},
		{"/calendar?model=V100M16&days=7", 200, "<b>195</b> GPUs in service"}, // 4 × 28 + 8 × 8 + 19
		{"/calendar?model=none", 404, "GPU model &#34;none&#34;"},
		{"/calendar?model=V100M16&days=3", 400, "days: &#34;3&#34; is not one of"},
		{"/calendar?pool=cpu-96", 200, "no GPU, 96 CPU cores a node"},
		{"/fleet?pool=cpu-96", 200, "24.5 of 96 cores free"},
		{"/node?id=cpu-96-0000", 200, "24.5 of 96 cores"},
		{"/fleet", 200, `href="/node?id=G2x8-0548"`},
		{"/fleet?pool=A10x1", 200, "The nodes as a table"},
		{"/fleet?pool=none", 404, "pool: &#34;none&#34;"},
		{"/node?id=G2x8-0003", 200, "XID 79"},
		{"/node?id=none", 404, "node: &#34;none&#34;"},
		{"/node", 400, "id: &#34;&#34;"},
		{"/quota", 200, "1,537.2"}, // 35 % of 4,392 GPUs
		{"/queue", 200, "2 whole nodes are needed"},
		{"/queue?limit=5", 200, "the oldest 5 of 137"},
		{"/queue?limit=many", 400, "limit: &#34;many&#34;"},
		{"/nothing", 404, "/nothing"},
		{"/book", 303, "/calendar"},
		{"/static/app.js", 200, "use strict"},
		{"/static/", 404, "not found"},
		{"/?%zz", 400, "invalid URL escape"},
	} {
		w := get(h, c.target)
		require.Equal(t, c.status, w.Code, c.target)
		require.Contains(t, w.Body.String(), c.says, c.target)
		require.NotContains(t, w.Body.String(), "ZgotmplZ", c.target)
		require.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'")
		require.NotRegexp(t, `(?i)<[^>]+\s(style|on[a-z]+)=`, w.Body.String(), "the policy forbids inline style and script: %s", c.target)
	}
	require.Equal(t, http.StatusMethodNotAllowed, method(h, http.MethodDelete, "/book"))
}

func method(h http.Handler, m, target string) int {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(m, target, nil))
	return w.Code
}

func TestFragmentHasOnlyLiveParts(t *testing.T) {
	h := web.Handler(newFake(), web.Options{})
	for _, page := range []string{"/?", "/calendar?pool=G3x8&", "/fleet?", "/node?id=G3x8-0001&", "/quota?", "/queue?"} {
		whole, part := get(h, page).Body.String(), get(h, page+"fragment=1").Body.String()
		require.NotContains(t, part, "<html", page)
		require.NotContains(t, part, "<form class=\"book\"", page)
		ids := regexp.MustCompile(`id="([a-z-]+)" data-live`).FindAllString(part, -1)
		require.NotEmpty(t, ids)
		for _, id := range ids {
			require.Contains(t, whole, id, page)
		}
	}
}

func TestNothingOfTheSourceIsMarkup(t *testing.T) {
	const evil = `<script>alert(1)</script>"' onload=x`
	src := newFake()
	src.tenants[0] = evil
	src.bookings[0].ID, src.bookings[0].Owner, src.bookings[0].Phase = evil, evil, evil
	src.outages["G2x8"][0].Reason, src.outages["G2x8"][0].Nodes[0] = evil, evil
	src.fleet["G2x8"][0].ID, src.fleet["G2x8"][0].Tenant, src.fleet["G2x8"][0].Booking = evil, evil, evil
	src.fleet["G2x8"][3].Holds[0].Reason = evil
	src.queue.Waiting[0].Tenant, src.queue.Waiting[0].Reason.Detail = evil, evil
	h := web.Handler(src, web.Options{})
	for _, page := range []string{"/", "/calendar?pool=G2x8", "/fleet", "/fleet?pool=G2x8", "/node?id=" + url.QueryEscape(evil), "/quota", "/queue",
		"/calendar?pool=" + url.QueryEscape(evil), "/calendar?pool=G2x8&tenant=" + url.QueryEscape(evil) + "&start=" + url.QueryEscape(evil) + "&booking=" + url.QueryEscape(evil)} {
		body := get(h, page).Body.String()
		require.NotContains(t, body, "<script>alert", page)
		require.NotRegexp(t, `<[^>"]*("[^"]*"[^>"]*)*\sonload=`, body, page)
	}
	form := wanted("book")
	form.Set("id", evil)
	w := post(h, "/book", form)
	require.Equal(t, 422, w.Code)
	require.NotContains(t, w.Body.String(), "<script>alert")
	require.Contains(t, w.Body.String(), "id: &#34;&lt;script&gt;alert")
}

func TestFormMistakesNameFieldAndValue(t *testing.T) {
	src := newFake()
	h := web.Handler(src, web.Options{})
	for field, value := range map[string]string{"tenant": "nobody", "pool": "G9", "nodes": "-4", "start": "soon", "end": "2026-03-19T00:00", "id": "../x"} {
		form := wanted("book")
		form.Set(field, value)
		w := post(h, "/book", form)
		require.Equal(t, 422, w.Code, field)
		require.Contains(t, w.Body.String(), field+": &#34;"+value+"&#34;", field)
	}
	w := post(h, "/book", url.Values{"action": {"book"}, "nodes": {"99999999999999999999"}})
	require.Equal(t, 422, w.Code)
	for _, field := range []string{"id", "tenant", "pool", "nodes", "start", "end"} { // all at once
		require.Contains(t, w.Body.String(), "<li>"+field+": &#34;")
	}
	require.Equal(t, 400, post(h, "/book", url.Values{"action": {"steal"}}).Code)
	require.Equal(t, 413, post(h, "/book", url.Values{"nodes": {strings.Repeat("9", 100_000)}}).Code)
	require.Zero(t, src.booked)
}

func TestBookWithoutScript(t *testing.T) {
	src := newFake()
	h := web.Handler(src, web.Options{})
	before := get(h, "/calendar?pool=G3x8").Body.String()
	id := regexp.MustCompile(`name="id" value="(web-[a-z0-9]+)"><input type="hidden" name="days"`).FindStringSubmatch(before)
	require.Len(t, id, 2)

	form := wanted("check")
	form.Set("id", id[1])
	w := post(h, "/book", form)
	require.Equal(t, 200, w.Code)
	require.Contains(t, w.Body.String(), "It fits")
	require.Zero(t, src.booked, "a check books nothing")

	form.Set("action", "book")
	for range 3 { // a form sent again books once
		w = post(h, "/book", form)
		require.Equal(t, 303, w.Code)
	}
	require.Equal(t, 1, src.booked)
	place := w.Header().Get("Location")
	require.Equal(t, "/calendar?booking="+id[1]+"&days=14&pool=G3x8&said=booked#booking", place)
	after := get(h, strings.TrimSuffix(place, "#booking")).Body.String()
	require.Contains(t, after, "Booked for speech")
	free := regexp.MustCompile(`class="freemin" d="([^"]*)"`)
	require.NotEqual(t, free.FindString(before), free.FindString(after), "the chart shows it")

	w = post(h, "/cancel", url.Values{"id": {id[1]}, "pool": {"G3x8"}})
	require.Equal(t, 303, w.Code)
	after = get(h, strings.TrimSuffix(w.Header().Get("Location"), "#booking")).Body.String()
	require.Contains(t, after, "Given back")
	require.Equal(t, free.FindString(before), free.FindString(after))
}

func TestHoldAndConfirm(t *testing.T) {
	src := newFake()
	h := web.Handler(src, web.Options{HoldFor: 2 * time.Minute})
	w := post(h, "/book", wanted("hold"))
	require.Equal(t, 303, w.Code)
	body := get(h, strings.TrimSuffix(w.Header().Get("Location"), "#booking")).Body.String()
	require.Contains(t, body, "Held for speech")
	require.Contains(t, body, `data-left="120" data-speed="1"`)
	require.Contains(t, body, "wall speed while an offer is held")
	w = post(h, "/confirm", url.Values{"id": {"web-test-1"}, "pool": {"G3x8"}})
	require.Equal(t, 303, w.Code)
	require.Contains(t, get(h, strings.TrimSuffix(w.Header().Get("Location"), "#booking")).Body.String(), "Booked for speech")
	require.Equal(t, 404, post(h, "/confirm", url.Values{"id": {"none"}}).Code)
}

func TestRefusalShowsFactsAndOffers(t *testing.T) {
	src := newFake()
	h := web.Handler(src, web.Options{})
	form := wanted("book")
	form.Set("nodes", "39")
	form.Set("start", "2026-03-12T00:00")
	w := post(h, "/book", form)
	require.Equal(t, 409, w.Code)
	body := w.Body.String()
	for _, s := range []string{"Not enough free nodes", "39 nodes of G3x8 are needed", "Hold this offer", ">later<", ">smaller<", "<code>capacity</code>", `value="39"`} {
		require.Contains(t, body, s)
	}
	require.NotContains(t, body, `value="web-test-1"`, "the refused id is not used again")
	require.Zero(t, src.booked)

	// The offer's own form holds it.
	offer := url.Values{"action": {"hold"}}
	piece := body[strings.Index(body, `<ul class="offers">`):]
	piece = piece[:strings.Index(piece, "</form>")]
	for _, m := range regexp.MustCompile(`name="([a-z]+)" value="([^"]*)"`).FindAllStringSubmatch(piece, -1) {
		if m[1] != "action" {
			offer.Set(m[1], m[2])
		}
	}
	require.Equal(t, 303, post(h, "/book", offer).Code)
	require.Equal(t, 1, src.booked)

	form.Set("fragment", "1")
	part := post(h, "/book", form).Body.String()
	require.Contains(t, part, "Not enough free nodes")
	require.NotContains(t, part, "<html")
}

func TestOtherOriginsAreRefused(t *testing.T) {
	src := newFake()
	h := web.Handler(src, web.Options{})
	for _, path := range []string{"/book", "/confirm", "/cancel"} {
		w := post(h, path, wanted("book"), "Sec-Fetch-Site", "cross-site")
		require.Equal(t, 403, w.Code, path)
		require.Equal(t, 403, post(h, path, wanted("book"), "Origin", "https://evil.example").Code, path)
		require.Contains(t, w.Body.String(), "nothing was changed")
	}
	require.Zero(t, src.booked)
	require.Equal(t, 303, post(h, "/book", wanted("book"), "Origin", "http://example.com").Code, "httptest's own host")
}

func TestViewer(t *testing.T) {
	src := newFake()
	h := web.Handler(src, web.Options{Viewer: func(r *http.Request) (string, error) {
		if v := r.Header.Get("X-Tenant"); v != "" {
			return v, nil
		}
		return "", errors.New("sign in first")
	}})
	for _, page := range []string{"/", "/calendar", "/fleet", "/quota", "/queue", "/events"} {
		w := get(h, page)
		require.Equal(t, 401, w.Code, page)
		require.Contains(t, w.Body.String(), "sign in first")
		require.NotContains(t, w.Body.String(), "G2x8")
	}
	r := httptest.NewRequest(http.MethodGet, "/calendar?pool=G2x8", nil)
	r.Header.Set("X-Tenant", "ads")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	body := w.Body.String()
	require.Contains(t, body, "Other tenants: ")
	require.Contains(t, body, "tenant <b>ads</b>")
	for _, b := range src.bookings {
		require.Equal(t, b.Owner == "ads" && b.Pool == "G2x8", strings.Contains(body, `value="`+b.ID+`"`), b.ID)
	}
	form := wanted("book")
	require.Equal(t, 422, post(h, "/book", form, "X-Tenant", "ads").Code, "not for another tenant")
	require.Equal(t, 404, post(h, "/cancel", url.Values{"id": {src.bookings[0].ID}}, "X-Tenant", "nobody").Code)
}

func TestBrokenSourceIsNotAPage(t *testing.T) {
	src := newFake()
	src.broken = errors.New("the store is gone")
	h := web.Handler(src, web.Options{})
	for _, w := range []*httptest.ResponseRecorder{get(h, "/"), get(h, "/calendar"), post(h, "/book", wanted("book"))} {
		require.Equal(t, 500, w.Code)
		require.Contains(t, w.Body.String(), "the store is gone")
	}
}

func TestEmptyManager(t *testing.T) {
	h := web.Handler(&fake{now: day0, changed: make(chan struct{}), tenants: []string{"a"}}, web.Options{})
	require.Equal(t, 200, get(h, "/").Code)
	for _, page := range []string{"/calendar", "/calendar?fragment=1"} {
		w := get(h, page)
		require.Equal(t, 200, w.Code, "the menu leads there")
		require.Contains(t, w.Body.String(), "There is no node yet")
		require.NotContains(t, w.Body.String(), "<form")
	}
	require.Equal(t, 404, get(h, "/calendar?pool=none").Code)
	require.Equal(t, 200, get(h, "/queue").Code)
}

var pages = []string{"/", "/calendar?pool=G2x8", "/fleet", "/fleet?pool=G2x8", "/quota", "/queue"}

// A page has at most 1.5 MB, which a slow line carries in seconds. How long one
// takes to make, which should be 200 ms at most, is in BenchmarkPages.
func TestPagesAreSmall(t *testing.T) {
	h := web.Handler(newFake(), web.Options{})
	for _, page := range pages {
		require.Less(t, get(h, page).Body.Len(), 1_500_000, page)
	}
}

func BenchmarkPages(b *testing.B) {
	h := web.Handler(newFake(), web.Options{})
	for _, page := range pages {
		b.Run(page, func(b *testing.B) {
			size := 0
			for b.Loop() {
				size = get(h, page).Body.Len()
			}
			b.ReportMetric(float64(size), "bytes/page")
		})
	}
}

// small is a manager quick enough for a fuzzer: one pool of 39 nodes.
func small() *fake {
	f := &fake{now: day0, tenants: []string{"vision", "speech"}, changed: make(chan struct{}), outages: map[string][]views.Outage{}, fleet: map[string][]views.Node{}}
	f.pools = []views.Pool{{Name: "G3x8", Model: "G3", GPUsPerNode: 8, Nodes: 39, Capacity: 39 * 8000}}
	f.bookings = []views.Booking{{ID: "one", Owner: "vision", Pool: "G3x8", Nodes: 20, GPUs: 160, Start: day0, End: day0.Add(3 * day), Phase: "active"}}
	return f
}

func FuzzQuery(f *testing.F) {
	for _, s := range []string{"pool=G3x8&days=14", "pool=%00&days=-1", "booking=<script>&pool=G3x8", "limit=99999999999999999999", "id=%ff", "fragment=1&said=held", "start=x&nodes=<b>"} {
		f.Add(s)
	}
	h := web.Handler(small(), web.Options{})
	f.Fuzz(func(t *testing.T, query string) {
		for _, page := range []string{"/calendar", "/queue", "/node"} {
			r := httptest.NewRequest(http.MethodGet, page, nil)
			r.URL.RawQuery = query
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			require.Contains(t, []int{200, 400, 404}, w.Code, page)
			if v := r.URL.Query().Get("booking"); strings.Contains(v, "<script>") {
				require.NotContains(t, w.Body.String(), v)
			}
		}
	})
}

func FuzzForm(f *testing.F) {
	f.Add(wanted("check").Encode())
	f.Add(wanted("hold").Encode())
	f.Add("action=book&nodes=9223372036854775807&start=9999-12-31T23:59&end=0000-01-01T00:00")
	src := small()
	h := web.Handler(src, web.Options{})
	f.Fuzz(func(t *testing.T, body string) {
		src.bookings, src.booked = src.bookings[:1], 0
		r := httptest.NewRequest(http.MethodPost, "/book", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		require.Contains(t, []int{200, 303, 400, 409, 413, 422}, w.Code)
		if w.Code != 303 {
			require.Zero(t, src.booked, "only a redirect says that something was booked")
		}
	})
}

var _ views.Source = (*fake)(nil)
