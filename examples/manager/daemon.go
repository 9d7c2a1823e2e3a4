// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/berth-gpu/berth/examples/manager/api"
	"github.com/berth-gpu/berth/examples/manager/cell"
	"github.com/berth-gpu/berth/examples/manager/clock"
	"github.com/berth-gpu/berth/examples/manager/service"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/store"
	"github.com/berth-gpu/berth/examples/manager/web"
)

// A daemon is a running manager: store, cell, service and HTTP server.
type daemon struct {
	journal *store.Bolt
	cell    *cell.Cell[*state.State]
	service *service.Service
	found   int           // records replayed at the start
	took    time.Duration // to bring the state to where it was

	mu        sync.Mutex // snapshots and appends use the journal in turn
	sinceSnap int
}

// snapshotEvery bounds the records that a restart replays.
const snapshotEvery = 50_000

// openDaemon opens the store and brings the state to where it was. fresh makes
// the state of a new store.
func openDaemon(path string, clk func(at time.Time) clock.Clock, fresh func() (*state.State, error)) (*daemon, error) {
	began := time.Now()
	journal, err := store.Open(path)
	if err != nil {
		return nil, err
	}
	d := &daemon{journal: journal}
	s, err := d.load(fresh)
	d.took = time.Since(began)
	if err != nil {
		return nil, errors.Join(err, journal.Close())
	}
	d.service = &service.Service{Clock: clk(s.At())}
	d.cell = cell.New(s, journal.Last(), d, d.published)
	d.service.Cell = d.cell
	return d, nil
}

// recovered says what the start found, and how long it took.
func (d *daemon) recovered(path string) string {
	return fmt.Sprintf("store %s: %d records replayed, last %d, recovered in %s", path, d.found, d.journal.Last(), d.took.Round(time.Millisecond))
}

func (d *daemon) load(fresh func() (*state.State, error)) (*state.State, error) {
	var s *state.State
	err := d.journal.Load(
		func(seq uint64, snapshot []byte) (err error) {
			if s, err = state.Restore(seq, snapshot); err != nil {
				return fmt.Errorf("%w: %w", store.ErrDamaged, err)
			}
			return nil
		},
		func(r store.Record) (err error) {
			if s == nil {
				return fmt.Errorf("%w: the log begins without a snapshot", store.ErrDamaged)
			}
			d.found++
			if err := s.Apply(r.Seq, r.Payload); err != nil {
				return fmt.Errorf("%w: %w", store.ErrDamaged, err)
			}
			return nil
		})
	if err != nil || s != nil {
		return s, err
	}
	if s, err = fresh(); err != nil {
		return nil, err
	}
	snapshot, err := s.Snapshot() // the configuration is the first thing to be durable
	if err != nil {
		return nil, err
	}
	return s, d.journal.SaveSnapshot(0, snapshot)
}

// Append makes a batch durable; it is the cell's log.
func (d *daemon) Append(first uint64, payloads [][]byte) error {
	records := make([]store.Record, len(payloads))
	for i, p := range payloads {
		records[i] = store.Record{Seq: first + uint64(i), Payload: p}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.journal.Append(records...)
}

// published runs in the writer after each batch.
func (d *daemon) published(records int) {
	d.service.Published()
	if d.sinceSnap += records; d.sinceSnap < snapshotEvery {
		return
	}
	d.sinceSnap = 0
	if err := d.snapshot(); err != nil {
		fmt.Println("manager: snapshot:", err) // the log goes on; the next attempt comes
	}
}

func (d *daemon) snapshot() error {
	s := d.cell.Load()
	b, err := s.Snapshot()
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.journal.SaveSnapshot(s.Seq(), b)
}

// serve runs the writer, the HTTP server and work until ctx ends or one fails.
func (d *daemon) serve(ctx context.Context, listen string, viewer func(*http.Request) (string, error), ready func(url string), work func(context.Context) error) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return errors.Join(fmt.Errorf("listen on %q: %w", listen, err), d.journal.Close())
	}
	mux := http.NewServeMux()
	mux.Handle("/v1/", api.Handler(d.service, api.Options{Viewer: viewer}))
	if viewer != nil {
		mux.Handle("/login", login(viewer))
	}
	mux.Handle("/", web.Handler(d.service, web.Options{Viewer: viewer}))
	handler := http.NewCrossOriginProtection().Handler(mux)
	if viewer == nil {
		handler = loopbackOnly(handler)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Requests outlive ctx a little, so that what is being decided is answered.
	requests, endRequests := context.WithCancel(context.WithoutCancel(ctx))
	defer endRequests()
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return requests }}
	errs := make(chan error, 4)
	var wg sync.WaitGroup
	writer, stopWriter := context.WithCancel(context.WithoutCancel(ctx))
	var writing sync.WaitGroup
	writing.Go(func() {
		if err := d.cell.Run(writer); err != nil {
			errs <- err
			cancel()
		}
	})
	if err := d.service.CatchUp(ctx); err != nil && ctx.Err() == nil {
		errs <- err
		cancel()
	}
	wg.Go(func() {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			errs <- err
			cancel()
		}
	})
	wg.Go(func() {
		if err := work(ctx); err != nil && ctx.Err() == nil {
			errs <- err
			cancel()
		}
	})
	ready("http://" + l.Addr().String())
	<-ctx.Done()
	streams := time.AfterFunc(time.Second, endRequests) // pages that listen for news never end by themselves
	defer streams.Stop()
	grace, done := context.WithTimeout(context.Background(), 5*time.Second)
	defer done()
	_ = srv.Shutdown(grace) // what is still open after the grace is cut
	_ = srv.Close()
	wg.Wait()
	stopWriter()
	writing.Wait()
	close(errs)
	var all error
	for e := range errs {
		all = errors.Join(all, e)
	}
	if all == nil {
		all = d.snapshot()
	}
	return errors.Join(all, d.journal.Close())
}
