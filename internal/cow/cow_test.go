// SPDX-License-Identifier: Apache-2.0

package cow_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/internal/cow"
)

// world is one value made of both containers, with slices as its oracle.
type world struct {
	edit  cow.Edit
	array cow.Array[int]
	set   cow.Sorted[int]

	wantArray []int
	wantSet   map[int]bool
}

func newWorld() *world {
	return &world{set: cow.NewSorted(func(a, b int) bool { return a < b }), wantSet: map[int]bool{}}
}

func (w *world) fork() *world {
	f := &world{edit: w.edit.Fork(), array: w.array, set: w.set, wantArray: slices.Clone(w.wantArray), wantSet: map[int]bool{}}
	for k := range w.wantSet {
		f.wantSet[k] = true
	}
	return f
}

func (w *world) check(t require.TestingT) {
	require.Equal(t, len(w.wantArray), w.array.Len())
	for i, v := range w.array.All() {
		require.Equal(t, w.wantArray[i], v)
	}
	want := make([]int, 0, len(w.wantSet))
	for k := range w.wantSet {
		want = append(want, k)
	}
	slices.Sort(want)
	got := slices.AppendSeq(make([]int, 0, len(want)), w.set.All())
	require.Equal(t, want, got)
	require.Equal(t, len(want), w.set.Len())
}

// A fork never changes its base nor a base its forks, in any order of changes.
func TestForksAreIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		worlds := []*world{newWorld()}
		pick := func() *world { return worlds[rapid.IntRange(0, len(worlds)-1).Draw(t, "world")] }
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				w := pick()
				for range rapid.IntRange(1, 200).Draw(t, "n") {
					i := w.array.Append(w.edit.Token(), len(w.wantArray)*3)
					require.Equal(t, len(w.wantArray), i)
					w.wantArray = append(w.wantArray, i*3)
				}
			},
			"set": func(t *rapid.T) {
				if w := pick(); w.array.Len() > 0 {
					i := rapid.IntRange(0, w.array.Len()-1).Draw(t, "i")
					v := rapid.Int().Draw(t, "v")
					w.array.Set(w.edit.Token(), i, v)
					w.wantArray[i] = v
					require.Equal(t, v, w.array.At(i))
				}
			},
			"put": func(t *rapid.T) {
				w := pick()
				for _, v := range rapid.SliceOfN(rapid.IntRange(0, 500), 1, 80).Draw(t, "vs") {
					w.set.Put(w.edit.Token(), v)
					w.wantSet[v] = true
				}
			},
			"fill": func(t *rapid.T) {
				w := pick()
				vs := rapid.SliceOfNDistinct(rapid.IntRange(0, 500), 0, 200, rapid.ID).Draw(t, "vs")
				for _, v := range vs {
					w.wantSet[v] = true
				}
				w.set.Fill(w.edit.Token(), vs)
			},
			"remove": func(t *rapid.T) {
				w := pick()
				v := rapid.IntRange(0, 500).Draw(t, "v")
				require.Equal(t, w.wantSet[v], w.set.Remove(w.edit.Token(), v))
				delete(w.wantSet, v)
			},
			"fork": func(t *rapid.T) {
				if len(worlds) < 5 {
					worlds = append(worlds, pick().fork())
				}
			},
			"": func(t *rapid.T) {
				for _, w := range worlds {
					w.check(t)
				}
			},
		})
	})
}

// Many goroutines fork one value, and change their forks, while others read it:
// silent under -race.
func TestForkBesideReadersAndForks(t *testing.T) {
	base := newWorld()
	for i := range 2000 {
		base.array.Append(base.edit.Token(), i)
		base.set.Put(base.edit.Token(), i)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for round := range 20 {
				f := base.edit.Fork()
				array, set := base.array, base.set
				array.Set(f.Token(), g*100+round, -1)
				set.Put(f.Token(), 5000+g)
				set.Remove(f.Token(), round)
				sum := 0
				for v := range base.set.From(1000) {
					sum += v
				}
				if sum != 1499500 || base.array.At(g*100+round) != g*100+round {
					t.Errorf("goroutine %d saw a change of another fork: sum %d", g, sum)
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, 2000, base.set.Len())
}

func TestSortedRanges(t *testing.T) {
	var edit cow.Edit
	s := cow.NewSorted(cmp.Less[int])
	for _, v := range []int{5, 1, 9, 3} {
		s.Put(edit.Token(), v)
	}
	require.Equal(t, []int{3, 5, 9}, slices.Collect(s.From(2)))
	require.Equal(t, []int{3, 1}, slices.Collect(s.Before(4)))
	least, _ := s.Min()
	most, _ := s.Max()
	require.Equal(t, [2]int{1, 9}, [2]int{least, most})
	_, ok := s.Find(4)
	require.False(t, ok)
}

// Fill replaces what is equal, like Put.
func TestFillReplaces(t *testing.T) {
	type pair struct{ key, val int }
	var edit cow.Edit
	s := cow.NewSorted(func(a, b pair) bool { return a.key < b.key })
	s.Put(edit.Token(), pair{2, 0})
	s.Fill(edit.Token(), []pair{{3, 3}, {1, 5}, {2, 4}})
	require.Equal(t, []pair{{1, 5}, {2, 4}, {3, 3}}, slices.Collect(s.All()))
}

// BenchmarkFill loads n items that come in random order or sorted.
func BenchmarkFill(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"n=10k", 10_000}, {"n=100k", 100_000}, {"n=1M", 1_000_000}} {
		type item struct {
			key int
			_   string
		}
		less := func(a, b item) bool { return a.key < b.key }
		items := make([]item, size.n)
		for i, k := range rand.New(rand.NewPCG(1, 2)).Perm(size.n) {
			items[i].key = k
		}
		ready := slices.SortedFunc(slices.Values(items), func(a, b item) int { return cmp.Compare(a.key, b.key) })
		load := map[string]func(*cow.Sorted[item], *cow.Token){
			"fill":        func(s *cow.Sorted[item], tok *cow.Token) { s.Fill(tok, slices.Clone(items)) },
			"fill-sorted": func(s *cow.Sorted[item], tok *cow.Token) { s.Fill(tok, ready) },
			"puts-sorted": func(s *cow.Sorted[item], tok *cow.Token) {
				for _, x := range ready {
					s.Put(tok, x)
				}
			},
			"puts": func(s *cow.Sorted[item], tok *cow.Token) {
				for _, x := range items {
					s.Put(tok, x)
				}
			},
		}
		for _, name := range []string{"fill", "puts", "fill-sorted", "puts-sorted"} {
			b.Run(size.name+"/"+name, func(b *testing.B) {
				var edit cow.Edit
				for b.Loop() {
					s := cow.NewSorted(less)
					load[name](&s, edit.Token())
				}
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				s := cow.NewSorted(less)
				load[name](&s, edit.Token())
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size.n), "ns/item")
				b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/float64(size.n), "B/item")
				runtime.KeepAlive(&s)
			})
		}
	}
}

func BenchmarkFork(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		base := newWorld()
		for i := range n {
			base.array.Append(base.edit.Token(), i)
			base.set.Put(base.edit.Token(), i)
		}
		b.Run(fmt.Sprintf("fork and first change/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f := base.edit.Fork()
				array, set := base.array, base.set
				array.Set(f.Token(), 17, 1)
				set.Put(f.Token(), -1)
			}
		})
	}
}
