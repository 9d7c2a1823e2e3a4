// SPDX-License-Identifier: Apache-2.0

package step

import "github.com/berth-gpu/berth/internal/cow"

const (
	nodeCap = 62          // a leaf fills 1,024 bytes, a size class of the allocator
	nodeMin = nodeCap / 4 // a smaller node is merged with a neighbour that has room
)

// A node is a leaf with changes or an inner node with children. All levels in
// it are relative: counted from the level just before the node's first change.
// So a change moves numbers only on its path, and only to the right of it:
//
//	inner   t      1    6          leaf   t      1    4
//	        level  0   +5   before        level +2   +5   after each change
//	        max   +5   −2   each child,
//	        min   +2   −5   and the extremes after a change below it, counted
//	                        from level
type node struct {
	tok   *cow.Token
	in    *inner // nil: a leaf
	n     int    // changes or children
	sum   int64  // of all changes below
	t     [nodeCap]int64
	level [nodeCap]int64
}

type inner struct {
	low      bool // the children are leaves
	kids     [nodeCap]*node
	max, min [nodeCap]int64
}

func (nd *node) leaf() bool { return nd.in == nil }

// upto returns how many times of nd are ≤ t, for an inner node one more than
// the child that holds t. The "if" becomes an instruction that sets right, not a
// branch, which no predictor would guess in a search.
func (nd *node) upto(t int64) int {
	i, n := uint(0), uint(nd.n)
	for n > 0 {
		half := (n + 1) / 2
		var right uint
		if nd.t[i+half-1] <= t {
			right = 1
		}
		i += half & -right
		n -= half
	}
	return int(i)
}

// extremes returns the greatest and the least level after a change in nd.
func (nd *node) extremes() (hi, lo int64) {
	if nd.leaf() {
		hi, lo = nd.level[0], nd.level[0]
		for _, v := range nd.level[1:nd.n] {
			hi, lo = max(hi, v), min(lo, v)
		}
		return hi, lo
	}
	hi, lo = nd.in.max[0], nd.in.min[0]
	least, most := nd.in.min[:nd.n], nd.in.max[:nd.n]
	for i, v := range nd.level[:nd.n] {
		hi, lo = max(hi, v+most[i]), min(lo, v+least[i])
	}
	return hi, lo
}

// own returns nd itself if tok made it, else a copy that tok owns.
func (nd *node) own(tok *cow.Token) *node {
	if nd.tok == tok {
		return nd
	}
	c := new(node)
	*c = *nd
	c.tok = tok
	if !nd.leaf() {
		c.in = new(inner)
		*c.in = *nd.in
	}
	return c
}

// raise moves the levels from slot i on by d.
func (nd *node) raise(i int, d int64) {
	part := nd.level[i:nd.n]
	for j := range part {
		part[j] += d
	}
}

// open makes room for a slot i.
func (nd *node) open(i int) {
	n := nd.n
	copy(nd.t[i+1:n+1], nd.t[i:n])
	copy(nd.level[i+1:n+1], nd.level[i:n])
	if !nd.leaf() {
		copy(nd.in.kids[i+1:n+1], nd.in.kids[i:n])
		copy(nd.in.max[i+1:n+1], nd.in.max[i:n])
		copy(nd.in.min[i+1:n+1], nd.in.min[i:n])
	}
	nd.n++
}

// shut takes slot i away.
func (nd *node) shut(i int) {
	n := nd.n
	copy(nd.t[i:], nd.t[i+1:n])
	copy(nd.level[i:], nd.level[i+1:n])
	if !nd.leaf() {
		copy(nd.in.kids[i:], nd.in.kids[i+1:n])
		copy(nd.in.max[i:], nd.in.max[i+1:n])
		copy(nd.in.min[i:], nd.in.min[i+1:n])
		nd.in.kids[n-1] = nil
	}
	nd.n--
}

// set makes kid child i.
func (nd *node) set(i int, kid *node) {
	nd.t[i], nd.in.kids[i] = kid.t[0], kid
	nd.in.max[i], nd.in.min[i] = kid.extremes()
}

// add appends kid as the last child.
func (nd *node) add(kid *node) {
	i := nd.n
	nd.n++
	nd.in.low = kid.leaf()
	nd.level[i] = nd.sum
	nd.set(i, kid)
	nd.sum += kid.sum
}

// move appends slots from … of b to nd and takes them from b.
func (nd *node) move(b *node, from int) {
	lift := nd.sum
	if from > 0 {
		lift -= b.before(from)
	}
	i, n := nd.n, b.n-from
	copy(nd.t[i:], b.t[from:b.n])
	copy(nd.level[i:], b.level[from:b.n])
	if !nd.leaf() {
		copy(nd.in.kids[i:], b.in.kids[from:b.n])
		copy(nd.in.max[i:], b.in.max[from:b.n])
		copy(nd.in.min[i:], b.in.min[from:b.n])
	}
	nd.n += n
	nd.raise(i, lift)
	nd.sum = b.sum + lift
}

// before returns the level just before slot i > 0.
func (nd *node) before(i int) int64 {
	if nd.leaf() {
		return nd.level[i-1]
	}
	return nd.level[i]
}

// cut drops the slots from i on, which another node has now.
func (nd *node) cut(i int) {
	nd.sum = nd.before(i)
	if !nd.leaf() {
		clear(nd.in.kids[i:nd.n])
	}
	nd.n = i
}
