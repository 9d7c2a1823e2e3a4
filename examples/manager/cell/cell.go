// SPDX-License-Identifier: Apache-2.0

// Package cell publishes a forkable state: one writer, wait-free readers,
// durable before visible.
//
//	          commands                one batch = one append
//	callers ────────────► writer ──► fork ─► command ─► record ─┐
//	                                 fork ─► command ─► record ─┤
//	                                 fork ─► refused: dropped   │
//	                                                            ▼
//	readers ◄── atomic pointer ◄── publish ◄───────────── store.Append
//	callers ◄── answers (after publish)
//
// C1 What a caller was answered is in the store. C2 What a reader sees is in the
// store. C3 A refused command leaves no trace. C4 If the store fails, nothing is
// published, the callers are told so, and the cell refuses every later command:
// what is on the disk is unknown, so only a restart may go on.
package cell

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// A State is a forkable value that knows its record. Fork must leave the base
// untouched whatever is done to the copy.
type State[S any] interface {
	Fork() S
	// Record encodes what was decided since the fork, nil if nothing was.
	Record() ([]byte, error)
	// Sealed tells the fork its sequence number, before it is published.
	Sealed(seq uint64)
}

// A Log makes records durable: all of a batch, or none, before it returns.
type Log interface {
	Append(first uint64, payloads [][]byte) error
}

// Errors of Do.
var (
	// ErrClosed is returned once Run has ended or the log has failed.
	ErrClosed = errors.New("cell: closed")
	// ErrTooLarge is returned for a command whose record the log would not take.
	ErrTooLarge = errors.New("cell: record is too large")
)

// MaxRecord bounds the bytes of one command's record.
const MaxRecord = 48 << 20

// MaxBatch bounds the commands of one append.
const MaxBatch = 512

type call[S any] struct {
	ctx     context.Context
	command func(S) (any, error)
	reply   chan result
}

type result struct {
	seq uint64
	val any
	err error
}

// A Cell holds the published state and the queue of commands.
//
// A Cell is safe for concurrent use by multiple goroutines.
type Cell[S State[S]] struct {
	current atomic.Pointer[S]
	seq     atomic.Uint64
	calls   chan call[S]
	done    chan struct{}
	log     Log
	onBatch func(commands int)
}

// New returns a cell that shows s, which is the state after record seq. Run
// must be called for commands to be served. onBatch may be nil.
func New[S State[S]](s S, seq uint64, log Log, onBatch func(int)) *Cell[S] {
	c := &Cell[S]{calls: make(chan call[S], MaxBatch), done: make(chan struct{}), log: log, onBatch: onBatch}
	c.current.Store(&s)
	c.seq.Store(seq)
	return c
}

// Load returns the published state, which nobody changes any more.
func (c *Cell[S]) Load() S { return *c.current.Load() }

// Seq returns the sequence number of the newest published record.
func (c *Cell[S]) Seq() uint64 { return c.seq.Load() }

// Do runs a command on a fork of the newest state and returns its answer once
// its record is durable and published, with the sequence number after which it
// can be seen. A command must not keep the fork. If ctx ends while the command
// is queued or running, Do returns early and the outcome is not known to the
// caller: it asks again under the same request key.
func (c *Cell[S]) Do(ctx context.Context, command func(S) (any, error)) (any, uint64, error) {
	k := call[S]{ctx: ctx, command: command, reply: make(chan result, 1)}
	select {
	case c.calls <- k:
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	case <-c.done:
		return nil, 0, ErrClosed
	}
	select {
	case r := <-k.reply:
		return r.val, r.seq, r.err
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	case <-c.done:
		select { // the writer may have answered last of all
		case r := <-k.reply:
			return r.val, r.seq, r.err
		default:
			return nil, 0, ErrClosed
		}
	}
}

// Try runs a command on a fork of the newest state and drops the fork: what
// would happen. It does not wait for the writer.
func (c *Cell[S]) Try(command func(S) (any, error)) (any, error) { return command(c.Load().Fork()) }

// Run is the writer. It returns when ctx ends, or with the log's error.
func (c *Cell[S]) Run(ctx context.Context) error {
	defer close(c.done)
	for {
		var batch []call[S]
		select {
		case <-ctx.Done():
			return nil
		case k := <-c.calls:
			batch = append(batch, k)
		}
	fill:
		for len(batch) < MaxBatch {
			select {
			case k := <-c.calls:
				batch = append(batch, k)
			default:
				break fill
			}
		}
		if err := c.serve(batch); err != nil {
			return err
		}
	}
}

func (c *Cell[S]) serve(batch []call[S]) error {
	state, seq := c.Load(), c.Seq()
	first := seq + 1
	var payloads [][]byte
	results := make([]result, len(batch))
	for i, k := range batch {
		if k.ctx.Err() != nil {
			results[i].err = k.ctx.Err()
			continue
		}
		fork := state.Fork()
		val, payload, err := run(k.command, fork)
		if err != nil {
			results[i] = result{seq: seq, val: val, err: err}
			continue
		}
		if payload != nil {
			seq++
			fork.Sealed(seq)
			payloads = append(payloads, payload)
			state = fork
		}
		results[i] = result{seq: seq, val: val}
	}
	var failed error
	if len(payloads) > 0 {
		if err := c.log.Append(first, payloads); err != nil {
			failed = fmt.Errorf("cell: %d commands are not known to be durable: %w", len(payloads), err)
		} else {
			c.current.Store(&state)
			c.seq.Store(seq)
		}
	}
	for i, k := range batch {
		if failed != nil && results[i].err == nil {
			results[i] = result{err: fmt.Errorf("%w: %w", ErrClosed, failed)}
		}
		k.reply <- results[i]
	}
	if c.onBatch != nil && failed == nil {
		c.onBatch(len(payloads))
	}
	return failed
}

// run keeps a command that panics from taking the writer with it: its fork is
// dropped like any refused one.
func run[S State[S]](command func(S) (any, error), fork S) (val any, payload []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			val, payload, err = nil, nil, fmt.Errorf("cell: bug, please report: command panicked: %v", p)
		}
	}()
	if val, err = command(fork); err != nil {
		return val, nil, err
	}
	payload, err = fork.Record()
	if len(payload) > MaxRecord {
		return nil, nil, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(payload), MaxRecord)
	}
	return val, payload, err
}
