// SPDX-License-Identifier: Apache-2.0

package service_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/manager/commands"
	"github.com/berth-gpu/berth/examples/manager/service"
	"github.com/berth-gpu/berth/examples/manager/views"
	"github.com/berth-gpu/berth/quota"
)

func wish(owner string, nodes int64, from, hours int) views.BookRequest {
	s := start.Add(time.Duration(from) * time.Hour)
	return views.BookRequest{ID: fmt.Sprintf("%s-%d-%d-%d", owner, nodes, from, hours), Owner: owner, Pool: "T4-x2", Nodes: nodes, Start: s, End: s.Add(time.Duration(hours) * time.Hour)}
}

const fourNodes = "n0,64000,262144,2,T4\nn1,64000,262144,2,T4\nn2,64000,262144,2,T4\nn3,64000,262144,2,T4\n"

// A wish that cannot be had is refused beside its offers; the most that the quota
// allows is among them; and where nothing is offered there is still a reason.
func TestOffersSayWhy(t *testing.T) {
	w := newWorld(t, fourNodes, gpus("a", 5, 0), gpus("b", 8, 0), gpus("none", 0, 0))
	o, err := w.s.Offers("a", wish("a", 2, 1, 2))
	require.NoError(t, err)
	require.Nil(t, o.Refusal)
	require.Len(t, o.Offers, 1)
	require.Equal(t, "exact", o.Offers[0].Kind)

	o, err = w.s.Offers("a", wish("a", 4, 1, 2)) // it is free, but 5 GPUs are two nodes
	require.NoError(t, err)
	require.Equal(t, "quota-exceeded", o.Refusal.Code)
	require.NotContains(t, o.Refusal.Detail, "offer/-", "an id that nobody has chosen")
	require.Len(t, o.Offers, 1)
	require.Equal(t, views.Offer{Kind: "smaller", Pool: "T4-x2", Nodes: 2, Start: start.Add(time.Hour), End: start.Add(3 * time.Hour)}, o.Offers[0])

	_, err = w.s.Book(w.Context(), "b", wish("b", 3, 1, 2), false)
	require.NoError(t, err)
	o, err = w.s.Offers("a", wish("a", 2, 1, 2)) // now it is not free
	require.NoError(t, err)
	require.Equal(t, "no-capacity", o.Refusal.Code)
	kinds := map[string]int64{}
	for _, x := range o.Offers {
		kinds[x.Kind] = x.Nodes
	}
	require.Equal(t, int64(1), kinds["smaller"])
	require.Equal(t, int64(2), kinds["later"])

	o, err = w.s.Offers("none", wish("none", 1, 1, 2))
	require.NoError(t, err)
	require.Empty(t, o.Offers)
	require.Equal(t, "quota-exceeded", o.Refusal.Code)

	_, err = w.s.Book(w.Context(), "a", wish("a", 4, 8, 2), false) // the refusal of a booking has them too
	r, ok := errors.AsType[*views.Refusal](err)
	require.True(t, ok)
	require.Len(t, r.Offers, 1)
	require.Equal(t, int64(2), r.Offers[0].Nodes)
	_, err = w.s.Offers("a", wish("a", 0, 1, 2))
	require.Error(t, err)
}

// Every offer can be booked as it is, whatever is in the calendar.
func TestOffersCanBeHad(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	seen := map[string]int{}
	for range 40 {
		w := newWorld(t, fourNodes, gpus("a", 2*(1+r.Int64N(4)), 0), gpus("b", 8, 0))
		for range 4 {
			_, _ = w.s.Book(w.Context(), "b", wish("b", 1+r.Int64N(4), 1+r.IntN(20), 1+r.IntN(9)), false)
		}
		o, err := w.s.Offers("a", wish("a", 1+r.Int64N(4), 1+r.IntN(20), 1+r.IntN(9)))
		require.NoError(t, err)
		for _, x := range o.Offers {
			seen[x.Kind]++
			_, err := w.s.Book(w.Context(), "a", views.BookRequest{ID: "x", Owner: "a", Pool: x.Pool, Nodes: x.Nodes, Start: x.Start, End: x.End}, true)
			require.NoError(t, err, "%+v", x)
		}
	}
	require.GreaterOrEqual(t, len(seen), 4, "%v", seen)
}

// Who may own bookings: in a flat list everybody, in a tree those with a quota and
// those with nobody below them.
func TestOwners(t *testing.T) {
	w := newWorld(t, fourNodes, gpus("flat", 4, 0), quota.Tenant{Name: "bare"}, quota.Tenant{Name: "org"},
		quota.Tenant{Name: "team", Parent: "org", Limits: gpus("", 2, 0).Limits}, quota.Tenant{Name: "person", Parent: "team"})
	require.ElementsMatch(t, []string{"flat", "bare", "team", "person"}, w.s.Overview("").Tenants)
	require.Equal(t, []string{"flat"}, w.s.Overview("flat").Tenants)
	require.Empty(t, w.s.Overview("org").Tenants)
}

// All pools of a model together, compared with a count of every instant.
func TestModelAvailability(t *testing.T) {
	w := newWorld(t, fourNodes+"u0,64000,262144,4,T4\nu1,64000,262144,4,T4\ng0,96000,393216,8,G2\n", gpus("a", 16, 8))
	r := rand.New(rand.NewPCG(8, 8))
	type taken struct {
		from, to time.Time
		gpus     int64
	}
	var list []taken
	for range 12 {
		q := wish("a", 1, 1+r.IntN(40), 1+r.IntN(9))
		per := int64(2)
		if r.IntN(2) == 0 {
			q.Pool, per = "T4-x4", 4
		}
		q.ID = fmt.Sprint("b", len(list))
		q.Start, q.End = q.Start.Add(time.Duration(r.IntN(60))*time.Minute), q.End.Add(time.Duration(60+r.IntN(60))*time.Minute)
		if _, err := w.s.Book(w.Context(), "a", q, false); err == nil {
			list = append(list, taken{q.Start, q.End, per})
		}
	}
	require.Greater(t, len(list), 6)
	m, err := w.s.ModelAvailability("a", "T4", start, start.Add(48*time.Hour), 16)
	require.NoError(t, err)
	require.Len(t, m.Pools, 2)
	require.Equal(t, int64(16), m.GPUs)
	require.Len(t, m.Bins, 16)
	for _, b := range m.Bins {
		least, most := int64(16), int64(0)
		for at := b.Start; at.Before(b.End); at = at.Add(time.Minute) {
			free := int64(16)
			for _, x := range list {
				if !at.Before(x.from) && at.Before(x.to) {
					free -= x.gpus
				}
			}
			least, most = min(least, free), max(most, free)
		}
		require.Equal(t, [3]int64{least, most, 16}, [3]int64{b.Min, b.Max, b.Capacity}, b.Start)
	}
	for _, bad := range []string{"none", "", "cpu-milli/64000"} {
		_, err = w.s.ModelAvailability("", bad, start, start.Add(time.Hour), 1)
		require.ErrorContains(t, err, "GPU model", bad)
	}
	_, err = w.s.ModelAvailability("", "T4", start, start, 1)
	require.Error(t, err)
	_, err = w.s.ModelAvailability("", "T4", start, start.Add(time.Hour), 0)
	require.ErrorContains(t, err, "bins is 0")
}

// Whoever holds nothing cannot give it up, and is told who does; a title is not
// said again in what follows it.
func TestUncordonByAnotherHand(t *testing.T) {
	w := newWorld(t, fourNodes, gpus("a", 8, 0))
	_, err := w.s.CordonAs(w.Context(), service.Call{}, commands.Cordon{Node: "n0", Owner: "human/oncall", Reason: "fan"})
	require.NoError(t, err)
	err = w.s.UncordonAs(w.Context(), service.Call{}, commands.Uncordon{Node: "n0", Owner: "maintenance"})
	require.EqualError(t, err, `not found: "maintenance" does not hold node "n0", ["human/oncall"] do`)
	require.ErrorContains(t, w.s.UncordonAs(w.Context(), service.Call{}, commands.Uncordon{Node: "n1", Owner: "maintenance"}), "nobody does")
	require.NoError(t, w.s.UncordonAs(w.Context(), service.Call{}, commands.Uncordon{Node: "n0", Owner: "human/oncall"}))
	_, err = w.s.Booking("", "none")
	require.EqualError(t, err, `not found: booking "none"`)
	_, err = w.s.Job("", "none")
	require.Equal(t, 1, strings.Count(err.Error(), "not found"))
}

// Nodes without a GPU are on the map, by their CPU, and have a pool and a quota key.
func TestNodesWithoutGPU(t *testing.T) {
	w := newWorld(t, "n0,64000,262144,2,T4\nc0,32000,65536,0,\n", gpus("a", 2, 0))
	m, err := w.s.Fleet("a", "cpu-32")
	require.NoError(t, err)
	require.Len(t, m.Pools, 1)
	require.Equal(t, views.Pool{Name: "cpu-32", CPUMilliPerNode: 32_000, Nodes: 1, FreeNow: 1}, m.Pools[0].Pool)
	require.Equal(t, views.Node{ID: "c0", Pool: "cpu-32", GPUs: []int64{}, CPU: 32_000, CPUFree: 32_000, MemFree: 65_536}, m.Pools[0].Nodes[0])
	q := wish("a", 1, 1, 2)
	q.Pool = "cpu-32"
	b, err := w.s.Book(w.Context(), "a", q, false)
	require.NoError(t, err)
	require.Zero(t, b.GPUs)
	keys := map[string]bool{}
	for _, k := range w.s.Quota("a")[0].Keys {
		keys[k.Key] = true
	}
	require.Equal(t, map[string]bool{"cpu-milli": true, "gpu-milli/T4": true}, keys)
	require.ElementsMatch(t, []string{"T4-x2", "cpu-32"}, []string{w.s.Overview("").Pools[0].Name, w.s.Overview("").Pools[1].Name})
}
