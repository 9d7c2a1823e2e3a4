// SPDX-License-Identifier: Apache-2.0

package state

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// errCut is wrapped with what was being read.
var errCut = errors.New("state: record or snapshot is cut short or damaged")

// Sections of a record or snapshot, in the order they are written. A number is
// never used again for something else.
type section byte

const (
	secHeader   section = 1 // JSON: Header
	secTopology section = 2 // JSON: topology.Change; in a snapshot the cluster
	secQuota    section = 3 // one quota event; in a snapshot the ledger
	secCalendar section = 4
	secFleet    section = 5
	secHealth   section = 6
	secJobs     section = 7 // JSON: jobs.Event; in a snapshot the queue
	secKeys     section = 8 // JSON: request keys, in a snapshot only
)

// appendSection appends one tagged, counted byte string.
func appendSection(b []byte, s section, body []byte) []byte {
	b = append(b, byte(s))
	b = binary.AppendUvarint(b, uint64(len(body)))
	return append(b, body...)
}

// eachSection calls f for every section of b.
func eachSection(b []byte, f func(section, []byte) error) error {
	for off := 0; off < len(b); {
		s := section(b[off])
		n, w := binary.Uvarint(b[off+1:])
		if w <= 0 || n > uint64(len(b)-off-1-w) {
			return fmt.Errorf("%w: section %d at byte %d", errCut, s, off)
		}
		body := b[off+1+w : off+1+w+int(n)]
		if err := f(s, body); err != nil {
			return fmt.Errorf("section %d at byte %d: %w", s, off, err)
		}
		off += 1 + w + int(n)
	}
	return nil
}
