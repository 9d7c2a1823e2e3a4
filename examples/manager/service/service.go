// SPDX-License-Identifier: Apache-2.0

// Package service is what page, API and CLI talk to: it runs commands through
// the cell, answers retries from the request keys, keeps tenants apart, and
// turns state into views.
package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/berth-gpu/berth/examples/manager/cell"
	"github.com/berth-gpu/berth/examples/manager/clock"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/views"
)

// A Service serves one published state.
//
// A Service is safe for concurrent use by multiple goroutines.
type Service struct {
	Cell  *cell.Cell[*state.State]
	Clock clock.Clock
	// Progress tells the demo's progress; nil outside the demo.
	Progress func() *views.DemoProgress
	// CheckAll verifies the contract between the engines after every command: for
	// tests and simulations, it costs a recount of everything.
	CheckAll bool

	mu      sync.Mutex
	changed chan struct{}
}

// A Call is one mutating request.
type Call struct {
	Command string // for the audit log
	Actor   string // "" for an admin
	Key     string // request key: a retry is answered as before; "" for none
	Request any    // what the key stands for
	// IfVersion is the version of the booking that the caller decided by; 0 for any.
	IfVersion uint64
	DryRun    bool // say what would happen, change nothing
}

// do runs one command. The answer has been through JSON if it came from a
// request key, so out is always filled from JSON.
func do[T any](ctx context.Context, s *Service, c Call, f func(*state.State, time.Time) (T, error)) (T, error) {
	var out T
	if len(c.Key) > state.MaxKey {
		return out, fmt.Errorf("%w: request key has %d bytes, more than %d", state.ErrInvalid, len(c.Key), state.MaxKey)
	}
	digest, err := digestOf(c)
	if err != nil {
		return out, err
	}
	command := func(st *state.State) (any, error) {
		if raw, ok, err := st.Retried(c.Actor, c.Key, digest); err != nil || ok {
			return raw, err
		}
		at, err := st.Begin(state.Header{At: s.Clock.Now(), Command: c.Command, Actor: c.Actor, Key: c.Key, Digest: digest})
		if err != nil {
			return nil, err
		}
		v, err := f(st, at)
		if err != nil {
			return nil, err
		}
		if err := st.Answer(v); err != nil {
			return nil, err
		}
		if s.CheckAll {
			if err := st.Check(); err != nil {
				return nil, fmt.Errorf("bug, please report: %s would break the contract between the engines: %w", c.Command, err)
			}
		}
		return v, nil
	}
	var v any
	if c.DryRun {
		v, err = s.Cell.Try(command)
	} else {
		v, _, err = s.Cell.Do(ctx, command)
	}
	if err != nil {
		return out, err
	}
	switch v := v.(type) {
	case T:
		return v, nil
	case json.RawMessage:
		return out, json.Unmarshal(v, &out)
	default:
		return out, fmt.Errorf("bug, please report: %s answered a %T", c.Command, v)
	}
}

func digestOf(c Call) (string, error) {
	if c.Key == "" {
		return "", nil
	}
	what := []any{c.Command, c.Actor, c.Request}
	if c.IfVersion != 0 {
		what = append(what, c.IfVersion)
	}
	b, err := json.Marshal(what)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// Published wakes those who wait for a newer state; the cell calls it after
// each batch.
func (s *Service) Published() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// Changed returns a channel that is closed when a newer state is published.
func (s *Service) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}
