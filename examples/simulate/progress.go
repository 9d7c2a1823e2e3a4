// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// progress hears from a study what it does. Its methods may be called by many goroutines.
type progress interface {
	begin(runs int)
	step(part float64) // of one run
	done(label string, seed int64, share float64)
	end()
}

// newProgress gives a bar when w is a terminal, and a line for each finished run otherwise.
func newProgress(w *os.File) progress {
	if info, err := w.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		return &bar{w: w}
	}
	return &lines{w: w}
}

// lines writes one line for each run.
type lines struct {
	mu         sync.Mutex
	w          io.Writer
	runs, past int
}

func (l *lines) begin(runs int) { l.runs = runs }
func (l *lines) step(float64)   {}
func (l *lines) end()           {}
func (l *lines) done(label string, seed int64, share float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.past++
	fmt.Fprintf(l.w, "%d of %d: %s, seed %d: %.2f %%\n", l.past, l.runs, label, seed, share)
}

// bar draws over one line.
type bar struct {
	mu   sync.Mutex
	w    io.Writer
	runs int
	past float64 // runs, and parts of runs
	ends int
	last string
}

const barWidth = 40

func (b *bar) begin(runs int) { b.runs = runs }

func (b *bar) step(part float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.past += part
	b.draw()
}

func (b *bar) done(label string, seed int64, share float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ends++
	b.last = fmt.Sprintf("%s, seed %d: %.2f %%", label, seed, share)
	b.draw()
}

func (b *bar) draw() {
	part := max(b.past, float64(b.ends)) / float64(max(b.runs, 1))
	full := min(int(part*barWidth), barWidth)
	fmt.Fprintf(b.w, "\r[%s%s] %3.0f %%  %-44s", strings.Repeat("█", full), strings.Repeat("·", barWidth-full), min(part, 1)*100, b.last)
}

func (b *bar) end() { fmt.Fprintf(b.w, "\r%s\r", strings.Repeat(" ", barWidth+56)) }
