// SPDX-License-Identifier: Apache-2.0

package nvmltest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/nvmlx"
	"github.com/berth-gpu/berth/nvmlx/nvmltest"
)

func deviceAt(t testing.TB, node *nvmltest.Node, i int) nvmlx.Device {
	t.Helper()
	devices, err := node.Devices(context.Background())
	require.NoError(t, err)
	return devices[i]
}

// F3, F4: a lost GPU refuses all but its index, reports XID 79, and changes nothing for the others.
func TestLoseF4(t *testing.T) {
	node := newNode(t, nvmltest.HGXH100())
	before, err := nvmlx.ReadInventory(t.Context(), node)
	require.NoError(t, err)
	events, err := node.Subscribe(t.Context())
	require.NoError(t, err)
	require.NoError(t, node.Lose(3))
	require.NoError(t, node.Lose(3)) // once is enough

	event, err := events.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, nvmlx.Event{Type: nvmlx.EventXID, GPU: before.GPUs[3].UUID, XID: 79}, event)
	after, err := nvmlx.ReadInventory(t.Context(), node)
	require.ErrorIs(t, err, nvmlx.ErrGPULost)
	require.Equal(t, append(before.GPUs[:3:3], before.GPUs[4:]...), after.GPUs)

	lost := deviceAt(t, node, 3)
	index, err := lost.Index(t.Context())
	require.NoError(t, err)
	require.Equal(t, nvmlx.Index(3), index)
	for op, call := range map[string]func() error{
		"uuid":   func() error { _, err := lost.UUID(t.Context()); return err },
		"memory": func() error { _, err := lost.Memory(t.Context()); return err },
		"ecc":    func() error { _, err := lost.(nvmlx.ECC).ECCErrors(t.Context()); return err },
		"mig":    func() error { _, err := lost.(nvmlx.MIGControl).SetMIGMode(t.Context(), true); return err },
	} {
		require.ErrorIs(t, call(), nvmlx.ErrGPULost, op)
	}
	require.NoError(t, node.Heal(3))
	require.NoError(t, nvmltest.Check(t.Context(), node))
}

// X7, F4: a call on a hanging GPU returns exactly when its context ends; other GPUs answer; healing lets the call finish.
func TestHangX7F4(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := newNode(t, nvmltest.HGXH100())
		require.NoError(t, node.Hang(0))
		require.NoError(t, node.Hang(0))
		hung := deviceAt(t, node, 0)

		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		start := time.Now()
		_, err := hung.Minor(ctx)
		require.Equal(t, 5*time.Second, time.Since(start))
		require.ErrorIs(t, err, nvmlx.ErrTimeout)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "minor of GPU")
		_, err = deviceAt(t, node, 1).Minor(context.Background())
		require.NoError(t, err)

		time.AfterFunc(time.Hour, func() { _ = node.Heal(0) })
		start = time.Now()
		_, err = hung.Minor(context.Background())
		require.NoError(t, err)
		require.Equal(t, time.Hour, time.Since(start))
	})
}

func TestMIGMode(t *testing.T) {
	process := nvmlx.Process{PID: 7, UsedMiB: 100}
	t.Run("newer boards change at once and fall back at a reset", func(t *testing.T) {
		node := newNode(t, nvmltest.HGXH100())
		control := deviceAt(t, node, 0).(nvmlx.MIGControl)
		require.NoError(t, node.SetProcesses(0, process))
		change, err := control.SetMIGMode(t.Context(), true)
		require.NoError(t, err)
		require.Equal(t, nvmlx.MIGChange{MIGMode: nvmlx.MIGMode{Pending: true}, Waits: nvmlx.KindInUse}, change)
		require.ErrorIs(t, node.Reset(0), nvmlx.ErrInUse)
		require.NoError(t, node.SetProcesses(0))
		change, err = control.SetMIGMode(t.Context(), true)
		require.NoError(t, err)
		require.Equal(t, nvmlx.MIGChange{MIGMode: nvmlx.MIGMode{Current: true, Pending: true}}, change)
		require.NoError(t, node.Reset(0))
		mode, err := control.MIGMode(t.Context())
		require.NoError(t, err)
		require.Equal(t, nvmlx.MIGMode{}, mode)
	})
	t.Run("an A100 waits for the reset and keeps the mode", func(t *testing.T) {
		node := newNode(t, nvmltest.DGXA100())
		control := deviceAt(t, node, 0).(nvmlx.MIGControl)
		change, err := control.SetMIGMode(t.Context(), true)
		require.NoError(t, err)
		require.Equal(t, nvmlx.MIGChange{MIGMode: nvmlx.MIGMode{Pending: true}, Waits: nvmlx.KindResetRequired}, change)
		for range 2 {
			require.NoError(t, node.Reset(0))
			mode, err := control.MIGMode(t.Context())
			require.NoError(t, err)
			require.Equal(t, nvmlx.MIGMode{Current: true, Pending: true}, mode)
		}
	})
	t.Run("boards without it", func(t *testing.T) {
		control := deviceAt(t, newNode(t, nvmltest.OpenB("n", "T4", 1)), 0).(nvmlx.MIGControl)
		_, err := control.MIGMode(t.Context())
		require.ErrorIs(t, err, nvmlx.ErrUnsupported)
		_, err = control.SetMIGMode(t.Context(), true)
		require.ErrorIs(t, err, nvmlx.ErrUnsupported)
	})
}

func TestCountersProcessesAndReset(t *testing.T) {
	node := newNode(t, nvmltest.Config{Model: "T4", MemoryMiB: 15360, GPUs: 1})
	device := deviceAt(t, node, 0)
	require.NoError(t, node.SetECC(0, nvmlx.ECCErrors{VolatileCorrected: 1, VolatileUncorrected: 2, AggregateCorrected: 3, AggregateUncorrected: 4}))
	require.NoError(t, node.SetRowRemap(0, nvmlx.RowRemap{Correctable: 1, Pending: true}))
	require.NoError(t, node.SetProcesses(0, nvmlx.Process{PID: 9, UsedMiB: 15000}, nvmlx.Process{PID: 4, UsedMiB: -1}, nvmlx.Process{PID: 5, UsedMiB: 1000}))
	memory, err := device.Memory(t.Context())
	require.NoError(t, err)
	require.Equal(t, nvmlx.Memory{TotalMiB: 15360, UsedMiB: 15360}, memory)
	processes, err := device.(nvmlx.Processes).RunningProcesses(t.Context())
	require.NoError(t, err)
	require.Equal(t, []nvmlx.Process{{PID: 4, UsedMiB: -1}, {PID: 5, UsedMiB: 1000}, {PID: 9, UsedMiB: 15000}}, processes)
	require.NoError(t, nvmltest.Check(t.Context(), node))

	require.NoError(t, node.SetProcesses(0))
	require.NoError(t, node.Reset(0))
	counts, err := device.(nvmlx.ECC).ECCErrors(t.Context())
	require.NoError(t, err)
	require.Equal(t, nvmlx.ECCErrors{AggregateCorrected: 3, AggregateUncorrected: 4}, counts)
	rows, err := device.(nvmlx.RemappedRows).RowRemap(t.Context())
	require.NoError(t, err)
	require.Equal(t, nvmlx.RowRemap{Correctable: 1}, rows)
}

// Events reach every subscription once, in order, however many goroutines wait; Close lets them all return.
func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := newNode(t, nvmltest.HGXH100())
		shared, err := node.Subscribe(t.Context())
		require.NoError(t, err)
		alone, err := node.Subscribe(t.Context())
		require.NoError(t, err)
		const waiters, events = 4, 20
		counts := make(chan int, waiters)
		for range waiters {
			go func() {
				n := 0
				for {
					if _, err := shared.Next(context.Background()); err != nil {
						counts <- n
						return
					}
					n++
				}
			}()
		}
		for code := range int64(events) {
			require.NoError(t, node.XID(nvmlx.Index(code%8), code))
		}
		synctest.Wait()
		require.NoError(t, shared.Close())
		total := 0
		for range waiters {
			total += <-counts
		}
		require.Equal(t, events, total)
		for code := range int64(events) {
			event, err := alone.Next(t.Context())
			require.NoError(t, err)
			require.Equal(t, code, event.XID)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, err = alone.Next(ctx)
		require.ErrorIs(t, err, nvmlx.ErrTimeout)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// A burst reaches as many waiting goroutines as it has events, even if each takes only one.
func TestEventBurstWakesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := newNode(t, nvmltest.HGXH100())
		events, err := node.Subscribe(t.Context())
		require.NoError(t, err)
		const waiters = 50
		got := make(chan int64, waiters)
		for range waiters {
			go func() {
				if event, err := events.Next(context.Background()); err == nil {
					got <- event.XID
				}
			}()
		}
		synctest.Wait()
		for code := range int64(waiters) {
			require.NoError(t, node.XID(0, code))
		}
		synctest.Wait()
		require.Len(t, got, waiters)
		require.NoError(t, events.Close())
	})
}
