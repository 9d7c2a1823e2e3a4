// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"slices"
)

// The levels of the primary family, coarse to fine.
const (
	LevelRegion   Level = "region"   // a place on the map
	LevelZone     Level = "zone"     // an availability zone or a hall
	LevelFabric   Level = "fabric"   // one InfiniBand or RoCE fabric
	LevelPod      Level = "pod"      // the nodes below one group of spine switches
	LevelLeaf     Level = "leaf"     // the nodes below one leaf switch, or one group of rail leaves (a scalable unit)
	LevelBlock    Level = "block"    // one multi-node NVLink domain, for example an NVL72
	LevelRack     Level = "rack"     // one cabinet
	LevelNode     Level = "node"     // one machine under one operating system
	LevelNUMA     Level = "numa"     // one NUMA node of a machine
	LevelNVSwitch Level = "nvswitch" // GPUs of a machine that NVLink joins
	LevelGPU      Level = "gpu"      // one physical GPU
	LevelMIG      Level = "mig"      // one slice of a GPU
)

// DefaultLevels gives the levels above the node that a zero [Config] uses, coarse to fine.
func DefaultLevels() []Level {
	return []Level{LevelRegion, LevelZone, LevelFabric, LevelPod, LevelLeaf, LevelBlock, LevelRack}
}

// innerLevels are the node and what lies inside it. Every cluster has them; they have no domains.
func innerLevels() []Level {
	return []Level{LevelNode, LevelNUMA, LevelNVSwitch, LevelGPU, LevelMIG}
}

// A FamilySpec declares an overlay: another tree of levels over the same nodes, for example power{feed, busbar}.
// A FamilySpec may be read by many goroutines while nobody changes it.
type FamilySpec struct {
	Name   Family  `json:"name"`
	Levels []Level `json:"levels"` // coarse to fine, all above the node, none shared with another family
}

// layout is the immutable table of levels that a cluster shares with every cluster edited from it.
type layout struct {
	levels   []Level // by LevelIndex
	index    map[Level]LevelIndex
	families []FamilySpec // overlays
	node     LevelIndex   // LevelNode; the primary domains are below it in number
	spans    []span       // one per family that has domains, the primary first
}

// span is the run of LevelIndex values of one family, coarse to fine.
type span struct{ lo, hi LevelIndex }

// span finds the levels of a family, "" for the primary one; none and false when there is no such family.
func (l *layout) span(f Family) (span, bool) {
	if f == "" {
		return l.spans[0], true
	}
	for i := range l.families {
		if l.families[i].Name == f {
			return l.spans[i+1], true
		}
	}
	return span{}, false
}

// newLayout validates the levels; it adds to m whatever is wrong. Past [MaxLevels] it adds only that and gives nil: every node costs
// memory for every level, so nothing may be built on them.
func newLayout(levels []Level, families []FamilySpec, m *mistakes) *layout {
	if levels == nil {
		levels = DefaultLevels()
	}
	if n := levelCount(levels, families); n > MaxLevels || len(families) > MaxLevels {
		m.add(ErrTooLarge, "levels", fmt.Sprint(n), fmt.Sprintf("use at most %d levels over all families, node and below included", MaxLevels))
		return nil
	}
	upper := outerLevels(levels, m)
	l := &layout{index: map[Level]LevelIndex{}}
	add := func(level Level, field string) {
		if _, twice := l.index[level]; twice {
			m.add(ErrDuplicate, field, string(level), "name each level once over all families")
			return
		}
		if level == "" || len(level) > MaxNameBytes || !validText(string(level)) {
			m.add(ErrInvalid, field, string(level), "use 1 to 512 bytes of UTF-8 without control characters")
			return
		}
		l.index[level] = LevelIndex(len(l.levels))
		l.levels = append(l.levels, level)
	}
	for i, level := range upper {
		add(level, fmt.Sprintf("levels[%d]", i))
	}
	l.node = LevelIndex(len(l.levels))
	l.spans = append(l.spans, span{0, l.node})
	for _, level := range innerLevels() {
		add(level, "levels")
	}
	seen := map[Family]bool{"": true}
	for i, f := range families {
		field := fmt.Sprintf("families[%d]", i)
		if seen[f.Name] {
			m.add(ErrDuplicate, field+".name", string(f.Name), `give each overlay its own name; "" is the primary family`)
		} else if !validName(string(f.Name)) {
			m.add(ErrInvalid, field+".name", string(f.Name), nameHint)
		}
		seen[f.Name] = true
		if len(f.Levels) == 0 {
			m.add(ErrInvalid, field+".levels", "", "list at least one level, coarse to fine")
		}
		lo := LevelIndex(len(l.levels))
		for j, level := range f.Levels {
			add(level, fmt.Sprintf("%s.levels[%d]", field, j))
		}
		l.spans = append(l.spans, span{lo, LevelIndex(len(l.levels))})
		l.families = append(l.families, FamilySpec{Name: f.Name, Levels: slices.Clone(f.Levels)})
	}
	return l
}

// levelCount counts the levels of all families, those inside a node once.
func levelCount(levels []Level, families []FamilySpec) int {
	n := len(innerLevels())
	if at := slices.Index(levels, LevelNode); at >= 0 {
		n = max(n, len(levels)-at) // spelt out, and too long if they are not the known ones
		levels = levels[:at]
	}
	n += len(levels)
	for _, f := range families {
		n += len(f.Levels)
	}
	return n
}

// outerLevels cuts the node and the levels inside it off a list that spells them out, in their only order.
func outerLevels(levels []Level, m *mistakes) []Level {
	at := slices.Index(levels, LevelNode)
	if at < 0 {
		at = len(levels)
	}
	inner, next := innerLevels(), 0
	for i, level := range levels[at:] {
		pos := slices.Index(inner[next:], level)
		if pos < 0 {
			m.add(ErrInvalid, fmt.Sprintf("levels[%d]", at+i), string(level), "below node only numa, nvswitch, gpu, mig may follow, in this order")
			continue
		}
		next += pos + 1
	}
	return levels[:at]
}

// family gives the span of levels that l belongs to, or false when l has no domains.
func (l *layout) family(at LevelIndex) (span, bool) {
	for _, s := range l.spans {
		if at >= s.lo && at < s.hi {
			return s, true
		}
	}
	return span{}, false
}
