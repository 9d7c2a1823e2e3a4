// SPDX-License-Identifier: Apache-2.0

package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

var (
	bucketLog  = []byte("log")
	bucketMeta = []byte("meta")
	keyFormat  = []byte("format")
	keySnap    = []byte("snapshot")
	format     = []byte("berth-journal-1")
)

// A Bolt is a journal in one bbolt file.
//
// A Bolt is not safe for concurrent use; the manager's one writer owns it.
type Bolt struct {
	db   *bolt.DB
	path string
	last uint64
}

// Open opens or creates the journal at path. Possible errors: [ErrInUse],
// [ErrDamaged].
func Open(path string) (b *Bolt, err error) {
	defer guard(path, &err)
	if st, serr := os.Stat(path); serr == nil {
		if st.Size() == 0 {
			return nil, fmt.Errorf("%w: %s is empty: not a journal", ErrDamaged, path)
		}
		if err := look(path); err != nil {
			return nil, err
		}
	}
	db, err := open(path, false)
	if err != nil {
		return nil, err
	}
	b = &Bolt{db: db, path: path}
	fresh, err := b.init()
	if err == nil && fresh {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return b, nil
}

// open opens the file and says what is wrong if it cannot.
func open(path string, readOnly bool) (*bolt.DB, error) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: 200 * time.Millisecond, ReadOnly: readOnly})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, fmt.Errorf("%w: %s: stop the other manager, or give another --store", ErrInUse, path)
	case isFileError(err):
		return nil, fmt.Errorf("store: open %s: %w", path, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %s is not a berth journal: %v", ErrDamaged, path, err)
	}
	return db, nil
}

// look checks the pages of the file before bbolt trusts them. While it is open
// for reading nobody writes it.
func look(path string) error {
	db, err := open(path, true)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return errors.Join(fmt.Errorf("store: open %s: %w", path, err), db.Close())
	}
	st, err := f.Stat()
	if err == nil {
		err = checkPages(f, st.Size(), db.Info().PageSize)
	}
	if err != nil {
		err = fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	return errors.Join(err, f.Close(), db.Close())
}

// syncDir makes it durable that a new file is in a directory.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, os.ErrInvalid) || errors.Is(err, os.ErrPermission) {
		err = nil // some systems do not sync directories
	}
	return errors.Join(err, d.Close())
}

// isFileError reports whether the operating system refused, as opposed to bbolt.
func isFileError(err error) bool {
	var pe *fs.PathError
	return errors.As(err, &pe)
}

// guard turns what bbolt does on a damaged file, a panic or a fault in its
// memory map, into an error.
func guard(path string, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %s: %v", ErrDamaged, path, p)
	}
}

// init reads what the file says of itself; of a fresh one it makes a journal.
func (b *Bolt) init() (fresh bool, err error) {
	defer guard(b.path, &err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	err = b.db.View(func(tx *bolt.Tx) error {
		meta := tx.Bucket(bucketMeta)
		if meta == nil {
			first, _ := tx.Cursor().First()
			if first != nil {
				return fmt.Errorf("%w: %s holds other data (bucket %q)", ErrDamaged, b.path, first)
			}
			fresh = true
			return nil
		}
		if got := meta.Get(keyFormat); string(got) != string(format) {
			return fmt.Errorf("%w: %s has format %q, this program reads %q", ErrDamaged, b.path, got, format)
		}
		if snap := meta.Get(keySnap); len(snap) >= 8 {
			b.last = binary.BigEndian.Uint64(snap)
		}
		log := tx.Bucket(bucketLog)
		if log == nil {
			return fmt.Errorf("%w: %s has no log", ErrDamaged, b.path)
		}
		if k, _ := log.Cursor().Last(); len(k) == 8 {
			b.last = max(b.last, binary.BigEndian.Uint64(k))
		}
		return nil
	})
	if err != nil || !fresh {
		return false, err
	}
	return true, b.db.Update(func(tx *bolt.Tx) error {
		meta, err := tx.CreateBucket(bucketMeta)
		if err != nil {
			return err
		}
		if _, err := tx.CreateBucket(bucketLog); err != nil {
			return err
		}
		return meta.Put(keyFormat, format)
	})
}

// Last returns the sequence number of the newest record, 0 for none.
func (b *Bolt) Last() uint64 { return b.last }

// Append stores records durably, all or none (S1). Their sequence numbers must
// go on from Last without a gap. It costs two syncs, whatever the number of
// records: the manager batches.
func (b *Bolt) Append(records ...Record) error {
	if len(records) == 0 {
		return nil
	}
	for i, r := range records {
		if want := b.last + 1 + uint64(i); r.Seq != want {
			return fmt.Errorf("store: record has sequence %d, the next is %d", r.Seq, want)
		}
	}
	err := b.db.Update(func(tx *bolt.Tx) error {
		log := tx.Bucket(bucketLog)
		log.FillPercent = 0.95 // keys only grow
		for _, r := range records {
			frame, err := AppendFrame(nil, r)
			if err != nil {
				return err
			}
			if err := log.Put(seqKey(r.Seq), frame); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store: append: %w", err)
	}
	b.last += uint64(len(records))
	return nil
}

// Keep is how many records before the newest snapshot stay in the file, as an
// audit log; Load does not need them.
const Keep = 100_000

// SaveSnapshot stores the state as of record seq and drops the records that are
// more than [Keep] before it.
func (b *Bolt) SaveSnapshot(seq uint64, snapshot []byte) error {
	if seq > b.last {
		return fmt.Errorf("store: snapshot of record %d, the last is %d", seq, b.last)
	}
	frame, err := AppendFrame(nil, Record{Seq: seq, Payload: snapshot})
	if err != nil {
		return err
	}
	value := append(seqKey(seq), frame...)
	err = b.db.Update(func(tx *bolt.Tx) error {
		log := tx.Bucket(bucketLog)
		c := log.Cursor()
		for k, _ := c.First(); len(k) == 8 && seq >= Keep && binary.BigEndian.Uint64(k) <= seq-Keep; k, _ = c.First() {
			if err := c.Delete(); err != nil {
				return err
			}
		}
		return tx.Bucket(bucketMeta).Put(keySnap, value)
	})
	if err != nil {
		return fmt.Errorf("store: snapshot: %w", err)
	}
	return nil
}

// Load calls onSnapshot with the newest snapshot, if there is one, and then
// onRecord for every record after it, in order (S2). The byte slices are valid
// during the call only. Possible errors: [ErrDamaged], naming the record.
func (b *Bolt) Load(onSnapshot func(seq uint64, snapshot []byte) error, onRecord func(Record) error) (err error) {
	defer guard(b.path, &err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	return b.db.View(func(tx *bolt.Tx) error {
		var seq uint64
		if v := tx.Bucket(bucketMeta).Get(keySnap); v != nil {
			if len(v) < 8 {
				return fmt.Errorf("%w: snapshot of %d bytes", ErrDamaged, len(v))
			}
			seq = binary.BigEndian.Uint64(v)
			snap, err := parseFrame(v[8:], seq)
			if err != nil {
				return fmt.Errorf("snapshot: %w", err)
			}
			if err := onSnapshot(seq, snap.Payload); err != nil {
				return fmt.Errorf("snapshot of record %d: %w", seq, err)
			}
		}
		c := tx.Bucket(bucketLog).Cursor()
		for k, v := c.Seek(seqKey(seq + 1)); k != nil; k, v = c.Next() {
			seq++
			if len(k) != 8 || binary.BigEndian.Uint64(k) != seq {
				return fmt.Errorf("%w: record %d is missing, the next key is %x", ErrDamaged, seq, k)
			}
			rec, err := parseFrame(v, seq)
			if err != nil {
				return err
			}
			if err := onRecord(rec); err != nil {
				return fmt.Errorf("record %d: %w", seq, err)
			}
		}
		return nil
	})
}

// History calls f with every record that is still in the file, oldest first, also
// those before the snapshot. Possible errors: [ErrDamaged], naming the record.
func (b *Bolt) History(f func(Record) error) (err error) {
	defer guard(b.path, &err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	return b.db.View(func(tx *bolt.Tx) error {
		c := tx.Bucket(bucketLog).Cursor()
		k, v := c.First()
		if k == nil {
			return nil
		}
		if len(k) != 8 {
			return fmt.Errorf("%w: the first key is %x", ErrDamaged, k)
		}
		for seq := binary.BigEndian.Uint64(k); k != nil; k, v = c.Next() {
			if len(k) != 8 || binary.BigEndian.Uint64(k) != seq {
				return fmt.Errorf("%w: record %d is missing, the next key is %x", ErrDamaged, seq, k)
			}
			rec, err := parseFrame(v, seq)
			if err != nil {
				return err
			}
			if err := f(rec); err != nil {
				return fmt.Errorf("record %d: %w", seq, err)
			}
			seq++
		}
		return nil
	})
}

// Close closes the file and lets another process open it.
func (b *Bolt) Close() error { return b.db.Close() }

func seqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }
