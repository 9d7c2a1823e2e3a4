// SPDX-License-Identifier: Apache-2.0

package topology

import "slices"

// table finds an ordinal by a name that is kept elsewhere. It is one flat array, so a cluster copies it for an edit with one
// memory move, where copying a Go map would hash every name again. It only grows: ordinals are for ever.
type table struct {
	slots []int32 // open addressing, a power of two, less than half full; -1 is free
	used  int
}

// hash is FNV-1a over the level and the bytes of the name, mixed once more because the table looks at low bits only.
func hash(level LevelIndex, name string) uint64 {
	h := uint64(14695981039346656037) ^ uint64(uint32(level))
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	h ^= h >> 32
	return h * 0x9e3779b97f4a7c15 >> 16
}

// find gives the ordinal of hash h that is says yes to.
func (t *table) find(h uint64, is func(int32) bool) (int32, bool) {
	if len(t.slots) == 0 {
		return -1, false
	}
	mask := uint64(len(t.slots) - 1)
	for at := h & mask; ; at = (at + 1) & mask {
		x := t.slots[at]
		if x < 0 || is(x) {
			return x, x >= 0
		}
	}
}

// add takes an ordinal that find does not know. hashOf is asked when the table doubles.
func (t *table) add(h uint64, x int32, hashOf func(int32) uint64) {
	if 2*(t.used+1) > len(t.slots) {
		old := t.slots
		t.slots = slices.Repeat([]int32{-1}, max(16, 2*len(old)))
		for _, y := range old {
			if y >= 0 {
				t.put(hashOf(y), y)
			}
		}
	}
	t.put(h, x)
	t.used++
}

func (t *table) put(h uint64, x int32) {
	mask := uint64(len(t.slots) - 1)
	at := h & mask
	for t.slots[at] >= 0 {
		at = (at + 1) & mask
	}
	t.slots[at] = x
}

func (t table) clone() table { return table{slots: slices.Clone(t.slots), used: t.used} }
