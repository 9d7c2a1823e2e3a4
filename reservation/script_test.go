// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/berth-gpu/berth/reservation"
	"github.com/stretchr/testify/require"
)

var updateScripts = flag.Bool("update", false, "write the answers of the scripts anew")

// TestScripts runs the scripts of testdata: a line that begins with "> " is a
// command, the lines below it are the answer. Commands are at 00:00 unless one
// has said "at".
//
//	pool NAME NODES RACK [OWNER=COUNT …]  nodes in racks of RACK; with cells if any
//	book ID OWNER FROM-TO POOL COUNT|NODE,NODE… [LEVEL]
//	fit OWNER LENGTH POOL COUNT [LEVEL]
//	seat ID NODE …
//	out ID FROM-TO NODE …
//	at TIME
//	show
func TestScripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.script"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		old, err := os.ReadFile(file)
		require.NoError(t, err)
		var out strings.Builder
		s := script{cal: newCalendar(t, at("00:00")), now: at("00:00")}
		for _, line := range strings.Split(strings.TrimSuffix(string(old), "\n"), "\n") {
			if command, ok := strings.CutPrefix(line, "> "); ok {
				fmt.Fprintf(&out, "%s\n%s", line, s.run(strings.Fields(command)))
				require.NoError(t, s.cal.Check())
			} else if strings.HasPrefix(line, "#") || line == "" {
				fmt.Fprintln(&out, line)
			}
		}
		if *updateScripts {
			require.NoError(t, os.WriteFile(file, []byte(out.String()), 0o644))
			continue
		}
		require.Equal(t, string(old), out.String(), "%s; -update writes it anew", file)
	}
}

type script struct {
	cal *reservation.Calendar
	now time.Time
}

func (s *script) run(args []string) string {
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	window := func(v string) reservation.Window {
		from, to, _ := strings.Cut(v, "-")
		return span(from, to)
	}
	line := func(pool, what, level string) reservation.Line {
		if n, err := strconv.ParseInt(what, 10, 64); err == nil {
			return reservation.Line{Pool: pool, Count: n, Within: level}
		}
		return reservation.Line{Pool: pool, Nodes: strings.Split(what, ",")}
	}
	booking := func(b reservation.Booking, err error) string {
		if err == nil {
			return strings.TrimSpace(fmt.Sprint(b.ID, " ", b.Phase, " ", strings.Join(seated(b), " "))) + "\n"
		}
		text, _, _ := strings.Cut(strings.ReplaceAll(err.Error(), "2026-03-02T", ""), "; instead: ")
		text += "\n"
		if x, ok := err.(*reservation.ConflictError); ok {
			for _, o := range x.Offers {
				text += fmt.Sprintf("  %s: %s-%s %d\n", o.Kind, o.Window.Start.Format("15:04"), o.Window.End.Format("15:04"), o.Lines[0].Count)
			}
		}
		return text
	}
	switch arg(0) {
	case "pool":
		n, _ := strconv.Atoi(arg(2))
		rack, _ := strconv.Atoi(arg(3))
		p := inRacks(h100(n), rack)
		p.Name = arg(1)
		for _, cell := range args[4:] {
			owner, count, _ := strings.Cut(cell, "=")
			n, _ := strconv.ParseInt(count, 10, 64)
			p = inCells(p, append(p.Cells, reservation.Cell{Owner: owner, Count: n})...)
		}
		if err := s.cal.SetPool(s.now, p); err != nil {
			return err.Error() + "\n"
		}
		return ""
	case "book":
		return booking(s.cal.Book(s.now, reservation.Request{ID: arg(1), Owner: arg(2), Window: window(arg(3)), Lines: []reservation.Line{line(arg(4), arg(5), arg(6))}}))
	case "fit":
		length, _ := time.ParseDuration(arg(2))
		o, err := s.cal.EarliestFit(s.now, reservation.Query{Owner: arg(1), Length: length, Lines: []reservation.Line{line(arg(3), arg(4), arg(5))}})
		if err != nil {
			return booking(reservation.Booking{}, err)
		}
		return fmt.Sprintf("%s-%s\n", o.Window.Start.Format("15:04"), o.Window.End.Format("15:04"))
	case "seat":
		return booking(s.cal.Seat(s.now, arg(1), args[2:]))
	case "out":
		_, err := s.cal.SetOutage(s.now, reservation.Outage{ID: arg(1), Owner: "ops", Window: window(arg(2)), Nodes: args[3:]})
		if err != nil {
			return err.Error() + "\n"
		}
		return s.lacks()
	case "at":
		s.now = at(arg(1))
		s.cal.Advance(s.now)
		return s.lacks()
	case "show":
		text := ""
		for b := range s.cal.Bookings("", reservation.Window{}) {
			text += booking(b, nil)
		}
		return text + s.lacks()
	}
	return "unknown command\n"
}

func (s *script) lacks() (text string) {
	for d := range s.cal.Degraded() {
		text += fmt.Sprintf("  %s lacks %d in %s-%s\n", d.ID, d.Shortfall, d.Window.Start.Format("15:04"), d.Window.End.Format("15:04"))
	}
	return text
}
