// SPDX-License-Identifier: Apache-2.0

package powercut

import (
	"math/rand/v2"
	"strings"
)

// A Kind is what an [Op] did.
type Kind int

// The kinds of operations.
const (
	Write    Kind = iota // Data at Off
	Truncate             // to Off bytes
	Sync                 // has returned: everything before operation Covers is on the disk
	Say                  // Data was printed
)

// An Op is one operation of the recorded program.
type Op struct {
	Kind   Kind
	Off    int64
	Data   []byte
	Covers int
}

// A Trace is what a program did, in order.
type Trace []Op

// Said returns the complete lines that were printed before operation at.
func (t Trace) Said(at int) []string {
	var b strings.Builder
	for _, op := range t[:at] {
		if op.Kind == Say {
			b.Write(op.Data)
		}
	}
	text := b.String()
	text = text[:strings.LastIndexByte(text, '\n')+1]
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// Syncs returns how many syncs there are.
func (t Trace) Syncs() (n int) {
	for _, op := range t {
		if op.Kind == Sync {
			n++
		}
	}
	return n
}

const (
	page   = 4096 // what the system writes back at once
	sector = 512  // what a disk writes whole or not at all
)

// Cut returns a file as a disk may hold it if the power fails right before
// operation at. Of what no sync has covered, each page of each write is there or
// is not, and one of those that are is torn at a sector.
func (t Trace) Cut(r *rand.Rand, at int) []byte {
	covered := 0
	for _, op := range t[:at] {
		if op.Kind == Sync {
			covered = max(covered, op.Covers)
		}
	}
	var disk []byte
	put := func(off int64, data []byte) {
		if need := off + int64(len(data)); need > int64(len(disk)) {
			disk = append(disk, make([]byte, need-int64(len(disk)))...)
		}
		copy(disk[off:], data)
	}
	resize := func(size int64) {
		if size <= int64(len(disk)) {
			disk = disk[:size]
			return
		}
		put(size, nil)
	}
	var loose []Op // single pages
	for i, op := range t[:at] {
		switch {
		case op.Kind == Write && i < covered:
			put(op.Off, op.Data)
		case op.Kind == Truncate && i < covered:
			resize(op.Off)
		case op.Kind == Truncate:
			loose = append(loose, op)
		case op.Kind == Write:
			for off, data := op.Off, op.Data; len(data) > 0; {
				n := min(page-off%page, int64(len(data)))
				loose = append(loose, Op{Kind: Write, Off: off, Data: data[:n]})
				off, data = off+n, data[n:]
			}
		}
	}
	// Sometimes nearly all of it has been written back, sometimes hardly any.
	share := []float64{0, 0.1, 0.5, 0.9, 1}[r.IntN(5)]
	torn := -1
	if len(loose) > 0 && r.IntN(2) == 0 {
		torn = r.IntN(len(loose))
	}
	for i, op := range loose {
		switch {
		case i != torn && r.Float64() >= share:
		case op.Kind == Truncate:
			resize(op.Off)
		case i == torn:
			put(op.Off, op.Data[:min(r.IntN(page/sector+1)*sector, len(op.Data))])
		default:
			put(op.Off, op.Data)
		}
	}
	return disk
}
