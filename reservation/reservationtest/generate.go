// SPDX-License-Identifier: Apache-2.0

package reservationtest

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/reservation"
)

// Start is the instant at which the generated worlds and traces begin, a Sunday.
var Start = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// Slot is the grid of the generated instants: few of them, so that they meet.
const Slot = 5 * time.Minute

// Owners are the owners of the generated requests.
var Owners = []string{"ants", "bees", "crows"}

// Pools draws one to three pools, "p0" to "p2", of one to six nodes each, some
// of them spares, in racks, with policies of all kinds.
func Pools() *rapid.Generator[[]reservation.Pool] {
	return rapid.Custom(func(t *rapid.T) []reservation.Pool {
		pools := make([]reservation.Pool, rapid.IntRange(1, 3).Draw(t, "pools"))
		for i := range pools {
			pools[i] = pool(t, fmt.Sprint("p", i))
			pools[i].Policy = Policies().Draw(t, "policy")
		}
		return pools
	})
}

// PlainPools draws one pool, "p0", of one to six nodes without spares and rules:
// for a front end that knows no more.
func PlainPools() *rapid.Generator[[]reservation.Pool] {
	return rapid.Custom(func(t *rapid.T) []reservation.Pool {
		p := pool(t, "p0")
		for i := range p.Units {
			p.Units[i].Spare = false
		}
		return []reservation.Pool{p}
	})
}

func pool(t *rapid.T, name string) reservation.Pool {
	p := reservation.Pool{Name: name, GPUsPerUnit: 8}
	for i := range rapid.IntRange(1, 6).Draw(t, "nodes") {
		p.Units = append(p.Units, reservation.Unit{
			Name:  fmt.Sprintf("%s-n%d", name, i),
			Path:  []string{name + "-hall", fmt.Sprintf("%s-rack%d", name, i/2)},
			Spare: rapid.IntRange(0, 5).Draw(t, "spare") == 5,
		})
	}
	return p
}

// Policies draws valid policies: most without rules, all on the grid of [Slot].
func Policies() *rapid.Generator[reservation.Policy] {
	return rapid.Custom(func(t *rapid.T) reservation.Policy {
		slots := func(name string, least, most, odds int) time.Duration {
			if rapid.IntRange(0, odds).Draw(t, name) != odds {
				return 0
			}
			return Slot * time.Duration(rapid.IntRange(least, most).Draw(t, name+" slots"))
		}
		return reservation.Policy{
			Prep: slots("prep", 1, 2, 2), Grace: slots("grace", 1, 3, 2), Cleanup: slots("cleanup", 1, 2, 2),
			MinLength: slots("least length", 1, 3, 6), MaxLength: slots("greatest length", 10, 24, 6),
			MinLead: slots("lead", 1, 4, 6), Horizon: slots("horizon", 24, 48, 6),
		}
	})
}

// A Mix says what is drawn. The zero Mix draws floating Firm requests for one
// pool each, and all commands but outages.
//
// A Mix is immutable and safe for concurrent use.
type Mix struct {
	Pinned   bool // some lines name their nodes
	Several  bool // some requests have lines in several pools
	Standby  bool // some requests are Standby claims
	Outages  bool // nodes fail and come back
	Ops      []Op // nothing but these, and Advance; nil: all
	Commands int  // greatest length of a load; 0: 40
}

// Requests draws valid requests with an id for some pools, in a window that
// begins within two hours from an instant on and lasts up to two. Many cannot
// be had: the rules of the pool or its size forbid it.
func Requests(pools []reservation.Pool, mix Mix, id string, from time.Time) *rapid.Generator[reservation.Request] {
	return rapid.Custom(func(t *rapid.T) reservation.Request {
		q := reservation.Request{ID: id, Owner: rapid.SampledFrom(Owners).Draw(t, "owner")}
		q.Window.Start = from.Add(Slot * time.Duration(rapid.IntRange(0, 24).Draw(t, "in")))
		q.Window.End = q.Window.Start.Add(Slot * time.Duration(rapid.IntRange(1, 24).Draw(t, "length")))
		some := pools
		if len(pools) > 1 {
			some = rapid.Permutation(pools).Draw(t, "pools")
		}
		n := 1
		if mix.Several {
			n = rapid.IntRange(1, len(pools)).Draw(t, "lines")
		}
		if mix.Standby && rapid.IntRange(0, 4).Draw(t, "class") == 4 {
			q.Class = reservation.Standby
			if rapid.Bool().Draw(t, "open") {
				q.Window.End = time.Time{}
			}
		}
		for _, p := range some[:n] {
			l := reservation.Line{Pool: p.Name, Count: int64(rapid.IntRange(1, len(p.Units)).Draw(t, "count"))}
			if rapid.Bool().Draw(t, "nearly all") { // so that others are in the way
				l.Count = int64(len(p.Units)) - rapid.Int64Range(0, min(1, int64(len(p.Units))-1)).Draw(t, "but")
			}
			if mix.Pinned && q.Class == reservation.Firm && rapid.IntRange(0, 2).Draw(t, "pinned") == 2 {
				for _, u := range rapid.Permutation(p.Units).Draw(t, "nodes")[:l.Count] {
					l.Nodes = append(l.Nodes, u.Name)
				}
				slices.Sort(l.Nodes)
			}
			q.Lines = append(q.Lines, l)
		}
		return q
	})
}

// Loads draws sequences of commands for some pools, in order of time from
// [Start] on. Most come in short scenes: a booking is made and soon extended,
// confirmed, cancelled or released. Few ids are in use, so that scenes meet; a
// command that does not suit its booking is part of the test.
func Loads(pools []reservation.Pool, mix Mix) *rapid.Generator[[]Command] {
	most := mix.Commands
	if most == 0 {
		most = 40
	}
	// Every scene is drawn with times of its own, counted from Start, and moved to
	// where the one before ended: one that is taken out while a failure is made
	// small leaves the rest a load.
	one := rapid.Custom(func(t *rapid.T) []Command { return scene(t, pools, mix) })
	return rapid.Map(rapid.SliceOfN(one, 1, most), func(scenes [][]Command) []Command {
		var load []Command
		var past time.Duration
		for _, commands := range scenes {
			for _, c := range commands[:min(len(commands), most-len(load))] {
				load = append(load, c.later(past))
			}
			past += commands[len(commands)-1].At.Sub(Start)
		}
		return load
	})
}

// scene draws one to four commands, most of them on one booking.
func scene(t *rapid.T, pools []reservation.Pool, mix Mix) []Command {
	allowed := func(ops ...Op) []Op {
		ops = slices.DeleteFunc(ops, func(o Op) bool { return mix.Ops != nil && !slices.Contains(mix.Ops, o) })
		return append(ops, Advance)
	}
	id := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h"}).Draw(t, "id")
	wait := rapid.SampledFrom([]int{0, 0, 0, 0, 1, 1, 2, 3, 10})
	at, end := Start, Start.Add(2*time.Hour)
	var out []Command
	for i := range rapid.IntRange(1, 4).Draw(t, "commands") {
		at = at.Add(Slot * time.Duration(wait.Draw(t, "wait")))
		ops := allowed(Confirm, Confirm, Extend, Extend, Extend, Cancel, Release)
		if i == 0 {
			ops = allowed(Book, Book, Book, Hold, Hold, Extend, Cancel, Release)
			if mix.Outages {
				ops = append(ops, allowed(SetOutage, SetOutage, EndOutage)...)
			}
		}
		c := Command{Op: rapid.SampledFrom(ops).Draw(t, "op"), At: at}
		switch c.Op {
		case Book, Hold:
			c.Request = Requests(pools, mix, id, at).Draw(t, "request")
			if end = c.Request.Window.End; c.Op == Hold {
				c.TTL = Slot * time.Duration(rapid.IntRange(1, 12).Draw(t, "ttl"))
			}
		case Confirm, Cancel, Release:
			c.ID = id
		case Extend:
			c.ID = id
			if c.End = end; !end.IsZero() { // an open Standby claim stays open
				c.End = end.Add(Slot * time.Duration(rapid.IntRange(-12, 24).Draw(t, "longer")))
			}
		case SetOutage, EndOutage:
			name := rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "outage")
			if c.ID = name; c.Op == SetOutage {
				c.Outage, c.ID = outage(t, pools, name, at), ""
			}
		}
		out = append(out, c)
	}
	return out
}

func outage(t *rapid.T, pools []reservation.Pool, id string, at time.Time) reservation.Outage {
	o := reservation.Outage{ID: id, Owner: "ops", Window: reservation.Window{Start: at}}
	units := rapid.SampledFrom(pools).Draw(t, "pool").Units
	for _, u := range rapid.Permutation(units).Draw(t, "nodes")[:rapid.IntRange(1, min(2, len(units))).Draw(t, "out")] {
		o.Nodes = append(o.Nodes, u.Name)
	}
	slices.Sort(o.Nodes)
	if rapid.IntRange(0, 2).Draw(t, "planned") == 2 {
		o.Window.Start = at.Add(Slot * time.Duration(rapid.IntRange(1, 24).Draw(t, "in")))
	}
	if rapid.IntRange(0, 3).Draw(t, "known end") < 3 {
		o.Window.End = o.Window.Start.Add(Slot * time.Duration(rapid.IntRange(1, 24).Draw(t, "length")))
	}
	return o
}

// later returns c with all its instants moved by d.
func (c Command) later(d time.Duration) Command {
	move := func(at *time.Time) {
		if !at.IsZero() {
			*at = at.Add(d)
		}
	}
	for _, at := range []*time.Time{&c.At, &c.End, &c.Request.Window.Start, &c.Request.Window.End, &c.Outage.Window.Start, &c.Outage.Window.End} {
		move(at)
	}
	return c
}
