// SPDX-License-Identifier: Apache-2.0

package state_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/examples/manager/commands"
	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/health"
	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/topology"
)

// carry runs a command on a fork and returns the fork, sealed, with its record;
// or the state as it was, if the command was refused.
func carry(s *state.State, now time.Time, c command) (*state.State, []byte, error) {
	fork := s.Fork()
	at, err := fork.Begin(state.Header{At: now, Command: c.name})
	if err != nil {
		return s, nil, fmt.Errorf("begin: %w", err)
	}
	if err := c.do(fork, at); err != nil {
		return s, nil, err
	}
	rec, err := fork.Record()
	if err != nil || rec == nil {
		return s, nil, err
	}
	fork.Sealed(s.Seq() + 1)
	return fork, rec, nil
}

// tale is a state on which commands must succeed, checked after each.
type tale struct {
	t *testing.T
	s *state.State
}

func (w *tale) do(now time.Time, name string, f func(*state.State, time.Time) error) []byte {
	w.t.Helper()
	s, rec, err := carry(w.s, now, command{name, f})
	require.NoError(w.t, err, name)
	require.NoError(w.t, s.Check(), "after %s", name)
	w.s = s
	return rec
}

func (w *tale) submit(now time.Time, j jobs.Job) {
	w.t.Helper()
	w.do(now, "submit", func(s *state.State, at time.Time) error { _, err := commands.Submit{Job: j}.Do(s, at); return err })
}

func (w *tale) schedule(now time.Time) []byte {
	w.t.Helper()
	return w.do(now, "schedule", func(s *state.State, at time.Time) error {
		_, err := commands.Schedule{Budget: 5000}.Do(s, at)
		return err
	})
}

func (w *tale) fleet(now time.Time, c topology.Change) {
	w.t.Helper()
	w.do(now, "fleet", func(s *state.State, at time.Time) error { return s.SetCluster(at, c) })
}

func (w *tale) job(id string) *jobs.Job {
	w.t.Helper()
	j, ok := w.s.Jobs.Find(id)
	require.True(w.t, ok, id)
	return j
}

// A manager that was restarted decides like one that was not: the same commands
// give the same records, whatever is due, for several rules of the pools.
func TestRestartDecidesAlike(t *testing.T) {
	for name, p := range map[string]reservation.Policy{"grace": policy, "none": {}, "prep": {Prep: 10 * time.Minute, Grace: 5 * time.Minute, Cleanup: 10 * time.Minute}} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := smallUnder(t, p)
				now := start
				for range rapid.IntRange(5, 40).Draw(t, "commands") {
					now = now.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "minutes")) * time.Minute)
					c := draw(t, now)
					restarted, err := state.Restore(s.Seq(), snapshot(t, s))
					require.NoError(t, err)
					next, rec, err := carry(s, now, c)
					_, again, err2 := carry(restarted, now, c)
					require.Equal(t, fmt.Sprint(err), fmt.Sprint(err2), c.name)
					require.Equal(t, string(rec), string(again), "%s decides differently after a restart", c.name)
					require.NoError(t, next.Check(), c.name)
					s = next
				}
			})
		})
	}
}

// Nodes leave with work, a hold or a booking on them: the work waits again, the
// hold ends, the booking is short and says so.
func TestNodesLeave(t *testing.T) {
	w := &tale{t, small(t)}
	w.do(start, "book", func(s *state.State, at time.Time) error {
		_, err := commands.Book{ID: "b", Owner: "a", Pool: "G2-x8", Nodes: 2, Start: start.Add(time.Hour), End: start.Add(3 * time.Hour)}.Do(s, at)
		return err
	})
	w.submit(start, jobs.Job{ID: "j", Tenant: "a", Count: 2, GPUs: 8})
	w.schedule(start.Add(time.Hour))
	require.Equal(t, "b", w.job("j").Claim)
	b, _ := w.s.Calendar.Find("b")
	w.do(start.Add(time.Hour), "cordon", func(s *state.State, at time.Time) error {
		_, err := commands.Cordon{Node: b.Seats[0].Node, Owner: "human/oncall", Step: health.StepReset}.Do(s, at)
		return err
	})
	w.fleet(start.Add(61*time.Minute), topology.Change{Remove: []topology.NodeID{topology.NodeID(b.Seats[0].Node)}})
	require.Equal(t, jobs.Queued, w.job("j").Phase)
	require.Contains(t, w.job("j").Why, "leaves the fleet")
	short := 0
	for range w.s.Calendar.Degraded() {
		short++
	}
	require.Positive(t, short)
	for h := range 6 {
		w.schedule(start.Add(time.Hour + time.Duration(h)*time.Hour)) // the date of the hold passes, the booking ends
	}
}

// An empty fleet grows. Nodes without a GPU are a pool of their own, by their CPU:
// work without a GPU goes there first, and they can be booked.
func TestFleetFromNothing(t *testing.T) {
	s, err := state.New(state.Config{Tenants: []quota.Tenant{{Name: "org", Limits: []quota.Limit{{Key: state.GPUKey("T4"), Nominal: 2000}, {Key: state.CPUKey, Nominal: 200_000}}}}})
	require.NoError(t, err)
	w := &tale{t, s}
	w.submit(start, jobs.Job{ID: "x", Tenant: "org", Count: 1, GPUs: 1})
	w.submit(start, jobs.Job{ID: "y", Tenant: "org", Count: 1, CPUMilli: 8000})
	w.schedule(start)
	require.Equal(t, jobs.Queued, w.job("x").Phase)
	f, err := topology.ReadOpenB(strings.NewReader("sn,cpu_milli,memory_mib,gpu,model\nn0,64000,262144,2,T4\nn1,64000,262144,0,\nn2,1500,1024,0,\n"))
	require.NoError(t, err)
	w.fleet(start, topology.Change{Add: f.Nodes, Shapes: f.Shapes})
	require.Equal(t, 3, w.s.Cluster.Count())
	w.schedule(start)
	require.Equal(t, "standby/org/T4-x2", w.job("x").Claim)
	require.Equal(t, "standby/org/cpu-64", w.job("y").Claim)
	pool, ok := w.s.PoolOf("n2")
	require.True(t, ok)
	require.Equal(t, "cpu-1500m", pool)
	_, gpus, _ := w.s.PoolFacts("cpu-64")
	require.Zero(t, gpus)
	w.do(start, "book", func(s *state.State, at time.Time) error {
		_, err := commands.Book{ID: "b", Owner: "org", Pool: "cpu-64", Nodes: 1, Start: start.Add(time.Hour), End: start.Add(2 * time.Hour)}.Do(s, at)
		return err
	})
	c, _ := w.s.Ledger.Find("b")
	require.Equal(t, []quota.Amount{{Key: state.CPUKey, N: 64_000}}, c.Amounts)
	restored, err := state.Restore(w.s.Seq(), snapshot(t, w.s))
	require.NoError(t, err)
	require.NoError(t, restored.Check())
	w.schedule(start.Add(time.Hour)) // the booking has begun: the job moves into it
	require.Equal(t, "b", w.job("y").Claim)
	w.fleet(start.Add(70*time.Minute), topology.Change{Remove: []topology.NodeID{"n1"}}) // and its pool is empty now
	w.schedule(start.Add(3 * time.Hour))
}

// Weeks of downtime cost a record in proportion to the work, not to the weeks,
// and the work goes on.
func TestDowntime(t *testing.T) {
	var csv strings.Builder
	csv.WriteString("sn,cpu_milli,memory_mib,gpu,model\n")
	for n := range 25 {
		fmt.Fprintf(&csv, "n%d,64000,262144,8,T4\n", n)
	}
	fleet, err := topology.ReadOpenB(strings.NewReader(csv.String()))
	require.NoError(t, err)
	s, err := state.New(state.Config{Fleet: fleet, Tenants: []quota.Tenant{{Name: "a", Limits: []quota.Limit{{Key: state.GPUKey("T4"), Nominal: 200_000}}}}})
	require.NoError(t, err)
	w := &tale{t, s}
	for i := range 200 {
		w.submit(start, jobs.Job{ID: fmt.Sprintf("job-%03d", i), Tenant: "a", Count: 1, GPUs: 1})
	}
	w.schedule(start)
	_, _, running := w.s.Jobs.Counts()
	require.Equal(t, 200, running)
	day := w.schedule(start.AddDate(0, 0, 1))
	month := w.schedule(start.AddDate(0, 1, 1))
	require.Less(t, len(month), 2*len(day))
	_, _, running = w.s.Jobs.Counts()
	require.Equal(t, 200, running)
}

// One tenant's hopeless jobs, all of different shapes, do not keep another's from
// starting, nor its own small ones.
func TestHopelessJobsBlockNobody(t *testing.T) {
	w := &tale{t, small(t)}
	for i := range 300 {
		w.submit(start.Add(time.Duration(i)*time.Second), jobs.Job{ID: fmt.Sprintf("big-%03d", i), Tenant: "a", Count: 900 - i, GPUs: 8, CPUMilli: int64(i)})
	}
	later := start.Add(time.Hour)
	w.submit(later, jobs.Job{ID: "small-a", Tenant: "a", Count: 1, GPUs: 1})
	w.submit(later, jobs.Job{ID: "small-b", Tenant: "b", Count: 1, GPUs: 1})
	pass := func() {
		w.do(later, "schedule", func(s *state.State, at time.Time) error {
			_, err := commands.Schedule{Budget: 64}.Do(s, at)
			return err
		})
	}
	pass()
	require.Equal(t, jobs.Running, w.job("small-b").Phase, "another tenant's job waits for nobody")
	for n := 0; w.job("small-a").Phase != jobs.Running; n++ {
		require.Less(t, n, 40, "it never has its turn")
		w.submit(later, jobs.Job{ID: fmt.Sprintf("tick-%d", n), Tenant: "b", Count: 500, GPUs: 8}) // time goes on
		pass()
	}
	// Names that run together are different shapes.
	fleet, err := topology.ReadOpenB(strings.NewReader("sn,cpu_milli,memory_mib,gpu,model\nn0,64000,262144,2,T4\nn1,64000,262144,2,T4\n"))
	require.NoError(t, err)
	limits := []quota.Limit{{Key: state.GPUKey("T4"), Nominal: 2000}}
	s, err := state.New(state.Config{Fleet: fleet, Tenants: []quota.Tenant{{Name: "team", Limits: limits}, {Name: "team1", Limits: limits}}})
	require.NoError(t, err)
	w = &tale{t, s}
	w.submit(start, jobs.Job{ID: "eleven", Tenant: "team", Count: 11, GPUs: 1})
	w.submit(start, jobs.Job{ID: "one", Tenant: "team1", Count: 1, GPUs: 1})
	w.schedule(start)
	require.Equal(t, jobs.Running, w.job("one").Phase)
}

// Bookings of two owners back to back on the same nodes: the first keeps them to
// its end.
func TestBackToBack(t *testing.T) {
	s := smallUnder(t, reservation.Policy{})
	w := &tale{t, s}
	book := func(id, owner string, from, to int) {
		w.do(start, "book", func(s *state.State, at time.Time) error {
			_, err := commands.Book{ID: id, Owner: owner, Pool: "G2-x8", Nodes: 1, Start: start.Add(time.Duration(from) * time.Hour), End: start.Add(time.Duration(to) * time.Hour)}.Do(s, at)
			return err
		})
	}
	for i := range 2 { // two of the three nodes are out
		w.do(start, "cordon", func(s *state.State, at time.Time) error {
			_, err := commands.Cordon{Node: fmt.Sprintf("g%d", i), Owner: "human/oncall"}.Do(s, at)
			return err
		})
	}
	book("first", "a", 1, 2)
	book("second", "b", 2, 3)
	w.schedule(start.Add(time.Hour))
	w.submit(start.Add(115*time.Minute), jobs.Job{ID: "late", Tenant: "a", Count: 1, GPUs: 8})
	w.schedule(start.Add(116 * time.Minute)) // the second is seated by now
	require.Equal(t, "first", w.job("late").Claim)
	w.schedule(start.Add(2 * time.Hour))
	require.Equal(t, jobs.Queued, w.job("late").Phase)
}

// A hold that begins at once takes its nodes at once, and the work on them waits
// again.
func TestHoldThatBeginsNow(t *testing.T) {
	w := &tale{t, smallUnder(t, reservation.Policy{})}
	for i := range 2 {
		w.submit(start, jobs.Job{ID: fmt.Sprintf("j%d", i), Tenant: "a", Count: 1, GPUs: 8})
	}
	w.schedule(start)
	for n := range 3 { // the node without work is out
		node := fmt.Sprintf("g%d", n)
		i, _ := w.s.Cluster.Index(topology.NodeID(node))
		if w.s.Fleet.Free(i).Pods == 0 {
			w.do(start, "cordon", func(s *state.State, at time.Time) error {
				_, err := commands.Cordon{Node: node, Owner: "human/oncall"}.Do(s, at)
				return err
			})
		}
	}
	w.do(start.Add(time.Minute), "hold", func(s *state.State, at time.Time) error {
		_, err := commands.Book{ID: "h", Owner: "b", Pool: "G2-x8", Nodes: 1, Start: at, End: at.Add(time.Hour), Hold: 5 * time.Minute}.Do(s, at)
		return err
	})
	_, waiting, running := w.s.Jobs.Counts()
	require.Equal(t, [2]int{1, 1}, [2]int{waiting, running})
	w.schedule(start.Add(10 * time.Minute)) // it has expired
}
