// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"container/heap"
	"fmt"
	"iter"
	"slices"

	"github.com/berth-gpu/berth/topology"
)

// search finds places for one request without touching the state: nodes that it would change are copied aside.
type search struct {
	constraints
	policy    Policy
	pods      int // of the request
	ask       Ask
	tentative map[topology.NodeIndex]*node
	blank     []*node // an empty node per shape, for relax.idle
	dst       []int
}

func (f *Fleet) newSearch(r *Request, at int64, x relax) *search {
	s := &f.core.S
	return &search{
		constraints: constraints{s: s, req: r, at: at, relax: x},
		policy:      f.policy,
		pods:        r.Pods(),
		ask:         Ask{Placed: s.placed.Len()},
	}
}

// failure says where a search ended.
type failure struct {
	group  int          // the first group, in the order of search, that did not fit
	room   int          // pods of it that found a place
	placed []Assignment // those, and the pods of the groups before it
}

// order gives the groups as they are placed: the largest pods first, since small ones fit where large ones leave room.
func (r *Request) order() []int {
	order := make([]int, len(r.Groups))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return r.Groups[a].Pod.larger(r.Groups[b].Pod) })
	return order
}

// run places all groups, or says which one found no place. The assignments come in the order of search.
func (q *search) run() ([]Assignment, *failure, error) {
	out := make([]Assignment, 0, min(q.pods, 1024))
	for _, g := range q.req.order() {
		before := len(out)
		var err error
		if out, err = q.group(g, out); err != nil {
			return nil, nil, err
		}
		if len(out)-before < q.req.Groups[g].Count {
			return nil, &failure{group: g, room: len(out) - before, placed: out}, nil
		}
	}
	return out, nil, nil
}

// candidate is a node that takes at least one more pod.
type candidate struct {
	score int64
	node  topology.NodeIndex
}

// candidates is a heap with the best node on top: least score, then least ordinal.
type candidates []candidate

func (c candidates) Len() int { return len(c) }
func (c candidates) Less(i, j int) bool {
	return c[i].score < c[j].score || c[i].score == c[j].score && c[i].node < c[j].node
}
func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c *candidates) Push(x any)   { *c = append(*c, x.(candidate)) }
func (c *candidates) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// group places the pods of one group, as many as find a place. Scores are asked for once per node, and again for a node
// that took a pod: a policy is pure, so no other score can have changed.
func (q *search) group(g int, out []Assignment) ([]Assignment, error) {
	count := q.req.Groups[g].Count
	q.ask.Pod = q.req.Groups[g].Pod
	var all candidates
	var best candidate
	found := false
	for n := range q.nodes() {
		if q.why(n, q.ask.Pod) != ReasonFits {
			continue
		}
		c := candidate{q.policy.Score(q.ask, &n.NodeState), n.ordinal}
		switch {
		case count > 1:
			all = append(all, c)
		case !found || c.score < best.score:
			best, found = c, true
		}
	}
	if count == 1 {
		if !found {
			return out, nil
		}
		return q.take(best.node, g, 0, out)
	}
	heap.Init(&all)
	for pod := 0; pod < count && len(all) > 0; pod++ {
		i := all[0].node
		var err error
		if out, err = q.take(i, g, pod, out); err != nil {
			return nil, err
		}
		if n := q.node(i); q.why(n, q.ask.Pod) == ReasonFits {
			all[0].score = q.policy.Score(q.ask, &n.NodeState)
			heap.Fix(&all, 0)
		} else {
			heap.Pop(&all)
		}
	}
	return out, nil
}

// take gives one pod a place on a node that has room for it.
func (q *search) take(i topology.NodeIndex, g, pod int, out []Assignment) ([]Assignment, error) {
	n := q.node(i)
	q.dst = q.policy.Pick(q.ask, &n.NodeState, q.dst[:0])
	if err := q.picked(n); err != nil {
		return nil, err
	}
	a := Assignment{Group: g, Pod: pod, Node: i, GPUs: slices.Clone(q.dst)}
	if q.pods > 1 || q.relax != (relax{}) {
		q.edit(i).put(q.ask.Pod, a.GPUs, 1)
	}
	return append(out, a), nil
}

// picked checks the second point of the policy's contract.
func (q *search) picked(n *node) error {
	need := q.ask.Pod.GPUMilli
	if need == 0 {
		need = gpuMilli
	}
	ok := int64(len(q.dst)) == q.ask.Pod.gpus() && ascending(q.dst)
	for _, g := range q.dst {
		ok = ok && n.Free(g) >= need
	}
	if ok {
		return nil
	}
	return fmt.Errorf("%w: policy %q picked GPUs %v of node %.80q for a pod of %d GPUs and %d milli: use a policy that passes allocatortest.TestPolicy",
		ErrPolicy, q.policy.Name(), q.dst, q.s.cluster.ID(n.ordinal), q.ask.Pod.GPUs, q.ask.Pod.GPUMilli)
}

// nodes gives the present nodes as the search sees them, ascending.
func (q *search) nodes() iter.Seq[*node] {
	return func(yield func(*node) bool) {
		if q.req.Nodes != nil {
			q.lists(0)
			for _, i := range q.listed {
				if n := q.node(i); n.shape != nil && !yield(n) {
					return
				}
			}
			return
		}
		for i := range q.s.nodes.Len() {
			if n := q.node(topology.NodeIndex(i)); n.shape != nil && !yield(n) {
				return
			}
		}
	}
}

// node gives one node as the search sees it: what it has put there itself counts, what it overlooks does not.
func (q *search) node(i topology.NodeIndex) *node {
	if len(q.tentative) > 0 {
		if n, ok := q.tentative[i]; ok {
			return n
		}
	}
	n := q.s.nodes.Ref(int(i))
	if !q.relax.idle && !q.relax.healthy || n.shape == nil {
		return n
	}
	return q.relaxed(n)
}

// relaxed gives the node without what the search overlooks.
func (q *search) relaxed(n *node) *node {
	marked := !n.plain() && q.relax != emptyFleet
	switch {
	case q.relax.idle && !marked:
		return q.emptied(n)
	case q.relax.idle && n.pods > 0:
		idle := newNode(n.ordinal, n.shape)
		idle.holds, idle.reserved, idle.freeUntil = n.holds, n.reserved, n.freeUntil
		idle.setFailed()
		return &idle
	case q.relax.healthy && n.failed != nil:
		healed := *n
		healed.failed = nil
		healed.sum()
		return &healed
	}
	return n
}

// emptied gives the node as it was when it came. One record per shape serves until the search puts something there.
func (q *search) emptied(n *node) *node {
	at := slices.IndexFunc(q.blank, func(b *node) bool { return b.shape == n.shape })
	if at < 0 {
		at = len(q.blank)
		b := newNode(n.ordinal, n.shape)
		q.blank = append(q.blank, &b)
	}
	q.blank[at].ordinal = n.ordinal
	return q.blank[at]
}

// edit gives the search's own copy of a node.
func (q *search) edit(i topology.NodeIndex) *node {
	if n, ok := q.tentative[i]; ok {
		return n
	}
	copied := *q.node(i)
	if q.tentative == nil {
		q.tentative = map[topology.NodeIndex]*node{}
	}
	q.tentative[i] = &copied
	return &copied
}
