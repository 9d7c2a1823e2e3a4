// SPDX-License-Identifier: Apache-2.0

// Package clock gives the manager its time: the wall's, or the demo's, which
// runs fast and slows to wall speed while a person holds an offer.
package clock

import (
	"sync"
	"time"
)

// A Clock tells the time. Engines get it as an argument; only programs have one.
type Clock interface {
	Now() time.Time
}

// Wall is the clock of the machine.
type Wall struct{}

// Now returns the present in UTC.
func (Wall) Now() time.Time { return time.Now().UTC() }

// A Fast clock starts at a given instant and runs at a given speed. It never
// goes back, also when its speed changes.
//
// A Fast is safe for concurrent use by multiple goroutines.
type Fast struct {
	mu    sync.Mutex
	base  time.Time // shown at wall
	wall  time.Time // with monotonic reading
	speed float64
}

// NewFast returns a clock that shows start now and runs at speed seconds per second.
func NewFast(start time.Time, speed float64) *Fast {
	return &Fast{base: start.UTC(), wall: time.Now(), speed: speed}
}

// Now returns the time shown.
func (c *Fast) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now(time.Now())
}

// now returns the time shown at wall. It moves the base along, so that the product
// stays far below what a Duration holds (292 years).
func (c *Fast) now(wall time.Time) time.Time {
	t := c.base.Add(time.Duration(float64(wall.Sub(c.wall)) * c.speed))
	if t.Sub(c.base) > 24*time.Hour {
		c.base, c.wall = t, wall
	}
	return t
}

// SetSpeed changes the speed from now on.
func (c *Fast) SetSpeed(speed float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	wall := time.Now()
	c.base, c.wall, c.speed = c.now(wall), wall, speed
}

// Speed returns the speed.
func (c *Fast) Speed() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.speed
}
