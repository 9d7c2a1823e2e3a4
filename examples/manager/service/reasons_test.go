// SPDX-License-Identifier: Apache-2.0

package service_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/manager/commands"
	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/examples/manager/service"
)

// Of three jobs that each want the whole fleet, only the first starts next; the
// others are told that it is ahead.
func TestReasonsKnowWhoIsAhead(t *testing.T) {
	w := newWorld(t, "n0,64000,262144,2,T4\nn1,64000,262144,2,T4\n", gpus("a", 8, 0))
	for _, id := range []string{"j1", "j2", "j3"} {
		w.submit(jobs.Job{ID: id, Tenant: "a", Count: 2, GPUs: 2})
	}
	var codes []string
	for _, j := range w.s.Queue("", 10).Waiting {
		codes = append(codes, j.ID+" "+j.Reason.Code)
	}
	require.Equal(t, []string{"j1 next", "j2 behind", "j3 behind"}, codes)
	require.Equal(t, "it fits, but 1 job is ahead, start first, and leave too little", w.reason("a", "j3").Detail)
	require.Equal(t, 1, w.schedule())
	require.Equal(t, "waits: no room", w.reason("a", "j3").Title)
}

// Exactly the jobs that are said to start at the next pass start at it, whatever
// the queue; so the others' reasons are true in that they do not.
func TestReasonsAreTrue(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	seen := map[string]int{}
	for round := range 60 {
		var nodes strings.Builder
		for n := range 6 {
			fmt.Fprintf(&nodes, "t%d,64000,262144,2,T4\n", n)
		}
		nodes.WriteString("g0,96000,393216,8,G2\ng1,96000,393216,8,G2\nc0,32000,65536,0,\n")
		w := newWorld(t, nodes.String(), gpus("a", 6, 16), gpus("b", 12, 8))
		for pass := range 3 {
			for i := range 12 {
				j := jobs.Job{ID: fmt.Sprintf("p%d-%d", pass, i), Tenant: []string{"a", "b"}[r.IntN(2)], Count: 1 + r.IntN(3), CPUMilli: 1000 + r.Int64N(40_000)}
				if r.IntN(5) > 0 {
					j.GPUs = 1 + r.Int64N(9)
				}
				w.submit(j)
			}
			said := map[string]bool{}
			for _, j := range w.s.Queue("", 1000).Waiting {
				require.NotNil(t, j.Reason, j.ID)
				seen[j.Reason.Code]++
				if j.Reason.Code == "next" {
					said[j.ID] = true
				}
			}
			require.Equal(t, len(said), w.schedule(), "round %d", round)
			for id := range said {
				j, err := w.s.Job("", id)
				require.NoError(t, err)
				require.Equal(t, "running", j.Phase, id)
			}
		}
	}
	require.Len(t, seen, 3, "%v", seen)
}

// A job that the next pass has no time for is told so.
func TestReasonOfAJobThatIsNotLookedAt(t *testing.T) {
	w := newWorld(t, "n0,64000,262144,2,T4\n", gpus("a", 2, 0))
	for i := range commands.DefaultBudget + 100 {
		w.submit(jobs.Job{ID: fmt.Sprintf("big-%04d", i), Tenant: "a", Count: 1, GPUs: 1, CPUMilli: 70_000 + int64(i)})
		w.submit(jobs.Job{ID: fmt.Sprintf("small-%04d", i), Tenant: "a", Count: 1, GPUs: 2, CPUMilli: 1000 - int64(i)})
	}
	starts, late := 0, 0
	for _, j := range w.s.Queue("", 1000).Waiting {
		require.NotNil(t, j.Reason, j.ID)
		switch {
		case j.Reason.Code == "next":
			starts++
		case strings.HasPrefix(j.ID, "small") && strings.Contains(j.Reason.Detail, "one pass looks for places for 256"):
			late++
		}
	}
	require.Equal(t, 1, starts)
	require.Positive(t, late)
}

// Jobs of one shape share a reason; it names none of them.
func TestReasonsNameNoJob(t *testing.T) {
	w := newWorld(t, "n0,64000,262144,2,T4\nn1,64000,262144,2,T4\n", gpus("a", 1, 0), gpus("b", 4, 0))
	w.submit(jobs.Job{ID: "first-a", Tenant: "a", Count: 1, GPUs: 2}, jobs.Job{ID: "second-a", Tenant: "a", Count: 1, GPUs: 2},
		jobs.Job{ID: "first-b", Tenant: "b", Count: 2, GPUs: 2}, jobs.Job{ID: "second-b", Tenant: "b", Count: 2, GPUs: 2})
	require.Equal(t, 1, w.schedule())
	for _, viewer := range []string{"", "a"} {
		for _, j := range w.s.Queue(viewer, 10).Waiting {
			text := fmt.Sprint(*j.Reason)
			require.NotContains(t, text, "first-", j.ID)
			require.NotContains(t, text, "second-", j.ID)
			require.NotContains(t, text, "job/", j.ID)
		}
	}
}

// However many different jobs there are, each is told a reason.
func TestEveryJobHasAReason(t *testing.T) {
	w := newWorld(t, "n0,64000,262144,2,T4\n", gpus("a", 2, 0))
	n := service.MaxExplained + 50
	for i := range n {
		w.submit(jobs.Job{ID: fmt.Sprintf("j%d", i), Tenant: "a", Count: 1, GPUs: 1, CPUMilli: 64_001 + int64(i)})
	}
	list := w.s.Queue("", 1000).Waiting
	require.Len(t, list, n)
	for _, j := range list {
		require.NotNil(t, j.Reason, j.ID)
		require.NotEmpty(t, j.Reason.Detail, j.ID)
	}
	require.Contains(t, list[0].Reason.Detail, "T4-x2: never")
	require.Equal(t, "T4-x2: no room", list[n-1].Reason.Detail)
}

// A reason is for people: a line for each pool that would do, by its name, of its
// own nodes; "never" is said of a job only if no pool can ever take it.
func TestReasonsSpeakOfPools(t *testing.T) {
	w := newWorld(t, "t0,64000,262144,2,T4\nt1,64000,262144,2,T4\nu0,64000,262144,4,T4\ng0,96000,393216,8,G2\ng1,96000,393216,8,G2\nc0,8000,8192,0,\n",
		gpus("a", 8, 16), gpus("b", 8, 4))
	w.submit(jobs.Job{ID: "other", Tenant: "b", Count: 2, GPUs: 1, Models: []string{"G2"}, CPUMilli: 50_000})
	require.Equal(t, 1, w.schedule())
	w.submit(jobs.Job{ID: "two", Tenant: "a", Count: 2, GPUs: 4}, jobs.Job{ID: "wide", Tenant: "a", Count: 1, GPUs: 9},
		jobs.Job{ID: "wide-t4", Tenant: "a", Count: 1, GPUs: 5, Models: []string{"T4"}}, jobs.Job{ID: "fat", Tenant: "a", Count: 1, GPUs: 1, MemoryMiB: 1 << 20},
		jobs.Job{ID: "poor", Tenant: "b", Count: 1, GPUs: 8, Models: []string{"G2"}})

	r := w.reason("a", "two")
	require.Equal(t, "waits: no room", r.Title)
	require.Equal(t, "T4-x4: never, its only node would not do even if empty\n"+
		"G2-x8: no room, place for 0 of 2 pods; of 2 nodes 2 serve other tenants", r.Detail)
	require.Contains(t, r.Help, "G2-x8: nodes that serve other tenants")

	r = w.reason("a", "wide")
	require.Equal(t, "waits: nothing would serve it: no pool has nodes with 9 GPUs", r.Error())
	require.Equal(t, "no pool has nodes with 5 GPUs of T4", w.reason("a", "wide-t4").Detail)

	r = w.reason("a", "fat")
	require.Equal(t, "waits: it never fits this fleet", r.Title)
	require.Contains(t, r.Detail, "T4-x2: never, its 2 nodes would not do even if empty\n")
	require.NotContains(t, r.Detail, "not-listed")

	r = w.reason("b", "poor")
	require.Equal(t, "waits: no quota", r.Title)
	require.Equal(t, `G2-x8: no quota, "b" has no more for anybody: 2 of 4 G2 GPUs used, 8 needed`, r.Detail)
	require.Equal(t, []string{`free or add 6 G2 GPUs at "b"`}, r.Help)
}
