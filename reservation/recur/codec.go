// SPDX-License-Identifier: Apache-2.0

package recur

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

const localLayout = "20060102T150405"

// MarshalText returns the whole rule in one line, words between single blanks, in
// this order; those in brackets only if they are not the default:
//
//	DTSTART:20250303T100000      Start, a wall-clock reading
//	RRULE:FREQ=WEEKLY;BYDAY=MO   what String returns
//	DURATION:PT3600S             Ends, if it is elapsed, in seconds
//	END:P0DT180000               Ends, if it is local: days, then the time of day
//	[EXDATE:20250317T100000,…]   ExDates, ascending, each once
//	[GAP:UseGapEnd] [AMBIGUOUS:Second]
//
// The first three are as in RFC 5545 for an event without a zone. Equal bytes are
// equal rules. The zone is not part of a rule; keep its name beside it.
//
// Possible errors: [ErrInvalid].
func (r Rule) MarshalText() ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	b := []byte("DTSTART:" + r.Start.basic() + " RRULE:" + r.String())
	if r.Ends.Local {
		b = fmt.Appendf(b, " END:P%dDT%02d%02d%02d", r.Ends.Days, r.Ends.At.Hour, r.Ends.At.Minute, r.Ends.At.Second)
	} else {
		b = fmt.Appendf(b, " DURATION:PT%dS", int64(r.Ends.Elapsed/time.Second))
	}
	dates := make([]string, len(r.ExDates))
	for i, x := range r.ExDates {
		dates[i] = x.basic()
	}
	slices.Sort(dates)
	if dates = slices.Compact(dates); len(dates) > 0 {
		b = append(b, " EXDATE:"+strings.Join(dates, ",")...)
	}
	if r.Gap != UseOffsetBefore {
		b = append(b, " GAP:"+r.Gap.String()...)
	}
	if r.Ambiguous != First {
		b = append(b, " AMBIGUOUS:"+r.Ambiguous.String()...)
	}
	return b, nil
}

// UnmarshalText reads what [Rule.MarshalText] writes and nothing else. A rule that
// people write goes through [Parse].
//
// Possible errors: [ErrSyntax], [ErrInvalid].
func (r *Rule) UnmarshalText(text []byte) error {
	words := strings.Split(string(text), " ")
	word := func(prefix string) (string, bool) {
		if len(words) == 0 {
			return "", false
		}
		v, ok := strings.CutPrefix(words[0], prefix)
		if ok {
			words = words[1:]
		}
		return v, ok
	}
	var out Rule
	start, _ := word("DTSTART:")
	rrule, _ := word("RRULE:")
	out, err := Parse(rrule)
	if err != nil {
		return err
	}
	ok := true
	if out.Start, ok = parseBasic(start); !ok {
		return syntax("DTSTART:%.40q; write it as 20250303T100000", start)
	}
	if v, some := word("DURATION:PT"); some {
		out.Ends, ok = parseElapsed(v)
	} else {
		v, _ = word("END:P")
		out.Ends, ok = parseLocalEnd(v)
	}
	if !ok {
		return syntax("the end of %.80q; write DURATION:PT3600S or END:P0DT180000", text)
	}
	if v, some := word("EXDATE:"); some {
		for item := range strings.SplitSeq(v, ",") {
			x, ok := parseBasic(item)
			if !ok {
				return syntax("EXDATE has %.40q; write 20250317T100000", item)
			}
			out.ExDates = append(out.ExDates, x)
		}
	}
	if v, some := word("GAP:"); some {
		out.Gap = Gap(slices.Index([]string{"", UseGapEnd.String(), SkipGap.String()}, v))
	}
	if v, some := word("AMBIGUOUS:"); some {
		out.Ambiguous = Ambiguous(slices.Index([]string{"", Second.String()}, v))
	}
	again, err := out.MarshalText()
	if err != nil {
		return err
	}
	if !bytes.Equal(again, text) {
		return syntax("the rule %.80q is not in the form of MarshalText, which is %.80q", text, again)
	}
	*r = out
	return nil
}

// basic returns the reading in the basic form of RFC 5545.
func (l Local) basic() string {
	return fmt.Sprintf("%04d%02d%02dT%02d%02d%02d", l.Year, int(l.Month), l.Day, l.Hour, l.Minute, l.Second)
}

func parseBasic(s string) (Local, bool) {
	t, err := time.Parse(localLayout, s) // without a zone: a reading in UTC
	if err != nil || len(s) != len(localLayout) || t.Year() < minYear {
		return Local{}, false
	}
	return localOf(t.Unix()), true
}

func parseElapsed(s string) (End, bool) {
	digits, ok := strings.CutSuffix(s, "S")
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n < 1 || n > int64(1<<63-1)/int64(time.Second) {
		return End{}, false
	}
	return Elapsed(time.Duration(n) * time.Second), true
}

func parseLocalEnd(s string) (End, bool) {
	days, clock, ok := strings.Cut(s, "DT")
	n, err := strconv.ParseUint(days, 10, 16)
	t, bad := time.Parse("150405", clock)
	if !ok || err != nil || bad != nil || len(clock) != 6 {
		return End{}, false
	}
	end := LocalEnd(Clock{t.Hour(), t.Minute(), t.Second()})
	end.Days = int(n)
	return end, true
}
