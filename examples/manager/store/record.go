// SPDX-License-Identifier: Apache-2.0

package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// ErrDamaged marks a journal that is not what was written.
var ErrDamaged = errors.New("store: damaged")

// ErrInUse is returned when another process has the store open.
var ErrInUse = errors.New("store: in use by another process")

// A Record is one command's worth of decided facts. Its payload belongs to the
// state package.
type Record struct {
	Seq     uint64 // 1 for the first record of a store
	Payload []byte
}

// MaxPayload bounds one record: larger is refused, so a damaged length can
// never make a reader allocate much.
const MaxPayload = 64 << 20

const headerLen = 4 + 4 + 8 // length of payload, CRC-32C of the rest, sequence

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendFrame appends r's frame: length, CRC-32C, sequence, payload, all
// integers big endian. The checksum covers length, sequence and payload.
func AppendFrame(b []byte, r Record) ([]byte, error) {
	if len(r.Payload) > MaxPayload {
		return nil, fmt.Errorf("store: record %d has %d bytes, more than %d", r.Seq, len(r.Payload), MaxPayload)
	}
	var h [headerLen]byte
	binary.BigEndian.PutUint32(h[0:], uint32(len(r.Payload)))
	binary.BigEndian.PutUint64(h[8:], r.Seq)
	binary.BigEndian.PutUint32(h[4:], checksum(h, r.Payload))
	return append(append(b, h[:]...), r.Payload...), nil
}

func checksum(h [headerLen]byte, payload []byte) uint32 {
	crc := crc32.Update(0, castagnoli, h[0:4])
	crc = crc32.Update(crc, castagnoli, h[8:])
	return crc32.Update(crc, castagnoli, payload)
}

// parseFrame reads the frame that b consists of; want names it in errors.
func parseFrame(b []byte, want uint64) (Record, error) {
	if len(b) < headerLen {
		return Record{}, fmt.Errorf("%w: record %d: %d bytes are no frame", ErrDamaged, want, len(b))
	}
	h := [headerLen]byte(b[:headerLen])
	n := binary.BigEndian.Uint32(h[0:])
	r := Record{Seq: binary.BigEndian.Uint64(h[8:]), Payload: b[headerLen:]}
	switch {
	case int64(n) != int64(len(r.Payload)):
		return Record{}, fmt.Errorf("%w: record %d: length says %d bytes, %d are there", ErrDamaged, want, n, len(r.Payload))
	case checksum(h, r.Payload) != binary.BigEndian.Uint32(h[4:]):
		return Record{}, fmt.Errorf("%w: record %d: checksum differs", ErrDamaged, want)
	case r.Seq != want:
		return Record{}, fmt.Errorf("%w: record %d: carries sequence %d", ErrDamaged, want, r.Seq)
	}
	return r, nil
}

// A Cut says that a journal file ended inside a record.
type Cut struct {
	Seq    uint64 // the record that was not complete
	Offset int64  // where it begins
	Bytes  int64  // how many bytes of it are there
}

// ReadJournal reads frames from a plain file of them, calling f for each
// record. A last frame that is cut short is reported, not an error: its command
// was never answered. Anything else that is wrong is an error wrapping
// [ErrDamaged] that names the record; f has seen only the records before it.
func ReadJournal(r io.Reader, first uint64, f func(Record) error) (*Cut, error) {
	var offset int64
	for seq := first; ; seq++ {
		var h [headerLen]byte
		n, err := io.ReadFull(r, h[:])
		switch {
		case errors.Is(err, io.EOF):
			return nil, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return &Cut{Seq: seq, Offset: offset, Bytes: int64(n)}, nil
		case err != nil:
			return nil, fmt.Errorf("store: reading record %d: %w", seq, err)
		}
		size := int64(binary.BigEndian.Uint32(h[0:]))
		if size > MaxPayload {
			return nil, fmt.Errorf("%w: record %d: length of %d bytes", ErrDamaged, seq, size)
		}
		payload, err := io.ReadAll(io.LimitReader(r, size))
		if err != nil {
			return nil, fmt.Errorf("store: reading record %d: %w", seq, err)
		}
		if int64(len(payload)) < size {
			return &Cut{Seq: seq, Offset: offset, Bytes: headerLen + int64(len(payload))}, nil
		}
		rec, err := parseFrame(append(h[:], payload...), seq)
		if err != nil {
			return nil, err
		}
		if err := f(rec); err != nil {
			return nil, fmt.Errorf("record %d: %w", seq, err)
		}
		if seq == math.MaxUint64 {
			return nil, fmt.Errorf("%w: sequence numbers are used up", ErrDamaged)
		}
		offset += headerLen + size
	}
}
