// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/berth-gpu/berth/reservation"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// plain is the rules of a Policy read out loud: which one, if any, forbids the
// Firm window w to somebody who asks at now. It is the oracle of this file.
func plain(p reservation.Policy, now time.Time, w reservation.Window) string {
	on := func(g reservation.Grid, at time.Time) bool {
		return g.Every == 0 || (at.Sub(time.Unix(0, 0))-g.Offset)%g.Every == 0
	}
	length := w.Length()
	if p.CutFirst {
		length = (length + p.AlignEnd.Every - 1) / p.AlignEnd.Every * p.AlignEnd.Every
	}
	step := len(p.Steps) == 0
	for i, s := range p.Steps {
		if (s.UpTo == 0 || length <= s.UpTo) && (i == 0 || length > p.Steps[i-1].UpTo) {
			step = length%s.Every == 0
		}
	}
	switch {
	case length < p.MinLength:
		return "MinLength"
	case p.MaxLength > 0 && length > p.MaxLength:
		return "MaxLength"
	case !step:
		return "Steps"
	case p.MinLead > 0 && w.Start.Sub(now) < p.MinLead:
		return "MinLead"
	case p.MaxLead > 0 && w.Start.Sub(now) > p.MaxLead:
		return "MaxLead"
	case p.Horizon > 0 && w.End.Sub(now) > p.Horizon:
		return "Horizon"
	case !on(p.AlignStart, w.Start):
		return "AlignStart"
	case !on(p.AlignEnd, w.End):
		return "AlignEnd"
	}
	return ""
}

// The world of these tests is minutes: windows of up to an hour in two hours.
const (
	longest   = 60
	lastStart = 120
)

func drawPolicy(t *rapid.T) reservation.Policy {
	some := func(name string, from, to int) time.Duration {
		if rapid.Bool().Draw(t, name+"?") {
			return 0
		}
		return time.Duration(rapid.IntRange(from, to).Draw(t, name)) * time.Minute
	}
	grid := func(name string) (g reservation.Grid) {
		if g.Every = some(name, 2, 15); g.Every > 0 {
			g.Offset = time.Duration(rapid.IntRange(0, int(g.Every/time.Minute)-1).Draw(t, name+" offset")) * time.Minute
		}
		return g
	}
	p := reservation.Policy{
		Prep: some("prep", 1, 3), Grace: some("grace", 1, 3), Cleanup: some("cleanup", 1, 3),
		MinLength: some("min", 1, 20), MaxLength: some("max", 20, longest), MinLead: some("lead", 1, 20), MaxLead: some("maxLead", 20, 90), Horizon: some("horizon", 40, 150),
		AlignStart: grid("start"), AlignEnd: grid("end"),
	}
	p.CutFirst = p.AlignEnd.Every > 0 && rapid.Bool().Draw(t, "cut")
	if every := some("step", 2, 7); every > 0 {
		p.Steps = []reservation.LengthStep{{UpTo: every * time.Duration(rapid.IntRange(1, 5).Draw(t, "first")), Every: every}}
		every *= time.Duration(rapid.IntRange(1, 3).Draw(t, "second"))
		if upTo := every * 6; upTo > p.Steps[0].UpTo {
			p.Steps = append(p.Steps, reservation.LengthStep{UpTo: upTo, Every: every})
		}
	}
	return p
}

// drawUnder draws a calendar of three nodes under a policy, with bookings made
// under it, and a request.
func drawUnder(t *rapid.T) (reservation.Policy, *reservation.Calendar, reservation.Window, bool) {
	p := drawPolicy(t)
	now := modelStart.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "now")) * time.Minute)
	c, err := reservation.New(reservation.Config{Start: now, Pools: []reservation.Pool{poolOf("p", 3, 0, reservation.Policy{Prep: p.Prep, Grace: p.Grace, Cleanup: p.Cleanup})}})
	require.NoError(t, err)
	draw := func(name string) reservation.Window {
		return lasting(now.Add(time.Duration(rapid.IntRange(0, lastStart).Draw(t, name))*time.Minute), time.Duration(rapid.IntRange(1, longest).Draw(t, name+" length"))*time.Minute)
	}
	for i := range rapid.IntRange(0, 8).Draw(t, "bookings") { // made before the policy
		_, _ = c.Book(now, reservation.Request{ID: fmt.Sprint("b", i), Owner: "o", Window: draw(fmt.Sprint("w", i)), Lines: lines(int64(1 + i%2))})
	}
	if err := c.SetPool(now, poolOf("p", 3, 0, p)); err != nil {
		require.ErrorIs(t, err, reservation.ErrInvalid)
		require.False(t, strings.Contains(err.Error(), "leave no window") && someWindow(p, now), "%v", err)
		return p, c, reservation.Window{}, false
	}
	return p, c, draw("asked"), true
}

// someWindow looks for a window that a policy without its leads would allow.
func someWindow(p reservation.Policy, now time.Time) bool {
	p.MinLead, p.MaxLead, p.Horizon = 0, 0, 0
	for start := range 15 * 14 {
		for length := 1; length <= 3*longest; length++ {
			if plain(p, now, lasting(now.Add(time.Duration(start)*time.Minute), time.Duration(length)*time.Minute)) == "" {
				return true
			}
		}
	}
	return false
}

// The calendar refuses what the plain rules forbid, names the first rule that
// does, and what it says is allowed is allowed.
func TestPolicyIsThePlainRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, c, w, ok := drawUnder(t)
		if !ok {
			return
		}
		now, rule := c.Present(), ""
		_, err := c.Fork().Book(now, reservation.Request{ID: "q", Owner: "o", Window: w, Lines: lines(1)})
		if e, ok := err.(*reservation.ConflictError); ok && e.Reason == reservation.ReasonPolicy {
			rule = e.Rule
			earlier, later := 0, 0
			for _, a := range e.Allowed {
				require.Empty(t, plain(p, now, a), "%v", a)
				if a.End.After(w.End) {
					later++
				} else {
					earlier++
				}
			}
			require.True(t, earlier <= 1 && later <= 1, "%v", e.Allowed)
			if best, ok := nearestPlain(p, now, w); ok {
				require.NotEmpty(t, e.Allowed, "%v for %v, but %v is allowed", e, w, best)
			}
		}
		require.Equal(t, plain(p, now, w), rule, "%v", err)
	})
}

// nearestPlain returns a window with the start, the end or the length of w that
// the plain rules allow, if there is one within an hour.
func nearestPlain(p reservation.Policy, now time.Time, w reservation.Window) (reservation.Window, bool) {
	for d := -longest; d <= longest; d++ {
		move := time.Duration(d) * time.Minute
		for _, x := range []reservation.Window{
			{Start: w.Start.Add(move), End: w.End}, {Start: w.Start, End: w.End.Add(move)}, {Start: w.Start.Add(move), End: w.End.Add(move)},
		} {
			if x.Length() > 0 && !x.Start.Before(now.Add(p.Prep)) && plain(p, now, x) == "" {
				return x, true
			}
		}
	}
	return reservation.Window{}, false
}

// I4 under rules: every offer can be booked at that moment, the earliest fit is
// the first start that can be booked, the earlier offer is the last one before
// the request, and the shorter one is the longest.
func TestOffersObeyThePolicy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, c, w, ok := drawUnder(t)
		if !ok {
			return
		}
		now, n := c.Present(), int64(rapid.IntRange(1, 3).Draw(t, "nodes"))
		can := func(w reservation.Window, lines []reservation.Line) bool {
			_, err := c.Fork().Book(now, reservation.Request{ID: "q", Owner: "o", Window: w, Lines: lines})
			return err == nil
		}
		byStart := func(start int) bool {
			return can(lasting(now.Add(time.Duration(start)*time.Minute), w.Length()), lines(n))
		}
		asked := int(w.Start.Sub(now) / time.Minute)
		earlier := -1 // by trying every minute
		for start := range asked {
			if byStart(start) {
				earlier = start
			}
		}
		shorter := time.Duration(0) // likewise
		for length := time.Minute; length < w.Length(); length += time.Minute {
			if can(lasting(w.Start, length), lines(n)) {
				shorter = length
			}
		}
		var got []reservation.OfferKind
		for _, o := range offers(c, reservation.Request{ID: "q", Owner: "o", Window: w, Lines: lines(n)}) {
			got = append(got, o.Kind)
			require.True(t, can(o.Window, o.Lines), "%v %v", o.Kind, o)
			require.Empty(t, plain(p, now, o.Window), "%v %v", o.Kind, o)
			if o.Kind == reservation.Earlier {
				require.Equal(t, earlier, int(o.Window.Start.Sub(now)/time.Minute))
				earlier = -1
			}
			if o.Kind == reservation.Shorter {
				require.Equal(t, shorter, o.Window.Length())
				shorter = 0
			}
		}
		if !byStart(asked) {
			require.Zero(t, shorter, "a shorter offer is missing among %v", got)
			require.Equal(t, -1, earlier, "an earlier offer is missing among %v", got)
		}
		elastic := reservation.Query{Lines: lines(n), Length: w.Length(), Earliest: w.Start, MinLength: time.Duration(rapid.IntRange(1, int(w.Length()/time.Minute)).Draw(t, "least")) * time.Minute}
		if part, err := earliestFit(c, elastic); err == nil {
			require.True(t, can(part.Window, part.Lines), "%v", part)
			require.True(t, part.Window.Length() >= elastic.MinLength && part.Window.Length() <= elastic.Length, "%v", part)
			more := time.Duration(0)
			for length := part.Window.Length() + time.Minute; length <= w.Length(); length += time.Minute {
				if can(lasting(part.Window.Start, length), part.Lines) {
					more = length
				}
			}
			require.Zero(t, more, "longer than %v", part)
		}
		fit, err := earliestFit(c, reservation.Query{Lines: lines(n), Length: w.Length(), Earliest: w.Start})
		if err == nil {
			require.True(t, can(fit.Window, fit.Lines), "%v", fit)
		}
		for start := asked; start <= asked+lastStart; start++ {
			if byStart(start) {
				require.NoError(t, err, "minute %d is free", start)
				require.Equal(t, start, int(fit.Window.Start.Sub(now)/time.Minute))
				break
			}
			if err == nil && !fit.Window.Start.After(now.Add(time.Duration(start)*time.Minute)) {
				require.Fail(t, "offered, but not free", "%v", fit)
			}
		}
	})
}

// Moving an end: what is refused by a rule breaks the plain rules of the new
// length and end or of the extension, and what is said to be allowed is.
func TestExtendObeysThePolicy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, c, w, ok := drawUnder(t)
		now := c.Present()
		if !ok || ask(c, "q", w) != nil {
			return
		}
		p.ExtendUntil = time.Duration(rapid.IntRange(0, 10).Draw(t, "until")) * time.Minute
		p.ExtendFrom = p.ExtendUntil + time.Duration(rapid.IntRange(0, 60).Draw(t, "from"))*time.Minute
		p.MaxExtend = time.Duration(rapid.IntRange(0, 10).Draw(t, "most")) * time.Minute
		require.NoError(t, c.SetPool(now, poolOf("p", 3, 0, p)))
		now = now.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "later")) * time.Minute)
		end := w.End.Add(time.Duration(rapid.IntRange(-20, 20).Draw(t, "move")) * time.Minute)
		if latest, err := c.LatestEnd(now, "q"); err == nil {
			_, err := c.Fork().Extend(now, "q", latest, 0)
			require.NoError(t, err, "%v", latest)
			for longer := latest.Add(time.Minute); longer.Before(latest.Add(longest * time.Minute)); longer = longer.Add(time.Minute) {
				_, err := c.Fork().Extend(now, "q", longer, 0)
				require.Error(t, err, "%v is later than %v", longer, latest)
			}
		}
		_, err := c.Fork().Extend(now, "q", end, 0)
		e, _ := err.(*reservation.ConflictError)
		if e == nil || e.Reason != reservation.ReasonPolicy {
			e = &reservation.ConflictError{}
		}
		if err != nil && e.Rule == "" { // by state or by capacity
			return
		}
		rules, left := p, w.End.Sub(now) // the start is as booked
		rules.MinLead, rules.MaxLead, rules.AlignStart = 0, 0, reservation.Grid{}
		want := plain(rules, now, reservation.Window{Start: w.Start, End: end})
		if end.After(w.End) {
			switch {
			case p.ExtendFrom > 0 && left > p.ExtendFrom:
				want = "ExtendFrom"
			case left < p.ExtendUntil:
				want = "ExtendUntil"
			case p.MaxExtend > 0 && end.Sub(w.End) > p.MaxExtend:
				want = "MaxExtend"
			}
		}
		if end.Equal(w.End) {
			want = ""
		}
		require.Equal(t, want, e.Rule)
		for _, a := range e.Allowed {
			_, err := c.Fork().Extend(now, "q", a.End, 0)
			if x, ok := err.(*reservation.ConflictError); ok {
				require.NotEqual(t, reservation.ReasonPolicy, x.Reason, "%v", a)
			}
		}
	})
}
