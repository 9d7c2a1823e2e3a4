// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"html"
	"strings"
)

// The frame of the plot in pixels, and what it shows in percent.
const (
	plotWidth, plotHeight      = 860, 520
	plotLeft, plotRight        = 70, 24
	plotTop, plotBottom        = 56, 62
	plotFrom, plotTo           = 60, lastPercent // arrived demand
	plotLow, plotHigh          = 60, 100         // allocated share
	legendWidth, legendSpacing = 150, 22
)

// colours are told apart with any colour vision (Okabe and Ito, 2008).
var colours = []string{"#999999", "#e69f00", "#56b4e9", "#0072b2", "#d55e00", "#009e73"}

func plotX(v float64) float64 {
	return plotLeft + (v-plotFrom)/(plotTo-plotFrom)*(plotWidth-plotLeft-plotRight)
}

func plotY(v float64) float64 {
	return plotHeight - plotBottom - (v-plotLow)/(plotHigh-plotLow)*(plotHeight-plotTop-plotBottom)
}

// plot draws the curves as an SVG document.
func plot(title string, results []result) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13" role="img">`,
		plotWidth, plotHeight, plotWidth, plotHeight)
	p(`<title>%s</title>`, html.EscapeString(title))
	p(`<rect width="100%%" height="100%%" fill="#ffffff"/>`)
	p(`<text x="%d" y="28" font-size="16">%s</text>`, plotLeft, html.EscapeString(title))
	for v := plotFrom; v <= plotTo; v += 10 {
		x := plotX(float64(v))
		p(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#e4e4e4"/>`, x, plotY(plotLow), x, plotY(plotHigh))
		p(`<text x="%.1f" y="%.1f" text-anchor="middle">%d</text>`, x, plotY(plotLow)+20, v)
	}
	for v := plotLow; v <= plotHigh; v += 5 {
		y := plotY(float64(v))
		p(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#e4e4e4"/>`, plotX(plotFrom), y, plotX(plotTo), y)
		p(`<text x="%d" y="%.1f" text-anchor="end">%d</text>`, plotLeft-8, y+4, v)
	}
	p(`<path d="M%.1f %.1fV%.1fH%.1f" fill="none" stroke="#333333"/>`, plotX(plotFrom), plotY(plotHigh), plotY(plotLow), plotX(plotTo))
	p(`<text x="%.1f" y="%d" text-anchor="middle">arrived demand, %% of capacity</text>`, plotX((plotFrom+plotTo)/2), plotHeight-14)
	p(`<text transform="translate(20 %.1f) rotate(-90)" text-anchor="middle">allocated, %% of capacity</text>`, plotY((plotLow+plotHigh)/2))
	p(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#bbbbbb" stroke-dasharray="4 4"/>`, plotX(plotLow), plotY(plotLow), plotX(plotHigh), plotY(plotHigh))
	for i, r := range results {
		var points []string
		for v := plotFrom; v <= plotTo; v++ {
			if r.mean[v] >= plotLow {
				points = append(points, fmt.Sprintf("%.1f,%.1f", plotX(float64(v)), plotY(r.mean[v])))
			}
		}
		p(`<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>`, colours[i%len(colours)], strings.Join(points, " "))
	}
	for i, r := range results {
		y := plotY(plotLow) - float64((len(results)-i)*legendSpacing)
		x := float64(plotWidth - plotRight - legendWidth - 60)
		p(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="3"/>`, x, y-4, x+24, y-4, colours[i%len(colours)])
		p(`<text x="%.1f" y="%.1f">%s  %.2f %%</text>`, x+32, y, html.EscapeString(r.label), r.mean[lastPercent])
	}
	p(`</svg>`)
	return b.String()
}
