// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"iter"
	"slices"
	"strings"
)

// domain is one ordinal of a domain; without nodes it is empty and only keeps its place.
type domain struct {
	level    LevelIndex
	parent   DomainIndex
	id       DomainID
	nodes    []NodeIndex   // present ones, ascending
	children []DomainIndex // ascending, empty ones included
}

func (d *domain) name() string { return string(d.id[strings.LastIndexByte(string(d.id), '/')+1:]) }

// A Domain is a set of nodes that share a place at one level. A Domain is immutable and safe for concurrent use.
type Domain struct {
	Level  Level
	Family Family      // "" for the primary one
	ID     DomainID    // unique within the level
	Name   string      // last name of the ID
	Parent DomainIndex // the domain of the next coarser level that its nodes have, in the same family; NoDomain at the top
	Nodes  int         // nodes in it that are present; 0 for a domain that only keeps its ordinal
}

// Levels gives the levels of a family, coarse to fine; "" is the primary one, which ends in node, numa, nvswitch, gpu, mig.
// An unknown family has none. The caller owns the result.
func (c *Cluster) Levels(f Family) []Level {
	lay := c.layout()
	if f == "" {
		return append(slices.Clone(lay.levels[:lay.node]), innerLevels()...)
	}
	for _, o := range lay.families {
		if o.Name == f {
			return slices.Clone(o.Levels)
		}
	}
	return nil
}

// Families gives the names of the overlay families, in the order of declaration.
func (c *Cluster) Families() []Family {
	var out []Family
	for _, f := range c.layout().families {
		out = append(out, f.Name)
	}
	return out
}

// LevelIndex gives the ordinal of a level of any family.
func (c *Cluster) LevelIndex(l Level) (LevelIndex, bool) {
	i, ok := c.layout().index[l]
	if !ok {
		return NoLevel, false
	}
	return i, true
}

// row gives the ancestors of a node by LevelIndex; nil when there is no such ordinal.
func (c *Cluster) row(i NodeIndex) []DomainIndex {
	if i < 0 || int(i) >= len(c.nodes) {
		return nil
	}
	w := len(c.lay.levels)
	return c.anc[int(i)*w : (int(i)+1)*w : (int(i)+1)*w]
}

// Ancestor gives the domain of the node at a level of any family. It is [NoDomain] when the node lacks the level, and at
// node and finer levels, which have no domains: there the [NodeIndex] itself is the name of the place.
// It costs one array read and allocates nothing.
func (c *Cluster) Ancestor(i NodeIndex, l LevelIndex) DomainIndex {
	if c == nil || i < 0 || int(i) >= len(c.nodes) || l < 0 || int(l) >= len(c.lay.levels) {
		return NoDomain
	}
	return c.anc[int(i)*len(c.lay.levels)+int(l)]
}

// Lowest gives the finest level of the primary family at which two nodes share a domain; of a node with itself it is the
// node level. It is false when they share nothing or one is not here. It costs O(levels) and allocates nothing.
func (c *Cluster) Lowest(a, b NodeIndex) (LevelIndex, bool) { return c.LowestIn("", a, b) }

// LowestIn is Lowest in a family: an overlay says whether two nodes hang on one power feed, which the primary family does
// not know. It is false for an unknown family. It costs O(families + levels) and allocates nothing.
func (c *Cluster) LowestIn(f Family, a, b NodeIndex) (LevelIndex, bool) {
	if c.at(a) == nil || c.at(b) == nil {
		return NoLevel, false
	}
	in, ok := c.lay.span(f)
	if ok && a == b {
		return c.lay.node, true
	}
	ra, rb := c.row(a), c.row(b)
	for l := in.hi - 1; l >= in.lo; l-- {
		if ra[l] == rb[l] && ra[l] != NoDomain {
			return l, true
		}
	}
	return NoLevel, false
}

// DomainLen gives the number of domain ordinals of all levels, empty domains included: the length of an array indexed by
// [DomainIndex].
func (c *Cluster) DomainLen() int { return len(c.orEmpty().domains) }

// Domains gives the domains of a level that have nodes, ascending.
func (c *Cluster) Domains(l LevelIndex) iter.Seq[DomainIndex] {
	if c == nil || l < 0 || int(l) >= len(c.byLevel) {
		return c.inhabited(nil)
	}
	return c.inhabited(c.byLevel[l])
}

// Children gives the domains that have d as their parent and have nodes, ascending. They may be of several levels where
// nodes lack some. The nodes themselves are in [Cluster.NodesOf].
func (c *Cluster) Children(d DomainIndex) iter.Seq[DomainIndex] {
	if c == nil || d < 0 || int(d) >= len(c.domains) {
		return c.inhabited(nil)
	}
	return c.inhabited(c.domains[d].children)
}

func (c *Cluster) inhabited(all []DomainIndex) iter.Seq[DomainIndex] {
	return func(yield func(DomainIndex) bool) {
		for _, d := range all {
			if len(c.domains[d].nodes) > 0 && !yield(d) {
				return
			}
		}
	}
}

// NodesOf gives the nodes of a domain, ascending.
func (c *Cluster) NodesOf(d DomainIndex) iter.Seq[NodeIndex] {
	if c == nil || d < 0 || int(d) >= len(c.domains) {
		return slices.Values[[]NodeIndex](nil)
	}
	return slices.Values(c.domains[d].nodes)
}

// Domain describes a domain; the zero Domain with Parent [NoDomain] when there is no such ordinal.
func (c *Cluster) Domain(d DomainIndex) Domain {
	if c == nil || d < 0 || int(d) >= len(c.domains) {
		return Domain{Parent: NoDomain}
	}
	x := &c.domains[d]
	out := Domain{Level: c.lay.levels[x.level], ID: x.id, Name: x.name(), Parent: x.parent, Nodes: len(x.nodes)}
	for i, s := range c.lay.spans {
		if i > 0 && x.level >= s.lo && x.level < s.hi {
			out.Family = c.lay.families[i-1].Name
		}
	}
	return out
}

// DomainByID finds a domain by its level and path, empty ones included.
func (c *Cluster) DomainByID(l Level, id DomainID) (DomainIndex, bool) {
	at, ok := c.LevelIndex(l)
	if !ok {
		return NoDomain, false
	}
	return c.orEmpty().domainAt(at, id)
}

func (c *Cluster) domainAt(l LevelIndex, id DomainID) (DomainIndex, bool) {
	d, ok := c.domainByID.find(hash(l, string(id)), func(x int32) bool { return c.domains[x].level == l && c.domains[x].id == id })
	return DomainIndex(d), ok
}
