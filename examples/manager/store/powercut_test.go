// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/manager/store"
)

const (
	powerCuts = 250
	page      = 4096
	sector    = 512
)

// A power cut while record n+1 is being written: of the bytes written since the
// last sync, any subset of pages may be on the disk, one of them torn at a
// sector. bbolt writes data pages, syncs, then writes one of the two meta pages
// (0 and 1), and syncs; so a cut falls into one of two phases.
//
// S1, S2: everything answered is there; the record in flight is there whole or
// not at all; and the store goes on from what is there.
func TestPowerCuts(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "berth.db")
	b, err := store.Open(path)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(42, 42))
	inFlight := 0
	for n := uint64(0); n < powerCuts; n++ {
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		if n%40 == 39 {
			require.NoError(t, b.SaveSnapshot(b.Last(), payload(b.Last())))
		} else {
			require.NoError(t, b.Append(record(b.Last()+1)))
		}
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		answered := b.Last()
		if n%40 != 39 {
			answered-- // the cut comes before the answer
		}
		image := cutPower(r, before, after)
		crashed := filepath.Join(dir, "crashed.db")
		require.NoError(t, os.WriteFile(crashed, image, 0o600))
		c, err := store.Open(crashed)
		require.NoError(t, err, "cut %d", n)
		_, last := load(t, c)
		require.GreaterOrEqual(t, last, answered, "cut %d lost an answered record", n)
		require.LessOrEqual(t, last, b.Last())
		if last > answered {
			inFlight++
		}
		require.NoError(t, c.Append(record(last+1)), "cut %d: the store does not go on", n)
		_, again := load(t, c)
		require.Equal(t, last+1, again)
		require.NoError(t, c.Close())
	}
	require.NoError(t, b.Close())
	require.Positive(t, inFlight, "no cut ever came after the meta page: the simulation is not one")
	require.Less(t, inFlight, powerCuts-20)
}

// cutPower returns what a disk may hold when the power fails between two images.
func cutPower(r *rand.Rand, before, after []byte) []byte {
	size := len(before)
	if r.IntN(2) == 0 {
		size = max(len(before), len(after)) // the file may have grown already
	}
	image := make([]byte, size)
	copy(image, before)
	metaPhase := r.IntN(2) == 0
	if metaPhase {
		image = append(image[:0], after...)
		copy(image[:2*page], before[:2*page])
	}
	var dirty []int
	for p := 0; p*page < len(after); p++ {
		meta := p < 2
		if meta != metaPhase {
			continue
		}
		was := []byte(nil)
		if p*page < len(before) {
			was = before[p*page : min((p+1)*page, len(before))]
		}
		if !bytes.Equal(was, after[p*page:min((p+1)*page, len(after))]) {
			dirty = append(dirty, p)
		}
	}
	torn := -1
	if len(dirty) > 0 {
		torn = dirty[r.IntN(len(dirty))]
	}
	for _, p := range dirty {
		n := page
		if p == torn {
			n = r.IntN(page/sector+1) * sector
		} else if r.IntN(2) == 0 {
			continue
		}
		for at := p * page; at < p*page+n && at < len(image) && at < len(after); at++ {
			image[at] = after[at]
		}
	}
	return image
}
