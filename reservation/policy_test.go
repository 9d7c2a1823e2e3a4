// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/berth-gpu/berth/reservation"
	"github.com/stretchr/testify/require"
)

const day = 24 * time.Hour

// earliestFit asks at the present.
func earliestFit(c *reservation.Calendar, q reservation.Query) (reservation.Offer, error) {
	return c.EarliestFit(c.Present(), q)
}

// offers asks at the present.
func offers(c *reservation.Calendar, q reservation.Request) []reservation.Offer {
	return c.Offers(c.Present(), q)
}

// under returns a calendar of n nodes with a policy.
func under(t require.TestingT, start time.Time, n int, p reservation.Policy) *reservation.Calendar {
	return newCalendar(t, start, poolOf("p", n, 0, p))
}

func lasting(start time.Time, length time.Duration) reservation.Window {
	return reservation.Window{Start: start, End: start.Add(length)}
}

// lines asks for nodes of the pool that under makes.
func lines(n int64) []reservation.Line { return []reservation.Line{{Pool: "p", Count: n}} }

// ask books one node in w at the present under a new id.
func ask(c *reservation.Calendar, id string, w reservation.Window) error {
	_, err := c.Book(c.Present(), reservation.Request{ID: id, Owner: "o", Window: w, Lines: lines(1)})
	return err
}

// full is a policy with every field set.
func full() reservation.Policy {
	return reservation.Policy{
		Prep: time.Minute, Grace: 2 * time.Minute, Cleanup: 3 * time.Minute, ReclaimLead: 10 * time.Minute, BindLead: 11 * time.Minute,
		MinLength: time.Hour, MaxLength: 100 * day, Steps: []reservation.LengthStep{{UpTo: 14 * day, Every: day}, {Every: 7 * day}},
		MinLead: 30 * time.Minute, MaxLead: 56 * day, Horizon: 200 * day,
		AlignStart: reservation.Grid{Every: time.Minute, Offset: time.Second}, AlignEnd: reservation.Grid{Every: day, Offset: 11*time.Hour + 30*time.Minute},
		CutFirst: true, ExtendFrom: 56 * day, ExtendUntil: time.Hour, MaxExtend: 30 * day, CancelUntil: 2 * day,
		Notices: []time.Duration{day, time.Hour}, MaxRuntime: 3 * day, NoShowGrace: 20 * time.Minute, Partial: reservation.PartialNone,
	}
}

// A policy survives the snapshot, the event and a change of one field; the JSON
// view shows it.
func TestPolicyCodec(t *testing.T) {
	c := under(t, at("00:00"), 1, full())
	b, err := c.MarshalBinary()
	require.NoError(t, err)
	again, err := reservation.Restore(b)
	require.NoError(t, err)
	p, _ := again.Pool("p")
	require.Equal(t, full(), p.Policy)

	require.NoError(t, c.SetPool(at("00:00"), poolOf("p", 1, 0, full())))
	require.Empty(t, c.Events(), "the same policy changes nothing")
	p.Policy.Steps[1].Every *= 2
	p.Policy.Notices = p.Policy.Notices[:1]
	p.Policy.CutFirst, p.Policy.Steps[0].Every = false, 14*day
	p.Policy.AlignEnd = reservation.Grid{}
	require.NoError(t, c.SetPool(at("00:00"), p))
	require.Len(t, c.Events(), 1)
	b, err = c.Events()[0].AppendBinary(nil)
	require.NoError(t, err)
	e, err := reservation.DecodeEvent(b)
	require.NoError(t, err)
	require.Equal(t, p.Policy, e.(reservation.PoolSet).Pool.Policy)
	p.Policy.Notices[0] = time.Hour // ours: the calendar has its own
	kept, _ := c.Pool("p")
	require.Equal(t, []time.Duration{day}, kept.Policy.Notices)

	text, err := json.Marshal(reservation.Policy{Steps: []reservation.LengthStep{{Every: time.Hour}}, AlignEnd: reservation.Grid{Every: time.Minute}, NoCancel: true, Partial: reservation.PartialNone})
	require.NoError(t, err)
	require.JSONEq(t, `{"steps":[{"every":3600000000000}],"alignEnd":{"every":60000000000},"noCancel":true,"partial":"None"}`, string(text))
	text, err = json.Marshal(reservation.Policy{})
	require.NoError(t, err)
	require.JSONEq(t, `{}`, string(text))
}

// ReclaimLead covers the turnaround, and BindLead covers the ReclaimLead.
func TestPolicyDefaults(t *testing.T) {
	for name, x := range map[string]struct {
		p             reservation.Policy
		reclaim, bind time.Duration
	}{
		"zero":       {reservation.Policy{}, 15 * time.Minute, 25 * time.Minute},
		"turnaround": {reservation.Policy{Prep: 10 * time.Minute, Cleanup: 20 * time.Minute}, 30 * time.Minute, 40 * time.Minute},
		"reclaim":    {reservation.Policy{ReclaimLead: time.Hour}, time.Hour, 70 * time.Minute},
		"bind":       {reservation.Policy{BindLead: 15 * time.Minute}, 15 * time.Minute, 15 * time.Minute},
		"mistake":    {reservation.Policy{BindLead: time.Second}, 0, time.Second},
	} {
		d := x.p.Defaults()
		require.Equal(t, x.reclaim, d.ReclaimLead, name)
		require.Equal(t, x.bind, d.BindLead, name)
	}
	// The host is asked for seats from BindLead before the envelope on.
	c := under(t, at("00:00"), 1, reservation.Policy{Prep: 5 * time.Minute, ReclaimLead: time.Hour})
	require.NoError(t, ask(c, "b", span("10:00", "11:00")))
	next, ok := c.NextBinding()
	require.True(t, ok)
	require.Equal(t, at("08:45"), next)
}

// All mistakes at once, each with its field and its value.
func TestPolicyMistakes(t *testing.T) {
	type P = reservation.Policy
	type G = reservation.Grid
	step := func(upTo, every time.Duration) reservation.LengthStep {
		return reservation.LengthStep{UpTo: upTo, Every: every}
	}
	steps := func(list ...reservation.LengthStep) P { return P{Steps: list} }
	for name, x := range map[string]struct {
		p    P
		says []string
	}{
		"many": {P{Prep: -time.Second, MaxLead: time.Millisecond, AlignEnd: G{Every: 101 * day}, Notices: []time.Duration{0}, Steps: []reservation.LengthStep{step(0, 0)}, Partial: 9, NoCancel: true, CancelUntil: day},
			[]string{"Prep: duration -1s", "MaxLead: duration 1ms", "AlignEnd.Every 2424h0m0s is not in", "Notices[0] is 0s", "Steps[0].Every 0s is not in", "Partial is 9", "CancelUntil 24h"}},
		"reclaim":      {P{Grace: time.Hour, ReclaimLead: time.Minute}, []string{"ReclaimLead 1m0s is shorter than Prep + Grace + Cleanup = 1h0m0s"}},
		"bind":         {P{BindLead: 10 * time.Minute}, []string{"BindLead 10m0s is shorter than ReclaimLead 15m0s"}},
		"lengths":      {P{MinLength: 2 * time.Hour, MaxLength: time.Hour}, []string{"MaxLength 1h0m0s is shorter than MinLength 2h0m0s"}},
		"leads":        {P{MinLead: 2 * time.Hour, MaxLead: time.Hour}, []string{"MaxLead 1h0m0s is shorter than MinLead 2h0m0s"}},
		"horizon":      {P{MinLead: time.Hour, MinLength: time.Hour, Horizon: time.Hour}, []string{"Horizon 1h0m0s is shorter than MinLead + MinLength = 2h0m0s"}},
		"cut":          {P{CutFirst: true}, []string{"CutFirst is set, but AlignEnd is not"}},
		"extend":       {P{ExtendFrom: time.Hour, ExtendUntil: day}, []string{"ExtendFrom 1h0m0s is shorter than ExtendUntil 24h0m0s"}},
		"no extend":    {P{NoExtend: true, MaxExtend: day}, []string{"MaxExtend 24h0m0s"}},
		"offset":       {P{AlignStart: G{Every: time.Hour, Offset: time.Hour}}, []string{"AlignStart.Offset 1h0m0s is not less than Every 1h0m0s"}},
		"only offset":  {P{AlignStart: G{Offset: time.Hour}}, []string{"AlignStart.Every 0s is not in"}},
		"half offset":  {P{AlignStart: G{Every: time.Hour, Offset: time.Millisecond}}, []string{"AlignStart.Offset: duration 1ms"}},
		"order":        {steps(step(day, day), step(day, day)), []string{"Steps[1].UpTo 24h0m0s is not more than 24h0m0s"}},
		"early end":    {steps(step(0, day), step(day, day)), []string{"Steps[0].UpTo 0s is not more than 0s; only the last may be 0"}},
		"multiple":     {steps(step(36*time.Hour, day)), []string{"Steps[0].UpTo 36h0m0s is not a multiple of Every 24h0m0s"}},
		"step half":    {steps(step(time.Millisecond, day)), []string{"Steps[0].UpTo: duration 1ms"}},
		"many steps":   {steps(make([]reservation.LengthStep, 65)...), []string{"Steps has 65 items"}},
		"many notices": {P{Notices: make([]time.Duration, 65)}, []string{"Notices has 65 items"}},
		"notices":      {P{Notices: []time.Duration{time.Hour, day}}, []string{"Notices[1] 24h0m0s is not less than the one before, 1h0m0s"}},
		"no length":    {P{MinLength: 25 * time.Hour, MaxLength: 47 * time.Hour, Steps: []reservation.LengthStep{step(0, day)}}, []string{"MinLength 25h0m0s, MaxLength 47h0m0s, Steps [{0s 24h0m0s}]", "leave no window"}},
		"no clock":     {P{AlignStart: G{Every: day}, AlignEnd: G{Every: day, Offset: time.Hour}, Steps: []reservation.LengthStep{step(0, day)}}, []string{"leave no window"}},
	} {
		_, err := reservation.New(reservation.Config{Pools: []reservation.Pool{poolOf("p", 1, 0, x.p)}})
		require.ErrorIs(t, err, reservation.ErrInvalid, name)
		for _, s := range x.says {
			require.ErrorContains(t, err, s, name)
		}
		require.NotContains(t, err.Error(), "\n\n", name)
		if name != "many" {
			require.NotContains(t, err.Error(), "\n", "%s is one mistake", name)
		}
	}
}

// Each rule refuses with its name and value, and says what is allowed nearby.
func TestPolicyRules(t *testing.T) {
	type P = reservation.Policy
	type W = reservation.Window
	hours := reservation.Grid{Every: time.Hour, Offset: 30 * time.Minute}
	byHalf := []reservation.LengthStep{{UpTo: 2 * time.Hour, Every: 30 * time.Minute}, {UpTo: 8 * time.Hour, Every: 2 * time.Hour}}
	for name, x := range map[string]struct {
		p       P
		w       W
		rule    string
		limit   time.Duration
		allowed []W
	}{
		"many rules":     {full(), lasting(at("11:30").Add(day), day), "AlignStart", time.Minute, []W{{Start: at("11:30").Add(day + time.Second), End: at("11:30").Add(2 * day)}, {Start: at("11:30").Add(day + time.Second), End: at("11:30").Add(3 * day)}}},
		"short":          {P{MinLength: time.Hour}, span("10:00", "10:20"), "MinLength", time.Hour, []W{span("09:20", "10:20"), span("10:00", "11:00")}},
		"long":           {P{MaxLength: time.Hour}, span("10:00", "12:00"), "MaxLength", time.Hour, []W{span("10:00", "11:00")}},
		"between steps":  {P{Steps: byHalf}, span("10:00", "10:45"), "Steps", 30 * time.Minute, []W{span("10:00", "10:30"), span("10:00", "11:00")}},
		"between ranges": {P{Steps: byHalf}, span("10:00", "12:30"), "Steps", 2 * time.Hour, []W{span("10:00", "12:00"), span("10:00", "14:00")}},
		"beyond steps":   {P{Steps: byHalf}, span("10:00", "20:00"), "Steps", 8 * time.Hour, []W{span("10:00", "18:00")}},
		"soon":           {P{MinLead: time.Hour}, span("00:30", "02:00"), "MinLead", time.Hour, []W{span("01:00", "02:00"), span("01:00", "02:30")}},
		"late":           {P{MaxLead: time.Hour}, span("02:00", "03:00"), "MaxLead", time.Hour, []W{span("01:00", "03:00")}},
		"far":            {P{Horizon: 4 * time.Hour}, span("03:00", "05:00"), "Horizon", 4 * time.Hour, []W{span("03:00", "04:00")}},
		"start":          {P{AlignStart: hours}, span("10:10", "12:00"), "AlignStart", time.Hour, []W{span("10:30", "12:00"), span("10:30", "12:20")}},
		"end":            {P{AlignEnd: hours}, span("10:10", "12:00"), "AlignEnd", time.Hour, []W{span("10:10", "11:30"), span("10:10", "12:30")}},
		"both":           {P{AlignStart: hours, AlignEnd: hours, Steps: byHalf}, span("10:30", "13:30"), "Steps", 2 * time.Hour, []W{span("10:30", "12:30"), span("10:30", "14:30")}},
		"far away":       {P{MaxLead: time.Hour, Horizon: 2 * time.Hour}, lasting(at("00:00").Add(50*day), time.Hour), "MaxLead", time.Hour, []W{span("01:00", "02:00")}},
	} {
		c := under(t, at("00:00"), 1, x.p)
		e := conflict(t, ask(c, "b", x.w))
		require.Equal(t, reservation.ReasonPolicy, e.Reason, name)
		require.Equal(t, x.rule, e.Rule, name)
		require.Equal(t, x.limit, e.Limit, name)
		require.Equal(t, x.allowed, e.Allowed, name)
		require.ErrorContains(t, e, "Policy."+x.rule+" is "+x.limit.String()+"; allowed is "+x.allowed[0].String(), name)
		for _, w := range e.Allowed {
			require.NoError(t, ask(c.Fork(), "b", w), name)
		}
		for _, o := range e.Offers {
			_, err := c.Fork().Book(c.Present(), reservation.Request{ID: "b", Owner: "o", Window: o.Window, Lines: o.Lines})
			require.NoError(t, err, "%s: %v", name, o)
		}
		_, err := earliestFit(c, reservation.Query{Lines: lines(1), Length: x.w.Length(), Earliest: x.w.Start, Latest: x.w.Start})
		require.Error(t, err, name)
	}
}

// Extend is judged for its new length and end and by the extension window, but
// not for its start; an earlier end gives time back.
func TestPolicyExtend(t *testing.T) {
	type P = reservation.Policy
	for name, x := range map[string]struct {
		p        P
		now, end string // the booking is made at 00:00 for 10:00 to 12:00
		rule     string
		says     string
	}{
		"longer":           {P{MinLead: 8 * time.Hour, MaxLead: 12 * time.Hour}, "11:00", "13:00", "", ""},
		"start moved off":  {P{}, "09:00", "13:00", "", ""},
		"too long":         {P{MaxLength: 3 * time.Hour}, "11:00", "13:30", "MaxLength", "13:00:00Z)"},
		"step":             {P{Steps: []reservation.LengthStep{{Every: time.Hour}}}, "11:00", "13:30", "Steps", "13:00:00Z) or [2026-03-02T10:00:00Z, 2026-03-02T14:00:00Z)"},
		"end":              {P{AlignEnd: reservation.Grid{Every: time.Hour}}, "11:00", "13:30", "AlignEnd", "13:00:00Z)"},
		"horizon":          {P{Horizon: 13 * time.Hour}, "00:00", "14:00", "Horizon", "13:00:00Z)"},
		"never":            {P{NoExtend: true}, "11:00", "13:00", "NoExtend", "under a new id"},
		"never, shorter":   {P{NoExtend: true}, "11:00", "11:30", "", ""},
		"too early":        {P{ExtendFrom: time.Hour}, "10:59", "13:00", "ExtendFrom", "ExtendFrom is 1h0m0s"},
		"early enough":     {P{ExtendFrom: time.Hour}, "11:00", "13:00", "", ""},
		"late enough":      {P{ExtendUntil: time.Hour}, "11:00", "13:00", "", ""},
		"too late":         {P{ExtendUntil: time.Hour}, "11:01", "13:00", "ExtendUntil", "ExtendUntil is 1h0m0s"},
		"most":             {P{MaxExtend: time.Hour}, "11:00", "13:00", "", ""},
		"too much":         {P{MaxExtend: time.Hour}, "11:00", "13:01", "MaxExtend", "13:00:00Z)"},
		"too short":        {P{MinLength: 2 * time.Hour}, "11:00", "11:30", "MinLength", "MinLength is 2h0m0s"},
		"locked":           {P{NoCancel: true}, "09:00", "11:30", "NoCancel", "release it"},
		"locked, longer":   {P{NoCancel: true}, "09:00", "13:00", "", ""},
		"lock not reached": {P{CancelUntil: time.Hour}, "09:00", "11:30", "", ""},
		"lock reached":     {P{CancelUntil: time.Hour}, "09:01", "11:30", "CancelUntil", "1h0m0s before 2026-03-02T10:00:00Z"},
	} {
		c := under(t, at("00:00"), 1, x.p)
		require.NoError(t, ask(c, "b", span("10:00", "12:00")), name)
		if name == "start moved off" { // a policy of today does not judge the start of yesterday
			require.NoError(t, c.SetPool(at("01:00"), poolOf("p", 1, 0, P{MinLead: 5 * time.Hour, AlignStart: reservation.Grid{Every: 7 * time.Hour}})))
		}
		_, err := c.Extend(at(x.now), "b", at(x.end), 0)
		if x.rule == "" {
			require.NoError(t, err, name)
			continue
		}
		e := conflict(t, err)
		require.Equal(t, x.rule, e.Rule, name)
		require.ErrorContains(t, err, x.says, name)
		for _, w := range e.Allowed {
			_, err := c.Fork().Extend(at(x.now), "b", w.End, 0)
			require.NoError(t, err, name)
		}
		_, err = c.Extend(at(x.now), "b", at("12:00"), 0)
		require.NoError(t, err, "%s: the same end is no extension", name)
	}
}

// A lock keeps bookings, not holds, and not what has begun.
func TestPolicyCancel(t *testing.T) {
	for name, x := range map[string]struct {
		p    reservation.Policy
		now  string // booked at 00:00 for 10:00 to 12:00
		rule string
	}{
		"no rule":   {reservation.Policy{}, "09:59", ""},
		"never":     {reservation.Policy{NoCancel: true}, "00:00", "NoCancel"},
		"in time":   {reservation.Policy{CancelUntil: time.Hour}, "09:00", ""},
		"late":      {reservation.Policy{CancelUntil: time.Hour}, "09:01", "CancelUntil"},
		"born late": {reservation.Policy{CancelUntil: day}, "00:00", "CancelUntil"},
	} {
		c := under(t, at("00:00"), 2, x.p)
		require.NoError(t, ask(c, "b", span("10:00", "12:00")), name)
		_, err := c.Hold(at("00:00"), reservation.Request{ID: "h", Owner: "o", Window: span("10:00", "12:00"), Lines: lines(1)}, 10*time.Hour)
		require.NoError(t, err, name)
		before, err := c.MarshalBinary()
		require.NoError(t, err)
		_, err = c.Fork().Cancel(at(x.now), "h", 0)
		require.NoError(t, err, "%s: a hold is given back", name)
		fork := c.Fork()
		_, err = fork.Release(at("11:00"), "b", 0)
		require.NoError(t, err, "%s: what has begun is released", name)
		_, err = c.Cancel(at(x.now), "b", 0)
		if x.rule == "" {
			require.NoError(t, err, name)
			_, err = c.Cancel(at(x.now), "b", 0)
			require.NoError(t, err, "%s: again", name)
			continue
		}
		require.Equal(t, x.rule, conflict(t, err).Rule, name)
		require.ErrorContains(t, err, "release it when it has begun", name)
		after, err := c.MarshalBinary()
		require.NoError(t, err)
		require.Equal(t, before, after, "I6: %s", name)
	}
}

// Standby claims have a longest window and no other rule.
func TestPolicyStandby(t *testing.T) {
	c := under(t, at("00:00"), 1, reservation.Policy{MaxRuntime: 4 * time.Hour, MinLength: 2 * time.Hour, MinLead: time.Hour, NoExtend: true, NoCancel: true})
	claim := func(id string, w reservation.Window) error {
		_, err := c.Book(at("00:00"), reservation.Request{ID: id, Owner: "o", Class: reservation.Standby, Window: w, Lines: []reservation.Line{{Pool: "p"}}})
		return err
	}
	require.NoError(t, claim("s", span("00:10", "01:00")))
	for name, err := range map[string]error{
		"long": claim("long", span("01:00", "05:01")),
		"open": claim("open", reservation.Window{Start: at("01:00")}),
	} {
		e := conflict(t, err)
		require.Equal(t, "MaxRuntime", e.Rule, name)
		require.Equal(t, []reservation.Window{span("01:00", "05:00")}, e.Allowed, name)
	}
	_, err := c.Extend(at("00:00"), "s", at("04:10"), 0)
	require.NoError(t, err)
	_, err = c.Extend(at("00:00"), "s", time.Time{}, 0)
	require.Equal(t, "MaxRuntime", conflict(t, err).Rule)
	_, err = c.Cancel(at("00:00"), "s", 0)
	require.NoError(t, err)
	open := under(t, at("00:00"), 1, reservation.Policy{})
	_, err = open.Book(at("00:00"), reservation.Request{ID: "s", Owner: "o", Class: reservation.Standby, Window: reservation.Window{Start: at("01:00")}, Lines: []reservation.Line{{Pool: "p"}}})
	require.NoError(t, err, "no rule")
}

// PartialNone offers all nodes or none.
func TestPolicyPartial(t *testing.T) {
	for p, kinds := range map[reservation.Partial][]reservation.OfferKind{
		reservation.PartialSmaller: {reservation.Later, reservation.Earlier, reservation.Shorter, reservation.Smaller},
		reservation.PartialNone:    {reservation.Later, reservation.Earlier, reservation.Shorter},
	} {
		c := under(t, at("00:00"), 2, reservation.Policy{Partial: p})
		require.NoError(t, ask(c, "b", span("11:00", "12:00")))
		_, err := c.Book(at("00:00"), reservation.Request{ID: "x", Owner: "o", Window: span("10:00", "12:00"), Lines: lines(2)})
		var got []reservation.OfferKind
		for _, o := range conflict(t, err).Offers {
			got = append(got, o.Kind)
		}
		require.Equal(t, kinds, got, "%v", p)
	}
}

// One line each of two pools: the grids of both hold.
func TestPolicyOfTwoPools(t *testing.T) {
	p := poolOf("p", 1, 0, reservation.Policy{AlignStart: reservation.Grid{Every: 4 * time.Hour, Offset: time.Hour}})
	q := poolOf("q", 1, 0, reservation.Policy{AlignEnd: reservation.Grid{Every: 3 * time.Hour}, MinLead: 2 * time.Hour})
	c := newCalendar(t, at("00:00"), p, q)
	both := []reservation.Line{{Pool: "p", Count: 1}, {Pool: "q", Count: 1}}
	o, err := earliestFit(c, reservation.Query{Lines: both, Length: time.Hour})
	require.NoError(t, err)
	require.Equal(t, span("05:00", "06:00"), o.Window, "1, 5, 9, 13 and 17 o'clock begin; 5 o'clock ends in time")
	o, err = earliestFit(c, reservation.Query{Lines: both, Length: time.Hour, Earliest: at("05:01")})
	require.NoError(t, err)
	require.Equal(t, span("17:00", "18:00"), o.Window)
	_, err = earliestFit(c, reservation.Query{Lines: both, Length: time.Hour, Align: 2 * time.Hour})
	require.Equal(t, "AlignStart", conflict(t, err).Rule, "odd and even hours never meet")
	list := offers(c, reservation.Request{ID: "x", Owner: "o", Window: span("12:00", "13:00"), Lines: both})
	require.Len(t, list, 2)
	require.Equal(t, span("17:00", "18:00"), list[0].Window)
	require.Equal(t, span("05:00", "06:00"), list[1].Window)
}

// A move gives the old window back, so a lock forbids it.
func TestPolicyMove(t *testing.T) {
	for _, p := range []reservation.Policy{{NoCancel: true}, {CancelUntil: day}} {
		c := under(t, at("00:00"), 1, p)
		require.NoError(t, ask(c, "b", span("10:00", "12:00")))
		_, err := c.Move(at("00:00"), "b", span("14:00", "16:00"), 0)
		require.ErrorContains(t, conflict(t, err), "release it when it has begun")
		_, err = c.Move(at("00:00"), "b", span("10:00", "13:00"), 0)
		require.NoError(t, err, "with the same start it is an extension")
	}
}
