// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/internal/wire"
)

// What is written is read back, and every cut is an error that tells where.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, i := rapid.Uint64().Draw(t, "u"), rapid.Int64().Draw(t, "i")
		s, f := rapid.String().Draw(t, "s"), rapid.Bool().Draw(t, "f")
		p := rapid.SliceOf(rapid.Byte()).Draw(t, "p")
		b := wire.AppendUint(nil, u)
		b = wire.AppendInt(b, i)
		b = wire.AppendString(b, s)
		b = wire.AppendBool(b, f)
		b = wire.AppendBytes(b, p)
		read := func(b []byte) error {
			r := wire.NewReader(b)
			gu, gi, gs, gf, gp := r.Uint(), r.Int(), r.String(), r.Bool(), r.Bytes()
			if r.Err() == nil && len(b) > 0 && r.Len() == 0 {
				require.Equal(t, []any{u, i, s, f, len(p)}, []any{gu, gi, gs, gf, len(gp)})
			}
			return r.Done()
		}
		require.NoError(t, read(b))
		cut := rapid.IntRange(0, len(b)-1).Draw(t, "cut")
		err := read(b[:cut])
		require.ErrorIs(t, err, wire.ErrCorrupt)
		require.ErrorContains(t, err, "at byte")
		require.ErrorIs(t, read(append(b, 0)), wire.ErrCorrupt)
	})
}

func TestRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		in   []byte
		read func(*wire.Reader)
	}{
		"longer form of a number": {[]byte{0x80, 0x00}, func(r *wire.Reader) { r.Uint() }},
		"number past 64 bits":     {[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, func(r *wire.Reader) { r.Uint() }},
		"bool of 2":               {[]byte{2}, func(r *wire.Reader) { _ = r.Bool() }},
		"string past the end":     {[]byte{9, 'a'}, func(r *wire.Reader) { _ = r.String() }},
		"count past the end":      {wire.AppendUint(nil, math.MaxUint64), func(r *wire.Reader) { r.Count(1) }},
		"count of wide items":     {[]byte{3, 0, 0, 0}, func(r *wire.Reader) { r.Count(2) }},
	} {
		t.Run(name, func(t *testing.T) {
			r := wire.NewReader(tc.in)
			tc.read(r)
			require.ErrorIs(t, r.Err(), wire.ErrCorrupt)
			require.Zero(t, r.Uint(), "a failed reader goes on returning zero")
		})
	}
}
