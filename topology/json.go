// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"encoding/json"
	"fmt"
	"strings"
)

// formatVersion is the version of the JSON format that this release writes.
const formatVersion = 1

// document is a cluster as JSON. A hand-written one is a [Config] with "version": 1; the rest keeps what a Config does not
// say: ordinals of nodes that left and of domains, and the cluster's own version.
type document struct {
	Version  int              `json:"version"`
	Revision uint64           `json:"revision,omitempty"` // Cluster.Version; absent: 1
	Levels   []Level          `json:"levels,omitzero"`
	Families []FamilySpec     `json:"families,omitempty"`
	Models   []GPUModel       `json:"models,omitempty"`
	Shapes   []ShapeSpec      `json:"shapes,omitempty"`
	Domains  []documentDomain `json:"domains,omitempty"` // by DomainIndex; absent: in the order in which nodes name them
	Nodes    []documentNode   `json:"nodes,omitempty"`   // by NodeIndex
}

type documentDomain struct {
	Level Level    `json:"level"`
	ID    DomainID `json:"id"`
	In    Level    `json:"in,omitempty"` // level of the parent, whose id is the path before the last name
}

type documentNode struct {
	NodeSpec
	Gone bool `json:"gone,omitempty"` // the node left; only its id is kept
}

// MarshalJSON gives the cluster in the format that [Decode] reads: a [Config] with the version of the format, and with
// everything that gives the same ordinals again. Equal clusters give equal bytes (T7).
func (c *Cluster) MarshalJSON() ([]byte, error) {
	c = c.orEmpty()
	cfg := c.Config()
	doc := document{Version: formatVersion, Revision: c.version, Levels: cfg.Levels, Families: cfg.Families, Models: cfg.Models, Shapes: cfg.Shapes}
	for i := range c.domains {
		d := &c.domains[i]
		out := documentDomain{Level: c.lay.levels[d.level], ID: d.id}
		if d.parent != NoDomain {
			out.In = c.lay.levels[c.domains[d.parent].level]
		}
		doc.Domains = append(doc.Domains, out)
	}
	for i := range c.nodes {
		if spec, ok := c.Spec(NodeIndex(i)); ok {
			doc.Nodes = append(doc.Nodes, documentNode{NodeSpec: spec})
		} else {
			doc.Nodes = append(doc.Nodes, documentNode{NodeSpec: NodeSpec{ID: c.nodes[i].id}, Gone: true})
		}
	}
	return json.Marshal(doc)
}

// Decode reads the JSON of [Cluster.MarshalJSON], or a [Config] written by hand with "version": 1 beside its fields. A field
// that is unknown, misspelt in case, or given twice is a mistake that names the field and the line, like every other mistake;
// the first 100 are reported. Decode of an encoded cluster has the same ordinals, version and bytes (T7).
//
// Possible errors: [ErrSyntax], [ErrInvalid], [ErrUnknown], [ErrDuplicate], [ErrConflict], [ErrTooLarge].
func Decode(data []byte) (*Cluster, error) {
	m := mistakes{max: readerErrors}
	var doc document
	lines := decodeStrict(data, &doc, &m)
	if m.any() {
		return nil, m.err()
	}
	if doc.Version != formatVersion {
		m.add(ErrSyntax, "version", fmt.Sprint(doc.Version), fmt.Sprintf("this release reads version %d", formatVersion))
		lines.name(&m)
		return nil, m.err()
	}
	c, err := doc.build(&m)
	if err != nil {
		lines.name(&m)
		return nil, m.err()
	}
	return c, nil
}

// DecodeChange reads the JSON of a [Change] as strictly as [Decode] does. What it means is judged by [Cluster.Apply].
//
// Possible errors: [ErrSyntax].
func DecodeChange(data []byte) (Change, error) {
	m := mistakes{max: readerErrors}
	var ch Change
	decodeStrict(data, &ch, &m)
	if m.any() {
		return Change{}, m.err()
	}
	return ch, nil
}

func (doc *document) build(m *mistakes) (*Cluster, error) {
	base := &Cluster{lay: newLayout(doc.Levels, doc.Families, m)}
	if base.lay == nil {
		return nil, m.err()
	}
	if doc.Revision > 0 {
		base.version = doc.Revision - 1
	}
	ordinals := newDraft(base, m).writer()
	ordinals.preset(doc)
	d := newDraft(ordinals.c, m)
	d.models(doc.Models, "models")
	d.shapes(doc.Shapes, "shapes")
	for i, n := range doc.Nodes { // one by one, so that fields keep the positions of the document
		if n.Gone {
			if field := fmt.Sprintf("nodes[%d]", i); d.once(n.ID, field+".id") && !n.equal(NodeSpec{ID: n.ID}) {
				d.add(ErrConflict, field+".gone", "true", "a node that left keeps only its id; remove the other fields, or gone")
			}
			continue
		}
		d.placeOne(n.NodeSpec, opAdd, fmt.Sprintf("nodes[%d]", i))
	}
	return d.finish(true)
}

// preset gives nodes and domains the ordinals of their places in the document.
func (w *writer) preset(doc *document) {
	for i, n := range doc.Nodes {
		field := fmt.Sprintf("nodes[%d].id", i)
		if !validName(string(n.ID)) {
			if n.Gone {
				w.d.add(ErrInvalid, field, string(n.ID), nameHint)
			}
			continue
		}
		w.register(n.ID, field)
	}
	known := make([]bool, len(doc.Domains))
	for i, x := range doc.Domains {
		known[i] = w.presetDomain(x, fmt.Sprintf("domains[%d]", i))
	}
	for i, x := range doc.Domains {
		if x.In == "" || !known[i] {
			continue
		}
		field := fmt.Sprintf("domains[%d].in", i)
		level, in := w.d.lay.index[x.Level], w.d.lay.index[x.In]
		cut := strings.LastIndexByte(string(x.ID), '/')
		parent, ok := w.c.domainAt(in, x.ID[:max(cut, 0)])
		family, _ := w.d.lay.family(level)
		if !ok || w.d.lay.levels[in] != x.In || in < family.lo || in >= level {
			w.d.add(ErrUnknown, field, string(x.In), "name the coarser level, of the same family, that has the rest of the id as a domain")
			continue
		}
		child, _ := w.c.domainAt(level, x.ID)
		w.setParent(child, parent)
	}
}

func (w *writer) presetDomain(x documentDomain, field string) bool {
	level, ok := w.d.lay.index[x.Level]
	if _, outer := w.d.lay.family(level); !ok || !outer {
		w.d.add(ErrUnknown, field+".level", string(x.Level), "declare the level in levels or families, above the node")
		return false
	}
	names := strings.Split(string(x.ID), "/")
	for _, name := range names {
		if !validName(name) {
			w.d.add(ErrInvalid, field+".id", string(x.ID), `join the names from the coarsest level by "/"`)
			return false
		}
	}
	if (len(names) > 1) != (x.In != "") {
		w.d.add(ErrInvalid, field+".in", string(x.In), "name the level of the parent if, and only if, the id has a parent")
		return false
	}
	if _, twice := w.c.domainAt(level, x.ID); twice {
		w.d.add(ErrDuplicate, field+".id", string(x.ID), "list each domain of a level once")
		return false
	}
	w.newDomain(level, NoDomain, x.ID)
	return true
}
