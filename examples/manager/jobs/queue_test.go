// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/examples/manager/jobs"
)

var start = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

func encode(t require.TestingT, q *jobs.Queue) string {
	b, err := q.MarshalJSON()
	require.NoError(t, err)
	return string(b)
}

// Replay equals live, a refusal changes nothing, a fork never changes its base,
// and the indexes agree with the records.
func TestQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := jobs.New()
		_, err := base.Submit(start, jobs.Job{ID: "j0", Tenant: "a", Count: 1, GPUs: 1})
		require.NoError(t, err)
		before := encode(t, base)
		q := base.Fork()
		for i := range rapid.IntRange(1, 60).Draw(t, "n") {
			at := start.Add(time.Duration(i) * time.Minute)
			id := fmt.Sprintf("j%d", rapid.IntRange(0, 7).Draw(t, "id"))
			was, events := encode(t, q), len(q.Events())
			var err error
			switch rapid.IntRange(0, 5).Draw(t, "op") {
			case 0:
				_, err = q.Submit(at, jobs.Job{ID: id, Tenant: "a", Count: rapid.IntRange(0, 2).Draw(t, "count"), GPUs: 1})
			case 1:
				_, err = q.Start(at, id, "claim", "key")
			case 2:
				_, err = q.Requeue(id, "why")
			case 3:
				_, err = q.End(at, id)
			case 4:
				_, err = q.Cancel(at, id, "why")
			case 5:
				err = q.Forget(id)
			}
			if err != nil {
				require.Equal(t, was, encode(t, q))
				require.Len(t, q.Events(), events)
			}
		}
		require.Equal(t, before, encode(t, base))
		copied, err := jobs.Restore([]byte(before))
		require.NoError(t, err)
		for _, e := range q.Events() {
			b, err := json.Marshal(e)
			require.NoError(t, err)
			var back jobs.Event
			require.NoError(t, json.Unmarshal(b, &back))
			require.NoError(t, copied.Apply(back))
		}
		require.Equal(t, encode(t, q), encode(t, copied))
		counts := map[jobs.Phase]int{}
		for j := range q.All() {
			counts[j.Phase]++
		}
		for _, x := range []*jobs.Queue{q, copied} {
			all, waiting, running := x.Counts()
			require.Equal(t, counts[jobs.Queued], waiting)
			require.Equal(t, counts[jobs.Running], running)
			n := 0
			for j := range x.Waiting() {
				require.Equal(t, jobs.Queued, j.Phase)
				n++
			}
			require.Equal(t, waiting, n)
			require.GreaterOrEqual(t, all, waiting+running)
		}
	})
}

func TestRefusals(t *testing.T) {
	q := jobs.New()
	_, err := q.Submit(start, jobs.Job{ID: "", Count: -1, GPUs: 2, GPUMilli: 5})
	require.ErrorIs(t, err, jobs.ErrInvalid)
	for _, want := range []string{"id is", "tenant is", "count is -1", "gpu_milli is 5"} {
		require.ErrorContains(t, err, want)
	}
	_, err = q.Submit(start, jobs.Job{ID: "a", Tenant: "t", Count: 1, GPUs: 1})
	require.NoError(t, err)
	_, err = q.Submit(start.Add(time.Hour), jobs.Job{ID: "a", Tenant: "t", Count: 1, GPUs: 1})
	require.NoError(t, err, "the same again is answered as before")
	_, err = q.Submit(start, jobs.Job{ID: "a", Tenant: "t", Count: 1, GPUs: 2})
	require.ErrorIs(t, err, jobs.ErrExists)
	_, err = q.End(start, "a")
	require.ErrorIs(t, err, jobs.ErrState)
	_, err = q.End(start, "b")
	require.ErrorIs(t, err, jobs.ErrUnknown)
	require.ErrorIs(t, q.Forget("a"), jobs.ErrState)
	_, err = jobs.Restore([]byte(`[{"id":"b"},{"id":"a"}]`))
	require.Error(t, err)
	_, err = jobs.Restore([]byte(`[null]`))
	require.Error(t, err)
}
