// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrCorrupt marks input that is not what an encoder of this module wrote.
var ErrCorrupt = errors.New("corrupt encoding")

// AppendUint appends v as an unsigned varint.
func AppendUint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

// AppendInt appends v as a zig-zag varint.
func AppendInt(b []byte, v int64) []byte { return binary.AppendVarint(b, v) }

// AppendBool appends one byte, 0 or 1.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// AppendString appends a length and the bytes of s.
func AppendString[S ~string](b []byte, s S) []byte {
	b = AppendUint(b, uint64(len(s)))
	return append(b, s...)
}

// AppendBytes appends a length and p.
func AppendBytes(b, p []byte) []byte {
	b = AppendUint(b, uint64(len(p)))
	return append(b, p...)
}

// A Reader reads what the Append functions wrote. The first failure sticks:
// later reads return zero values and Err tells what and where.
// A Reader is not safe for concurrent use.
type Reader struct {
	b   []byte
	off int
	err error
}

// NewReader returns a Reader of b, which it does not change.
func NewReader(b []byte) *Reader { return &Reader{b: b} }

// Err returns the first failure, wrapped around [ErrCorrupt], or nil.
func (r *Reader) Err() error { return r.err }

// Offset returns how many bytes have been read.
func (r *Reader) Offset() int { return r.off }

// Len returns how many bytes are left.
func (r *Reader) Len() int { return len(r.b) - r.off }

// Fail records a failure found by the caller at the present offset.
func (r *Reader) Fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w at byte %d: %s", ErrCorrupt, r.off, fmt.Sprintf(format, args...))
		r.off = len(r.b)
	}
}

// Done returns Err, or a failure if bytes are left over.
func (r *Reader) Done() error {
	if r.err == nil && r.off != len(r.b) {
		r.Fail("%d bytes left over", len(r.b)-r.off)
	}
	return r.err
}

// Uint reads an unsigned varint. Only the shortest form is accepted, so equal
// values have equal bytes.
func (r *Reader) Uint() uint64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.b[r.off:])
	if n <= 0 {
		r.Fail("bad or cut number")
		return 0
	}
	if n > 1 && r.b[r.off+n-1] == 0 {
		r.Fail("number is not in shortest form")
		return 0
	}
	r.off += n
	return v
}

// Int reads a zig-zag varint.
func (r *Reader) Int() int64 {
	u := r.Uint()
	v := int64(u >> 1)
	if u&1 != 0 {
		v = ^v
	}
	return v
}

// Bool reads a byte that must be 0 or 1.
func (r *Reader) Bool() bool {
	switch b := r.Byte(); b {
	case 0, 1:
		return b == 1
	default:
		r.Fail("bool is %d", b)
		return false
	}
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if r.err != nil {
		return 0
	}
	if r.off >= len(r.b) {
		r.Fail("cut")
		return 0
	}
	b := r.b[r.off]
	r.off++
	return b
}

// String reads a counted string.
func (r *Reader) String() string { return string(r.view()) }

// Bytes reads a counted byte string into a new slice.
func (r *Reader) Bytes() []byte { return append([]byte(nil), r.view()...) }

func (r *Reader) view() []byte {
	n := r.Uint()
	if r.err != nil {
		return nil
	}
	if n > uint64(len(r.b)-r.off) {
		r.Fail("length %d exceeds the %d bytes left", n, len(r.b)-r.off)
		return nil
	}
	p := r.b[r.off : r.off+int(n)]
	r.off += int(n)
	return p
}

// Count reads the length of a list whose items take at least min bytes each
// (min ≥ 1), so that a damaged count cannot make the caller allocate more than
// the input could hold.
func (r *Reader) Count(min int) int {
	n := r.Uint()
	if r.err != nil {
		return 0
	}
	if min < 1 {
		min = 1
	}
	if n > uint64((len(r.b)-r.off)/min) {
		r.Fail("count %d exceeds what the %d bytes left can hold", n, len(r.b)-r.off)
		return 0
	}
	return int(n)
}
