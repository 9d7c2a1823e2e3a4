// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/berth-gpu/berth/examples/manager/clock"
	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/examples/manager/service"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/store"
	"github.com/berth-gpu/berth/examples/manager/views"
	"github.com/berth-gpu/berth/reservation"
)

// An errand is one thing that a worker asks of its manager: of the three, one.
type errand struct {
	Name   string // of the errand, never twice
	Tenant string
	Book   *views.BookRequest `json:",omitempty"`
	Job    *jobs.Job          `json:",omitempty"`
	Cancel string             `json:",omitempty"` // a booking; the name is the request key
}

// ask carries the errand out, or has it answered as before.
func (e errand) ask(ctx context.Context, s *service.Service) (any, error) {
	switch {
	case e.Book != nil:
		return s.Book(ctx, e.Tenant, *e.Book, false)
	case e.Job != nil:
		return s.Submit(ctx, e.Tenant, *e.Job, false)
	default:
		return s.CancelAs(ctx, service.Call{Actor: e.Tenant, Key: e.Name}, e.Cancel)
	}
}

// worker works on the store as fast as it can until it is killed. It prints every
// errand before it asks, and its name when it has been answered.
func worker(path string) {
	start := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	d, err := openDaemon(path, func(at time.Time) clock.Clock {
		if at.Before(start) {
			at = start
		}
		return clock.NewFast(at, 20_000)
	}, smallFleet)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	ctx := context.Background()
	go func() { fmt.Println("error", d.cell.Run(ctx)) }()
	var out sync.Mutex
	say := func(format string, args ...any) {
		out.Lock()
		defer out.Unlock()
		_, _ = fmt.Printf(format+"\n", args...)
	}
	pid := os.Getpid()
	for g := range 3 {
		go func() {
			r := rand.New(rand.NewPCG(uint64(pid), uint64(g)))
			for i := 0; ; i++ {
				e := errand{Name: fmt.Sprintf("%d-%d-%d", pid, g, i), Tenant: []string{"a", "b"}[g%2]}
				switch r.IntN(6) {
				case 0:
					// Soon, among the work that runs, or later than any lease, when there is quota.
					now := d.service.Overview("").Now.Add(time.Duration(r.IntN(2)) * 25 * time.Hour)
					e.Book = &views.BookRequest{ID: e.Name, Owner: e.Tenant, Pool: "T4-x4", Nodes: 1 + r.Int64N(2),
						Start: now.Add(time.Hour).Truncate(time.Minute), End: now.Add(3 * time.Hour).Truncate(time.Minute)}
				case 1, 2:
					for b := range d.cell.Load().Calendar.Bookings("", reservation.Window{}) {
						if b.Owner == e.Tenant && b.Class == reservation.Firm && b.Phase.Live() {
							e.Cancel = b.ID
							break
						}
					}
					if e.Cancel == "" {
						continue
					}
				case 3:
					if _, err := d.service.Schedule(ctx, 0); err != nil {
						say("error schedule %v", err)
					}
					for j := range d.cell.Load().Jobs.Running() {
						if err := d.service.Finish(ctx, j.ID); err == nil {
							say("finished %s", j.ID)
						}
						break
					}
					continue
				default:
					e.Job = &jobs.Job{ID: e.Name, Tenant: e.Tenant, Count: 1, GPUs: 1 + r.Int64N(2), CPUMilli: 100}
				}
				line, err := json.Marshal(e)
				if err != nil {
					say("error %v", err)
				}
				say("ask %s", line)
				if _, err := e.ask(ctx, d.service); err != nil {
					say("refused %s", e.Name)
					continue
				}
				say("answered %s", e.Name)
			}
		}()
	}
	select {}
}

// stands is a clock of wall speed from where the state is.
func stands(at time.Time) clock.Clock { return clock.NewFast(at, 1) }

// A tally is what became of errands.
type tally struct {
	Answered int // and present
	Stored   int // but not answered: present, and answered now
	Keyed    int // of those, by a request key
	Lost     int // neither stored nor answered, and not present
	Cancels  int // asked for
}

func (t *tally) add(o tally) {
	t.Answered, t.Stored, t.Keyed, t.Lost, t.Cancels = t.Answered+o.Answered, t.Stored+o.Stored, t.Keyed+o.Keyed, t.Lost+o.Lost, t.Cancels+o.Cancels
}

// verify says what is wrong with a manager that was opened after its worker died,
// having printed lines: the books must agree, what was answered must be there, and
// of all that was asked for exactly what is in the journal after record last.
func verify(ctx context.Context, d *daemon, lines []string, last uint64) (tally, error) {
	var found tally
	s := d.cell.Load()
	if err := s.Check(); err != nil {
		return found, err
	}
	open := map[string]errand{}
	all := map[string]errand{}
	for _, line := range lines {
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "ask":
			var e errand
			if err := json.Unmarshal([]byte(rest), &e); err != nil {
				return found, err
			}
			open[e.Name], all[e.Name] = e, e
			if e.Cancel != "" {
				found.Cancels++
			}
		case "answered":
			if !shown(s, all[rest]) {
				return found, fmt.Errorf("errand %s was answered and is lost", rest)
			}
			found.Answered++
			delete(open, rest)
		case "refused":
			delete(open, rest)
		case "finished":
			if j, ok := s.Jobs.Find(rest); !ok || j.Phase != jobs.Ended {
				return found, fmt.Errorf("the end of job %s was answered and is lost", rest)
			}
		case "":
		default:
			return found, fmt.Errorf("the worker says %q", line)
		}
	}
	if len(open) == 0 {
		return found, nil
	}
	stored, err := inJournal(d, open, last)
	if err != nil {
		return found, err
	}
	ctx, stop := context.WithCancel(ctx)
	var run sync.WaitGroup
	run.Go(func() { _ = d.cell.Run(ctx) })
	defer run.Wait()
	defer stop()
	for name, e := range open {
		// A booking that is over may have been given back by another errand.
		if shown(s, e) != stored[name] && (stored[name] || e.Cancel == "") {
			return found, fmt.Errorf("errand %s: shown is %t, stored is %t", name, shown(s, e), stored[name])
		}
		if !stored[name] {
			found.Lost++
			continue
		}
		if err := answeredAsBefore(ctx, d, s, e); err != nil {
			return found, fmt.Errorf("errand %s, stored but not answered: %w", name, err)
		}
		found.Stored++
		if e.Cancel != "" {
			found.Keyed++
		}
	}
	return found, nil
}

// shown says whether what an errand asked for is there.
func shown(s *state.State, e errand) bool {
	switch {
	case e.Book != nil:
		_, ok := s.Calendar.Find(e.Name)
		return ok
	case e.Job != nil:
		_, ok := s.Jobs.Find(e.Name)
		return ok
	default:
		b, ok := s.Calendar.Find(e.Cancel)
		return ok && !b.Phase.Live()
	}
}

// inJournal says which errands the journal has after record last: the record of
// the right command has the errand's name in it, as an id or as a key.
func inJournal(d *daemon, open map[string]errand, last uint64) (map[string]bool, error) {
	stored := map[string]bool{}
	err := d.journal.History(func(r store.Record) error {
		if r.Seq <= last {
			return nil
		}
		sum, err := state.Describe(r.Seq, r.Payload)
		if err != nil {
			return err
		}
		for name, e := range open {
			switch {
			case e.Book != nil && sum.Header.Command == "book", e.Job != nil && sum.Header.Command == "submit":
				stored[name] = stored[name] || bytes.Contains(r.Payload, []byte(name))
			case e.Cancel != "" && sum.Header.Command == "cancel":
				stored[name] = stored[name] || sum.Header.Key == name
			}
		}
		return nil
	})
	return stored, err
}

// answeredAsBefore asks an errand again that the journal has: the answer is about
// what is there, and nothing is done twice.
func answeredAsBefore(ctx context.Context, d *daemon, s *state.State, e errand) error {
	got, err := e.ask(ctx, d.service)
	if err != nil {
		return fmt.Errorf("asked again it is refused: %w", err)
	}
	now := d.cell.Load()
	switch v := got.(type) {
	case views.Job:
		was, _ := s.Jobs.Find(e.Name)
		if v.ID != e.Name || !v.Submitted.Equal(was.Submitted) {
			return fmt.Errorf("submitted at %s, asked again it is another: %+v", was.Submitted, v)
		}
	case views.Booking:
		id := e.Name
		if e.Cancel != "" {
			id = e.Cancel
		}
		was, _ := s.Calendar.Find(id)
		is, _ := now.Calendar.Find(id)
		if v.ID != id || v.Version > was.Version || is.Version != was.Version {
			return fmt.Errorf("version %d, asked again it is version %d and the answer %+v", was.Version, is.Version, v)
		}
	}
	return nil
}
