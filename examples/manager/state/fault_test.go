// SPDX-License-Identifier: Apache-2.0

package state_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/examples/manager/commands"
	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/health"
	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/topology"
)

// busy is a state with something of everything: booking b1 of tenant a with job
// inside in it, job beside of b on standby, job waits, a held node, a booking ahead.
func busy(t *testing.T) (s *state.State, held, idle string) {
	w := &tale{t, small(t)}
	book := func(id string, from, to int) {
		w.do(start, "book", func(s *state.State, at time.Time) error {
			_, err := commands.Book{ID: id, Owner: "a", Pool: "G2-x8", Nodes: 1, Start: start.Add(time.Duration(from) * time.Minute), End: start.Add(time.Duration(to) * time.Minute)}.Do(s, at)
			return err
		})
	}
	book("b1", 1, 300)
	book("ahead", 600, 900)
	w.schedule(start.Add(2 * time.Minute))
	w.submit(start.Add(2*time.Minute), jobs.Job{ID: "inside", Tenant: "a", Count: 1, GPUs: 8})
	w.submit(start.Add(2*time.Minute), jobs.Job{ID: "beside", Tenant: "b", Count: 1, GPUs: 2, CPUMilli: 1000})
	w.submit(start.Add(2*time.Minute), jobs.Job{ID: "waits", Tenant: "b", Count: 5, GPUs: 8})
	w.schedule(start.Add(3 * time.Minute))
	require.Equal(t, "b1", w.job("inside").Claim)
	require.Equal(t, "standby/b/T4-x2", w.job("beside").Claim)
	p, _ := w.s.Fleet.Placement("job/beside/1")
	work := string(w.s.Cluster.ID(p.Assignments[0].Node))
	free := slices.DeleteFunc([]string{"t0", "t1", "t2"}, func(n string) bool { return n == work })
	held, idle = free[0], free[1]
	w.do(start.Add(4*time.Minute), "cordon", func(s *state.State, at time.Time) error {
		_, err := commands.Cordon{Node: held, Owner: "human/oncall", Step: health.StepReboot, Reason: "fan"}.Do(s, at)
		return err
	})
	return w.s, held, idle
}

// One fault is planted at a time; Check must name the part of the contract that
// it breaks. (That Check is silent where nothing is broken, TestContract says.)
func TestCheckNamesEveryFault(t *testing.T) {
	base, held, idle := busy(t)
	at := start.Add(5 * time.Minute)
	hold, _ := base.Health.Outage(topology.NodeID(held))
	outage := func(change func(*reservation.Outage)) func(*state.State) error {
		return func(s *state.State) error {
			o := reservation.Outage{ID: "hold/" + held, Owner: "human/oncall", Reason: "fan", Nodes: []string{held}, Window: reservation.Window{Start: hold.Start, End: hold.End}}
			change(&o)
			_, err := s.Calendar.SetOutage(at, o)
			return err
		}
	}
	charge := func(id string, class quota.Class) quota.Request {
		return quota.Request{ID: id, Tenant: "a", Class: class, Amounts: []quota.Amount{{Key: state.GPUKey("T4"), N: 1000}}, Window: quota.Window{Start: at, End: at.Add(time.Hour)}}
	}
	firm := func(id string) reservation.Request {
		return reservation.Request{ID: id, Owner: "a", Class: reservation.Firm, Lines: []reservation.Line{{Pool: "T4-x2", Count: 1}},
			Window: reservation.Window{Start: at.Add(10 * time.Hour), End: at.Add(11 * time.Hour)}}
	}
	resize := func(amounts []quota.Amount, end time.Time) func(*state.State) error {
		return func(s *state.State) error {
			c, _ := s.Ledger.Find("ahead")
			_, err := s.Ledger.Resize(at, "ahead", amounts, quota.Window{Start: c.Window.Start, End: end})
			return err
		}
	}
	place := func(id, claim, tenant, node string) func(*state.State) error {
		return func(s *state.State) error {
			_, err := s.Fleet.Place(at, allocator.Request{ID: id, Claim: claim, Tenant: tenant, Nodes: []topology.NodeID{topology.NodeID(node)},
				Groups: []allocator.Group{{Count: 1, Pod: allocator.Pod{GPUs: 1}}}})
			return err
		}
	}
	for _, f := range []struct {
		want  string
		plant func(*state.State) error
	}{
		{`W1: booking "ahead" is Confirmed, its charge is`, func(s *state.State) error { _, err := s.Ledger.Release(at, "ahead"); return err }},
		{`W1: booking "more" has no charge`, func(s *state.State) error { _, err := s.Calendar.Book(at, firm("more")); return err }},
		{`W1: booking "more" is Held, its charge is`, func(s *state.State) error {
			if _, err := s.Ledger.Book(at, charge("more", quota.Guaranteed)); err != nil {
				return err
			}
			_, err := s.Calendar.Hold(at, firm("more"), time.Minute)
			return err
		}},
		{`W1: booking "ahead" has window`, resize(nil, start.Add(901*time.Minute))},
		{`W1: booking "ahead" is charged`, resize([]quota.Amount{{Key: state.GPUKey("G2"), N: 7999}}, start.Add(900*time.Minute))},
		{`W1: booking "ahead" is charged`, resize([]quota.Amount{{Key: state.GPUKey("T4"), N: 6000}}, start.Add(900*time.Minute))},
		{`W1: booking "more" is of "a", its charge of "b"`, func(s *state.State) error {
			r := charge("more", quota.Guaranteed)
			r.Tenant, r.Amounts[0].N, r.Window = "b", 2000, quota.Window{Start: at.Add(10 * time.Hour), End: at.Add(11 * time.Hour)}
			if _, err := s.Ledger.Book(at, r); err != nil {
				return err
			}
			_, err := s.Calendar.Book(at, firm("more"))
			return err
		}},
		{`is without a job`, func(s *state.State) error {
			b, _ := s.Calendar.Find("standby/b/T4-x2")
			_, err := s.Calendar.Seat(at, b.ID, []string{b.Seats[0].Node, idle})
			return err
		}},
		{`W2: placement "stray" names claim "nothing"`, place("stray", "nothing", "a", idle)},
		{`W2: placement "stray" of tenant "b" lies in a claim of "a"`, place("stray", "b1", "b", idle)},
		{`W2: placement "stray" lies on node`, place("stray", "b1", "a", idle)},
		{`W2: placement "job/beside/1" lies on node`, func(s *state.State) error { _, err := s.Calendar.Seat(at, "standby/b/T4-x2", nil); return err }},
		{`W2: standby placement "job/beside/1" is not charged`, func(s *state.State) error { _, err := s.Ledger.Release(at, "job/beside/1"); return err }},
		{`W4: node "` + held + `" is held but not cordoned`, func(s *state.State) error { return s.Fleet.Uncordon(at, topology.NodeID(held), "health") }},
		{`W4: node "` + held + `" is held but in no outage`, func(s *state.State) error { return s.Calendar.EndOutage(at, "hold/"+held) }},
		{`W4: node "` + held + `" is held, its outage is of`, outage(func(o *reservation.Outage) { o.Nodes = []string{idle} })},
		{`W4: node "` + held + `" is held, its outage is of`, outage(func(o *reservation.Outage) { o.Nodes = append(o.Nodes, idle) })},
		{`W4: node "` + held + `" is held from`, outage(func(o *reservation.Outage) { o.Window.Start = at.Add(time.Minute) })},
		{`W4: node "` + held + `" is held from`, outage(func(o *reservation.Outage) { o.Window.End = hold.End.Add(-time.Second) })},
		{`W4: node "` + held + `" is held from`, outage(func(o *reservation.Outage) { o.Window.End = time.Time{} })},
		{`W4: node "` + held + `" is held by`, outage(func(o *reservation.Outage) { o.Owner = "maintenance" })},
		{`W4: outage "hold/` + idle + `" is without a hold`, outage(func(o *reservation.Outage) { o.ID, o.Nodes = "hold/"+idle, []string{idle} })},
		{`W4: node "` + idle + `" is cordoned for health without a hold`, func(s *state.State) error { return s.Fleet.Cordon(at, topology.NodeID(idle), "health", "") }},
		{`W5: job "beside" is ended but holds a placement`, func(s *state.State) error { _, err := s.Jobs.End(at, "beside"); return err }},
		{`W5: job "beside" runs without a placement`, func(s *state.State) error { return s.Fleet.Release(at, "job/beside/1") }},
		{`W5: job "waits" runs without a placement`, func(s *state.State) error { _, err := s.Jobs.Start(at, "waits", "b1", ""); return err }},
		{`W5: placement "stray" belongs to no job`, place("stray", "b1", "a", idle)},
		{`W5: charge "job/gone/1" belongs to no running job`, func(s *state.State) error {
			_, err := s.Ledger.Book(at, charge("job/gone/1", quota.Preemptible))
			return err
		}},
		{`W5: charge "gone" belongs to no live booking`, func(s *state.State) error { _, err := s.Ledger.Book(at, charge("gone", quota.Guaranteed)); return err }},
		{`W5: job "inside" lies in claim "elsewhere", its placement in "b1"`, func(s *state.State) error {
			j, _ := s.Jobs.Find("inside")
			moved := *j
			moved.Claim = "elsewhere"
			return s.Jobs.Apply(jobs.Event{Kind: "started", Job: &moved})
		}},
		{`W6: node "` + idle + `" serves "a" and "b"`, func(s *state.State) error { return shared(s, at, idle) }},
	} {
		s := base.Fork()
		require.NoError(t, s.Check())
		require.NoError(t, f.plant(s), f.want)
		require.ErrorContains(t, s.Check(), f.want)
	}
}

// shared puts a fleet in place that lets tenants share nodes, with work of two on
// one.
func shared(s *state.State, at time.Time, node string) error {
	fleet, err := allocator.New(allocator.Config{Cluster: s.Cluster, Tenancy: allocator.Shared})
	if err != nil {
		return err
	}
	for _, tenant := range []string{"a", "b"} {
		if _, err := fleet.Place(at, allocator.Request{ID: "work-" + tenant, Claim: "b1", Tenant: tenant, Nodes: []topology.NodeID{topology.NodeID(node)},
			Groups: []allocator.Group{{Count: 1, Pod: allocator.Pod{GPUs: 1}}}}); err != nil {
			return err
		}
	}
	s.Fleet = fleet
	return nil
}

// W3: what is short must be listed, as many nodes and for as long.
func TestCheckNamesShortfalls(t *testing.T) {
	w := &tale{t, small(t)}
	w.do(start, "book", func(s *state.State, at time.Time) error {
		_, err := commands.Book{ID: "b", Owner: "a", Pool: "T4-x2", Nodes: 3, Start: start.Add(10 * time.Hour), End: start.Add(12 * time.Hour)}.Do(s, at)
		return err
	})
	for _, node := range []string{"t0", "t1", "t2", "t3"} {
		w.do(start, "cordon", func(s *state.State, at time.Time) error {
			_, err := commands.Cordon{Node: node, Owner: "human/oncall", Expected: start.Add(11 * time.Hour)}.Do(s, at)
			return err
		})
	}
	list := slices.Collect(w.s.Calendar.Degraded())
	require.Len(t, list, 1)
	require.Equal(t, int64(2), list[0].Shortfall)
	require.NoError(t, w.s.ShortfallsAgainst(list))
	for name, change := range map[string]func(*reservation.Degradation){
		"too few":      func(d *reservation.Degradation) { d.Shortfall = 1 },
		"too late":     func(d *reservation.Degradation) { d.Window.Start = d.Window.Start.Add(time.Minute) },
		"too short":    func(d *reservation.Degradation) { d.Window.End = d.Window.End.Add(-time.Minute) },
		"another pool": func(d *reservation.Degradation) { d.Pool = "G2-x8" },
	} {
		wrong := slices.Clone(list)
		change(&wrong[0])
		require.ErrorContains(t, w.s.ShortfallsAgainst(wrong), `pool "T4-x2" lacks 2 nodes at`, name)
	}

	// Check itself asks: a node in outage is still being cleaned after a booking,
	// and the state has forgotten that it is.
	w = &tale{t, small(t)}
	w.do(start, "book", func(s *state.State, at time.Time) error {
		_, err := commands.Book{ID: "b", Owner: "a", Pool: "T4-x2", Nodes: 3, Start: start.Add(time.Minute), End: start.Add(time.Hour)}.Do(s, at)
		return err
	})
	w.schedule(start.Add(30 * time.Minute))
	b, _ := w.s.Calendar.Find("b")
	for _, node := range []string{"t0", "t1", "t2", "t3", "t4"} {
		w.do(start.Add(31*time.Minute), "cordon", func(s *state.State, at time.Time) error {
			_, err := commands.Cordon{Node: node, Owner: "human/oncall"}.Do(s, at)
			return err
		})
	}
	w.schedule(b.Envelope.End.Add(-time.Minute))
	w.s.ForgetTails()
	require.ErrorContains(t, w.s.Check(), `W3: pool "T4-x2" lacks 3 nodes at`)
}
