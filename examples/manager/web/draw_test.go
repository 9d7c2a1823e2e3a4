// SPDX-License-Identifier: Apache-2.0

package web

import (
	"encoding/xml"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/manager/views"
)

var mon = time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC) // a Monday

func at(h int) time.Time { return mon.Add(time.Duration(h) * time.Hour) }

// bins of 10 nodes over four hours: 10, 10 free, then 4 to 10, then one short.
func someBins() []views.Bin {
	return []views.Bin{{Start: at(0), End: at(1), Min: 10, Max: 10, Capacity: 10}, {Start: at(1), End: at(2), Min: 10, Max: 10, Capacity: 10},
		{Start: at(2), End: at(3), Min: 4, Max: 10, Capacity: 10}, {Start: at(3), End: at(4), Min: -1, Max: -1, Capacity: 8}}
}

func TestRunsJoinEqualBins(t *testing.T) {
	rs := runs(someBins())
	require.Len(t, rs, 3)
	require.Equal(t, at(2), rs[0].End)
}

func TestAreaIsOneOutline(t *testing.T) {
	ax := timeAxis{at(0), at(4), 0, 400}
	y := func(v int64) float64 { return float64(100 - 10*v) }
	rs := runs(someBins())
	free := area(rs, ax, y, func(r run) (int64, int64) { return 0, r.Min })
	require.Equal(t, "M0 0L200 0L200 60L300 60L300 100L200 100L200 100L0 100Z", free, "up to the hour of the shortfall")
	short := area(rs, ax, y, func(r run) (int64, int64) { return r.Min, 0 })
	require.Equal(t, "M300 100L400 100L400 110L300 110Z", short)
	require.Equal(t, "M0 0L200 0L300 0L300 20L400 20", steps(rs, ax, y))
	require.Empty(t, area(nil, ax, y, nil))
}

func TestAxis(t *testing.T) {
	require.Equal(t, []int64{0, 2, 4, 6, 8}, levels(0, 8, 5))
	require.Equal(t, []int64{0, 200, 400}, levels(-90, 549, 4))
	require.Equal(t, []int64{0, 1}, levels(0, 1, 5))
	require.Equal(t, []int64{7}, levels(7, 7, 5))
	require.NotPanics(t, func() { levels(math.MinInt64, math.MaxInt64, 5) })

	week := timeAxis{at(5), at(5 + 14*24), 0, 1000}
	ticks := week.ticks(80)                        // a day is 71 wide, two are 143
	require.Equal(t, "Tue 10 Mar", ticks[0].label) // an even number of days after 1 January of year 1
	require.Equal(t, 48*time.Hour, ticks[1].at.Sub(ticks[0].at))
	require.Equal(t, "06:00", timeAxis{at(5), at(53), 0, 1000}.ticks(80)[0].label)
	require.Equal(t, "16 Mar", timeAxis{at(5), at(5 + 90*24), 0, 1000}.ticks(70)[0].label, "weeks begin on Mondays")
	require.Zero(t, timeAxis{at(5), at(5), 3, 3}.ticks(1))
	require.InDelta(t, 500, timeAxis{at(0), at(10), 0, 1000}.x(at(5)), 0.001)
	require.InDelta(t, 1000, timeAxis{at(0), at(10), 0, 1000}.x(at(99)), 0.001)
}

func TestLanesTakeTheFirstThatIsFree(t *testing.T) {
	b := func(from, to int) bar { return bar{start: at(from), end: at(to)} }
	out, more := lanes([]bar{b(4, 6), b(0, 4), b(2, 5), b(3, 9)}, 2)
	require.Equal(t, [][]bar{{b(0, 4), b(4, 6)}, {b(2, 5)}}, out)
	require.Equal(t, 1, more)
}

func TestQuotaBar(t *testing.T) {
	bar := string(quotaBar(views.QuotaKey{Nominal: 80, Used: 100, Guaranteed: 40, Borrowed: 20}, "t0"))
	require.Contains(t, bar, `class="trough" x="0%" width="80%"`)
	require.Contains(t, bar, `class="firm" x="0%" width="40%"`)
	require.Contains(t, bar, `class="own" x="0%" width="80%"`)
	require.Contains(t, bar, `class="borrowed" x="80%" width="20%"`)
	bar = string(quotaBar(views.QuotaKey{Nominal: 100, Used: 30, Lent: 25, Idle: 45}, "t0"))
	require.Contains(t, bar, `class="lent" x="75%" width="25%"`)
	require.NotContains(t, bar, "borrowed")
	row := newKeyRow(views.QuotaKey{Key: "gpu-milli/G2", Nominal: 1_537_250, Used: 499}, "t0")
	require.Equal(t, []string{"G2", "GPUs", "1,537.3", "0.5"}, []string{row.Name, row.Unit, row.Nominal, row.Used})
	row = newKeyRow(views.QuotaKey{Key: "cpu-milli", Nominal: 120_000_000}, "t0")
	require.Equal(t, []string{"CPU", "cores", "120,000"}, []string{row.Name, row.Unit, row.Nominal})
	row = newKeyRow(views.QuotaKey{Key: "nodes", Nominal: 12_000}, "t0")
	require.Equal(t, []string{"nodes", "", "12,000"}, []string{row.Name, row.Unit, row.Nominal})
}

func TestWords(t *testing.T) {
	require.Equal(t, "−1,234,567", number(-1234567))
	require.Equal(t, "999", number(999))
	require.Equal(t, "2", milli(1960), "rounded to a tenth")
	require.Equal(t, "−0.5", milli(-500))
	require.Equal(t, "1 d 5 h", span(29*time.Hour+time.Minute))
	require.Equal(t, "4 min 58 s", span(298*time.Second))
	require.Equal(t, "–", percent(1, 0))
	require.Equal(t, "50.0 %", percent(1, 2))
	require.NotPanics(t, func() { number(math.MinInt64); milli(math.MinInt64) })
}

func TestWordsOfCurves(t *testing.T) {
	bins := []views.Bin{{Start: at(0), End: at(1), Min: 3, Max: 8, Capacity: 8}, {Start: at(1), End: at(2), Min: -1, Max: 0, Capacity: 7}}
	gpus := inGPUs(views.ModelAvailability{Model: "T4", GPUs: 8, Bins: bins})
	require.Equal(t, "Between 0 and 8 of 8 GPUs are free; the fewest from Mon 9 Mar 01:00. At worst 1 booked GPU is missing.", gpus.words())
	require.Contains(t, gpus.facts(bins[0]), "3 to 8 of 8 GPUs free")
	nodes := inNodes(views.Availability{Pool: views.Pool{Nodes: 1}, Bins: bins})
	require.Contains(t, nodes.facts(bins[1]), "1 node short of 7")
}

// A node without a GPU shows how much of its CPU is in use.
func TestNodeWithoutGPU(t *testing.T) {
	pic := string(nodeMap([]views.Node{{ID: "c1", CPU: 64_000, CPUFree: 16_000}}, newPalette(nil)))
	require.Contains(t, pic, "48 of 64 CPU cores in use")
	require.Contains(t, pic, `class="u" d="M2 3.8h7v5.3h-7Z"`, "three quarters of its only square")
	require.Zero(t, cpuUse(views.Node{}))
}

func TestPaletteIsStable(t *testing.T) {
	p := newPalette([]string{"b", "a", "c", "a"})
	require.Equal(t, []string{"t0", "t1", "t2", "tx"}, []string{p.Class("a"), p.Class("b"), p.Class("c"), p.Class("other tenants")})
	require.Equal(t, []string{"a", "b", "c"}, p.Names())
}

// Whatever a source says, a picture is well-formed and carries it as text.
func FuzzPictures(f *testing.F) {
	f.Add("vision", "held", int64(3), int64(9), int64(2))
	f.Add(`"><script>`, "]]>&", int64(math.MinInt64), int64(math.MaxInt64), int64(-7))
	f.Fuzz(func(t *testing.T, owner, phase string, low, high, nodes int64) {
		a := views.Availability{Pool: views.Pool{Name: owner, Nodes: nodes}, From: at(0), To: at(2),
			Bins:     []views.Bin{{Start: at(0), End: at(1), Min: low, Max: high, Capacity: nodes}, {Start: at(1), End: at(2), Min: high, Max: low, Capacity: low}},
			Bookings: []views.Booking{{ID: phase, Owner: owner, Phase: phase, Nodes: nodes, Start: at(0), End: at(2), Shortfall: low}},
			Outages:  []views.Outage{{Reason: owner, Nodes: []string{phase}, Start: at(1)}}}
		p := newPalette([]string{owner})
		node := views.Node{ID: owner, Tenant: phase, GPUs: []int64{low, high, nodes}, Holds: []views.Hold{{Reason: phase}}}
		for _, pic := range []string{string(chart(inNodes(a), at(1), wide)), string(gantt(a, at(1), p, narrow)), string(spark(inNodes(a))), string(nodeMap([]views.Node{node}, p))} {
			d := xml.NewDecoder(strings.NewReader("<x>" + strings.ToValidUTF8(strings.Map(printable, pic), "") + "</x>"))
			for {
				tok, err := d.Token()
				if err == io.EOF {
					break
				}
				require.NoError(t, err, pic)
				if el, ok := tok.(xml.StartElement); ok {
					require.NotEqual(t, "script", el.Name.Local)
				}
			}
		}
	})
}

// printable drops the characters that XML does not know and HTML does.
func printable(r rune) rune {
	if r < ' ' && r != '\n' || r == 0xFFFE || r == 0xFFFF {
		return -1
	}
	return r
}
