// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/berth-gpu/berth/reservation"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A queryWorld is one or two pools of count-only bookings, counted minute by
// minute beside the calendar. It knows windows and the numbers of the policies.
type queryWorld struct {
	c     *reservation.Calendar
	pools []reservation.Pool
	books []reservation.Request
	now   int
}

const queryEnd = 90 // minutes; everything is over before

func drawWorld(t *rapid.T, pools int) *queryWorld {
	w := &queryWorld{}
	for i, name := range []string{"p", "q"}[:pools] {
		policy := modelPolicy
		if i == 1 {
			policy = reservation.Policy{Prep: time.Minute, Grace: 5 * time.Minute}
		}
		w.pools = append(w.pools, poolOf(name, 4, 0, policy))
	}
	w.c = newCalendar(t, modelStart, w.pools...)
	for i := range rapid.IntRange(0, 10).Draw(t, "bookings") {
		q := drawRequest(t, fmt.Sprint(i))
		q.Lines[0].Pool = w.pools[rapid.IntRange(0, pools-1).Draw(t, "pool")].Name
		if _, err := w.c.Book(modelStart, q); err == nil {
			w.books = append(w.books, q)
		}
	}
	w.now = rapid.IntRange(0, 5).Draw(t, "now")
	return w
}

func mins(d time.Duration) int { return int(d / time.Minute) }

// free returns the least free nodes of a pool in the envelope of a window, whose
// work may stay for grace minutes.
func (w *queryWorld) free(pool reservation.Pool, start, end, grace int) int64 {
	p := pool.Policy
	least := int64(4)
	for m := start - mins(p.Prep); m < end+grace+mins(p.Cleanup); m++ {
		n := int64(4)
		for _, b := range w.books {
			from, to := mins(b.Window.Start.Sub(modelStart)), mins(b.Window.End.Sub(modelStart))
			if b.Lines[0].Pool == pool.Name && from-mins(p.Prep) <= m && m < to+mins(p.Grace)+mins(p.Cleanup) {
				n -= b.Lines[0].Count
			}
		}
		least = min(least, n)
	}
	return least
}

// fits returns whether counts nodes of the pools are free in a window.
func (w *queryWorld) fits(counts []int64, start, end int) bool {
	grace := 0
	for _, p := range w.pools {
		grace = max(grace, mins(p.Policy.Grace))
	}
	for i, p := range w.pools {
		if start-mins(p.Policy.Prep) < w.now || w.free(p, start, end, grace) < counts[i] {
			return false
		}
	}
	return true
}

func (w *queryWorld) lines(counts []int64) (out []reservation.Line) {
	for i, p := range w.pools {
		out = append(out, reservation.Line{Pool: p.Name, Count: counts[i]})
	}
	return out
}

// I4 for elastic queries: no earlier start, then no longer window, then no more
// nodes. All are tried.
func TestElasticFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t, rapid.IntRange(1, 2).Draw(t, "pools"))
		counts, least, minCounts := make([]int64, len(w.pools)), make([]int64, len(w.pools)), map[string]int64{}
		for i, p := range w.pools {
			counts[i] = int64(rapid.IntRange(1, 5).Draw(t, "count"))
			least[i] = int64(rapid.IntRange(1, int(counts[i])).Draw(t, "least"))
			if least[i] < counts[i] || rapid.Bool().Draw(t, "say") {
				minCounts[p.Name] = least[i]
			}
		}
		length := rapid.IntRange(1, 15).Draw(t, "length")
		minLength := rapid.IntRange(1, length).Draw(t, "minLength")
		align := rapid.SampledFrom([]int{1, 5}).Draw(t, "align")
		lo := w.now + rapid.IntRange(0, 20).Draw(t, "earliest")
		hi := lo + rapid.IntRange(0, 50).Draw(t, "latest")
		deadline := lo + minLength + rapid.IntRange(0, 50).Draw(t, "deadline")
		var want *reservation.Offer
		for s := lo; s <= hi && want == nil; s++ {
			for l := min(length, deadline-s); l >= minLength && want == nil && s%align == 0; l-- {
				if w.fits(least, s, s+l) {
					best := slices.Clone(least)
					for i := range best {
						for best[i] < counts[i] && w.fits(plus(best, i), s, s+l) {
							best[i]++
						}
					}
					want = &reservation.Offer{Window: minutes(s, s+l), Lines: w.lines(best)}
				}
			}
		}
		got, err := w.c.EarliestFit(minute(w.now), reservation.Query{Lines: w.lines(counts), MinCounts: minCounts,
			Length: time.Duration(length) * time.Minute, MinLength: time.Duration(minLength) * time.Minute,
			Earliest: minute(lo), Latest: minute(hi), Deadline: minute(deadline), Align: time.Duration(align) * time.Minute})
		if want == nil {
			require.Error(t, err, "%v", got)
			return
		}
		require.NoError(t, err)
		require.Equal(t, want.Window, got.Window, "I4")
		require.Equal(t, want.Lines, got.Lines, "I4")
		_, err = w.c.Fork().Book(minute(w.now), reservation.Request{ID: "offer", Owner: "o", Window: got.Window, Lines: got.Lines})
		require.NoError(t, err, "I4")
	})
}

func plus(counts []int64, i int) []int64 {
	counts = slices.Clone(counts)
	counts[i]++
	return counts
}

// I4 for answers in pieces: none ends earlier, and of those that end then none has
// fewer pieces. All ways to lay pieces are tried.
func TestSegmentsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t, 1)
		count := int64(rapid.IntRange(1, 4).Draw(t, "count"))
		length := rapid.IntRange(2, 20).Draw(t, "length")
		least := rapid.IntRange(1, length).Draw(t, "least")
		pieces := rapid.IntRange(2, 4).Draw(t, "pieces")
		align := rapid.SampledFrom([]int{1, 4}).Draw(t, "align")
		lo := w.now + rapid.IntRange(0, 20).Draw(t, "earliest")
		hi := lo + rapid.IntRange(0, 50).Draw(t, "latest")
		deadline := min(queryEnd, lo+least+rapid.IntRange(0, 80).Draw(t, "deadline"))
		const turn = 2 + 3 + 1 // prep + grace + cleanup
		fits := map[[2]int]bool{}
		for s := lo; s < deadline; s++ {
			for e := s + least; e <= deadline && w.fits([]int64{count}, s, e); e++ {
				fits[[2]int{s, e}] = true
			}
		}
		const never = 1 << 30
		memo := map[[3]int]int{}
		// end returns the least end of n more pieces from instant at on that have rest.
		var end func(at, n, rest int, first bool) int
		end = func(at, n, rest int, first bool) int {
			key := [3]int{at, n, rest}
			if got, ok := memo[key]; ok && !first {
				return got
			}
			best := never
			for s := at; s < deadline && n > 0; s++ {
				if s%align != 0 || first && s > hi {
					continue
				}
				for l := least; l <= rest && fits[[2]int{s, s + l}]; l++ {
					if l == rest && n == 1 {
						best = min(best, s+l)
					} else if l < rest && n > 1 {
						best = min(best, end(s+l+turn, n-1, rest-l, false))
					}
				}
			}
			memo[key] = best
			return best
		}
		want, fewest := never, 0
		for n := 1; n <= pieces; n++ {
			clear(memo)
			if e := end(lo, n, length, true); e < want {
				want, fewest = e, n
			}
		}
		q := reservation.Query{Lines: w.lines([]int64{count}), Segments: pieces, Align: time.Duration(align) * time.Minute,
			Length: time.Duration(length) * time.Minute, MinLength: time.Duration(least) * time.Minute,
			Earliest: minute(lo), Latest: minute(hi), Deadline: minute(deadline)}
		got, err := w.c.EarliestFit(minute(w.now), q)
		if want == never {
			require.Error(t, err, "%v", got)
			return
		}
		require.NoError(t, err)
		require.Equal(t, minute(want), got.Window.End, "I4: %v", got)
		list := got.Segments
		if fewest == 1 {
			require.Empty(t, list)
			list = []reservation.Window{got.Window}
		} else {
			require.Equal(t, reservation.Segments, got.Kind)
		}
		require.Len(t, list, fewest)
		require.False(t, list[0].Start.After(minute(hi)))
		fork, sum := w.c.Fork(), time.Duration(0)
		for i, x := range list {
			require.GreaterOrEqual(t, x.Length(), q.MinLength)
			sum += x.Length()
			_, err := fork.Book(minute(w.now), reservation.Request{ID: fmt.Sprint("piece", i), Owner: "o", Window: x, Lines: got.Lines})
			require.NoError(t, err, "I4: all together")
		}
		require.Equal(t, q.Length, sum)
	})
}
