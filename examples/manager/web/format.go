// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"github.com/berth-gpu/berth/examples/manager/views"
)

func funcs() template.FuncMap {
	return template.FuncMap{
		"asset":  asset,
		"num":    func(v any) string { return number(asInt(v)) },
		"clock":  clock,
		"brief":  brief,
		"iso":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"span":   span,
		"since":  func(now, t time.Time) string { return span(now.Sub(t)) },
		"milli":  milli,
		"millis": millis,
		"pct":    percent,
		"meter":  meter,
		"plural": plural,
		"join":   strings.Join,

		"pernode": perNodeWords,
	}
}

func asInt(v any) int64 {
	switch v := v.(type) {
	case int:
		return int64(v)
	case int64:
		return v
	case uint64:
		return int64(v & (1<<63 - 1))
	}
	return 0
}

// number writes 1234567 as 1,234,567.
func number(v int64) string {
	s := strconv.FormatInt(v, 10)
	sign := ""
	if v < 0 {
		sign, s = "−", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// milli writes thousandths as units, with one decimal if there is one.
func milli(v int64) string {
	sign := ""
	if v < 0 {
		sign, v = "−", -max(v, -1<<62)
	}
	tenths := v/100 + (v%100)/50
	s := sign + number(tenths/10)
	if tenths%10 != 0 {
		s += "." + strconv.FormatInt(tenths%10, 10)
	}
	return s
}

func millis(v []int64) string {
	words := make([]string, len(v))
	for i, m := range v {
		words[i] = milli(m)
	}
	return strings.Join(words, " ")
}

func plural(v any, one, many string) string {
	n := asInt(v)
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}

// perNodeWords says what a node of a pool has.
func perNodeWords(p views.Pool) string {
	if p.GPUsPerNode == 0 {
		return "no GPU, " + milli(p.CPUMilliPerNode) + " CPU cores a node"
	}
	return plural(p.GPUsPerNode, "GPU", "GPUs") + " a node"
}

func percent(part, whole int64) string {
	if whole <= 0 {
		return "–"
	}
	return strconv.FormatFloat(100*float64(part)/float64(whole), 'f', 1, 64) + " %"
}

func clock(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("Mon 2 Jan 2006, 15:04 UTC")
}

// brief is clock without what the reader of a table of the next days knows.
func brief(t time.Time) string {
	if t.IsZero() {
		return "open"
	}
	return t.UTC().Format("Mon 2 Jan 15:04")
}

// span writes a duration with its two largest units.
func span(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	s := int64(d / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return two(s/60, "min", s%60, "s")
	case s < 86400:
		return two(s/3600, "h", s%3600/60, "min")
	}
	return two(s/86400, "d", s%86400/3600, "h")
}

func two(a int64, unit string, b int64, sub string) string {
	if b == 0 {
		return fmt.Sprintf("%s %s", number(a), unit)
	}
	return fmt.Sprintf("%s %s %d %s", number(a), unit, b, sub)
}
