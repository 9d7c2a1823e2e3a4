// SPDX-License-Identifier: Apache-2.0

package step_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/step"
)

const (
	hour     = 3600
	day      = 24 * hour
	capacity = 100_000
)

// A trace is a kind of calendar: bookings that fill 85 to 92 % of the capacity,
// more in one week and less in the next. None is refused, so a trace of few
// large ones passes the capacity for moments.
type trace struct {
	name        string
	span        int64
	least, most int64 // length of a booking
}

var (
	d90  = trace{name: "d90", span: 90 * day, least: hour, most: 168 * hour}
	s90  = trace{name: "s90", span: 90 * day, least: 300, most: hour}
	d611 = trace{name: "d611", span: 611 * day, least: hour, most: 168 * hour}
)

func sizeName(n int) string {
	if n >= 1_000_000 {
		return fmt.Sprintf("n=%dM", n/1_000_000)
	}
	return fmt.Sprintf("n=%dk", n/1000)
}

// A booked is a trace played n times.
type booked struct {
	trace
	r      *rand.Rand
	mean   float64 // units per booking
	ranges [][3]int64
	free   []int64 // free units at random instants, most first
}

func (tr trace) book(n int) *booked {
	k := &booked{trace: tr, r: rand.New(rand.NewPCG(1, uint64(n)))}
	k.mean = 0.885 * capacity * float64(k.span) / float64(n) / float64((k.least+k.most)/2)
	for len(k.ranges) < n {
		from, to, amount := k.draw()
		if week := from / (7 * day) % 2; week == 0 && k.r.IntN(100) < 8 {
			continue
		}
		k.ranges = append(k.ranges, [3]int64{from, to, amount})
	}
	return k
}

// reseed makes every engine get the same questions.
func (k *booked) reseed() { k.r = rand.New(rand.NewPCG(2, 3)) }

func (k *booked) length() int64 { return k.least + k.r.Int64N(k.most-k.least+1) }

func (k *booked) draw() (from, to, amount int64) {
	length := k.length()
	from = k.r.Int64N(k.span) - length/2
	amount = 1 + k.r.Int64N(max(1, int64(2*k.mean+0.5)-1))
	return from, from + length, amount
}

func (k *booked) build(tok *cow.Token) step.Tree {
	var b step.Builder
	b.Grow(len(k.ranges))
	for _, x := range k.ranges {
		b.Add(x[0], x[1], x[2])
	}
	return b.Tree(tok)
}

// sample learns what is free when, for counts that hardly ever are. It leaves
// out the ends of the trace, where bookings are few.
func (k *booked) sample(tree *step.Tree) {
	for range 2000 {
		k.free = append(k.free, capacity-tree.At(k.span/8+k.r.Int64N(k.span*3/4)))
	}
	slices.Sort(k.free)
	slices.Reverse(k.free)
}

// query draws a search for an earliest fit: hard ones ask for so many units
// that these are free for one to thirty instants in a hundred.
func (k *booked) query(hard bool) (from, latest, length, limit int64) {
	from, latest, length = k.span/8+k.r.Int64N(k.span/2), k.span*7/8, k.length()
	count := 1 + k.r.Int64N(max(1, int64(2*k.mean)))
	if hard {
		count = k.free[20+k.r.IntN(580)]
	}
	return from, latest, length, capacity - count
}

// engine is what the benchmark asks of a structure.
type engine struct {
	name string
	add  func(from, to, amount int64)
	max  func(from, to int64) int64
	fit  func(from, latest, length, limit int64) (int64, bool)
}

func (k *booked) engines(tree *step.Tree, tok *cow.Token) []engine {
	l := newLevels(tree.Changes())
	return []engine{
		{"tree", func(from, to, amount int64) { tree.Add(tok, from, to, amount) }, tree.Max, tree.FirstFit},
		{"btree", l.add, l.max, l.firstFit},
	}
}

// The three traces compare the tree with a google/btree of levels in one run:
// the ratio is what counts.
//
//	go test ./internal/step -run '^$' -bench 'D90|S90|D611'
//
// An update is one Add: half of them book, half cancel.
func BenchmarkD90(b *testing.B)  { d90.bench(b) }
func BenchmarkS90(b *testing.B)  { s90.bench(b) }
func BenchmarkD611(b *testing.B) { d611.bench(b) }

func (tr trace) bench(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(sizeName(n), func(b *testing.B) {
			var edit cow.Edit
			k := tr.book(n)
			tree := k.build(edit.Token())
			k.sample(&tree)
			for _, e := range k.engines(&tree, edit.Token()) {
				b.Run("update/"+e.name, func(b *testing.B) {
					k.reseed()
					for b.Loop() {
						from, to, amount := k.draw()
						e.add(from, to, amount)
						e.add(from, to, -amount)
					}
					perOp(b, 2)
				})
				b.Run("max/"+e.name, func(b *testing.B) {
					k.reseed()
					for b.Loop() {
						from, to, _ := k.draw()
						e.max(from, to)
					}
				})
				for _, hard := range []bool{false, true} {
					name := map[bool]string{false: "fit", true: "fit-hard"}[hard]
					b.Run(name+"/"+e.name, func(b *testing.B) {
						k.reseed()
						found, n := 0, 0
						for b.Loop() {
							n++
							if _, ok := e.fit(k.query(hard)); ok {
								found++
							}
						}
						b.ReportMetric(100*float64(found)/float64(n), "found%")
					})
				}
			}
		})
	}
}

// perOp reports the time of one of the n equal parts of an iteration.
func perOp(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/op")
}

// The baseline answers like the tree.
func TestLevelsAgree(t *testing.T) {
	for _, tr := range []trace{d90, s90, d611} {
		var edit cow.Edit
		k := tr.book(3000)
		tree := k.build(edit.Token())
		k.sample(&tree)
		es := k.engines(&tree, edit.Token())
		for i := range 2000 {
			from, to, amount := k.draw()
			es[0].add(from, to, amount)
			es[1].add(from, to, amount)
			require.Equal(t, es[0].max(from, to), es[1].max(from, to))
			from, latest, length, limit := k.query(i%2 == 0)
			s, ok := es[0].fit(from, latest, length, limit)
			was, wasOK := es[1].fit(from, latest, length, limit)
			require.Equal(t, fmt.Sprint(was, wasOK), fmt.Sprint(s, ok))
		}
	}
}

// BenchmarkBuild makes one tree of n ranges, at once and one by one. The order
// is random; the sort is the greater part of "bulk".
func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(sizeName(n), func(b *testing.B) {
			var edit cow.Edit
			k := d90.book(n)
			b.Run("bulk", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					k.build(edit.Token())
				}
				perOp(b, n)
			})
			b.Run("steps", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					var tree step.Tree
					for _, x := range k.ranges {
						tree.Add(edit.Token(), x[0], x[1], x[2])
					}
				}
				perOp(b, n)
			})
		})
	}
}

// BenchmarkFirstChange makes one change of a fresh fork: it copies two paths.
func BenchmarkFirstChange(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(sizeName(n), func(b *testing.B) {
			var edit cow.Edit
			k := d90.book(n)
			base := k.build(edit.Token())
			b.ReportAllocs()
			for b.Loop() {
				fork, tree := edit.Fork(), base
				from, to, amount := k.draw()
				tree.Add(fork.Token(), from, to, amount)
			}
		})
	}
}
