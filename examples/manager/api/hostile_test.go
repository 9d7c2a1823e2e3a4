// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/manager/views"
)

// Ids that meet those of others, or those the manager makes, harm nobody.
func TestHostileIDs(t *testing.T) {
	w := newWorld(t)
	w.ok("a", "POST", "/v1/bookings", book("same", "a", 1, 1, 2), nil)
	w.ok("b", "POST", "/v1/jobs", `{"id":"same","tenant":"b","count":1,"gpus":1}`, nil)
	w.ok("b", "POST", "/v1/bookings", book("offer", "b", 1, 1, 2), nil)
	var offers views.Offers
	w.ok("a", "POST", "/v1/offers", book("", "a", 1, 3, 2), &offers)
	require.Equal(t, "exact", offers.Offers[0].Kind)
	for _, id := range []string{"standby/b/T4-x2", "job/same/1", "x#2", "日本", "a\\u0001b", "..", "-x", "x-", strings.Repeat("x", 129), ""} {
		w.refused("a", "POST", "/v1/bookings", book(id, "a", 1, 1, 2), 422, "invalid")
		w.refused("a", "POST", "/v1/jobs", `{"id":"`+id+`","tenant":"a","count":1,"gpus":1}`, 422, "invalid")
	}
	for _, body := range []string{`{"id":"m","tenant":"b","count":1,"gpus":1,"models":[""]}`, `{"id":"m","tenant":"b","count":10000,"cpu_milli":1099511627776}`} {
		w.refused("b", "POST", "/v1/jobs", body, 422, "invalid")
	}
	w.ok("b", "POST", "/v1/jobs", `{"id":"m","tenant":"b","count":1,"gpus":1,"models":[]}`, nil)
	for range 3 {
		_, err := w.s.Schedule(t.Context(), 0)
		require.NoError(t, err)
	}
	r := w.refused("a", "POST", "/v1/jobs", `{"id":"m","tenant":"a","count":2,"gpus":1}`, 409, "id-taken")
	require.NotContains(t, r.Detail, `"b"`)
	var list []map[string]any
	w.ok("b", "GET", "/v1/leases/same", "", &list)
	require.Len(t, list, 1)
}

// Every caller has request keys of its own.
func TestKeysAreTheCallers(t *testing.T) {
	w := newWorld(t)
	for _, tenant := range []string{"a", "b"} {
		w.ok(tenant, "POST", "/v1/bookings", book("x-"+tenant, tenant, 1, 1, 2), nil)
		r, err := http.NewRequest("POST", w.url+"/v1/extend/x-"+tenant, strings.NewReader(`{"end":"2026-03-02T12:00:00Z"}`))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", "1")
		r.Header.Set("Test-Tenant", tenant)
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, 200, resp.StatusCode)
	}
}

// What a form of another site can send is not taken.
func TestFormsAreNotTaken(t *testing.T) {
	w := newWorld(t)
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", ""} {
		r, err := http.NewRequest("POST", w.url+"/v1/bookings", strings.NewReader(book("x", "a", 1, 1, 2)))
		require.NoError(t, err)
		r.Header.Set("Content-Type", kind)
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, 415, resp.StatusCode)
	}
}

// Of another tenant's node a tenant sees that it is taken, and no more; of its
// bookings the sum.
func TestNodesOfOthers(t *testing.T) {
	w := newWorld(t)
	w.ok("b", "POST", "/v1/jobs", `{"id":"j","tenant":"b","count":1,"gpus":1,"cpu_milli":7777}`, nil)
	_, err := w.s.Schedule(t.Context(), 0)
	require.NoError(t, err)
	var m views.FleetMap
	w.ok("a", "GET", "/v1/nodes", "", &m)
	taken := 0
	for _, n := range m.Pools[0].Nodes {
		if n.Tenant != "" {
			taken++
			require.Equal(t, views.Node{ID: n.ID, Pool: "T4-x2", Model: "T4", Tenant: "other tenants", GPUs: []int64{1000, 1000}, CPU: 64_000}, n)
		}
	}
	require.Equal(t, 1, taken)
	w.ok("b", "POST", "/v1/bookings", book("p", "b", 1, 4, 4), nil)
	w.ok("b", "POST", "/v1/bookings", book("q", "b", 2, 6, 4), nil)
	var av views.Availability
	w.ok("a", "GET", "/v1/availability?pool=T4-x2", "", &av)
	var seen []int64
	for _, b := range av.Bookings {
		require.Empty(t, b.ID)
		require.Equal(t, "other tenants", b.Owner)
		seen = append(seen, b.Nodes)
	}
	require.Equal(t, []int64{1, 3, 2}, seen, "1 node from 12 to 14, 3 to 16, 2 to 18")
}
