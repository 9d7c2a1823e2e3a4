// SPDX-License-Identifier: Apache-2.0

package recur_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/reservation/recur"
)

func ExampleRule_MarshalText() {
	rule, _ := recur.Parse("FREQ=WEEKLY;BYDAY=MO;COUNT=4")
	rule.Start = recur.Local{Year: 2025, Month: time.March, Day: 3, Hour: 22}
	rule.Ends = recur.LocalEnd(recur.Clock{Hour: 6})
	text, err := rule.MarshalText()
	fmt.Println(string(text), err)
	var again recur.Rule
	fmt.Println(again.UnmarshalText(text), again.Ends.At)
	// Output:
	// DTSTART:20250303T220000 RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=4 END:P0DT060000 <nil>
	// <nil> 06:00:00
}

func TestRuleText(t *testing.T) {
	all := rule(t, "FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=-1,15;BYDAY=1MO,-1FR;UNTIL=20300101T000000Z", "2026-03-02T09:00:00")
	all.Gap, all.Ambiguous = recur.SkipGap, recur.Second
	all.ExDates = []recur.Local{local(t, "2027-01-15T09:00:00"), local(t, "2026-06-15T09:00:00"), local(t, "2027-01-15T09:00:00")}
	b, err := all.MarshalText()
	require.NoError(t, err)
	require.Equal(t, "DTSTART:20260302T090000 RRULE:FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=-1,15;BYDAY=1MO,-1FR;UNTIL=20300101T000000Z"+
		" DURATION:PT3600S EXDATE:20260615T090000,20270115T090000 GAP:SkipGap AMBIGUOUS:Second", string(b))
	var got recur.Rule
	require.NoError(t, got.UnmarshalText(b))
	all.ExDates = []recur.Local{local(t, "2026-06-15T09:00:00"), local(t, "2027-01-15T09:00:00")}
	require.Equal(t, all, got)

	_, err = recur.Rule{}.MarshalText()
	require.ErrorIs(t, err, recur.ErrInvalid)
	good := "DTSTART:20260302T090000 RRULE:FREQ=DAILY DURATION:PT60S"
	require.NoError(t, got.UnmarshalText([]byte(good)))
	for _, bad := range []string{
		"", " ", good + " ", " " + good, good + " GAP:UseOffsetBefore", good + " GAP:x", good + " AMBIGUOUS:First", good + " X:1", good + " EXDATE:",
		"DTSTART:20260302T090000 RRULE:FREQ=DAILY", "RRULE:FREQ=DAILY DURATION:PT60S", "DTSTART:20260302T090000 RRULE:FREQ=DAILY;INTERVAL=1 DURATION:PT60S",
		"DTSTART:20260302T090000 RRULE:freq=daily DURATION:PT60S", "DTSTART:20260302T090000 RRULE:FREQ=DAILY DURATION:PT060S",
		"DTSTART:20260302T090000 RRULE:FREQ=DAILY DURATION:PT0S", "DTSTART:20260302T090000 RRULE:FREQ=DAILY END:P400DT000000",
		"DTSTART:20260302T090000 RRULE:FREQ=DAILY END:P00DT000000", "DTSTART:20260230T090000 RRULE:FREQ=DAILY DURATION:PT60S",
		good + " EXDATE:20260303T090000,20260303T090000", good + " AMBIGUOUS:Second GAP:SkipGap",
	} {
		was := got
		require.Error(t, got.UnmarshalText([]byte(bad)), "%q", bad)
		require.Equal(t, was, got, "a refused text changes nothing")
	}
}

// FuzzRuleText: what is read is written again with the same bytes.
func FuzzRuleText(f *testing.F) {
	f.Add("DTSTART:20260302T090000 RRULE:FREQ=DAILY DURATION:PT60S")
	f.Add("DTSTART:20250303T220000 RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=4 END:P1DT060000 EXDATE:20250310T220000 GAP:UseGapEnd AMBIGUOUS:Second")
	f.Fuzz(func(t *testing.T, text string) {
		var r recur.Rule
		if r.UnmarshalText([]byte(text)) != nil {
			return
		}
		b, err := r.MarshalText()
		require.NoError(t, err)
		require.Equal(t, text, string(b))
	})
}
