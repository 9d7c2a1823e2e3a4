// SPDX-License-Identifier: Apache-2.0

package allocator_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/allocator/allocatortest"
)

// A13: at every instant Fit and Explain say yes exactly when Plan has an answer, Place does what Plan says, and all refuse
// with the same errors.
func TestA13FitPlanExplainAndPlaceAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := allocatortest.Fleets().Draw(t, "fleet")
		id := rapid.SampledFrom([]string{"asked", "p0", "p1"}).Draw(t, "id")
		r := allocatortest.Requests(f.Cluster(), id).Draw(t, "request")
		at := start.Add(time.Duration(rapid.IntRange(-3, 80).Draw(t, "hours")) * time.Hour) // ends of free time and requests lie there
		before := encoded(t, f)
		ok, err := f.Fit(at, r)
		plan, perr := f.Plan(at, r)
		if _, placed := f.Placement(id); !placed {
			x, xerr := f.Explain(at, r)
			require.Equal(t, perr == nil, xerr == nil && x.Fits)
			if xerr != nil {
				require.EqualError(t, xerr, perr.Error())
			}
		}
		require.Equal(t, before, encoded(t, f), "A4")
		placement, cerr := f.Place(at, r)
		require.Equal(t, fmt.Sprint(perr), fmt.Sprint(cerr))
		if perr == nil {
			require.Equal(t, plan.Assignments, placement.Assignments)
		}
		if perr == nil || errors.Is(perr, allocator.ErrUnplaceable) {
			require.NoError(t, err)
			require.Equal(t, perr == nil, ok)
			return
		}
		require.EqualError(t, err, perr.Error())
	})
}

// A13: what is free at the present may be booked by then, and a declared end may be past by then.
func TestA13QueriesJudgeAtTheirInstant(t *testing.T) {
	f := fleet(t, "t4x2")
	require.NoError(t, f.SetFreeUntil(start, "n0", start.Add(time.Hour)))
	open := ask("open", 1, allocator.Pod{GPUs: 1})
	for _, c := range []struct {
		at time.Time
		ok bool
	}{{start.Add(-time.Hour), true}, {start, true}, {start.Add(time.Hour - time.Second), true}, {start.Add(time.Hour), false}} {
		ok, err := f.Fit(c.at, open)
		require.NoError(t, err)
		require.Equal(t, c.ok, ok, "%s", c.at)
		_, err = f.Plan(c.at, open)
		require.Equal(t, c.ok, err == nil, "%s", c.at)
		x, err := f.Explain(c.at, open)
		require.NoError(t, err)
		require.Equal(t, c.ok, x.Fits, "%s", c.at)
	}
	_, err := f.Plan(start.Add(time.Hour), open)
	require.ErrorContains(t, err, "1 nodes: 1 until;")
	require.NotContains(t, err.Error(), "several reasons", "there is one")
	past := open
	past.Until = start.Add(30 * time.Minute)
	_, err = f.Explain(start, past)
	require.NoError(t, err)
	_, err = f.Explain(start.Add(time.Hour), past)
	require.ErrorIs(t, err, allocator.ErrInvalid)
	require.ErrorContains(t, err, `Until is "2026-03-01T08:30:00Z": it would begin at 2026-03-01T09:00:00Z`)
}
