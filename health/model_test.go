// SPDX-License-Identifier: Apache-2.0

package health_test

import (
	"cmp"
	"errors"
	"iter"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/health"
	"github.com/berth-gpu/berth/topology"
)

// model is the record as one would write it without indexes: a list of holds, searched from end to end.
type model struct {
	holds  []modelHold
	length map[health.Step]time.Duration
}

type modelHold struct {
	health.Hold
	asked time.Time
}

func (m *model) at(c health.Component, o health.Owner) int {
	return slices.IndexFunc(m.holds, func(h modelHold) bool { return h.Component == c && h.Owner == o })
}

const fortnight = 14 * 24 * time.Hour

// advance moves passed dates, whichever comes first, until none is left.
func (m *model) advance(now time.Time) {
	for moved := true; moved; {
		moved = false
		for i, h := range m.holds {
			if !h.Expected.IsZero() && !h.Expected.After(now) {
				more := m.length[h.Step] // H7
				for range h.Slips {
					if more < fortnight {
						more = min(2*more, fortnight)
					}
				}
				m.holds[i].Expected = h.Expected.Add(more)
				m.holds[i].Slips++
				m.holds[i].Version++
				moved = true
			}
		}
	}
}

func (m *model) hold(now time.Time, q health.HoldRequest) error {
	end := q.Expected
	if end.IsZero() && q.Step != health.StepNone {
		end = now.Add(m.length[q.Step])
	}
	i := m.at(q.Component, q.Owner)
	if i >= 0 && m.holds[i].Step == q.Step && m.holds[i].asked.Equal(q.Expected) {
		if m.holds[i].Reason != q.Reason { // a new reason alone keeps the date
			m.holds[i].Reason = q.Reason
			m.holds[i].Version++
		}
		return nil
	}
	if !end.IsZero() && !end.After(now) {
		return health.ErrPast
	}
	if i < 0 {
		i = len(m.holds)
		m.holds = append(m.holds, modelHold{Hold: health.Hold{Component: q.Component, Owner: q.Owner, Since: now}})
	}
	h := &m.holds[i]
	h.Step, h.Reason, h.asked, h.Expected = q.Step, q.Reason, q.Expected, end
	h.Version++
	return nil
}

func (m *model) date(now time.Time, c health.Component, o health.Owner, end time.Time) error {
	i := m.at(c, o)
	switch {
	case i < 0:
		return health.ErrUnknown
	case m.holds[i].Expected.Equal(end):
		return nil
	case !end.IsZero() && !end.After(now):
		return health.ErrPast
	}
	m.holds[i].Expected = end
	m.holds[i].Version++
	return nil
}

func (m *model) release(c health.Component, o health.Owner) {
	m.holds = slices.DeleteFunc(m.holds, func(h modelHold) bool { return h.Component == c && h.Owner == o })
}

// sorted returns the holds on a node ("" for all) by component and owner.
func (m *model) sorted(node topology.NodeID) []health.Hold {
	var out []health.Hold
	for _, h := range m.holds {
		if node == "" || h.Node == node {
			out = append(out, h.Hold)
		}
	}
	slices.SortFunc(out, func(a, b health.Hold) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.GPU, b.GPU), cmp.Compare(a.Owner, b.Owner))
	})
	return out
}

// compare asks both sides everything about one node.
func (m *model) compare(t *rapid.T, r *health.Record, node topology.NodeID) {
	holds := m.sorted(node)
	require.Equal(t, holds, slices.Collect(r.Holds(node)), "H1, I5")
	require.Equal(t, len(holds) == 0, r.Schedulable(node), "I6")
	gpus, owners, kinds := map[topology.GPUID]bool{}, map[health.Owner]bool{}, map[health.Owner]bool{}
	var start, end time.Time
	open := false
	for _, h := range holds {
		gpus[h.GPU], owners[h.Owner], kinds[health.Owner(h.Owner.Kind())] = true, true, true
		if start.IsZero() || h.Since.Before(start) {
			start = h.Since
		}
		if h.Expected.After(end) {
			end = h.Expected
		}
		open = open || h.Expected.IsZero()
	}
	if open {
		end = time.Time{}
	}
	for _, gpu := range someGPUs[1:] {
		want := !gpus[""] && !gpus[gpu] && (gpu != "" || len(holds) == 0)
		require.Equal(t, want, r.SchedulableGPU(health.Component{Node: node, GPU: gpu}), "I6: %s", gpu)
	}
	until, held := r.Until(node)
	require.Equal(t, len(holds) > 0, held)
	require.Equal(t, end, until, "H4")
	outage, ok := r.Outage(node)
	require.Equal(t, held, ok)
	if !ok {
		require.Empty(t, slices.Collect(r.For(node)), "I26")
		return
	}
	whole := gpus[""]
	delete(gpus, "")
	want := health.Outage{Node: node, Start: start, End: end, WholeNode: whole,
		GPUs: slices.Sorted(maps.Keys(gpus)), Owners: slices.Sorted(maps.Keys(owners))}
	require.Equal(t, want, outage, "H4")
	want.Owners = slices.Sorted(maps.Keys(kinds))
	require.Equal(t, []health.Outage{want}, slices.Collect(r.For(node)), "I26")
}

// TestModel drives a record and the model side by side.
func TestModel(t *testing.T) {
	length := map[health.Step]time.Duration{
		health.StepNone: 2 * time.Hour, health.StepReset: 20 * time.Minute, health.StepReboot: time.Hour,
		health.StepDiag: 3 * time.Hour, health.StepRMA: 100 * time.Hour,
	}
	rapid.Check(t, func(t *rapid.T) {
		config := health.Config{Slip: length[health.StepNone], StepLength: maps.Clone(length)}
		delete(config.StepLength, health.StepNone)
		r, err := health.New(config)
		require.NoError(t, err)
		m := &model{length: length}
		now := monday
		step := func(t *rapid.T) {
			now = now.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "minutes")) * time.Minute)
		}
		component := rapid.Custom(func(t *rapid.T) health.Component {
			return health.Component{Node: rapid.SampledFrom(someNodes).Draw(t, "node"), GPU: rapid.SampledFrom(someGPUs).Draw(t, "gpu")}
		})
		date := rapid.Custom(func(t *rapid.T) time.Time {
			n := rapid.IntRange(-2, 8).Draw(t, "hours")
			if n > 5 {
				return time.Time{}
			}
			return now.Add(time.Duration(n) * time.Hour)
		})
		// try runs a command on both sides; a refused one leaves even due dates as they were (H6).
		try := func(t *rapid.T, live func() error, naive func() error) {
			before := slices.Clone(m.holds)
			m.advance(now)
			want, got := naive(), live()
			if want != nil {
				require.ErrorIs(t, got, want)
				m.holds = before
				return
			}
			require.NoError(t, got)
		}
		t.Repeat(map[string]func(*rapid.T){
			"hold": func(t *rapid.T) {
				step(t)
				q := health.HoldRequest{Component: component.Draw(t, "component"), Owner: rapid.SampledFrom(someOwners).Draw(t, "owner"),
					Step:   health.Step(rapid.IntRange(0, 4).Draw(t, "step")),
					Reason: rapid.SampledFrom([]string{"", "fan"}).Draw(t, "reason"), Expected: date.Draw(t, "expected")}
				var answer health.Hold
				try(t, func() (err error) { answer, err = r.Hold(now, q); return err }, func() error { return m.hold(now, q) })
				if answer.Owner == "" {
					return
				}
				require.Equal(t, m.holds[m.at(q.Component, q.Owner)].Hold, answer)
				events := len(r.Events())
				again, err := r.Hold(now, q)
				require.NoError(t, err)
				require.Equal(t, answer, again, "H5")
				require.Len(t, r.Events(), events, "H5")
			},
			"reason": func(t *rapid.T) { // the last request with one word changed: the date stays as it is now
				if len(m.holds) == 0 {
					return
				}
				step(t)
				h := rapid.SampledFrom(m.holds).Draw(t, "held")
				q := health.HoldRequest{Component: h.Component, Owner: h.Owner, Step: h.Step, Reason: h.Reason + "!", Expected: h.asked}
				try(t, func() error { _, err := r.Hold(now, q); return err }, func() error { return m.hold(now, q) })
			},
			"date": func(t *rapid.T) {
				step(t)
				c, o, end := component.Draw(t, "component"), rapid.SampledFrom(someOwners).Draw(t, "owner"), date.Draw(t, "expected")
				try(t, func() error { return r.Date(now, c, o, end) }, func() error { return m.date(now, c, o, end) })
			},
			"release": func(t *rapid.T) {
				step(t)
				c, o := component.Draw(t, "component"), rapid.SampledFrom(someOwners).Draw(t, "owner")
				try(t, func() error { return r.Release(now, c, o) }, func() error { m.release(c, o); return nil })
			},
			"advance": func(t *rapid.T) {
				step(t)
				count := len(m.holds)
				r.Advance(now)
				m.advance(now)
				require.Len(t, slices.Collect(r.Holds("")), count, "H2")
				for h := range r.Holds("") {
					require.True(t, h.Expected.IsZero() || h.Expected.After(now), "H3")
				}
			},
			"": func(t *rapid.T) {
				require.NoError(t, r.Check())
				require.Equal(t, m.sorted(""), slices.Collect(r.Holds("")))
				var nodes []topology.NodeID
				var outages []health.Outage
				for _, node := range someNodes {
					m.compare(t, r, node)
					if o, ok := r.Outage(node); ok {
						nodes, outages = append(nodes, node), append(outages, o)
					}
				}
				require.Equal(t, nodes, slices.Collect(r.Held()))
				require.Equal(t, outages, slices.Collect(r.Outages()))
				var first time.Time
				for _, h := range m.holds {
					if !h.Expected.IsZero() && (first.IsZero() || h.Expected.Before(first)) {
						first = h.Expected
					}
				}
				next, ok := r.Next()
				require.Equal(t, first, next)
				require.Equal(t, !first.IsZero(), ok)
			},
		})
	})
}

// TestI26TenantViewDependsOnNoOtherNode changes only nodes of others and looks at one's own.
func TestI26TenantViewDependsOnNoOtherNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := longSteps()
		require.NoError(t, errors.Join(hold(r, monday, "node-1", "human/oncall"), hold(r, monday, "node-1", "human/relief")))
		before := slices.Collect(r.For("node-1", "node-1"))
		require.Len(t, before, 1)
		require.Equal(t, []health.Owner{"human"}, before[0].Owners)
		for range rapid.IntRange(1, 10).Draw(t, "commands") {
			node := rapid.SampledFrom(someNodes[1:]).Draw(t, "node")
			c := health.Component{Node: node, GPU: rapid.SampledFrom(someGPUs).Draw(t, "gpu")}
			_, err := r.Hold(monday, health.HoldRequest{Component: c, Owner: "maintenance", Step: health.StepReset})
			require.NoError(t, err)
		}
		require.Equal(t, before, slices.Collect(r.For("node-1", "node-9")))
	})
}

// TestIteratorsStop stops every iterator after its first value.
func TestIteratorsStop(t *testing.T) {
	r := longSteps()
	for _, node := range someNodes {
		require.NoError(t, hold(r, monday, node, "human/oncall"))
		require.NoError(t, hold(r, monday, node, "human/relief"))
	}
	require.Equal(t, 1, first(r.Holds("")))
	require.Equal(t, 1, first(r.Holds("node-2")))
	require.Equal(t, 1, first(r.Held()))
	require.Equal(t, 1, first(r.Outages()))
	require.Equal(t, 1, first(r.For(someNodes...)))
}

func first[T any](seq iter.Seq[T]) int {
	n := 0
	for range seq {
		n++
		break
	}
	return n
}
