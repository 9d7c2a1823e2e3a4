// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/manager/api"
	"github.com/berth-gpu/berth/examples/manager/cell"
	"github.com/berth-gpu/berth/examples/manager/service"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/views"
	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/topology"
)

var start = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// hand is a clock that a test moves by hand.
type hand struct {
	mu sync.Mutex
	t  time.Time
}

func (h *hand) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.t
}

func (h *hand) forward(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.t = h.t.Add(d)
}

type nowhere struct{}

func (nowhere) Append(uint64, [][]byte) error { return nil }

// world is a manager of four T4 nodes with two GPUs, for tenants a and b.
type world struct {
	t     *testing.T
	url   string
	s     *service.Service
	clock *hand
}

func newWorld(t *testing.T) *world {
	csv := "sn,cpu_milli,memory_mib,gpu,model\n"
	for n := range 4 {
		csv += fmt.Sprintf("n%d,64000,262144,2,T4\n", n)
	}
	fleet, err := topology.ReadOpenB(strings.NewReader(csv))
	require.NoError(t, err)
	limits := []quota.Limit{{Key: state.GPUKey("T4"), Nominal: 6000}, {Key: state.CPUKey, Nominal: 100_000}}
	st, err := state.New(state.Config{Fleet: fleet, Tenants: []quota.Tenant{{Name: "org"}, {Name: "a", Parent: "org", Limits: limits}, {Name: "b", Parent: "org", Limits: limits}}})
	require.NoError(t, err)
	w := &world{t: t, clock: &hand{t: start}, s: &service.Service{CheckAll: true}}
	w.s.Clock = w.clock
	w.s.Cell = cell.New(st, 0, nowhere{}, func(int) { w.s.Published() })
	ctx, stop := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() { _ = w.s.Cell.Run(ctx) })
	srv := httptest.NewServer(api.Handler(w.s, api.Options{Viewer: func(r *http.Request) (string, error) {
		switch who := r.Header.Get("Test-Tenant"); who {
		case "nobody":
			return "", errors.New("no such token")
		default:
			return who, nil
		}
	}}))
	w.url = srv.URL
	t.Cleanup(func() { srv.Close(); stop(); run.Wait() })
	return w
}

// call returns the status and the body.
func (w *world) call(tenant, method, path, body string) (int, string) {
	r, err := http.NewRequest(method, w.url+path, strings.NewReader(body))
	require.NoError(w.t, err)
	r.Header.Set("Test-Tenant", tenant)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	require.NoError(w.t, err)
	b, err := io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	require.NoError(w.t, resp.Body.Close())
	return resp.StatusCode, string(b)
}

// ok demands success and reads the answer.
func (w *world) ok(tenant, method, path, body string, out any) {
	status, b := w.call(tenant, method, path, body)
	require.Equal(w.t, 200, status, "%s %s: %s", method, path, b)
	if out != nil {
		require.NoError(w.t, json.Unmarshal([]byte(b), out))
	}
}

// refused demands a refusal with a status and a code.
func (w *world) refused(tenant, method, path, body string, status int, code string) views.Refusal {
	got, b := w.call(tenant, method, path, body)
	require.Equal(w.t, status, got, "%s %s: %s", method, path, b)
	var r views.Refusal
	require.NoError(w.t, json.Unmarshal([]byte(b), &r), b)
	require.Equal(w.t, code, r.Code, b)
	return r
}

func book(id, owner string, nodes int, from, hours int) string {
	s := start.Add(time.Duration(from) * time.Hour)
	b, _ := json.Marshal(views.BookRequest{ID: id, Owner: owner, Pool: "T4-x2", Nodes: int64(nodes), Start: s, End: s.Add(time.Duration(hours) * time.Hour)})
	return string(b)
}

// A day of two tenants, through the API.
func TestStory(t *testing.T) {
	w := newWorld(t)
	var b views.Booking
	w.ok("a", "POST", "/v1/bookings?dry_run=true", book("x", "a", 2, 1, 2), &b)
	w.refused("a", "GET", "/v1/bookings/x", "", 404, "not-found")
	w.ok("a", "POST", "/v1/bookings", book("x", "a", 2, 1, 2), &b)
	require.Equal(t, "confirmed", b.Phase)
	w.ok("a", "POST", "/v1/bookings", book("x", "a", 2, 1, 2), &b) // a retry
	w.refused("a", "POST", "/v1/bookings", book("x", "a", 1, 1, 2), 409, "id-taken")

	r := w.refused("a", "POST", "/v1/bookings", book("y", "a", 3, 1, 2), 409, "quota-exceeded")
	require.NotEmpty(t, r.Blockers)
	require.Equal(t, []string{"later", "smaller"}, []string{r.Offers[0].Kind, r.Offers[1].Kind})
	require.Equal(t, int64(1), r.Offers[1].Nodes, "one node more is within quota")
	var offers views.Offers
	w.ok("a", "POST", "/v1/offers", book("y", "a", 3, 1, 2), &offers)
	require.Equal(t, r.Offers, offers.Offers)
	require.Equal(t, "quota-exceeded", offers.Refusal.Code)
	var m views.ModelAvailability
	w.ok("a", "GET", "/v1/availability?model=T4&bins=3", "", &m)
	require.Equal(t, int64(4), m.Bins[0].Min)
	require.NotEmpty(t, r.Help)
	w.ok("b", "POST", "/v1/bookings", book("z", "b", 2, 1, 2), nil)
	r = w.refused("b", "POST", "/v1/bookings", book("z2", "b", 2, 2, 1), 409, "quota-exceeded")
	require.NotContains(t, r.Detail, `"x"`, "a tenant learns nothing of another's bookings")

	// A job waits for nothing, runs on standby, and leaves when the booking begins.
	w.ok("b", "POST", "/v1/jobs", `{"id":"j1","tenant":"b","count":1,"gpus":2,"cpu_milli":1000}`, nil)
	_, err := w.s.Schedule(t.Context(), 0)
	require.NoError(t, err)
	var j views.Job
	w.ok("b", "GET", "/v1/jobs/j1", "", &j)
	require.Equal(t, "running", j.Phase)
	require.Equal(t, "standby/b/T4-x2", j.Claim)
	var leases []map[string]any
	w.ok("b", "GET", "/v1/leases/j1", "", &leases)
	require.Len(t, leases, 1)
	w.refused("a", "GET", "/v1/leases/j1", "", 404, "not-found")
	w.refused("a", "DELETE", "/v1/jobs/j1", "", 404, "not-found")

	w.clock.forward(70 * time.Minute) // both bookings have begun: all four nodes are theirs
	_, err = w.s.Schedule(t.Context(), 0)
	require.NoError(t, err)
	w.ok("b", "GET", "/v1/jobs/j1", "", &j)
	require.Equal(t, "running", j.Phase, "it goes on inside its own tenant's booking")
	require.Equal(t, "z", j.Claim)
	require.Equal(t, 1, j.Preemptions)

	w.ok("", "POST", "/v1/cordon/n0", `{"owner":"human/oncall","step":"reboot","reason":"fan"}`, nil)
	w.refused("a", "POST", "/v1/cordon/n1", `{"owner":"human/oncall"}`, 403, "forbidden")
	w.refused("", "POST", "/v1/cordon/n9", `{"owner":"human/oncall"}`, 404, "not-found")
	w.ok("", "POST", "/v1/uncordon/n0", `{"owner":"human/oncall"}`, nil)

	w.ok("b", "POST", "/v1/extend/z", `{"end":"2026-03-02T10:30:00Z"}`, &b)
	require.Equal(t, "10:30", b.End.Format("15:04"))
	w.ok("b", "DELETE", "/v1/bookings/z", "", &b)
	require.NotEqual(t, "active", b.Phase)
	var check service.CheckReport
	w.ok("", "GET", "/v1/check", "", &check)
	require.True(t, check.OK)
}

// A hold is confirmed in time, or it is gone: in the ledger and in the calendar.
func TestHold(t *testing.T) {
	w := newWorld(t)
	hold := strings.TrimSuffix(book("h", "a", 2, 5, 2), "}") + `,"hold_seconds":300}`
	var b views.Booking
	w.ok("a", "POST", "/v1/bookings", hold, &b)
	require.Equal(t, "held", b.Phase)
	require.Equal(t, start.Add(5*time.Minute), b.Expires)
	w.refused("b", "POST", "/v1/confirm/h", "", 404, "not-found")
	w.clock.forward(299 * time.Second)
	w.ok("a", "POST", "/v1/confirm/h", "", &b)
	require.Equal(t, "confirmed", b.Phase)

	late := strings.Replace(hold, `"h"`, `"late"`, 1)
	w.ok("a", "DELETE", "/v1/bookings/h", "", nil)
	w.ok("a", "POST", "/v1/bookings", late, nil)
	w.clock.forward(300 * time.Second)
	w.refused("a", "POST", "/v1/confirm/late", "", 409, "hold-expired")
	w.ok("a", "POST", "/v1/bookings", book("after", "a", 2, 5, 2), nil)
}

// Whoever changes a booking may say which version of it he has seen; if it has
// changed since, nothing happens and the answer is 412.
func TestIfVersion(t *testing.T) {
	w := newWorld(t)
	hold := strings.TrimSuffix(book("h", "a", 1, 1, 4), "}") + `,"hold_seconds":300}`
	var b views.Booking
	w.ok("a", "POST", "/v1/bookings", hold, &b)
	require.Equal(t, uint64(1), b.Version)
	calls := []struct{ method, path, body string }{
		{"POST", "/v1/confirm/h", ""},
		{"POST", "/v1/extend/h", `{"end":"2026-03-02T12:00:00Z"}`},
		{"DELETE", "/v1/bookings/h", ""}, // it has begun: the rest is released
	}
	for i, c := range calls {
		r := w.refused("a", c.method, c.path+"?if_version=77", c.body, 412, "changed")
		require.Contains(t, r.Detail, "not 77")
		w.ok("a", c.method, fmt.Sprintf("%s?if_version=%d&dry_run=true", c.path, b.Version), c.body, nil)
		if i == 2 {
			w.clock.forward(90 * time.Minute)
			w.ok("a", "GET", "/v1/bookings/h", "", &b)
			_, err := w.s.Schedule(t.Context(), 0)
			require.NoError(t, err)
			w.ok("a", "GET", "/v1/bookings/h", "", &b)
			require.Equal(t, "active", b.Phase)
		}
		seen := b.Version
		w.ok("a", c.method, fmt.Sprintf("%s?if_version=%d", c.path, seen), c.body, &b)
		require.Greater(t, b.Version, seen)
		w.refused("a", c.method, fmt.Sprintf("%s?if_version=%d", c.path, seen), c.body, 412, "changed")
	}
	w.ok("a", "POST", "/v1/bookings", book("g", "a", 1, 9, 2), nil)
	w.refused("a", "DELETE", "/v1/bookings/g?if_version=2", "", 412, "changed")
	w.refused("b", "DELETE", "/v1/bookings/g?if_version=2", "", 404, "not-found")
	w.ok("a", "DELETE", "/v1/bookings/g?if_version=1", "", nil) // it has not begun: cancelled
}

// Every mistake is a clear answer that names the field and the value.
func TestBadInput(t *testing.T) {
	w := newWorld(t)
	for _, tc := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/v1/bookings", `{"id":"x","ownr":"a"}`, 400, `unknown field "ownr"`},
		{"POST", "/v1/bookings", `{"id":"x"} {}`, 400, "follows"},
		{"POST", "/v1/bookings", strings.Replace(book("x", "a", 1, 1, 1), `"nodes"`, `"NODES":2,"nodes":3,"nodes"`, 1), 400, `unknown field "NODES"`},
		{"POST", "/v1/bookings", strings.Replace(book("x", "a", 1, 1, 1), `"nodes"`, `"nodes":3,"nodes"`, 1), 400, `"nodes" is given twice`},
		{"POST", "/v1/tenants", `{"name":"x","limits":[{"key":"k","nominal":1,"nominal":2}]}`, 400, `"nominal" in limits[0] is given twice`},
		{"POST", "/v1/jobs", `{"id":"j","Tenant":"a","count":1,"gpus":1}`, 400, `unknown field "Tenant"`},
		{"POST", "/v1/bookings", `{"nodes":99999999999999999999}`, 400, "nodes"},
		{"POST", "/v1/bookings", `[]`, 400, "array"},
		{"POST", "/v1/bookings", ``, 400, "EOF"},
		{"POST", "/v1/bookings", book("x", "a", -1, 1, 1), 422, "nodes is -1"},
		{"POST", "/v1/bookings", book("x", "a", 0, 1, 1), 422, "nodes is 0"},
		{"POST", "/v1/bookings", book("x", "a", 1, 1, 0), 422, "empty"},
		{"POST", "/v1/bookings", book("x", "a", 1, -5, 1), 422, "present"},
		{"POST", "/v1/bookings", book("x", "nobody", 1, 1, 1), 422, `"nobody"`},
		{"POST", "/v1/bookings", strings.Replace(book("x", "a", 1, 1, 1), "T4-x2", "H100", 1), 422, `pool "H100"`},
		{"POST", "/v1/bookings", strings.Replace(book("x", "a", 1, 1, 1), "}", `,"hold_seconds":-3}`, 1), 422, "hold_seconds is -3"},
		{"POST", "/v1/bookings", book("", "a", 1, 1, 1), 422, "id is"},
		{"POST", "/v1/bookings?dry_run=maybe", book("x", "a", 1, 1, 1), 422, `"maybe"`},
		{"POST", "/v1/jobs", `{"id":"j","tenant":"a","count":0}`, 422, "count is 0"},
		{"POST", "/v1/jobs", `{"id":"j","tenant":"zz","count":1,"gpus":1}`, 422, `"zz"`},
		{"POST", "/v1/jobs", `{"id":"j","tenant":"a","count":1,"gpus":1,"gpu_milli":5}`, 422, "gpu_milli is 5"},
		{"GET", "/v1/availability?pool=none", "", 404, `"none"`},
		{"GET", "/v1/availability?pool=T4-x2&bins=0", "", 422, `bins is "0"`},
		{"GET", "/v1/availability?pool=T4-x2&bins=x", "", 422, `bins is "x"`},
		{"GET", "/v1/availability?pool=T4-x2&from=noon", "", 422, `from is "noon"`},
		{"GET", "/v1/availability?pool=T4-x2&from=2026-03-03T00:00:00Z&to=2026-03-03T00:00:00Z", "", 422, "empty"},
		{"GET", "/v1/jobs?limit=many", "", 422, `limit is "many"`},
		{"GET", "/v1/jobs?limit=-4", "", 422, `limit is "-4"`},
		{"GET", "/v1/jobs?limit=0", "", 422, `limit is "0"`},
		{"GET", "/v1/jobs?limit=1001", "", 422, "from 1 to 1000"},
		{"GET", "/v1/availability?model=none", "", 404, `"none"`},
		{"GET", "/v1/availability?model=T4&pool=T4-x2", "", 422, "not both"},
		{"DELETE", "/v1/bookings/x?if_version=-1", "", 422, `if_version is "-1"`},
		{"POST", "/v1/confirm/x?if_version=0", "", 422, `if_version is "0"`},
		{"POST", "/v1/bookings?if_version=1", book("x", "a", 1, 1, 1), 422, "where one is changed"},
		{"POST", "/v1/uncordon/n0", `{"owner":"human/oncall"}`, 404, "does not hold"},
		{"GET", "/v1/nodes?pool=none", "", 404, `"none"`},
		{"POST", "/v1/cordon/n0", `{"owner":"","step":"reboot"}`, 422, "owner"},
		{"POST", "/v1/cordon/n0", `{"owner":"a","step":"jump"}`, 422, "jump"},
		{"POST", "/v1/extend/none", `{"end":"2026-03-02T10:30:00Z"}`, 404, `"none"`},
		{"PUT", "/v1/bookings", `{}`, 404, "PUT"},
		{"GET", "/v1/nothing", "", 404, "/v1/nothing"},
		{"POST", "/v1/jobs", `{"id":"` + strings.Repeat("x", 2<<20) + `"}`, 413, "1048576"},
	} {
		status, b := w.call("", tc.method, tc.path, tc.body)
		require.Equal(t, tc.status, status, "%s %s %.80s: %s", tc.method, tc.path, tc.body, b)
		require.Contains(t, strings.ToLower(b), strings.ToLower(strings.ReplaceAll(tc.want, `"`, `\"`)), "%s %s %.80s", tc.method, tc.path, tc.body)
	}
	require.Equal(t, uint64(0), w.s.Cell.Seq(), "nothing was changed by any of it")
	w.refused("nobody", "GET", "/v1/overview", "", 401, "unauthorised")
}

// No route gives tenant a anything of tenant b, and none lets it change it:
// every route is asked, by b's names, before and after b has things.
func TestTenancy(t *testing.T) {
	w := newWorld(t)
	w.ok("b", "POST", "/v1/bookings", book("secret-booking", "b", 1, 1, 2), nil)
	w.ok("b", "POST", "/v1/jobs", `{"id":"secret-job","tenant":"b","count":1,"gpus":1,"cpu_milli":7777}`, nil)
	w.ok("b", "POST", "/v1/jobs", `{"id":"secret-wait","tenant":"b","count":4,"gpus":2}`, nil)
	_, err := w.s.Schedule(t.Context(), 0)
	require.NoError(t, err)
	w.ok("", "POST", "/v1/cordon/n3", `{"owner":"human/secret-admin","step":"diag","reason":"secret-reason"}`, nil)
	before, err := w.s.Cell.Load().Snapshot()
	require.NoError(t, err)
	for _, route := range api.Routes(w.s) {
		method, path, _ := strings.Cut(route.Pattern, " ")
		for _, id := range []string{"secret-booking", "secret-job", "secret-wait", "n0", "n1", "n2", "n3", "standby/b/T4-x2"} {
			p := strings.Replace(path, "{id...}", id, 1)
			if path == "/v1/availability" {
				p += "?pool=T4-x2"
			}
			bodies := []string{"{}", book("secret-booking", "b", 1, 1, 2), book("new", "b", 1, 1, 2), `{"owner":"human/secret-admin"}`,
				`{"id":"new","tenant":"b","count":1,"gpus":1}`, `{"end":"2026-03-02T10:30:00Z"}`}
			if method == "GET" {
				bodies = bodies[:1]
			}
			for _, body := range bodies {
				status, b := w.call("a", method, p, body)
				if route.Admin {
					require.Equal(t, 403, status, route.Pattern)
				}
				b = strings.ReplaceAll(b, id, "") // the caller's own words may come back
				require.NotContains(t, b, "secret", "%s as tenant a", method+" "+p)
				require.NotContains(t, b, "7777")
				require.NotContains(t, b, "vision")
			}
		}
	}
	after, err := w.s.Cell.Load().Snapshot()
	require.NoError(t, err)
	require.True(t, bytes.Equal(before, after), "tenant a changed something")
}

// Requests under one key from many callers are carried out once.
func TestRequestKey(t *testing.T) {
	w := newWorld(t)
	w.ok("a", "POST", "/v1/bookings", book("x", "a", 1, 1, 2), nil)
	post := func(key, end string) (int, string) {
		r, err := http.NewRequest("POST", w.url+"/v1/extend/x", strings.NewReader(`{"end":"`+end+`"}`))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", key)
		r.Header.Set("Test-Tenant", "a")
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		b, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		return resp.StatusCode, string(b)
	}
	var wg sync.WaitGroup
	answers := make([]string, 8)
	for i := range answers {
		wg.Go(func() { _, answers[i] = post("k1", "2026-03-02T12:00:00Z") })
	}
	wg.Wait()
	for _, a := range answers {
		require.Equal(t, answers[0], a)
	}
	var b views.Booking
	w.ok("a", "GET", "/v1/bookings/x", "", &b)
	require.Equal(t, uint64(2), b.Version, "carried out once")
	status, body := post("k1", "2026-03-02T13:00:00Z")
	require.Equal(t, 422, status, body)
	require.Contains(t, body, "key-reused")
}
