// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/step"
	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/reservation/reservationtest"
)

// The benchmarks go through the exported methods of a forked calendar with its
// events on, over the packed traces of reservationtest. See BENCHMARKS.md.

var benchSizes = []struct {
	name string
	n    int
}{{"bookings=10k", 10_000}, {"bookings=100k", 100_000}, {"bookings=1M", 1_000_000}}

var benchTraces = []struct {
	name  string
	make  func(int, uint64) reservationtest.Trace
	short bool // its bookings are of minutes
}{{"d90", reservationtest.D90, false}, {"s90", reservationtest.S90, true}, {"d611", reservationtest.D611, false}}

// loaded is a calendar with a trace in it, and the same profile in the baseline.
type loaded struct {
	*reservation.Calendar
	trace  reservationtest.Trace
	short  bool
	levels *levels
	tree   step.Tree
	tok    *cow.Token
	bytes  float64 // per booking
	took   float64 // ns per booking
	rand   *rand.Rand
}

// loads keeps what was built: a million bookings take long.
var loads = map[string]*loaded{}

// eachLoad runs f for each trace and size; only those that are asked for are built.
func eachLoad(b *testing.B, f func(b *testing.B, l *loaded)) {
	for _, tr := range benchTraces {
		for _, size := range benchSizes {
			b.Run(tr.name+"/"+size.name, func(b *testing.B) {
				if loads[b.Name()] == nil {
					key := tr.name + size.name
					if loads[key] == nil {
						loads[key] = load(b, tr.make(size.n, 1), tr.short)
					}
					loads[b.Name()] = loads[key]
				}
				l := *loads[b.Name()]
				l.Calendar, l.rand = l.Fork(), rand.New(rand.NewPCG(7, uint64(size.n)))
				b.ReportAllocs()
				b.ResetTimer()
				f(b, &l)
			})
		}
	}
}

func load(b *testing.B, trace reservationtest.Trace, short bool) *loaded {
	l := &loaded{trace: trace, short: short, tok: new(cow.Token)}
	changes := map[int64]int64{}
	for _, a := range trace.Arrivals {
		from, to := a.Start.Unix(), a.Start.Add(a.Length).Unix()
		changes[from] += a.Nodes
		changes[to] -= a.Nodes
		l.tree.Add(l.tok, from, to, a.Nodes)
	}
	l.levels = loadLevels(changes)
	clear(changes)
	l.Calendar = newCalendar(b, trace.Start, trace.Pool)
	before := heap()
	began := time.Now()
	for i := range trace.Arrivals {
		_, err := l.Book(trace.Start, trace.Request(i))
		require.NoError(b, err)
		if i%1024 == 0 {
			l.TakeEvents()
		}
	}
	l.TakeEvents()
	n := float64(len(trace.Arrivals))
	l.took = float64(time.Since(began)) / n
	l.bytes = (heap() - before) / n
	l.agree(b)
	return l
}

func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// agree compares answers of the calendar and the baseline.
func (l *loaded) agree(b *testing.B) {
	l.rand = rand.New(rand.NewPCG(3, 3))
	for range 50 {
		w := l.window()
		free, err := l.MinFree(l.trace.Pool.Name, w)
		require.NoError(b, err)
		require.Equal(b, l.size()-l.levels.max(w.Start.Unix(), w.End.Unix()), free)
		for _, q := range []reservation.Query{l.near(), l.any(), l.big()} {
			offer, err := l.fit(q)
			require.NoError(b, err)
			start := l.levels.firstFit(q.Earliest.Unix(), int64(q.Length/time.Second), l.size()-q.Lines[0].Count)
			require.Equal(b, start, offer.Window.Start.Unix())
		}
	}
}

func (l *loaded) size() int64 { return int64(len(l.trace.Pool.Units)) }

func (l *loaded) fit(q reservation.Query) (reservation.Offer, error) {
	return l.EarliestFit(l.trace.Start, q)
}

// length draws how long a request is: as likely 1–2 h as 64–128 h, or 5–60 min.
func (l *loaded) length() time.Duration {
	if l.short {
		return time.Duration(300+l.rand.IntN(3301)) * time.Second
	}
	return time.Duration(3600*math.Pow(168, l.rand.Float64())) * time.Second
}

// instant draws when: anywhere but in the first days, in which the trace fills up,
// and the last, in which it ends.
func (l *loaded) instant() time.Time {
	const week = 7 * 24 * time.Hour
	return l.trace.Start.Add(week + time.Duration(l.rand.Int64N(int64((l.trace.Span-2*week)/time.Second)))*time.Second)
}

func (l *loaded) window() reservation.Window {
	start := l.instant()
	return reservation.Window{Start: start, End: start.Add(l.length())}
}

func (l *loaded) query(earliest time.Time, length time.Duration, least, most int64) reservation.Query {
	count := least + l.rand.Int64N(most-least)
	return reservation.Query{Earliest: earliest, Length: length, Lines: []reservation.Line{{Pool: l.trace.Pool.Name, Count: count}}}
}

// near asks from one instant on for up to an eighth of the pool, any from any
// instant on, and big for an eighth to a third for half a day or two.
func (l *loaded) near() reservation.Query {
	return l.query(l.trace.Start.AddDate(0, 0, 10), l.length(), 1, 1500)
}
func (l *loaded) any() reservation.Query { return l.query(l.instant(), l.length(), 1, 1500) }
func (l *loaded) big() reservation.Query {
	return l.query(l.instant(), time.Duration(12+l.rand.IntN(37))*time.Hour, 1500, 4000)
}

func (l *loaded) request(id string) reservation.Request {
	return reservation.Request{ID: id, Owner: "team" + strconv.Itoa(l.rand.IntN(100)), Window: l.window(),
		Lines: []reservation.Line{{Pool: l.trace.Pool.Name, Count: 1 + l.rand.Int64N(4)}}}
}

// BenchmarkProfileUpdate is the tree of levels alone.
func BenchmarkProfileUpdate(b *testing.B) {
	eachLoad(b, func(b *testing.B, l *loaded) {
		var s stopwatch
		for b.Loop() {
			w := l.window()
			from, to := w.Start.Unix(), w.End.Unix()
			began := time.Now()
			l.tree.Add(l.tok, from, to, 1)
			s.note(began)
			l.tree.Add(l.tok, from, to, -1)
		}
		s.report(b, "")
		against(b, &s, func(base *stopwatch) {
			w := l.window()
			from, to := w.Start.Unix(), w.End.Unix()
			began := time.Now()
			l.levels.add(from, to, 1)
			base.note(began)
			l.levels.add(from, to, -1)
		})
	})
}

// BenchmarkBookCancel books with all indexes and events, and cancels again.
func BenchmarkBookCancel(b *testing.B) {
	eachLoad(b, func(b *testing.B, l *loaded) {
		var book, cancel stopwatch
		refused := 0
		for i := 0; b.Loop(); i++ {
			q := l.request("x" + strconv.Itoa(i))
			began := time.Now()
			_, err := l.Book(l.trace.Start, q)
			if err != nil {
				refused++
				continue
			}
			book.note(began)
			began = time.Now()
			_, err = l.Cancel(l.trace.Start, q.ID, 0)
			cancel.note(began)
			if err != nil {
				b.Fatal(err)
			}
			if i%1024 == 0 {
				l.TakeEvents()
			}
		}
		book.report(b, "book-")
		cancel.report(b, "cancel-")
		b.ReportMetric(float64(refused)/float64(refused+len(book.took)), "refused")
	})
}

func BenchmarkMinFree(b *testing.B) {
	eachLoad(b, func(b *testing.B, l *loaded) {
		var s stopwatch
		for b.Loop() {
			w := l.window()
			began := time.Now()
			_, err := l.MinFree(l.trace.Pool.Name, w)
			s.note(began)
			if err != nil {
				b.Fatal(err)
			}
		}
		s.report(b, "")
		against(b, &s, func(base *stopwatch) {
			w := l.window()
			began := time.Now()
			l.levels.max(w.Start.Unix(), w.End.Unix())
			base.note(began)
		})
	})
}

func BenchmarkFitNear(b *testing.B) { benchFit(b, (*loaded).near) }
func BenchmarkFitAny(b *testing.B)  { benchFit(b, (*loaded).any) }
func BenchmarkFitBig(b *testing.B)  { benchFit(b, (*loaded).big) }

func benchFit(b *testing.B, draw func(*loaded) reservation.Query) {
	eachLoad(b, func(b *testing.B, l *loaded) {
		var s stopwatch
		for b.Loop() {
			q := draw(l)
			began := time.Now()
			_, err := l.fit(q)
			s.note(began)
			if err != nil {
				b.Fatal(err)
			}
		}
		s.report(b, "")
		against(b, &s, func(base *stopwatch) {
			q := draw(l)
			began := time.Now()
			l.levels.firstFit(q.Earliest.Unix(), int64(q.Length/time.Second), l.size()-q.Lines[0].Count)
			base.note(began)
		})
	})
}

func BenchmarkFork(b *testing.B) {
	eachLoad(b, func(b *testing.B, l *loaded) {
		for b.Loop() {
			l.Fork()
		}
	})
}

// BenchmarkFirstChange books on a fork that was not changed before.
func BenchmarkFirstChange(b *testing.B) {
	eachLoad(b, func(b *testing.B, l *loaded) {
		var s stopwatch
		for b.Loop() {
			q, fork := l.request("x"), l.Fork()
			began := time.Now()
			_, err := fork.Book(l.trace.Start, q)
			if err == nil {
				s.note(began)
			}
		}
		s.report(b, "")
	})
}

// BenchmarkRefusal asks for more than there is, and gets offers.
func BenchmarkRefusal(b *testing.B) {
	eachLoad(b, func(b *testing.B, l *loaded) {
		var s stopwatch
		for i := 0; b.Loop(); i++ {
			q := l.request("x" + strconv.Itoa(i))
			q.Lines[0].Count = 4000
			began := time.Now()
			_, err := l.Book(l.trace.Start, q)
			if err != nil {
				s.note(began)
				require.ErrorIs(b, err, reservation.ErrConflict)
				continue
			}
			_, err = l.Cancel(l.trace.Start, q.ID, 0)
			require.NoError(b, err)
		}
		s.report(b, "")
	})
}

// BenchmarkBins is a chart of a thousand bins over 90 days.
func BenchmarkBins(b *testing.B) {
	eachLoad(b, func(b *testing.B, l *loaded) {
		w := reservation.Window{Start: l.trace.Start, End: l.trace.Start.AddDate(0, 0, 90)}
		var s stopwatch
		for b.Loop() {
			began := time.Now()
			_, err := l.Bins(l.trace.Pool.Name, w, 1000)
			s.note(began)
			if err != nil {
				b.Fatal(err)
			}
		}
		s.report(b, "")
	})
}

// BenchmarkMemory reports what a booking takes, and what loading one took.
func BenchmarkMemory(b *testing.B) {
	eachLoad(b, func(b *testing.B, l *loaded) {
		for b.Loop() {
			runtime.KeepAlive(l)
		}
		b.ReportMetric(l.bytes, "B/booking")
		b.ReportMetric(l.took, "load-ns/booking")
	})
}

// BenchmarkRestore reads a snapshot.
func BenchmarkRestore(b *testing.B) {
	eachLoad(b, func(b *testing.B, l *loaded) {
		raw, err := l.MarshalBinary()
		require.NoError(b, err)
		b.ResetTimer()
		for b.Loop() {
			_, err := reservation.Restore(raw)
			require.NoError(b, err)
		}
		b.ReportMetric(float64(len(raw))/float64(len(l.trace.Arrivals)), "B/booking")
	})
}

// BenchmarkReplay reads and applies one event per booking.
func BenchmarkReplay(b *testing.B) {
	eachLoad(b, func(b *testing.B, l *loaded) {
		var log [][]byte
		c := newCalendar(b, l.trace.Start, l.trace.Pool)
		empty, err := c.MarshalBinary()
		require.NoError(b, err)
		for i := range l.trace.Arrivals {
			_, err := c.Book(l.trace.Start, l.trace.Request(i))
			require.NoError(b, err)
			for _, e := range c.TakeEvents() {
				raw, err := e.AppendBinary(nil)
				require.NoError(b, err)
				log = append(log, raw)
			}
		}
		c = nil
		b.ResetTimer()
		for b.Loop() {
			c, err := reservation.Restore(empty)
			if err != nil {
				b.Fatal(err)
			}
			for _, raw := range log {
				e, err := reservation.DecodeEvent(raw)
				if err != nil {
					b.Fatal(err)
				}
				if err := c.Apply(e); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// BenchmarkSearch asks for a ranked list, with pieces and smaller answers.
func BenchmarkSearch(b *testing.B) {
	eachLoad(b, func(b *testing.B, l *loaded) {
		var s stopwatch
		for b.Loop() {
			q := l.query(time.Time{}, 48*time.Hour, 11_000, 12_000)
			q.MinCounts = map[string]int64{l.trace.Pool.Name: 1000}
			q.MinLength, q.Segments, q.Start = time.Hour, 4, l.instant()
			began := time.Now()
			_, err := l.Search(l.trace.Start, q)
			s.note(began)
			require.NoError(b, err)
		}
		s.report(b, "")
	})
}
