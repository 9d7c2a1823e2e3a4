// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

type op int

const (
	opAdd op = iota
	opReplace
	opRemove
)

// plan is one node of an edit that passed its own checks.
type plan struct {
	op    op
	at    NodeIndex // NoNode for a node never seen
	field string
	spec  NodeSpec
	shape *Shape
}

// draft is the next cluster in the making. A mistake stops nothing: the rest is judged too, and finish gives no cluster.
type draft struct {
	*mistakes
	base    *Cluster
	lay     *layout
	userMod []GPUModel
	shapeOf map[string]*Shape
	shapesL []*Shape
	grown   bool // models or shapes were added
	plans   []plan
	named   map[NodeID]string // node → field that names it
}

func newDraft(base *Cluster, m *mistakes) *draft {
	base = base.orEmpty()
	d := &draft{mistakes: m, base: base, lay: base.layout(), userMod: slices.Clone(base.userModels),
		shapesL: slices.Clone(base.shapeList), shapeOf: map[string]*Shape{}, named: map[NodeID]string{}}
	for _, s := range d.shapesL {
		d.shapeOf[s.spec.Name] = s
	}
	return d
}

func (d *draft) modelByName(name string) (GPUModel, bool) {
	for _, m := range d.userMod {
		if m.Name == name {
			return m, true
		}
	}
	return ModelByName(name)
}

func (d *draft) models(list []GPUModel, field string) {
	for i, g := range list {
		at := fmt.Sprintf("%s[%d]", field, i)
		g.check(at, d.mistakes)
		if known, ok := d.modelByName(g.Name); ok {
			if known != g {
				d.add(ErrConflict, at+".name", g.Name, "a model of this name is known and differs; give yours another name")
			}
			continue
		}
		d.userMod = append(d.userMod, g)
		d.grown = true
	}
}

func (d *draft) shapes(list []ShapeSpec, field string) {
	for i, s := range list {
		at := fmt.Sprintf("%s[%d]", field, i)
		before := d.count()
		s.check(at, d.modelByName, d.mistakes)
		if known, ok := d.shapeOf[s.Name]; ok {
			if !known.spec.equal(s) {
				d.add(ErrConflict, at+".name", s.Name, "a shape of this name is declared and differs; give yours another name")
			}
			continue
		}
		var shape *Shape
		if d.count() == before {
			model, _ := d.modelByName(s.Model)
			shape = newShape(s, model)
		} else { // so that nodes that refer to it are not reported as well
			shape = newShape(ShapeSpec{Name: s.Name, GPUs: min(max(s.GPUs, 0), MaxGPUsPerNode)}, GPUModel{})
		}
		d.shapeOf[s.Name] = shape
		d.shapesL = append(d.shapesL, shape)
		d.grown = true
	}
}

// once refuses a node that the edit names twice: which of the two would count is not for us to guess.
func (d *draft) once(id NodeID, field string) bool {
	if first, twice := d.named[id]; twice {
		d.add(ErrDuplicate, field, string(id), "the node is named at "+first+" too; name it once")
		return false
	}
	d.named[id] = field
	return true
}

func (d *draft) place(specs []NodeSpec, o op, list string) {
	for i, spec := range specs {
		d.placeOne(spec, o, fmt.Sprintf("%s[%d]", list, i))
	}
}

func (d *draft) placeOne(spec NodeSpec, o op, field string) {
	before := d.count()
	if !validName(string(spec.ID)) {
		d.add(ErrInvalid, field+".id", string(spec.ID), nameHint)
	} else {
		d.once(spec.ID, field+".id")
	}
	shape := d.checkNode(spec, field)
	at, known := d.base.Index(spec.ID)
	present := known && d.base.Present(at)
	if present {
		if old, _ := d.base.Spec(at); old.equal(spec) {
			return
		}
	}
	switch {
	case o == opAdd && present:
		d.add(ErrConflict, field+".id", string(spec.ID), "the node is present and differs; use Replace")
	case o == opReplace && !present:
		d.add(ErrUnknown, field+".id", string(spec.ID), "the node is not present; use Add")
	}
	if d.count() == before {
		d.plans = append(d.plans, plan{op: o, at: at, field: field, spec: spec, shape: shape})
	}
}

func (d *draft) remove(ids []NodeID, list string) {
	for i, id := range ids {
		field := fmt.Sprintf("%s[%d]", list, i)
		if !d.once(id, field) {
			continue
		}
		at, known := d.base.Index(id)
		switch {
		case !known:
			d.add(ErrUnknown, field, string(id), "no node of this name ever joined; check the spelling")
		case d.base.Present(at):
			d.plans = append(d.plans, plan{op: opRemove, at: at, field: field})
		}
	}
}

func (d *draft) checkNode(spec NodeSpec, field string) *Shape {
	shape := d.shapeOf[spec.Shape]
	if shape == nil {
		d.add(ErrUnknown, field+".shape", spec.Shape, "declare a shape of this name")
	} else if n := len(spec.GPUIDs); n != 0 && n != shape.GPUs() {
		d.add(ErrInvalid, field+".gpuIDs", fmt.Sprintf("%d ids", n), fmt.Sprintf("shape %q has %d GPUs; give as many ids, or none", spec.Shape, shape.GPUs()))
	}
	for i, id := range spec.GPUIDs {
		if !validName(string(id)) {
			d.add(ErrInvalid, fmt.Sprintf("%s.gpuIDs[%d]", field, i), string(id), nameHint)
		}
	}
	for _, level := range slices.Sorted(maps.Keys(spec.Path)) {
		at, ok := d.lay.index[level]
		if _, outer := d.lay.family(at); !ok || !outer {
			d.add(ErrUnknown, field+".path", string(level), "declare the level in Levels or Families, above the node")
		}
		if name := spec.Path[level]; !validName(name) {
			d.add(ErrInvalid, field+".path."+string(level), name, nameHint+"; leave the level out when the node has none")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(spec.Labels)) {
		if key == "" || !validText(key) || !validText(spec.Labels[key]) {
			d.add(ErrInvalid, field+".labels."+key, spec.Labels[key], "use UTF-8 text without control characters, and a key")
		}
	}
	if !validText(spec.Driver) {
		d.add(ErrInvalid, field+".driver", spec.Driver, "use UTF-8 text without control characters")
	}
	if !validText(spec.CUDA) {
		d.add(ErrInvalid, field+".cuda", spec.CUDA, "use UTF-8 text without control characters")
	}
	return shape
}

// finish carries out the plans on a copy. With fresh set the answer is a new value even when nothing changed.
func (d *draft) finish(fresh bool) (*Cluster, error) {
	if !fresh && !d.any() && !d.grown && len(d.plans) == 0 {
		return d.base, nil
	}
	w := d.writer()
	for _, p := range d.plans {
		if p.op != opAdd {
			w.detach(p.at)
		}
	}
	for _, p := range d.plans {
		if p.op != opRemove {
			w.attach(p)
		}
	}
	w.indexGPUs()
	w.listNodes()
	if w.c.version == math.MaxUint64 {
		d.add(ErrTooLarge, "version", fmt.Sprint(w.c.version), "build a new cluster from Config()")
	}
	w.c.version++
	if err := d.err(); err != nil {
		return nil, err
	}
	return w.c, nil
}

// attrsKey names labels and versions; equal values have equal keys because no part holds a control character.
func attrsKey(s NodeSpec) string {
	var b strings.Builder
	b.WriteString(s.Driver + "\x00" + s.CUDA)
	for _, k := range slices.Sorted(maps.Keys(s.Labels)) {
		b.WriteString("\x00" + k + "\x01" + s.Labels[k])
	}
	return b.String()
}
