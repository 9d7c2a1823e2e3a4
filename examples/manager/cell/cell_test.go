// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/manager/cell"
)

// counter is the smallest state: a sum, and what was added since the fork.
type counter struct {
	sum, added uint64
	seq        uint64
}

func (c *counter) Fork() *counter    { return &counter{sum: c.sum, seq: c.seq} }
func (c *counter) Sealed(seq uint64) { c.seq = seq }
func (c *counter) Record() ([]byte, error) {
	if c.added == 0 {
		return nil, nil
	}
	return binary.BigEndian.AppendUint64(nil, c.added), nil
}

// memory is a log that can be told to fail.
type memory struct {
	mu      sync.Mutex
	records []uint64
	fail    error
}

func (m *memory) Append(first uint64, payloads [][]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	if first != uint64(len(m.records))+1 {
		return errors.New("gap")
	}
	for _, p := range payloads {
		m.records = append(m.records, binary.BigEndian.Uint64(p))
	}
	return nil
}

func (m *memory) sum() (s uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.records {
		s += r
	}
	return s
}

func add(n uint64) func(*counter) (any, error) {
	return func(c *counter) (any, error) { c.sum += n; c.added += n; return c.sum, nil }
}

var errNo = errors.New("no")

// C1–C3 under many callers and readers (run with -race).
func TestCell(t *testing.T) {
	log := &memory{}
	c := cell.New(&counter{}, 0, log, nil)
	ctx, stop := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() { _ = c.Run(ctx) })

	var callers sync.WaitGroup
	for g := range 8 {
		callers.Go(func() {
			for i := range 200 {
				if (g+i)%5 == 0 {
					_, _, err := c.Do(ctx, func(s *counter) (any, error) { s.sum = 1 << 60; return nil, errNo })
					if !errors.Is(err, errNo) {
						t.Errorf("refusal came back as %v", err)
					}
					continue
				}
				val, seq, err := c.Do(ctx, add(1))
				if err != nil {
					t.Errorf("add: %v", err)
					return
				}
				if seen := c.Load(); seen.sum < val.(uint64) || seen.seq < seq { // answered ⇒ visible
					t.Errorf("answered %d at %d, but readers see %d at %d", val, seq, seen.sum, seen.seq)
				}
				if seen, stored := c.Load().sum, log.sum(); stored < seen { // visible ⇒ stored
					t.Errorf("readers see %d, the store has %d", seen, stored)
				}
			}
		})
	}
	callers.Wait()
	require.Equal(t, uint64(8*160), c.Load().sum)
	require.Equal(t, c.Load().sum, log.sum())
	require.Equal(t, c.Seq(), c.Load().seq)

	val, err := c.Try(add(5))
	require.NoError(t, err)
	require.Equal(t, uint64(8*160+5), val)
	require.Equal(t, uint64(8*160), c.Load().sum, "a dry run leaves no trace")

	_, _, err = c.Do(ctx, func(*counter) (any, error) { panic("boom") })
	require.ErrorContains(t, err, "boom")
	_, seq, err := c.Do(ctx, func(*counter) (any, error) { return nil, nil })
	require.NoError(t, err)
	require.Equal(t, c.Seq(), seq, "a command that decides nothing needs no record")
	stop()
	run.Wait()
	_, _, err = c.Do(t.Context(), add(1))
	require.ErrorIs(t, err, cell.ErrClosed)
}

// C4: a log that fails stops everything and shows nothing.
func TestLogFails(t *testing.T) {
	log := &memory{}
	c := cell.New(&counter{}, 0, log, nil)
	result := make(chan error, 1)
	go func() { result <- c.Run(t.Context()) }()
	_, _, err := c.Do(t.Context(), add(3))
	require.NoError(t, err)
	log.mu.Lock()
	log.fail = errors.New("disk full")
	log.mu.Unlock()
	_, _, err = c.Do(t.Context(), add(4))
	require.ErrorIs(t, err, cell.ErrClosed)
	require.ErrorContains(t, err, "disk full")
	require.ErrorContains(t, <-result, "disk full")
	require.Equal(t, uint64(3), c.Load().sum)
	_, _, err = c.Do(t.Context(), add(1))
	require.ErrorIs(t, err, cell.ErrClosed)
}
