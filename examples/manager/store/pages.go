// SPDX-License-Identifier: Apache-2.0

package store

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
)

// What the file format of bbolt says (go.etcd.io/bbolt, internal/common: page.go,
// meta.go, bucket.go). Numbers are in the byte order of the machine.
const (
	magic   = 0xED0CDAED
	version = 2

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10

	headLen    = 16 // of a page: id, flags, count, overflow
	elementLen = 16
	metaLen    = 64
	bucketLen  = 16 // root, sequence

	manyFree   = 0xFFFF // as a count: the first number of the list is the count
	noFreelist = ^uint64(0)
)

// pages looks at how the pages of a bbolt file hang together. bbolt trusts them: a
// page that leads back to itself costs it all memory there is, and one that leads
// out of the file a fault. So a file is opened for work only if each page is
// reached once, and nothing in its head points out of it. What the pages hold is
// for the checksums of the records.
type pages struct {
	f    io.ReaderAt
	size uint64 // of a page
	high uint64 // how many pages there are
	seen []bool
}

// checkPages returns an error that says which page is wrong. It reads the heads
// and the element tables of all pages in use: a small part of a file of records.
func checkPages(f io.ReaderAt, fileSize int64, pageSize int) error {
	p := &pages{f: f, size: uint64(pageSize)}
	root, free, ok := uint64(0), uint64(0), false
	var newest uint64
	for id := range uint64(2) {
		b, err := p.read(id*p.size+headLen, metaLen)
		if err != nil {
			return err
		}
		h := fnv.New64a()
		_, _ = h.Write(b[:metaLen-8])
		if u32(b) != magic || u32(b[4:]) != version || h.Sum64() != u64(b[metaLen-8:]) {
			continue
		}
		if tx := u64(b[48:]); !ok || tx > newest {
			ok, newest, root, free, p.high = true, tx, u64(b[16:]), u64(b[32:]), u64(b[40:])
		}
	}
	if !ok {
		return fmt.Errorf("neither meta page is whole")
	}
	if p.high > uint64(fileSize)/p.size {
		return fmt.Errorf("it has %d bytes, too few for its %d pages", fileSize, p.high)
	}
	p.seen = make([]bool, p.high)
	if err := p.tree(root); err != nil {
		return err
	}
	if free == noFreelist {
		return nil
	}
	return p.freelist(free)
}

func u16(b []byte) uint16 { return binary.NativeEndian.Uint16(b) }
func u32(b []byte) uint32 { return binary.NativeEndian.Uint32(b) }
func u64(b []byte) uint64 { return binary.NativeEndian.Uint64(b) }

func (p *pages) read(at, n uint64) ([]byte, error) {
	b := make([]byte, n)
	if _, err := p.f.ReadAt(b, int64(at)); err != nil {
		return nil, fmt.Errorf("%d bytes at %d: %w", n, at, err)
	}
	return b, nil
}

// head reads the head of a page, which is reached now for the first time, and
// returns its flags, its count, and its bytes with those that overflow it.
func (p *pages) head(id uint64) (flags, count uint16, size uint64, err error) {
	if id < 2 || id >= p.high {
		return 0, 0, 0, fmt.Errorf("page %d is not one of its %d pages", id, p.high)
	}
	b, err := p.read(id*p.size, headLen)
	if err != nil {
		return 0, 0, 0, err
	}
	over := uint64(u32(b[12:]))
	if u64(b) != id || over >= p.high-id {
		return 0, 0, 0, fmt.Errorf("page %d says that it is page %d and %d more", id, u64(b), over)
	}
	for i := id; i <= id+over; i++ {
		if p.seen[i] {
			return 0, 0, 0, fmt.Errorf("page %d is reached twice", i)
		}
		p.seen[i] = true
	}
	return u16(b[8:]), u16(b[10:]), (1 + over) * p.size, nil
}

// tree checks a page of a bucket and all that hang on it.
func (p *pages) tree(id uint64) error {
	flags, count, size, err := p.head(id)
	if err != nil {
		return err
	}
	table := uint64(count) * elementLen
	if headLen+table > size || flags != branchPage && flags != leafPage {
		return fmt.Errorf("page %d has flags %#x and %d elements in %d bytes", id, flags, count, size)
	}
	b, err := p.read(id*p.size+headLen, table)
	if err != nil {
		return err
	}
	for at := uint64(0); at < table; at += elementLen {
		e := b[at:]
		if flags == branchPage {
			if headLen+at+uint64(u32(e))+uint64(u32(e[4:])) > size {
				return fmt.Errorf("page %d has a key outside of it", id)
			}
			if err := p.tree(u64(e[8:])); err != nil {
				return err
			}
			continue
		}
		value, end := element(e, headLen+at)
		if end > size {
			return fmt.Errorf("page %d has a value outside of it", id)
		}
		if u32(e)&1 == 0 {
			continue // no bucket
		}
		if err := p.bucket(id, id*p.size+value, end-value); err != nil {
			return err
		}
	}
	return nil
}

// element returns where, counted from the page, the value of a leaf element at an
// offset begins and ends.
func element(e []byte, at uint64) (value, end uint64) {
	value = at + uint64(u32(e[4:])) + uint64(u32(e[8:]))
	return value, value + uint64(u32(e[12:]))
}

// bucket checks the n bytes at an offset: a bucket with a page of its own, or with
// a small one inside, which holds no other bucket.
func (p *pages) bucket(id, at, n uint64) error {
	wrong := fmt.Errorf("page %d has a bucket that does not fit", id)
	if n < bucketLen {
		return wrong
	}
	b, err := p.read(at, n)
	if err != nil {
		return err
	}
	if root := u64(b); root != 0 {
		return p.tree(root)
	}
	if b = b[bucketLen:]; len(b) < headLen || u16(b[8:]) != leafPage {
		return wrong
	}
	size, table := uint64(len(b)), headLen+uint64(u16(b[10:]))*elementLen
	if table > size {
		return wrong
	}
	for at := uint64(headLen); at < table; at += elementLen {
		if _, end := element(b[at:], at); end > size || u32(b[at:])&1 != 0 {
			return wrong
		}
	}
	return nil
}

// freelist checks that no free page is in use, or free twice.
func (p *pages) freelist(id uint64) error {
	flags, count, size, err := p.head(id)
	if err != nil {
		return err
	}
	at, n := id*p.size+headLen, uint64(count)
	room := (size - headLen) / 8
	if n == manyFree {
		b, err := p.read(at, 8)
		if err != nil {
			return err
		}
		at, n, room = at+8, u64(b), room-1
	}
	if flags != freelistPage || n > room {
		return fmt.Errorf("page %d has flags %#x and %d free pages in %d bytes", id, flags, n, size)
	}
	b, err := p.read(at, n*8)
	if err != nil {
		return err
	}
	for ; len(b) > 0; b = b[8:] {
		free := u64(b)
		if free < 2 || free >= p.high || p.seen[free] {
			return fmt.Errorf("page %d is free and in use, free twice, or not there", free)
		}
		p.seen[free] = true
	}
	return nil
}
