// SPDX-License-Identifier: Apache-2.0

package recur_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/reservation/recur"
)

// zone loads a zone from the embedded data.
func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	require.NoError(t, err)
	return loc
}

// local reads "2006-01-02T15:04:05".
func local(t testing.TB, s string) recur.Local {
	t.Helper()
	l, err := recur.ParseLocal(s)
	require.NoError(t, err)
	return l
}

// rule reads an RRULE and gives it a start and a length of one hour.
func rule(t testing.TB, text, start string) recur.Rule {
	t.Helper()
	r, err := recur.Parse(text)
	require.NoError(t, err)
	r.Start = local(t, start)
	r.Ends = recur.Elapsed(time.Hour)
	return r
}

func series(t testing.TB, r recur.Rule, loc *time.Location) *recur.Series {
	t.Helper()
	s, err := recur.New(recur.Config{Rule: r, Location: loc})
	require.NoError(t, err)
	return s
}

// starts returns the starts of the first n occurrences from index 0 on.
func starts(s *recur.Series, n int, layout string) []string {
	var out []string
	for _, w := range s.All(0) {
		if len(out) == n {
			break
		}
		out = append(out, w.Start.Format(layout))
	}
	return out
}
