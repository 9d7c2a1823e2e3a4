// SPDX-License-Identifier: Apache-2.0

// Package engine is what every forkable value of this module is made of: a
// state of copy-on-write containers, the right to change it, and the events
// decided since the last fork. ARCHITECTURE.md §"The one idiom" tells the story.
package engine

import "github.com/berth-gpu/berth/internal/cow"

// A Core holds the state S of an engine and its pending events V. S is a struct
// of container heads and scalars, so copying it by value is a fork.
//
// A Core may be read and forked by many goroutines while nobody changes it.
type Core[S, V any] struct {
	S       S
	edit    cow.Edit
	pending []V
}

// Fork returns an independent Core with the same state and no pending events.
func (c *Core[S, V]) Fork() Core[S, V] { return Core[S, V]{S: c.S, edit: c.edit.Fork()} }

// Token returns the right to change the containers of S in place.
func (c *Core[S, V]) Token() *cow.Token { return c.edit.Token() }

// Record notes a decided event. The caller has applied it to S already.
func (c *Core[S, V]) Record(v V) { c.pending = append(c.pending, v) }

// Events returns the events decided since New, Restore, Fork or TakeEvents.
// The caller must not change the slice.
func (c *Core[S, V]) Events() []V { return c.pending[:len(c.pending):len(c.pending)] }

// TakeEvents returns the pending events and forgets them.
func (c *Core[S, V]) TakeEvents() []V {
	p := c.pending
	c.pending = nil
	return p
}

// Try runs f and, if it fails, puts back the state and the events from before.
// It costs a fork, so a command that validates before it changes anything does
// not need it.
func (c *Core[S, V]) Try(f func() error) error {
	saved, n := c.S, len(c.pending)
	c.edit.Fork() // the saved heads see today's nodes: they must not be written again
	if err := f(); err != nil {
		c.S, c.pending = saved, c.pending[:n:n]
		return err
	}
	return nil
}
