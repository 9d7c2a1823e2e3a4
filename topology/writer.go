// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// writer fills the copy of a cluster that a draft is making.
type writer struct {
	d      *draft
	c      *Cluster
	attrs  map[string]*attrs
	change map[DomainIndex]*population
	moved  map[NodeIndex]bool // nodes detached or attached: their GPU ids are indexed anew
	joined []plan
	levels map[LevelIndex]bool  // lists of domains that are ours to append to, no longer the base's
	kids   map[DomainIndex]bool // lists of children that are ours
}

// population follows how many nodes a touched domain has, and which came.
type population struct {
	live int
	came []NodeIndex
}

// writer copies what an edit may change: flat arrays, so that the copy is a few memory moves.
func (d *draft) writer() *writer {
	b := d.base
	more := len(d.plans)
	c := &Cluster{version: b.version, lay: d.lay, userModels: d.userMod, shapeList: d.shapesL,
		nodes: roomFor(b.nodes, more), anc: roomFor(b.anc, more*len(d.lay.levels)), index: b.index.clone(),
		domains: slices.Clone(b.domains), domainByID: b.domainByID.clone(), byLevel: slices.Clone(b.byLevel),
		gpus: b.gpus, count: b.count, gpuCount: b.gpuCount}
	if c.byLevel == nil {
		c.byLevel = make([][]DomainIndex, len(d.lay.levels))
	}
	return &writer{d: d, c: c, attrs: map[string]*attrs{}, change: map[DomainIndex]*population{},
		moved: map[NodeIndex]bool{}, levels: map[LevelIndex]bool{}, kids: map[DomainIndex]bool{}}
}

// roomFor copies a slice and leaves room for more; one copy where Clone and Grow would make two.
func roomFor[E any](s []E, more int) []E { return append(make([]E, 0, len(s)+more), s...) }

func (w *writer) population(at DomainIndex) *population {
	p := w.change[at]
	if p == nil {
		p = &population{live: len(w.c.domains[at].nodes)}
		w.change[at] = p
	}
	return p
}

// detach makes a node absent; its ordinal stays.
func (w *writer) detach(at NodeIndex) {
	n := &w.c.nodes[at]
	w.c.count--
	w.c.gpuCount -= int64(n.shape.GPUs())
	w.moved[at] = true
	*n = node{id: n.id}
	row := w.c.row(at)
	for l, dom := range row {
		if dom != NoDomain {
			w.population(dom).live--
			row[l] = NoDomain
		}
	}
}

// register gives an id its ordinal: the one it had, or the next.
func (w *writer) register(id NodeID, field string) (NodeIndex, bool) {
	if at, ok := w.c.Index(id); ok {
		return at, true
	}
	if len(w.c.nodes) >= MaxNodes {
		w.d.add(ErrTooLarge, field, string(id), fmt.Sprintf("a cluster has at most %d node ordinals", MaxNodes))
		return NoNode, false
	}
	at := NodeIndex(len(w.c.nodes))
	id = NodeID(strings.Clone(string(id)))
	w.c.nodes = append(w.c.nodes, node{id: id})
	for range w.d.lay.levels {
		w.c.anc = append(w.c.anc, NoDomain)
	}
	w.c.index.add(hash(0, string(id)), int32(at), func(x int32) uint64 { return hash(0, string(w.c.nodes[x].id)) })
	return at, true
}

// attach makes a node present and puts it into its domains.
func (w *writer) attach(p plan) {
	at, ok := w.register(p.spec.ID, p.field+".id")
	if !ok {
		return
	}
	if w.c.gpuCount > math.MaxInt64-int64(p.shape.GPUs()) {
		w.d.add(ErrTooLarge, p.field+".shape", p.spec.Shape, "the number of GPUs overflows")
		return
	}
	n := &w.c.nodes[at]
	n.shape, n.attrs, n.gpuIDs = p.shape, w.intern(p.spec), cloneOrNil(p.spec.GPUIDs)
	w.c.count++
	w.c.gpuCount += int64(p.shape.GPUs())
	w.moved[at] = true
	if n.gpuIDs != nil {
		w.joined = append(w.joined, plan{at: at, field: p.field})
	}
	row := w.c.row(at)
	for _, s := range w.d.lay.spans {
		parent := NoDomain
		for l := s.lo; l < s.hi; l++ {
			name, ok := p.spec.Path[w.d.lay.levels[l]]
			if !ok {
				continue
			}
			dom := w.resolve(l, parent, name, p.field)
			row[l], parent = dom, dom
			pop := w.population(dom)
			pop.live++
			pop.came = append(pop.came, at)
		}
	}
}

func (w *writer) intern(spec NodeSpec) *attrs {
	key := attrsKey(spec)
	if a, ok := w.attrs[key]; ok {
		return a
	}
	a := &attrs{driver: spec.Driver, cuda: spec.CUDA}
	for _, k := range slices.Sorted(maps.Keys(spec.Labels)) {
		a.labels = append(a.labels, label{k, spec.Labels[k]})
	}
	w.attrs[key] = a
	return a
}

// resolve finds or makes the domain called name below parent. One path names one domain of a level: if nodes hold the path
// with another parent (they lack a level that this one has), that is a contradiction; an empty domain just moves.
func (w *writer) resolve(l LevelIndex, parent DomainIndex, name, field string) DomainIndex {
	id := DomainID(name)
	if parent != NoDomain {
		id = w.c.domains[parent].id + "/" + id
	}
	at, known := w.c.domainAt(l, id)
	switch {
	case !known:
		return w.newDomain(l, parent, id)
	case w.c.domains[at].parent == parent:
	case w.population(at).live > 0:
		w.d.add(ErrConflict, field+".path."+string(w.d.lay.levels[l]), string(id),
			"other nodes reach a domain of this path through other levels; give one of them another name")
	default:
		w.setParent(at, parent)
	}
	return at
}

func (w *writer) newDomain(l LevelIndex, parent DomainIndex, id DomainID) DomainIndex {
	at := DomainIndex(len(w.c.domains))
	id = DomainID(strings.Clone(string(id)))
	w.c.domains = append(w.c.domains, domain{level: l, parent: NoDomain, id: id})
	w.c.domainByID.add(hash(l, string(id)), int32(at), func(x int32) uint64 {
		return hash(w.c.domains[x].level, string(w.c.domains[x].id))
	})
	if !w.levels[l] {
		w.levels[l], w.c.byLevel[l] = true, slices.Clone(w.c.byLevel[l])
	}
	w.c.byLevel[l] = append(w.c.byLevel[l], at)
	w.setParent(at, parent)
	return at
}

func (w *writer) setParent(at, parent DomainIndex) {
	if old := w.c.domains[at].parent; old != NoDomain {
		kids := w.children(old)
		*kids = slices.DeleteFunc(*kids, func(x DomainIndex) bool { return x == at })
	}
	w.c.domains[at].parent = parent
	if parent != NoDomain {
		kids := w.children(parent)
		pos, _ := slices.BinarySearch(*kids, at)
		*kids = slices.Insert(*kids, pos, at)
	}
}

// children gives the list of children of a domain, copied once from the base before it is changed.
func (w *writer) children(at DomainIndex) *[]DomainIndex {
	dom := &w.c.domains[at]
	if !w.kids[at] {
		w.kids[at], dom.children = true, slices.Clone(dom.children)
	}
	return &dom.children
}

// listNodes gives every touched domain its list of nodes anew.
func (w *writer) listNodes() {
	for at, p := range w.change {
		dom := &w.c.domains[at]
		list := make([]NodeIndex, 0, len(dom.nodes)+len(p.came))
		for _, n := range dom.nodes {
			if !w.moved[n] {
				list = append(list, n)
			}
		}
		list = append(list, p.came...)
		slices.Sort(list)
		dom.nodes = slices.Clip(list)
	}
}

// indexGPUs merges the GPU ids that came into those that stay. It copies runs between the few places that change.
func (w *writer) indexGPUs() {
	base := w.d.base
	var gone []int // places in the base's index whose GPUs left or moved
	for at := range w.moved {
		if int(at) >= len(base.nodes) {
			continue
		}
		for _, id := range base.nodes[at].gpuIDs {
			if pos, ok := base.gpuPlace(id); ok {
				gone = append(gone, pos)
			}
		}
	}
	came := w.newGPUs()
	if len(gone) == 0 && len(came) == 0 {
		return
	}
	slices.Sort(gone)
	all := make([]gpuSlot, 0, len(base.gpus)-len(gone)+len(came))
	from := 0
	keepTo := func(to int) { // the base's run up to there, without what is gone
		for len(gone) > 0 && gone[0] < to {
			all = append(all, base.gpus[from:gone[0]]...)
			from, gone = gone[0]+1, gone[1:]
		}
		if from < to {
			all = append(all, base.gpus[from:to]...)
			from = to
		}
	}
	for _, x := range came {
		pos, taken := base.gpuPlace(x.id)
		if taken {
			keepTo(pos + 1)
		} else {
			keepTo(pos)
		}
		if k := len(all); k > 0 && w.c.slotID(all[k-1]) == x.id {
			w.d.add(ErrDuplicate, fmt.Sprintf("%s.gpuIDs[%d]", w.joined[x.by].field, x.gpu), string(x.id),
				fmt.Sprintf("node %q has a GPU of this id; give each its own", w.c.ID(all[k-1].node)))
			continue
		}
		all = append(all, x.gpuSlot)
	}
	keepTo(len(base.gpus))
	w.c.gpus = slices.Clip(all)
}

// newGPU is a GPU with an id that this edit brings, and the place in joined of the plan that brings it.
type newGPU struct {
	id GPUID
	gpuSlot
	by int32
}

func (w *writer) newGPUs() []newGPU {
	n := 0
	for _, p := range w.joined {
		n += len(w.c.nodes[p.at].gpuIDs)
	}
	came := make([]newGPU, 0, n)
	for i, p := range w.joined {
		for g, id := range w.c.nodes[p.at].gpuIDs {
			came = append(came, newGPU{id, gpuSlot{p.at, int32(g)}, int32(i)})
		}
	}
	slices.SortFunc(came, func(a, b newGPU) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.node, b.node), cmp.Compare(a.gpu, b.gpu))
	})
	return came
}
