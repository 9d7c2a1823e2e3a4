// SPDX-License-Identifier: Apache-2.0

package topology

import "maps"

// A NodeSpec describes one node. A NodeSpec may be read by many goroutines while nobody changes it.
type NodeSpec struct {
	ID     NodeID            `json:"id"`
	Shape  string            `json:"shape,omitempty"`  // name of a declared ShapeSpec
	Path   map[Level]string  `json:"path,omitempty"`   // name at each level that the node has, of every family; a level left out means no domain of it
	GPUIDs []GPUID           `json:"gpuIDs,omitempty"` // one per GPU, or none: then "node/0" and so on
	Labels map[string]string `json:"labels,omitempty"` // anything that selectors should see
	Driver string            `json:"driver,omitempty"` // GPU driver version, for example "580.126.09"
	CUDA   string            `json:"cuda,omitempty"`   // CUDA version that the driver serves, for example "13.0"
}

func (n NodeSpec) clone() NodeSpec {
	n.Path, n.Labels, n.GPUIDs = maps.Clone(n.Path), maps.Clone(n.Labels), cloneOrNil(n.GPUIDs)
	return n
}

func (n NodeSpec) equal(o NodeSpec) bool {
	if n.ID != o.ID || n.Shape != o.Shape || n.Driver != o.Driver || n.CUDA != o.CUDA || len(n.GPUIDs) != len(o.GPUIDs) {
		return false
	}
	for i := range n.GPUIDs {
		if n.GPUIDs[i] != o.GPUIDs[i] {
			return false
		}
	}
	return maps.Equal(n.Path, o.Path) && maps.Equal(n.Labels, o.Labels)
}

// A Config describes a whole cluster. Its zero value is an empty cluster with the default levels.
// A Config may be read by many goroutines while nobody changes it.
type Config struct {
	Levels   []Level      `json:"levels,omitzero"`    // primary family above the node, coarse to fine; nil: DefaultLevels
	Families []FamilySpec `json:"families,omitempty"` // overlays
	Models   []GPUModel   `json:"models,omitempty"`   // beside the catalogue; a catalogue name may only be repeated unchanged
	Shapes   []ShapeSpec  `json:"shapes,omitempty"`   // what nodes may refer to
	Nodes    []NodeSpec   `json:"nodes,omitempty"`    // in this order they get their ordinals
}

// New builds a cluster and reports every mistake of the configuration at once, each as a [FieldError] that names the field
// and the value; only a list of too many levels is reported alone. Names of nodes, domains, GPUs, shapes and models are 1 to 512 bytes of UTF-8 without "/" and control
// characters. It costs O(nodes × levels + GPUs × log GPUs).
//
// Possible errors: [ErrInvalid], [ErrUnknown], [ErrDuplicate], [ErrConflict], [ErrTooLarge].
func New(cfg Config) (*Cluster, error) {
	var m mistakes
	lay := newLayout(cfg.Levels, cfg.Families, &m)
	if lay == nil {
		return nil, m.err()
	}
	d := newDraft(&Cluster{lay: lay}, &m)
	d.models(cfg.Models, "models")
	d.shapes(cfg.Shapes, "shapes")
	d.place(cfg.Nodes, opAdd, "nodes")
	return d.finish(true)
}

// A Builder collects the parts of a [Config] one by one. The zero value is ready to use. Nothing is judged before Build.
// A Builder may be read by many goroutines while nobody changes it.
type Builder struct{ cfg Config }

// NewBuilder gives an empty builder.
func NewBuilder() *Builder { return &Builder{} }

// SetLevels names the levels of the primary family above the node, coarse to fine; without it they are [DefaultLevels].
func (b *Builder) SetLevels(levels ...Level) *Builder {
	b.cfg.Levels = append([]Level{}, levels...)
	return b
}

// AddFamily declares an overlay family.
func (b *Builder) AddFamily(name Family, levels ...Level) *Builder {
	b.cfg.Families = append(b.cfg.Families, FamilySpec{Name: name, Levels: append([]Level{}, levels...)})
	return b
}

// AddModel declares GPU models beside the catalogue.
func (b *Builder) AddModel(models ...GPUModel) *Builder {
	b.cfg.Models = append(b.cfg.Models, models...)
	return b
}

// AddShape declares what nodes are made of. The spec is copied.
func (b *Builder) AddShape(shapes ...ShapeSpec) *Builder {
	for _, s := range shapes {
		b.cfg.Shapes = append(b.cfg.Shapes, s.normal())
	}
	return b
}

// AddNode adds nodes; they get their ordinals in this order. The spec is copied.
func (b *Builder) AddNode(nodes ...NodeSpec) *Builder {
	for _, n := range nodes {
		b.cfg.Nodes = append(b.cfg.Nodes, n.clone())
	}
	return b
}

// Build is [New] of what was collected: it reports all mistakes at once. The builder stays usable.
func (b *Builder) Build() (*Cluster, error) { return New(b.cfg) }
