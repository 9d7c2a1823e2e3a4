// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/berth-gpu/berth/reservation"
	"github.com/stretchr/testify/require"
)

// dayAt is a time of day n after the Tuesday on which all of this is asked.
func dayAt(n int, clock string) time.Time {
	t, err := time.Parse(time.DateOnly+" 15:04:05", "2026-09-01 "+clock)
	if err != nil {
		panic(err) // a mistake in a test
	}
	return t.AddDate(0, 0, n)
}

// ExamplePreset sells nodes by the rules of a known provider.
func ExamplePreset() {
	policy, open, _ := reservation.Preset("AWSCapacityBlock")
	policy.Prep = 10 * time.Minute // what is not published is yours to set
	fmt.Println(open[0])

	pool := reservation.Pool{Name: "h100", GPUsPerUnit: 8, Units: []reservation.Unit{{Name: "n1"}}, Policy: policy}
	monday := time.Date(2026, 8, 31, 12, 0, 0, 0, time.UTC)
	cal, err := reservation.New(reservation.Config{Start: monday, Pools: []reservation.Pool{pool}})
	if err != nil {
		fmt.Println(err)
		return
	}
	begin := time.Date(2026, 9, 1, 11, 30, 0, 0, time.UTC)
	_, err = cal.Book(monday, reservation.Request{
		ID: "train", Owner: "vision", Lines: []reservation.Line{{Pool: "h100", Count: 1}},
		Window: reservation.Window{Start: begin, End: begin.Add(15 * 24 * time.Hour)},
	})
	if refusal, ok := errors.AsType[*reservation.ConflictError](err); ok {
		fmt.Println(refusal.Rule, refusal.Limit)
		for _, w := range refusal.Allowed {
			fmt.Println(int64(w.Length().Hours()/24), "days from", w.Start)
		}
	}
	// Output:
	// Prep: not published
	// Steps 168h0m0s
	// 14 days from 2026-09-01 11:30:00 +0000 UTC
	// 21 days from 2026-09-01 11:30:00 +0000 UTC
}

// What each provider accepts and refuses at the borders of its published rules.
func TestPresetBorders(t *testing.T) {
	noon := "12:00:00"
	for _, x := range []struct {
		preset     string
		now        string // of day 0
		start      time.Time
		length     time.Duration
		rule, says string // what refuses it
	}{
		// AWS: whole days to 14, weeks to 26, end at 11:30 UTC, from 30 min to 8 weeks ahead.
		{"AWSCapacityBlock", noon, dayAt(1, "11:30:00"), 1 * day, "", ""},
		{"AWSCapacityBlock", noon, dayAt(1, "11:30:00"), 14 * day, "", ""},
		{"AWSCapacityBlock", noon, dayAt(1, "11:30:00"), 15 * day, "Steps", "2026-09-16T11:30:00Z) or [2026-09-02T11:30:00Z, 2026-09-23T11:30:00Z)"},
		{"AWSCapacityBlock", noon, dayAt(1, "11:30:00"), 20 * day, "Steps", "2026-09-23T11:30:00Z)"},
		{"AWSCapacityBlock", noon, dayAt(1, "11:30:00"), 21 * day, "", ""},
		{"AWSCapacityBlock", noon, dayAt(1, "11:30:00"), 22 * day, "Steps", "2026-09-23T11:30:00Z) or [2026-09-02T11:30:00Z, 2026-09-30T11:30:00Z)"},
		{"AWSCapacityBlock", noon, dayAt(1, "11:30:00"), 182 * day, "", ""},
		{"AWSCapacityBlock", noon, dayAt(1, "11:30:00"), 183 * day, "Steps", "Steps is 4368h0m0s"},
		{"AWSCapacityBlock", noon, dayAt(1, "11:30:00"), 189 * day, "Steps", "Steps is 4368h0m0s"},
		{"AWSCapacityBlock", noon, dayAt(1, "11:30:00"), 12 * time.Hour, "AlignEnd", "2026-09-03T11:30:00Z)"},
		{"AWSCapacityBlock", noon, dayAt(1, noon), 1 * day, "AlignEnd", "[2026-09-02T11:30:00Z, 2026-09-03T11:30:00Z)"},
		{"AWSCapacityBlock", "04:25:00", dayAt(0, "04:55:00"), 6*time.Hour + 35*time.Minute, "", ""}, // to 11:30
		{"AWSCapacityBlock", "04:25:00", dayAt(0, "04:55:00"), 6*time.Hour + 35*time.Minute + day, "", ""},
		{"AWSCapacityBlock", "04:25:01", dayAt(0, "04:55:00"), 6*time.Hour + 35*time.Minute, "MinLead", "MinLead is 30m0s"},
		{"AWSCapacityBlock", "11:30:00", dayAt(56, "11:30:00"), 1 * day, "", ""},
		{"AWSCapacityBlock", "11:29:59", dayAt(56, "11:30:00"), 1 * day, "MaxLead", "2026-10-27T11:30:00Z)"},
		{"AWSCapacityBlock", "11:30:00", dayAt(57, "11:30:00"), 1 * day, "MaxLead", "MaxLead is 1344h0m0s"},
		{"AWSCapacityBlock", "11:30:00", dayAt(56, "11:30:00"), 182 * day, "", ""}, // the end may lie far behind

		// Google: 1 to 90 days, 87 h to 60 days ahead.
		{"GCPCalendar", "00:00:00", dayAt(10, "00:00:00"), 1*day - time.Second, "MinLength", "MinLength is 24h0m0s"},
		{"GCPCalendar", "00:00:00", dayAt(10, "00:00:00"), 1 * day, "", ""},
		{"GCPCalendar", "00:00:00", dayAt(10, "00:00:00"), 15*day + time.Hour, "", ""},
		{"GCPCalendar", "00:00:00", dayAt(10, "00:00:00"), 90 * day, "", ""},
		{"GCPCalendar", "00:00:00", dayAt(10, "00:00:00"), 90*day + time.Second, "MaxLength", "MaxLength is 2160h0m0s"},
		{"GCPCalendar", "00:00:00", dayAt(3, "15:00:00"), 1 * day, "", ""}, // 87 h
		{"GCPCalendar", "00:00:00", dayAt(3, "14:59:59"), 1 * day, "MinLead", "[2026-09-04T15:00:00Z"},
		{"GCPCalendar", "00:00:00", dayAt(60, "00:00:00"), 90 * day, "", ""},
		{"GCPCalendar", "00:00:00", dayAt(60, "00:00:01"), 1 * day, "MaxLead", "MaxLead is 1440h0m0s"},

		// Azure: the steps of AWS on dates, today before 11:30 UTC to 56 days ahead.
		{"AzureBlock", "11:29:59", dayAt(0, "11:30:00"), 1 * day, "", ""},
		{"AzureBlock", "11:30:00", dayAt(0, "11:30:00"), 1 * day, "MinLead", "2026-09-02T11:30:00Z"},
		{"AzureBlock", "00:00:00", dayAt(1, "11:30:00"), 14 * day, "", ""},
		{"AzureBlock", "00:00:00", dayAt(1, "11:30:00"), 15 * day, "Steps", "2026-09-16T11:30:00Z) or [2026-09-02T11:30:00Z, 2026-09-23T11:30:00Z)"},
		{"AzureBlock", "00:00:00", dayAt(1, "11:30:00"), 21 * day, "", ""},
		{"AzureBlock", "00:00:00", dayAt(1, "11:30:00"), 182 * day, "", ""},
		{"AzureBlock", "00:00:00", dayAt(1, "11:30:00"), 183 * day, "Steps", "Steps is 4368h0m0s"},
		{"AzureBlock", "00:00:00", dayAt(1, noon), 1 * day, "AlignStart", "[2026-09-02T11:30:00Z"},
		{"AzureBlock", "00:00:00", dayAt(56, "11:30:00"), 1 * day, "", ""}, // any time of today
		{"AzureBlock", "23:59:59", dayAt(56, "11:30:00"), 1 * day, "", ""},
		{"AzureBlock", "00:00:00", dayAt(57, "11:30:00"), 1 * day, "MaxLead", "2026-10-27T11:30:00Z"},
		{"AzureBlock", "23:59:59", dayAt(57, "11:30:00"), 1 * day, "MaxLead", "2026-10-27T11:30:00Z"},

		// Together: 1 to 90 days, from now on.
		{"TogetherReserved", noon, dayAt(0, noon), 1 * day, "", ""},
		{"TogetherReserved", noon, dayAt(0, noon), 90 * day, "", ""},
		{"TogetherReserved", noon, dayAt(0, noon), 23 * time.Hour, "MinLength", "MinLength is 24h0m0s"},
		{"TogetherReserved", noon, dayAt(0, noon), 91 * day, "MaxLength", "MaxLength is 2160h0m0s"},
		{"TogetherReserved", noon, dayAt(1, noon), 1 * day, "MaxLead", "MaxLead is 1s"},

		// Nebius: a contract may say anything.
		{"NebiusIntervals", noon, dayAt(0, noon), time.Second, "", ""},
		{"NebiusIntervals", noon, dayAt(3000, noon), 400 * day, "", ""},
	} {
		p, _, ok := reservation.Preset(x.preset)
		require.True(t, ok)
		c := under(t, dayAt(0, x.now), 1, p)
		w, name := lasting(x.start, x.length), x.preset+" "+x.now
		err := ask(c, "b", w)
		if x.rule == "" {
			require.NoError(t, err, "%s %v", name, w)
			continue
		}
		require.Equal(t, x.rule, conflict(t, err).Rule, "%s %v", name, w)
		require.ErrorContains(t, err, x.says, "%s %v", name, w)
	}
}

// What each provider allows to do with a booking of day 8 to 9, and from day 0
// to day 1 for the one that begins at once.
func TestPresetChanges(t *testing.T) {
	for name, x := range map[string]struct {
		start, end           int
		cancel, extend, less string // the rule that refuses it before the start
		longer               time.Duration
	}{
		"AWSCapacityBlock": {8, 9, "NoCancel", "", "NoCancel", day},
		"GCPCalendar":      {8, 9, "CancelUntil", "NoExtend", "CancelUntil", day},
		"AzureBlock":       {8, 9, "NoCancel", "NoExtend", "NoCancel", day},
		"TogetherReserved": {0, 1, "", "", "NoCancel", 5 * time.Hour},
		"NebiusIntervals":  {8, 9, "", "", "", time.Hour},
	} {
		p, _, _ := reservation.Preset(name)
		c := under(t, dayAt(0, "11:30:00"), 1, p)
		now, end := c.Present(), dayAt(x.end, "11:30:00")
		require.NoError(t, ask(c, "b", reservation.Window{Start: dayAt(x.start, "11:30:00"), End: end}), name)
		rule := func(err error) string {
			if err == nil {
				return ""
			}
			return conflict(t, err).Rule
		}
		if x.start > 0 {
			_, err := c.Fork().Cancel(now, "b", 0)
			require.Equal(t, x.cancel, rule(err), name)
		}
		_, err := c.Fork().Extend(now, "b", end.Add(x.longer), 0)
		require.Equal(t, x.extend, rule(err), name)
		_, err = c.Fork().Extend(now, "b", end.Add(-time.Hour), 0)
		require.Equal(t, x.less, rule(err), name)
	}
	// AWS: an extension is asked 56 days to 1 hour before the end and ends on a step.
	p, _, _ := reservation.Preset("AWSCapacityBlock")
	c := under(t, dayAt(0, "11:30:00"), 1, p)
	end := dayAt(71, "11:30:00")
	require.NoError(t, ask(c, "b", reservation.Window{Start: dayAt(50, "11:30:00"), End: end}))
	for _, x := range []struct {
		before, by time.Duration
		rule       string
	}{
		{56*day + time.Second, 7 * day, "ExtendFrom"}, {56 * day, 7 * day, ""}, {30 * day, 1 * day, "Steps"}, {30 * day, 161 * day, ""}, {30 * day, 168 * day, "Steps"},
		{time.Hour, 7 * day, ""}, {time.Hour - time.Second, 7 * day, "ExtendUntil"},
	} {
		_, err := c.Fork().Extend(end.Add(-x.before), "b", end.Add(x.by), 0)
		if x.rule == "" {
			require.NoError(t, err, "%v", x)
			continue
		}
		require.Equal(t, x.rule, conflict(t, err).Rule, "%v", x)
	}
}

// Presets are fresh, and what they leave open is named by its field; a field
// that is set is either published or listed as inferred or second-hand.
func TestPresetOpen(t *testing.T) {
	require.Equal(t, []string{"AWSCapacityBlock", "GCPCalendar", "AzureBlock", "TogetherReserved", "NebiusIntervals"}, reservation.PresetNames())
	for _, name := range reservation.PresetNames() {
		p, open, ok := reservation.Preset(name)
		require.True(t, ok, name)
		require.NotEmpty(t, open, name)
		for _, line := range open {
			field, why, ok := strings.Cut(line, ": ")
			require.True(t, ok, line)
			v := reflect.ValueOf(p).FieldByName(field)
			require.True(t, v.IsValid(), "%s: %s", name, line)
			require.Equal(t, strings.Contains(why, "inferred") || strings.Contains(why, "second-hand"), !v.IsZero(), "%s: %s", name, line)
		}
		if len(p.Steps) > 0 {
			p.Steps[0].Every, p.Notices = time.Hour, append(p.Notices, time.Second)
		}
		open[0] = "changed"
		again, fresh, _ := reservation.Preset(name)
		require.NotEqual(t, "changed", fresh[0])
		if len(again.Steps) > 0 {
			require.Equal(t, day, again.Steps[0].Every)
		}
	}
	_, _, ok := reservation.Preset("nobody")
	require.False(t, ok)
}
