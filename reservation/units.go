// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"slices"
)

// A SpareChoice says whether spares are meant.
//
// A SpareChoice is immutable and safe for concurrent use.
type SpareChoice uint8

// Choices of spares.
const (
	WithoutSpares SpareChoice = iota
	OnlySpares
	WithSpares
)

var spareNames = []string{"WithoutSpares", "OnlySpares", "WithSpares"}

// String returns the name of c.
func (c SpareChoice) String() string { return name("SpareChoice", spareNames, int(c)) }

// MarshalText returns the name of c.
func (c SpareChoice) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// A Selector says which nodes of a pool are meant: those that match all of its
// fields. The zero Selector means all that are not spares.
//
// A Selector is immutable and safe for concurrent use.
type Selector struct {
	Path   []string    `json:"path,omitempty"`  // the node's Path begins with it; empty: any
	Nodes  []string    `json:"nodes,omitempty"` // it is one of these; empty: any
	Spares SpareChoice `json:"spares,omitempty"`
}

func (x *Selector) match(u *Unit) bool {
	return (x.Spares == WithSpares || u.Spare == (x.Spares == OnlySpares)) &&
		len(u.Path) >= len(x.Path) && slices.Equal(u.Path[:len(x.Path)], x.Path)
}

// FreeUnits returns the nodes of a pool that match x and that nobody has in w and
// the pool's envelope around it, in the pool's order: no Firm seat and no outage.
// Standby claims and plans give way and do not count. For a booking that has
// begun, ask for the rest of its window; a spare can only replace a node that a
// booking has lost. It costs O(log n) per node that matches.
//
// Possible errors: [ErrUnknown] for the pool or a node, [ErrInvalid],
// [ErrHorizon], [ErrEmptyWindow], [ErrUnaligned].
func (c *Calendar) FreeUnits(pool string, w Window, x Selector) ([]Unit, error) {
	s := &c.core.S
	p, err := s.poolOf(pool)
	if err != nil {
		return nil, err
	}
	from, to, err := s.ahead(w)
	if err != nil {
		return nil, err
	}
	if x.Spares > WithSpares {
		return nil, fmt.Errorf("%w: Selector.Spares is %d; use WithoutSpares, OnlySpares or WithSpares", ErrInvalid, x.Spares)
	}
	from, to = max(s.now, from-p.prep), to+p.grace+p.cleanup
	var out []Unit
	add := func(u *Unit) {
		if x.match(u) && s.free(u.Name, from, to, "", false) {
			out = append(out, Unit{Name: u.Name, Path: slices.Clone(u.Path), Spare: u.Spare})
		}
	}
	if len(x.Nodes) == 0 {
		for i := range p.Units {
			add(&p.Units[i])
		}
		return out, nil
	}
	var ords []int
	for _, name := range x.Nodes {
		n, ok := s.node(name)
		if !ok || n.pool != pool {
			return nil, fmt.Errorf("%w node %q of pool %q in Selector.Nodes", ErrUnknown, name, pool)
		}
		ords = append(ords, n.ord)
	}
	slices.Sort(ords)
	for _, i := range slices.Compact(ords) {
		add(&p.Units[i])
	}
	return out, nil
}
