// SPDX-License-Identifier: Apache-2.0

package reservation_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/berth-gpu/berth/reservation"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The model of the waiting list: three nodes that are counted minute by minute,
// entries in a slice, and the rules in words.
const (
	listNodes  = 3
	listBypass = 2
	listEnd    = 100
)

type listEntry struct {
	id                            string
	count, length, earliest, last int
	priority, seq, passed         int
}

type listModel struct {
	now     int
	used    [listEnd + 50]int
	booked  map[string][3]int // start, end, count
	entries []*listEntry
	seq     int
}

func (m *listModel) clone() *listModel {
	c := *m
	c.entries = nil
	for _, e := range m.entries {
		x := *e
		c.entries = append(c.entries, &x)
	}
	c.booked = map[string][3]int{}
	for id, b := range m.booked {
		c.booked[id] = b
	}
	return &c
}

func (m *listModel) fits(start, length, count int) bool {
	for t := start; t < start+length; t++ {
		if m.used[t]+count > listNodes {
			return false
		}
	}
	return true
}

// book takes nodes, serves the entry of that id and counts who was passed over.
func (m *listModel) book(id string, start, end, count int) {
	m.booked[id] = [3]int{start, end, count}
	for t := start; t < end; t++ {
		m.used[t] += count
	}
	k := slices.IndexFunc(m.entries, func(e *listEntry) bool { return e.id == id })
	if k < 0 {
		return
	}
	for _, e := range m.entries[:k] {
		if start < e.last+e.length && e.earliest < end {
			e.passed++
		}
	}
	m.entries = slices.Delete(m.entries, k, k+1)
}

// due lists what is to be done, as "id start".
func (m *listModel) due() (out []string) {
	m = m.clone()
	var unserved []*listEntry
	for _, e := range slices.Clone(m.entries) {
		start := -1
		for t := e.last; t >= max(m.now, e.earliest); t-- {
			if m.fits(t, e.length, e.count) {
				start = t
			}
		}
		stop := slices.ContainsFunc(unserved, func(x *listEntry) bool {
			return x.passed >= listBypass && start < x.last+x.length && x.earliest < start+e.length
		})
		if start < 0 || stop {
			unserved = append(unserved, e)
			continue
		}
		out = append(out, fmt.Sprint(e.id, " ", start))
		m.book(e.id, start, start+e.length, e.count)
	}
	return out
}

// TestWaitlistModel drives the waiting list beside the model.
func TestWaitlistModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, err := reservation.New(reservation.Config{Start: modelStart, MaxBypass: listBypass, Pools: []reservation.Pool{poolOf("p", listNodes, 0, reservation.Policy{})}})
		require.NoError(t, err)
		m := &listModel{booked: map[string][3]int{}}
		n := 0
		draw := func(from, to int, what string) int { return rapid.IntRange(from, to).Draw(t, what) }
		lines := func(count int) []reservation.Line { return []reservation.Line{{Pool: "p", Count: int64(count)}} }
		proposals := func() (out []string) {
			list, err := c.Due(minute(m.now), reservation.DueQuery{})
			require.NoError(t, err)
			for _, p := range list {
				require.Equal(t, reservation.Serve, p.Kind)
				out = append(out, fmt.Sprint(p.ID, " ", int(p.Requests[0].Window.Start.Sub(modelStart)/time.Minute)))
			}
			return out
		}
		for range draw(5, 40, "commands") {
			n++
			switch draw(0, 7, "command") {
			case 0, 1:
				start := m.now + draw(0, 15, "in")
				end, count := start+draw(1, 12, "length"), draw(1, listNodes, "count")
				id := fmt.Sprint("b", n)
				_, err := c.Book(minute(m.now), reservation.Request{ID: id, Owner: "o", Window: minutes(start, end), Lines: lines(count)})
				require.Equal(t, m.fits(start, end-start, count), err == nil)
				if err == nil {
					m.book(id, start, end, count)
				}
			case 2:
				for id, b := range m.booked { // the least id, for the sake of order
					for other := range m.booked {
						if other < id {
							id, b = other, m.booked[other]
						}
					}
					_, err := c.Cancel(minute(m.now), id, 0)
					require.Equal(t, b[0] > m.now, err == nil)
					if err == nil {
						for t := b[0]; t < b[1]; t++ {
							m.used[t] -= b[2]
						}
					}
					delete(m.booked, id)
					break
				}
			case 3, 4, 5:
				m.seq++
				e := &listEntry{id: fmt.Sprint("w", n), count: draw(1, listNodes, "count"), length: draw(1, 12, "length"), earliest: m.now + draw(0, 10, "earliest"), seq: m.seq, priority: draw(0, 1, "priority")}
				e.last = e.earliest + draw(0, 15, "slack")
				_, err := c.Wait(minute(m.now), reservation.Waiting{ID: e.id, Owner: "o", Lines: lines(e.count), Length: time.Duration(e.length) * time.Minute,
					Align: time.Minute, Earliest: minute(e.earliest), Deadline: minute(e.last + e.length), Priority: int64(e.priority)})
				require.NoError(t, err)
				m.entries = append(m.entries, e)
				slices.SortFunc(m.entries, func(a, b *listEntry) int {
					return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.seq, b.seq))
				})
			case 6:
				list, err := c.Due(minute(m.now), reservation.DueQuery{})
				require.NoError(t, err)
				if len(list) > 0 {
					p := list[draw(0, len(list)-1, "proposal")] // a host may refuse those before it
					q := p.Requests[0]
					if _, err := c.Book(minute(m.now), q); err == nil {
						from, to := int(q.Window.Start.Sub(modelStart)/time.Minute), int(q.Window.End.Sub(modelStart)/time.Minute)
						m.book(p.ID, from, to, int(q.Lines[0].Count))
					}
				}
			default:
				if m.now < listEnd-50 {
					m.now += draw(1, 5, "minutes")
				}
				m.entries = slices.DeleteFunc(m.entries, func(e *listEntry) bool { return e.last < m.now })
				c.Advance(minute(m.now))
			}
			require.Equal(t, m.due(), proposals())
			var want, got []string
			for _, e := range m.entries {
				want = append(want, fmt.Sprint(e.id, " ", e.passed))
			}
			for w := range c.Waitlist() {
				got = append(got, fmt.Sprint(w.ID, " ", w.Passed))
			}
			require.Equal(t, want, got)
			require.NoError(t, c.Check())
		}
	})
}
