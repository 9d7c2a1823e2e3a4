// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/berth-gpu/berth/reservation"
	"github.com/stretchr/testify/require"
)

func TestFreeUnits(t *testing.T) {
	p := h100(6) // n1 n2 | n3 n4 | n5 n6 in three racks; n4 and n6 are spares
	p.Policy = modelPolicy
	for i := range p.Units {
		p.Units[i].Path = []string{"z", fmt.Sprint("rack-", i/2+1)}
		p.Units[i].Spare = i == 3 || i == 5
	}
	c := newCalendar(t, at("00:00"), p, poolOf("b", 1, 0, reservation.Policy{}))
	require.NoError(t, pin(c, "pin", span("12:00", "13:00"), "n1"))
	_, err := c.SetOutage(at("00:00"), reservation.Outage{ID: "o", Owner: "ops", Nodes: []string{"n6"}, Window: span("09:00", "10:00")})
	require.NoError(t, err)
	names := func(w reservation.Window, x reservation.Selector) (out []string) {
		units, err := c.FreeUnits("h100", w, x)
		require.NoError(t, err)
		for _, u := range units {
			out = append(out, u.Name)
		}
		return out
	}
	type S = reservation.Selector
	day, early, touch := span("09:00", "13:00"), span("05:00", "06:00"), span("10:02", "11:54")
	require.Equal(t, []string{"n2", "n3", "n5"}, names(day, S{}))
	require.Equal(t, []string{"n1", "n2", "n3", "n5"}, names(touch, S{}), "prep, grace and cleanup just fit")
	require.Equal(t, []string{"n2", "n3", "n5"}, names(span("10:02", "11:55"), S{}))
	require.Equal(t, []string{"n4"}, names(day, S{Spares: reservation.OnlySpares}))
	require.Equal(t, []string{"n4", "n6"}, names(early, S{Spares: reservation.OnlySpares}))
	require.Equal(t, []string{"n3", "n4"}, names(day, S{Path: []string{"z", "rack-2"}, Spares: reservation.WithSpares}))
	require.Equal(t, []string{"n1", "n2", "n3", "n5"}, names(early, S{Path: []string{"z"}}))
	require.Empty(t, names(early, S{Path: []string{"z", "rack-1", "x"}}))
	require.Empty(t, names(early, S{Path: []string{"y"}}))
	require.Equal(t, []string{"n2", "n5"}, names(early, S{Nodes: []string{"n5", "n2", "n5", "n6"}}), "in the pool's order, each once")
	free, err := c.FreeNodes("h100", day)
	require.NoError(t, err)
	require.Equal(t, free, names(day, S{}))

	for _, bad := range []S{{Nodes: []string{"x"}}, {Nodes: []string{"b-1"}}} {
		_, err = c.FreeUnits("h100", day, bad)
		require.ErrorIs(t, err, reservation.ErrUnknown)
	}
	_, err = c.FreeUnits("h100", day, S{Spares: 9})
	require.ErrorIs(t, err, reservation.ErrInvalid)
	_, err = c.FreeUnits("x", day, S{})
	require.ErrorIs(t, err, reservation.ErrUnknown)
	units, err := c.FreeUnits("h100", early, S{})
	require.NoError(t, err)
	units[0].Path[0] = "changed"
	require.True(t, slices.Equal([]string{"z", "rack-1"}, func() []string { u, _ := c.FreeUnits("h100", early, S{}); return u[0].Path }()))
}
