// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"strings"
	"testing"
	"time"

	"github.com/berth-gpu/berth/reservation"
	"github.com/stretchr/testify/require"
)

// TestRefusals asks for what cannot be: each error is its sentinel, says the
// words, and leaves the bytes as they were (I6).
func TestRefusals(t *testing.T) {
	p := h100(4)
	p.Units = append(p.Units, reservation.Unit{Name: "spare", Spare: true})
	p.Policy = reservation.Policy{Prep: 10 * time.Minute, MinLength: time.Hour, MaxLength: 8 * time.Hour, MinLead: 30 * time.Minute, Horizon: 20 * time.Hour}
	c := newCalendar(t, at("00:00"), p, poolOf("b", 2, 0, reservation.Policy{}))
	standby := reservation.Request{ID: "s", Owner: "o", Class: reservation.Standby, Window: reservation.Window{Start: at("00:00")}, Lines: []reservation.Line{{Pool: "h100", Count: 1}}}
	for _, err := range []error{
		pin(c, "pinned", span("10:00", "12:00"), "n1"),
		book(c, "float", "10:00", "12:00", 1),
		func() error { _, err := c.Book(at("00:00"), standby); return err }(),
		func() error { _, err := c.Seat(at("00:00"), "s", []string{"n2"}); return err }(),
	} {
		require.NoError(t, err)
	}
	_, err := c.Hold(at("00:00"), request("held", "o", span("10:00", "12:00"), 1), time.Hour)
	require.NoError(t, err)
	_, err = c.SetOutage(at("00:00"), reservation.Outage{ID: "out", Owner: "ops", Nodes: []string{"n4"}, Window: span("15:00", "16:00")})
	require.NoError(t, err)

	ask := func(change func(*reservation.Request)) func() error {
		return func() error {
			q := request("new", "o", span("13:00", "15:00"), 1)
			change(&q)
			_, err := c.Book(at("00:00"), q)
			return err
		}
	}
	query := func(change func(*reservation.Query)) func() error {
		return func() error {
			q := reservation.Query{Lines: []reservation.Line{{Pool: "h100", Count: 1}}, Length: time.Hour}
			change(&q)
			_, err := c.EarliestFit(c.Present(), q)
			return err
		}
	}
	type R = reservation.Request
	type Q = reservation.Query
	long := strings.Repeat("x", 300)
	for name, x := range map[string]struct {
		do   func() error
		is   error
		says string
	}{
		"no id":             {ask(func(q *R) { q.ID = "" }), reservation.ErrInvalid, "Request.ID is empty"},
		"long id":           {ask(func(q *R) { q.ID = long }), reservation.ErrInvalid, "300 bytes"},
		"control character": {ask(func(q *R) { q.Owner = "a\nb" }), reservation.ErrInvalid, `"a\nb" has a control`},
		"not UTF-8":         {ask(func(q *R) { q.Note = "\xff" }), reservation.ErrInvalid, "UTF-8"},
		"class":             {ask(func(q *R) { q.Class = 9 }), reservation.ErrInvalid, "Request.Class is 9"},
		"two mistakes":      {ask(func(q *R) { q.Owner = ""; q.Lines = nil }), reservation.ErrInvalid, "Owner is empty\nreservation: invalid: Request.Lines has 0 lines"},
		"open window":       {ask(func(q *R) { q.Window.End = time.Time{} }), reservation.ErrEmptyWindow, "only a Standby"},
		"unaligned":         {ask(func(q *R) { q.Window.Start = q.Window.Start.Add(time.Millisecond) }), reservation.ErrUnaligned, "Request.Window.Start"},
		"past":              {ask(func(q *R) { q.Window.Start = at("00:00").Add(-time.Hour) }), reservation.ErrHorizon, "the present is 2026-03-02T00:00:00Z"},
		"unknown pool":      {ask(func(q *R) { q.Lines[0].Pool = "h200" }), reservation.ErrUnknown, `pool "h200"`},
		"pool twice":        {ask(func(q *R) { q.Lines = append(q.Lines, q.Lines[0]) }), reservation.ErrInvalid, "join the lines"},
		"count and nodes":   {ask(func(q *R) { q.Lines[0].Count = 2; q.Lines[0].Nodes = []string{"n1"} }), reservation.ErrInvalid, "Count is 2, but Nodes has 1"},
		"node twice":        {ask(func(q *R) { q.Lines[0].Count = 0; q.Lines[0].Nodes = []string{"n1", "n1"} }), reservation.ErrInvalid, "twice"},
		"huge count":        {ask(func(q *R) { q.Lines[0].Count = 1<<40 + 1 }), reservation.ErrInvalid, "1099511627777"},
		"unknown node":      {ask(func(q *R) { q.Lines[0].Count = 0; q.Lines[0].Nodes = []string{"n9"} }), reservation.ErrUnknown, `node "n9"`},
		"node of another":   {ask(func(q *R) { q.Lines[0].Count = 0; q.Lines[0].Nodes = []string{"b-1"} }), reservation.ErrUnknown, `node "b-1"`},
		"spare":             {ask(func(q *R) { q.Lines[0].Count = 0; q.Lines[0].Nodes = []string{"spare"} }), reservation.ErrConflict, "spare"},
		"node in outage":    {ask(func(q *R) { q.Lines[0].Count = 0; q.Lines[0].Nodes = []string{"n4"}; q.Window = span("14:00", "16:00") }), reservation.ErrConflict, "2026-03-02T15:00:00Z"},
		"node taken":        {ask(func(q *R) { q.Lines[0].Count = 0; q.Lines[0].Nodes = []string{"n1"}; q.Window = span("11:00", "13:00") }), reservation.ErrConflict, `["n1"]`},
		"too many":          {ask(func(q *R) { q.Lines[0].Count = 5 }), reservation.ErrConflict, "5 nodes needed, 4 free"},
		"short":             {ask(func(q *R) { q.Window = span("13:00", "13:30") }), reservation.ErrConflict, "Policy.MinLength is 1h0m0s"},
		"long":              {ask(func(q *R) { q.Window = span("02:00", "12:00") }), reservation.ErrConflict, "Policy.MaxLength is 8h0m0s"},
		"soon":              {ask(func(q *R) { q.Window = span("00:20", "02:00") }), reservation.ErrConflict, "Policy.MinLead is 30m0s"},
		"far":               {ask(func(q *R) { q.Window = span("19:00", "21:00") }), reservation.ErrConflict, "Policy.Horizon is 20h0m0s"},
		"other body":        {ask(func(q *R) { q.ID = "float" }), reservation.ErrExists, "another body"},
		"pinned Standby":    {ask(func(q *R) { q.Class = reservation.Standby; q.Lines[0].Count = 0; q.Lines[0].Nodes = []string{"n1"} }), reservation.ErrInvalid, "gets its nodes by Seat"},
		"ttl": {func() error {
			_, err := c.Hold(at("00:00"), request("h", "o", span("13:00", "15:00"), 1), 0)
			return err
		}, reservation.ErrInvalid, "ttl"},
		"ttl too long": {func() error {
			_, err := c.Hold(at("00:00"), request("h", "o", span("13:00", "15:00"), 1), 20*time.Hour)
			return err
		}, reservation.ErrInvalid, "at most 15h"},
		"held Standby":     {func() error { _, err := c.Hold(at("00:00"), standby, time.Hour); return err }, reservation.ErrInvalid, "use Book"},
		"confirm unknown":  {func() error { _, err := c.Confirm(at("00:00"), "x", 0); return err }, reservation.ErrUnknown, `booking "x"`},
		"version":          {func() error { _, err := c.Confirm(at("00:00"), "held", 7); return err }, reservation.ErrVersion, "has version 1, not 7"},
		"expired":          {func() error { _, err := c.Confirm(at("01:00"), "held", 0); return err }, reservation.ErrExpired, "hold again"},
		"cancel expired":   {func() error { _, err := c.Cancel(at("01:00"), "held", 0); return err }, reservation.ErrExpired, "free already"},
		"release early":    {func() error { _, err := c.Release(at("00:00"), "float", 0); return err }, reservation.ErrState, "use Cancel"},
		"cancel late":      {func() error { _, err := c.Cancel(at("10:00"), "float", 0); return err }, reservation.ErrState, "use Release"},
		"cancel ended":     {func() error { _, err := c.Cancel(at("13:00"), "float", 0); return err }, reservation.ErrState, "over"},
		"extend ended":     {func() error { _, err := c.Extend(at("13:00"), "float", at("14:00"), 0); return err }, reservation.ErrState, "Ended"},
		"extend to past":   {func() error { _, err := c.Extend(at("11:30"), "float", at("11:20"), 0); return err }, reservation.ErrHorizon, "use Release"},
		"extend to open":   {func() error { _, err := c.Extend(at("00:00"), "float", time.Time{}, 0); return err }, reservation.ErrEmptyWindow, "Standby"},
		"extend too far":   {func() error { _, err := c.Extend(at("00:00"), "float", at("19:00"), 0); return err }, reservation.ErrConflict, "MaxLength"},
		"seats too few":    {func() error { _, err := c.Seat(at("00:00"), "float", nil); return err }, reservation.ErrInvalid, "needs 1"},
		"seat unknown":     {func() error { _, err := c.Seat(at("00:00"), "float", []string{"x"}); return err }, reservation.ErrUnknown, `node "x"`},
		"seat taken":       {func() error { _, err := c.Seat(at("00:00"), "float", []string{"n1"}); return err }, reservation.ErrConflict, "taken"},
		"seat spare":       {func() error { _, err := c.Seat(at("00:00"), "float", []string{"spare"}); return err }, reservation.ErrConflict, "spare"},
		"seat elsewhere":   {func() error { _, err := c.Seat(at("00:00"), "float", []string{"b-1"}); return err }, reservation.ErrInvalid, "has no line"},
		"seat twice":       {func() error { _, err := c.Seat(at("00:00"), "float", []string{"n2", "n2"}); return err }, reservation.ErrInvalid, "twice"},
		"pinned moves":     {func() error { _, err := c.Seat(at("00:00"), "pinned", []string{"n2"}); return err }, reservation.ErrState, "healthy"},
		"Standby limit":    {func() error { _, err := c.Seat(at("00:00"), "s", []string{"n2", "n3"}); return err }, reservation.ErrInvalid, "may have 1"},
		"Standby on spare": {func() error { _, err := c.Seat(at("00:00"), "s", []string{"spare"}); return err }, reservation.ErrConflict, "spare"},
		"Standby too late": {func() error { _, err := c.Seat(at("09:40"), "s", []string{"n1"}); return err }, reservation.ErrConflict, "n1"},
		"pool in use":      {func() error { return c.RemovePool(at("00:00"), "h100") }, reservation.ErrState, "end it or wait"},
		"no such pool":     {func() error { return c.RemovePool(at("00:00"), "x") }, reservation.ErrUnknown, `pool "x"`},
		"stolen node": {func() error {
			return c.SetPool(at("00:00"), reservation.Pool{Name: "z", GPUsPerUnit: 1, Units: h100(1).Units})
		}, reservation.ErrExists, `"n1" belongs to pool "h100"`},
		"bad pool": {func() error {
			return c.SetPool(at("00:00"), reservation.Pool{Name: "z", Policy: reservation.Policy{Prep: -1}})
		}, reservation.ErrInvalid, "GPUsPerUnit 0"},
		"lead too short": {func() error {
			return c.SetPool(at("00:00"), reservation.Pool{Name: "z", GPUsPerUnit: 1, Policy: reservation.Policy{Grace: time.Hour, ReclaimLead: time.Minute}})
		}, reservation.ErrInvalid, "ReclaimLead 1m0s is shorter"},
		"outage over": {func() error {
			_, err := c.SetOutage(at("00:00"), reservation.Outage{ID: "p", Owner: "o", Nodes: []string{"n1"}, Window: reservation.Window{Start: at("00:00").Add(-2 * time.Hour), End: at("00:00")}})
			return err
		}, reservation.ErrHorizon, "use EndOutage"},
		"outage of nothing": {func() error { _, err := c.SetOutage(at("00:00"), reservation.Outage{ID: "p", Owner: "o"}); return err }, reservation.ErrInvalid, "Nodes is empty"},
		"outage unknown": {func() error {
			_, err := c.SetOutage(at("00:00"), reservation.Outage{ID: "p", Owner: "o", Nodes: []string{"x"}})
			return err
		}, reservation.ErrUnknown, `node "x"`},
		"no such outage":    {func() error { return c.EndOutage(at("00:00"), "x") }, reservation.ErrUnknown, `outage "x"`},
		"forget the future": {func() error { _, err := c.Forget(at("00:00"), at("01:00")); return err }, reservation.ErrInvalid, "after the present"},
		"fit too many":      {query(func(q *Q) { q.Lines[0].Count = 5 }), reservation.ErrConflict, "5 nodes needed"},
		"fit too long":      {query(func(q *Q) { q.Length = 9 * time.Hour }), reservation.ErrConflict, "MaxLength"},
		"fit beyond":        {query(func(q *Q) { q.Earliest = at("22:00") }), reservation.ErrConflict, "Horizon"},
		"fit no length":     {query(func(q *Q) { q.Length = 0 }), reservation.ErrInvalid, "Query.Length"},
		"fit no range":      {query(func(q *Q) { q.Earliest, q.Latest = at("03:00"), at("02:00") }), reservation.ErrHorizon, "Query.Latest"},
		"fit no multiple":   {query(func(q *Q) { q.Earliest, q.Latest, q.Align = at("03:01"), at("03:59"), time.Hour }), reservation.ErrHorizon, "no start"},
		"fit spare":         {query(func(q *Q) { q.Lines[0] = reservation.Line{Pool: "h100", Nodes: []string{"spare"}} }), reservation.ErrConflict, "spare"},
		"fit unknown":       {query(func(q *Q) { q.Lines[0].Pool = "x" }), reservation.ErrUnknown, `pool "x"`},
		"bins":              {func() error { _, err := c.Bins("h100", span("01:00", "02:00"), 0); return err }, reservation.ErrInvalid, "n is 0"},
		"free of the past": {func() error {
			_, err := c.FreeNodes("h100", reservation.Window{Start: at("00:00").Add(-time.Hour), End: at("02:00")})
			return err
		}, reservation.ErrHorizon, "present"},
	} {
		before, err := c.MarshalBinary()
		require.NoError(t, err)
		events := len(c.Events())
		err = x.do()
		require.ErrorIs(t, err, x.is, name)
		require.ErrorContains(t, err, x.says, name)
		after, err := c.MarshalBinary()
		require.NoError(t, err)
		require.Equal(t, before, after, "I6: %s", name)
		require.Len(t, c.Events(), events, "I6: %s", name)
	}
}

func TestNewJoinsAllMistakes(t *testing.T) {
	_, err := reservation.New(reservation.Config{Start: at("00:00").Add(1), Pools: []reservation.Pool{
		{Name: "a", GPUsPerUnit: 1, Units: []reservation.Unit{{Name: "n"}, {Name: "n"}}},
		{Name: "b"}, h100(1), h100(1),
		{Name: "c", GPUsPerUnit: 8, Units: []reservation.Unit{{Name: "n1"}}},
	}})
	require.ErrorIs(t, err, reservation.ErrUnaligned)
	for _, says := range []string{"Config.Start", `Units[1].Name "n" is there twice`, "GPUsPerUnit 0", `pool "h100" is there twice`, `node "n1" belongs to pool "h100"`} {
		require.ErrorContains(t, err, says)
	}
}
