// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"iter"
	"maps"
	"slices"
)

// A Cluster is the hardware at one moment: nodes, what they are made of, and where they are. [Cluster.Edit] and
// [Cluster.Apply] give the next one. Queries take any number and answer an index out of range, or of a node that left, with
// nothing (zero, false, an empty sequence, [NoDomain]). The zero Cluster is empty, and a nil one answers like it.
// A Cluster is immutable and safe for concurrent use.
type Cluster struct {
	version    uint64
	lay        *layout
	userModels []GPUModel
	shapeList  []*Shape // as declared
	nodes      []node   // by NodeIndex, departed ones included
	anc        []DomainIndex
	index      table    // of nodes
	domains    []domain // by DomainIndex
	domainByID table
	byLevel    [][]DomainIndex // by LevelIndex, ascending
	gpus       []gpuSlot       // GPUs with ids of their own, sorted by id
	count      int
	gpuCount   int64
}

// node is one ordinal; shape nil means that the node left.
type node struct {
	id     NodeID
	shape  *Shape
	attrs  *attrs
	gpuIDs []GPUID
}

// attrs is what nodes often share: nodes with equal labels and versions point to one value.
type attrs struct {
	labels       []label // sorted by key
	driver, cuda string
}

type label struct{ key, value string }

// orEmpty makes a nil cluster an empty one.
func (c *Cluster) orEmpty() *Cluster {
	if c == nil {
		return &Cluster{}
	}
	return c
}

func (c *Cluster) layout() *layout {
	if c != nil && c.lay != nil {
		return c.lay
	}
	return newLayout(nil, nil, &mistakes{})
}

// at gives the present node at i, or nil.
func (c *Cluster) at(i NodeIndex) *node {
	if c == nil || i < 0 || int(i) >= len(c.nodes) || c.nodes[i].shape == nil {
		return nil
	}
	return &c.nodes[i]
}

// Version is 1 for a new cluster and grows by one with every edit that changes something.
func (c *Cluster) Version() uint64 { return c.orEmpty().version }

// Len gives the number of node ordinals, nodes that left included: the length of an array indexed by [NodeIndex].
func (c *Cluster) Len() int { return len(c.orEmpty().nodes) }

// Count gives the number of nodes that are present.
func (c *Cluster) Count() int { return c.orEmpty().count }

// GPUCount gives the number of GPUs of the nodes that are present.
func (c *Cluster) GPUCount() int64 { return c.orEmpty().gpuCount }

// Index gives the ordinal of a node, present or not. It costs O(1).
func (c *Cluster) Index(id NodeID) (NodeIndex, bool) {
	c = c.orEmpty()
	i, ok := c.index.find(hash(0, string(id)), func(x int32) bool { return c.nodes[x].id == id })
	return NodeIndex(i), ok
}

// Present says whether the ordinal belongs to a node that is here now.
func (c *Cluster) Present(i NodeIndex) bool { return c.at(i) != nil }

// ID gives the name behind an ordinal, also of a node that left.
func (c *Cluster) ID(i NodeIndex) NodeID {
	if c == nil || i < 0 || int(i) >= len(c.nodes) {
		return ""
	}
	return c.nodes[i].id
}

// Shape gives what the node is made of; nil, which answers like an empty shape, when the node is not here.
func (c *Cluster) Shape(i NodeIndex) *Shape {
	if n := c.at(i); n != nil {
		return n.shape
	}
	return nil
}

// Driver gives the GPU driver version of the node, "" when unknown.
func (c *Cluster) Driver(i NodeIndex) string {
	if n := c.at(i); n != nil {
		return n.attrs.driver
	}
	return ""
}

// CUDA gives the CUDA version of the node, "" when unknown.
func (c *Cluster) CUDA(i NodeIndex) string {
	if n := c.at(i); n != nil {
		return n.attrs.cuda
	}
	return ""
}

// Label gives one label of the node. It costs O(log labels).
func (c *Cluster) Label(i NodeIndex, key string) (string, bool) {
	n := c.at(i)
	if n == nil {
		return "", false
	}
	at, ok := slices.BinarySearchFunc(n.attrs.labels, key, func(l label, k string) int {
		if l.key < k {
			return -1
		} else if l.key > k {
			return 1
		}
		return 0
	})
	if !ok {
		return "", false
	}
	return n.attrs.labels[at].value, true
}

// Labels gives the labels of the node, sorted by key.
func (c *Cluster) Labels(i NodeIndex) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		n := c.at(i)
		if n == nil {
			return
		}
		for _, l := range n.attrs.labels {
			if !yield(l.key, l.value) {
				return
			}
		}
	}
}

// Nodes gives the nodes that are present, ascending.
func (c *Cluster) Nodes() iter.Seq[NodeIndex] {
	return func(yield func(NodeIndex) bool) {
		for i := range c.orEmpty().nodes {
			if c.nodes[i].shape != nil && !yield(NodeIndex(i)) {
				return
			}
		}
	}
}

// Shapes gives every declared shape, in the order of declaration.
func (c *Cluster) Shapes() iter.Seq[*Shape] { return slices.Values(c.orEmpty().shapeList) }

// Spec gives the description that would build the node again; false when it is not here. The caller owns the result.
func (c *Cluster) Spec(i NodeIndex) (NodeSpec, bool) {
	n := c.at(i)
	if n == nil {
		return NodeSpec{}, false
	}
	s := NodeSpec{ID: n.id, Shape: n.shape.spec.Name, GPUIDs: cloneOrNil(n.gpuIDs), Driver: n.attrs.driver, CUDA: n.attrs.cuda}
	for l, d := range c.row(i) {
		if d == NoDomain {
			continue
		}
		if s.Path == nil {
			s.Path = map[Level]string{}
		}
		s.Path[c.lay.levels[l]] = c.domains[d].name()
	}
	if len(n.attrs.labels) > 0 {
		s.Labels = maps.Collect(c.Labels(i))
	}
	return s, true
}

// Config gives what would build this cluster again: its levels, models and shapes, and the nodes that are present, in the
// order of their ordinals. The caller owns the result.
func (c *Cluster) Config() Config {
	c = c.orEmpty()
	lay := c.layout()
	cfg := Config{Levels: slices.Clone(lay.levels[:lay.node]), Models: cloneOrNil(c.userModels)}
	for _, f := range lay.families {
		cfg.Families = append(cfg.Families, FamilySpec{Name: f.Name, Levels: slices.Clone(f.Levels)})
	}
	for _, s := range c.shapeList {
		cfg.Shapes = append(cfg.Shapes, s.Spec())
	}
	for i := range c.Nodes() {
		s, _ := c.Spec(i)
		cfg.Nodes = append(cfg.Nodes, s)
	}
	return cfg
}
