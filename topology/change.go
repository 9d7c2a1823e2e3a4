// SPDX-License-Identifier: Apache-2.0

package topology

// A Change is an edit as data: what joins, leaves and is described anew. It round-trips through JSON, so a host can keep it
// in its log, and applying the same changes to the same cluster gives the same ordinals. The order of the lists matters only
// for the ordinals of new nodes: Add first. A node may be named once in a change.
// A Change may be read by many goroutines while nobody changes it.
type Change struct {
	Models  []GPUModel  `json:"models,omitempty"`  // new models
	Shapes  []ShapeSpec `json:"shapes,omitempty"`  // new shapes
	Add     []NodeSpec  `json:"add,omitempty"`     // nodes that join, or join again
	Remove  []NodeID    `json:"remove,omitempty"`  // nodes that leave
	Replace []NodeSpec  `json:"replace,omitempty"` // present nodes that are relabelled, moved, or get other GPUs
}

// Apply gives the cluster after the change, or all mistakes of the change at once; c itself never changes. Ordinals stay
// (T1, T2). What changes nothing is no mistake: to declare a known model or shape again, to add a node that is present and
// just so, to remove one that has left, to replace one by itself; if that is all, the answer is c itself. Levels and
// families are fixed for the life of a cluster.
// It costs O(nodes + GPUs with ids) in copied memory, and O(changed nodes × levels) in work.
//
// Possible errors: [ErrInvalid], [ErrUnknown], [ErrDuplicate], [ErrConflict], [ErrTooLarge].
func (c *Cluster) Apply(ch Change) (*Cluster, error) {
	var m mistakes
	d := newDraft(c, &m)
	d.models(ch.Models, "models")
	d.shapes(ch.Shapes, "shapes")
	d.place(ch.Add, opAdd, "add")
	d.remove(ch.Remove, "remove")
	d.place(ch.Replace, opReplace, "replace")
	return d.finish(false)
}

// Edit starts an edit of c.
func (c *Cluster) Edit() *Editor { return &Editor{base: c} }

// An Editor collects a [Change] call by call. Nothing is judged before Build. The zero Editor edits the
// empty cluster.
// An Editor may be read by many goroutines while nobody changes it.
type Editor struct {
	base   *Cluster
	change Change
}

// AddModel declares GPU models.
func (e *Editor) AddModel(models ...GPUModel) *Editor {
	e.change.Models = append(e.change.Models, models...)
	return e
}

// AddShape declares shapes. The spec is copied.
func (e *Editor) AddShape(shapes ...ShapeSpec) *Editor {
	for _, s := range shapes {
		e.change.Shapes = append(e.change.Shapes, s.normal())
	}
	return e
}

// Add lets nodes join. The spec is copied.
func (e *Editor) Add(nodes ...NodeSpec) *Editor {
	for _, n := range nodes {
		e.change.Add = append(e.change.Add, n.clone())
	}
	return e
}

// Remove lets nodes leave.
func (e *Editor) Remove(ids ...NodeID) *Editor {
	e.change.Remove = append(e.change.Remove, ids...)
	return e
}

// Replace describes present nodes anew: all of the spec counts, not only what differs. The spec is copied.
func (e *Editor) Replace(nodes ...NodeSpec) *Editor {
	for _, n := range nodes {
		e.change.Replace = append(e.change.Replace, n.clone())
	}
	return e
}

// Change gives the edit as data, for a host's log; it shares memory with the editor.
func (e *Editor) Change() Change { return e.change }

// Build is [Cluster.Apply] of the edit.
func (e *Editor) Build() (*Cluster, error) { return e.base.Apply(e.change) }
