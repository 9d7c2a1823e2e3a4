// SPDX-License-Identifier: Apache-2.0

package service_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/manager/cell"
	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/examples/manager/service"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/views"
	"github.com/berth-gpu/berth/quota"
	"github.com/berth-gpu/berth/topology"
)

var start = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// still is a clock that stands.
type still struct{}

func (still) Now() time.Time { return start }

type nowhere struct{}

func (nowhere) Append(uint64, [][]byte) error { return nil }

// world is a manager in memory whose clock stands.
type world struct {
	*testing.T
	s *service.Service
}

// newWorld makes one of nodes in the lines "name,cpu,memory,gpus,model" for tenants.
func newWorld(t *testing.T, nodes string, tenants ...quota.Tenant) world {
	fleet, err := topology.ReadOpenB(strings.NewReader("sn,cpu_milli,memory_mib,gpu,model\n" + nodes))
	require.NoError(t, err)
	st, err := state.New(state.Config{Fleet: fleet, Tenants: tenants})
	require.NoError(t, err)
	w := world{t, &service.Service{Clock: still{}, CheckAll: true}}
	w.s.Cell = cell.New(st, 0, nowhere{}, nil)
	ctx, stop := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() { _ = w.s.Cell.Run(ctx) })
	t.Cleanup(func() { stop(); run.Wait() })
	return w
}

// gpus is a tenant with a quota of so many T4 and G2 GPUs.
func gpus(name string, t4, g2 int64) quota.Tenant {
	return quota.Tenant{Name: name, Limits: []quota.Limit{{Key: state.GPUKey("T4"), Nominal: t4 * 1000}, {Key: state.GPUKey("G2"), Nominal: g2 * 1000}, {Key: state.CPUKey, Nominal: 100_000}}}
}

func (w world) submit(list ...jobs.Job) {
	w.Helper()
	for _, j := range list {
		_, err := w.s.Submit(w.Context(), "", j, false)
		require.NoError(w, err)
	}
}

func (w world) schedule() (started int) {
	w.Helper()
	started, err := w.s.Schedule(w.Context(), 0)
	require.NoError(w, err)
	return started
}

// reason is why a job waits, which must be said.
func (w world) reason(viewer, id string) *views.Refusal {
	w.Helper()
	j, err := w.s.Job(viewer, id)
	require.NoError(w, err)
	require.NotNil(w, j.Reason, id)
	return j.Reason
}
