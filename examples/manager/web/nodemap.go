// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"html/template"
	"net/url"
	"strings"

	"github.com/berth-gpu/berth/examples/manager/views"
)

const (
	gpuSide = 7 // of a GPU's square
	gpuStep = 8 // to the next
	rim     = 2 // around a node's squares
)

// grid is how a node's GPUs are laid out: at most four in a row.
func grid(gpus int) (cols, rows int) {
	switch {
	case gpus <= 0:
		return 1, 1
	case gpus == 4:
		return 2, 2
	case gpus < 4:
		return gpus, 1
	}
	return 4, (gpus + 3) / 4
}

// nodeMap draws each node as a cell with a square per GPU, filled from below
// by its use in the colour of the tenant it serves, and hatched where it is
// held. Cells are small pictures of their own that flow like words, so that
// the map fits every width. They are no stops of the Tab key: a thousand would
// lock a reader in; the pool's table has the same links.
func nodeMap(nodes []views.Node, p palette) template.HTML {
	var s svg
	for _, n := range nodes {
		cols, rows := grid(len(n.GPUs))
		w, h := cols*gpuStep-1+2*rim, rows*gpuStep-1+2*rim
		class := "n"
		if n.Tenant != "" {
			class += " " + p.Class(n.Tenant)
		}
		s.open("a", "class", class, "href", "/node?id="+url.QueryEscape(n.ID), "tabindex", -1, "title", nodeFacts(n))
		s.open("svg", "width", w, "height", h)
		var all, used path
		squares := n.GPUs
		if len(squares) == 0 { // its CPU instead, where the viewer may see it
			squares = []int64{cpuUse(n)}
		}
		for i, milli := range squares {
			x, y := float64(rim+i%cols*gpuStep), float64(rim+i/cols*gpuStep)
			all.box(x, y, gpuSide, gpuSide)
			if milli > 0 {
				fill := max(gpuSide*float64(min(milli, 1000))/1000, 1)
				used.box(x, y+gpuSide-fill, gpuSide, fill)
			}
		}
		s.el("path", "class", "g", "d", all.String())
		if len(used.b) > 0 {
			s.el("path", "class", "u", "d", used.String())
		}
		if len(n.Holds) > 0 {
			s.el("rect", "fill", "url(#hatch)", "width", w, "height", h)
		}
		s.end("svg")
		s.end("a")
	}
	return s.html()
}

// cpuUse is the part of a node's CPU that is in use, in thousandths.
func cpuUse(n views.Node) int64 {
	if n.CPU <= 0 {
		return 0
	}
	return int64(1000 * (1 - float64(n.CPUFree)/float64(n.CPU)))
}

// nodeFacts is a node in a few lines, for the pointer that rests on it.
func nodeFacts(n views.Node) string {
	var busy, sum int64
	for _, m := range n.GPUs {
		sum += m
		if m > 0 {
			busy++
		}
	}
	lines := []string{n.ID}
	if n.Model != "" {
		lines[0] += " · " + n.Model
	}
	if n.Tenant != "" {
		lines = append(lines, "serves "+n.Tenant)
	} else {
		lines = append(lines, "free")
	}
	if len(n.GPUs) > 0 {
		lines = append(lines, fmt.Sprintf("%d of %s in use (%s)", busy, plural(len(n.GPUs), "GPU", "GPUs"), milli(sum)))
	} else {
		lines = append(lines, fmt.Sprintf("no GPU; %s of %s CPU cores in use", milli(max(n.CPU-n.CPUFree, 0)), milli(n.CPU)))
	}
	if n.Booking != "" {
		lines = append(lines, "booking "+n.Booking)
	}
	for _, h := range n.Holds {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("held by %s: %s %s", h.Owner, h.Step, h.Reason)))
	}
	return strings.Join(lines, "\n")
}
