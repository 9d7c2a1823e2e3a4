// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/manager/store"
)

func payload(seq uint64) []byte {
	r := rand.New(rand.NewPCG(seq, 1))
	b := make([]byte, r.IntN(6000))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func record(seq uint64) store.Record { return store.Record{Seq: seq, Payload: payload(seq)} }

// load reads everything and checks content and order.
func load(t testing.TB, b *store.Bolt) (snap, last uint64) {
	require.NoError(t, b.Load(
		func(seq uint64, p []byte) error {
			require.Equal(t, payload(seq), append([]byte{}, p...))
			snap, last = seq, seq
			return nil
		},
		func(r store.Record) error {
			require.Equal(t, last+1, r.Seq)
			require.True(t, bytes.Equal(payload(r.Seq), r.Payload), "record %d", r.Seq)
			last = r.Seq
			return nil
		}))
	return snap, last
}

func TestAppendLoadSnapshot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "berth.db")
	b, err := store.Open(path)
	require.NoError(t, err)
	require.NoError(t, b.Append())
	require.NoError(t, b.Append(record(1), record(2)))
	require.NoError(t, b.Append(record(3)))
	require.Error(t, b.Append(record(5)), "a gap is refused")
	require.Error(t, b.Append(record(4), record(6)), "a gap inside a batch is refused")
	require.Error(t, b.SaveSnapshot(9, payload(9)), "a snapshot of the future is refused")
	require.NoError(t, b.SaveSnapshot(2, payload(2)))
	require.NoError(t, b.Close())

	b, err = store.Open(path)
	require.NoError(t, err)
	require.Equal(t, uint64(3), b.Last())
	snap, last := load(t, b)
	require.Equal(t, [2]uint64{2, 3}, [2]uint64{snap, last})
	require.NoError(t, b.SaveSnapshot(3, payload(3)))
	require.NoError(t, b.Close())
	b, err = store.Open(path)
	require.NoError(t, err)
	require.Equal(t, uint64(3), b.Last(), "a snapshot without a log after it counts")
	require.NoError(t, b.Append(record(4)))
	snap, last = load(t, b)
	require.Equal(t, [2]uint64{3, 4}, [2]uint64{snap, last})
	require.NoError(t, b.Close())
}

// S4: the second process is told what to do.
func TestSecondProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "berth.db")
	b, err := store.Open(path)
	require.NoError(t, err)
	_, err = store.Open(path)
	require.ErrorIs(t, err, store.ErrInUse)
	require.ErrorContains(t, err, path)
	require.NoError(t, b.Close())
}

// S3: no damage anywhere in the file is passed over, and none is a panic.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "berth.db")
	b, err := store.Open(path)
	require.NoError(t, err)
	for seq := uint64(1); seq <= 60; seq++ {
		require.NoError(t, b.Append(record(seq)))
	}
	require.NoError(t, b.Close())
	good, err := os.ReadFile(path)
	require.NoError(t, err)

	open := func(content []byte) (last uint64, err error) {
		bad := filepath.Join(dir, "bad.db")
		require.NoError(t, os.WriteFile(bad, content, 0o600))
		b, err := store.Open(bad)
		if err != nil {
			return 0, err
		}
		defer func() { _ = b.Close() }()
		err = b.Load(func(uint64, []byte) error { return nil }, func(r store.Record) error {
			if !bytes.Equal(payload(r.Seq), r.Payload) || r.Seq != last+1 {
				t.Errorf("damage reached the caller in record %d", r.Seq)
			}
			last = r.Seq
			return nil
		})
		return last, err
	}

	at := bytes.Index(good, payload(30)[:64])
	require.Positive(t, at)
	flipped := bytes.Clone(good)
	flipped[at+10] ^= 1
	_, err = open(flipped)
	require.ErrorIs(t, err, store.ErrDamaged)
	require.ErrorContains(t, err, "record 30")

	for name, content := range map[string][]byte{
		"empty":      {},
		"text":       bytes.Repeat([]byte("hello\n"), 4000),
		"first half": good[:len(good)/2],
		"one page":   good[:4096],
		"zeros":      make([]byte, len(good)),
	} {
		_, err := open(content)
		require.ErrorIs(t, err, store.ErrDamaged, name)
	}

	r := rand.New(rand.NewPCG(7, 7))
	for range 150 {
		bad := bytes.Clone(good)
		n := 1 + r.IntN(64)
		at := r.IntN(len(bad) - n)
		for i := range n {
			bad[at+i] ^= byte(1 + r.IntN(255))
		}
		last, err := open(bad) // an error, or nothing that mattered was hit, or the newest meta page
		if err == nil {
			require.True(t, last == 60 || last == 59, "a silent loss: last record %d", last)
		}
	}
}

func TestJournalFile(t *testing.T) {
	var file []byte
	var ends []int
	for seq := uint64(1); seq <= 1000; seq++ {
		var err error
		file, err = store.AppendFrame(file, store.Record{Seq: seq, Payload: fmt.Appendf(nil, "payload %d", seq)})
		require.NoError(t, err)
		ends = append(ends, len(file))
	}
	read := func(b []byte) (uint64, *store.Cut, error) {
		var last uint64
		cut, err := store.ReadJournal(bytes.NewReader(b), 1, func(r store.Record) error {
			last = r.Seq
			return nil
		})
		return last, cut, err
	}
	last, cut, err := read(file)
	require.NoError(t, err)
	require.Nil(t, cut)
	require.Equal(t, uint64(1000), last)

	// A file that ends inside its last record was cut by a crash: that is reported.
	// Damage before the end, here in record 500, is an error that names the record.
	last, cut, err = read(file[:len(file)-3])
	require.NoError(t, err)
	require.Equal(t, uint64(999), last)
	require.Equal(t, &store.Cut{Seq: 1000, Offset: int64(ends[998]), Bytes: int64(ends[999] - 3 - ends[998])}, cut)
	bad := bytes.Clone(file)
	bad[ends[499]-1] ^= 4
	last, _, err = read(bad)
	require.ErrorIs(t, err, store.ErrDamaged)
	require.ErrorContains(t, err, "record 500")
	require.Equal(t, uint64(499), last)
	bad = bytes.Clone(file)
	bad[ends[499]] = 0xff // the length of record 501
	_, _, err = read(bad)
	require.ErrorContains(t, err, "record 501")
}

func FuzzReadJournal(f *testing.F) {
	b, _ := store.AppendFrame(nil, store.Record{Seq: 1, Payload: []byte("one")})
	b, _ = store.AppendFrame(b, store.Record{Seq: 2, Payload: []byte("two")})
	f.Add(b)
	f.Add(b[:20])
	f.Fuzz(func(t *testing.T, in []byte) {
		var again []byte
		cut, err := store.ReadJournal(bytes.NewReader(in), 1, func(r store.Record) error {
			var e error
			again, e = store.AppendFrame(again, r)
			return e
		})
		if err == nil {
			if cut != nil {
				again = append(again, in[cut.Offset:]...)
			}
			require.Equal(t, append([]byte{}, in...), append([]byte{}, again...))
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	for _, batch := range []int{1, 200} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			st, err := store.Open(filepath.Join(b.TempDir(), "berth.db"))
			require.NoError(b, err)
			defer func() { _ = st.Close() }()
			body := make([]byte, 200)
			for b.Loop() {
				records := make([]store.Record, batch)
				for i := range records {
					records[i] = store.Record{Seq: st.Last() + 1 + uint64(i), Payload: body}
				}
				require.NoError(b, st.Append(records...))
			}
			b.ReportMetric(float64(b.N*batch)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

// A file whose pages lead back to themselves, or out of it, is not opened: bbolt
// would use all memory on it, or fault.
func TestDamagedPages(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "berth.db")
	b, err := store.Open(path)
	require.NoError(t, err)
	for seq := uint64(1); seq <= 600; seq++ { // more than fits into one page of elements
		require.NoError(t, b.Append(record(seq)))
	}
	require.NoError(t, b.Close())
	good, err := os.ReadFile(path)
	require.NoError(t, err)

	le, size := binary.NativeEndian, os.Getpagesize()
	// Of old pages, which nobody reaches, some look the same: damage them all.
	each := func(bad []byte, flags uint16, change func(page []byte)) (n int) {
		for i := 2 * size; i < len(bad); i += size {
			if le.Uint64(bad[i:]) == uint64(i/size) && le.Uint16(bad[i+8:]) == flags && le.Uint16(bad[i+10:]) > 0 {
				change(bad[i:])
				n++
			}
		}
		return n
	}
	const branch, leaf, freelist = 1, 2, 16
	for name, x := range map[string]struct {
		flags  uint16
		change func(page []byte)
		says   string
	}{
		"a branch leads to itself":      {branch, func(p []byte) { le.PutUint64(p[16+8:], le.Uint64(p)) }, "is reached twice"},
		"two branches lead to one":      {branch, func(p []byte) { copy(p[32+8:40+8], p[16+8:24+8]) }, "is reached twice"},
		"a branch leads out":            {branch, func(p []byte) { le.PutUint64(p[16+8:], 1<<40) }, "is not one of its"},
		"a branch leads to a meta":      {branch, func(p []byte) { le.PutUint64(p[16+8:], 1) }, "is not one of its"},
		"a page has another number":     {leaf, func(p []byte) { le.PutUint64(p, le.Uint64(p)+1) }, "says that it is page"},
		"a page overflows the file":     {leaf, func(p []byte) { le.PutUint32(p[12:], 1<<31) }, "says that it is page"},
		"too many elements":             {leaf, func(p []byte) { le.PutUint16(p[10:], 0xFFFF) }, "elements"},
		"a value outside of its page":   {leaf, func(p []byte) { le.PutUint32(p[16+12:], 1<<31) }, "outside of it"},
		"a key outside of its page":     {branch, func(p []byte) { le.PutUint32(p[16:], 1<<31) }, "outside of it"},
		"a page of no kind":             {leaf, func(p []byte) { le.PutUint16(p[8:], 7) }, "flags 0x7"},
		"more free pages than fit":      {freelist, func(p []byte) { le.PutUint16(p[10:], 0xFFFF); le.PutUint64(p[16:], 1<<60) }, "free pages"},
		"a free page that is not there": {freelist, func(p []byte) { le.PutUint64(p[16:], 1<<40) }, "not there"},
	} {
		bad := bytes.Clone(good)
		require.Positive(t, each(bad, x.flags, x.change), name)
		path := filepath.Join(dir, "bad.db")
		require.NoError(t, os.WriteFile(path, bad, 0o600))
		_, err := store.Open(path)
		require.ErrorIs(t, err, store.ErrDamaged, name)
		require.ErrorContains(t, err, x.says, name)
	}
}
