// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"fmt"

	"github.com/berth-gpu/berth/topology"
)

// verify checks a plan by content: it places every pod of the canonical request once, and every place is still there.
func (s *state) verify(r *Request, as []Assignment, at int64) error {
	if err := r.complete(as); err != nil {
		return err
	}
	if err := r.begins(at); err != nil {
		return err
	}
	if err := s.known(r); err != nil {
		return err
	}
	c := constraints{s: s, req: r, at: at}
	tentative := map[topology.NodeIndex]*node{}
	for k := range as {
		a := &as[k]
		n := tentative[a.Node]
		if n == nil {
			base := s.at(a.Node)
			if base == nil {
				return refuse(ErrUnknownNode, fmt.Sprintf("Assignments[%d].Node", k), a.Node, fmt.Sprintf("the cluster has %d ordinals, numbered from 0", s.nodes.Len()))
			}
			if base.shape == nil {
				return s.stale(a, "the node left the cluster")
			}
			copied := *base
			n = &copied
			tentative[a.Node] = n
		}
		pod := r.Groups[a.Group].Pod
		if why := c.why(n, pod); why != ReasonFits {
			return s.stale(a, "the node is out by reason "+string(why))
		}
		need := pod.GPUMilli
		if need == 0 {
			need = gpuMilli
		}
		for _, g := range a.GPUs {
			if n.Free(g) < need {
				return s.stale(a, fmt.Sprintf("GPU %d has %d of %d milli free", g, n.Free(g), need))
			}
		}
		n.put(pod, a.GPUs, 1)
	}
	return nil
}

// known checks that the cluster has, or had, every node that the request lists.
func (s *state) known(r *Request) error {
	for i, id := range r.Nodes {
		if _, ok := s.cluster.Index(id); !ok {
			return refuse(ErrUnknownNode, fmt.Sprintf("Nodes[%d]", i), string(id), "name nodes that the cluster has or had")
		}
	}
	return nil
}

func (s *state) stale(a *Assignment, what string) error {
	return fmt.Errorf("%w: group %d pod %d on node %.80q: %s: plan again", ErrStale, a.Group, a.Pod, s.cluster.ID(a.Node), what)
}

// complete checks the form of a plan: every pod of every group in order, each with GPUs of the right number.
func (r *Request) complete(as []Assignment) error {
	if pods := r.Pods(); len(as) != pods {
		return refuse(ErrInvalid, "Assignments", fmt.Sprintf("%d pods", len(as)), fmt.Sprintf("the request has %d", pods))
	}
	k := 0
	for g := range r.Groups {
		for p := range r.Groups[g].Count {
			a := &as[k]
			field := fmt.Sprintf("Assignments[%d]", k)
			if a.Group != g || a.Pod != p {
				return refuse(ErrInvalid, field, fmt.Sprintf("group %d pod %d", a.Group, a.Pod), fmt.Sprintf("group %d pod %d comes here", g, p))
			}
			if want := r.Groups[g].Pod.gpus(); int64(len(a.GPUs)) != want {
				return refuse(ErrInvalid, field+".GPUs", a.GPUs, fmt.Sprintf("the pod has %d GPUs", want))
			}
			if !ascending(a.GPUs) {
				return refuse(ErrInvalid, field+".GPUs", a.GPUs, "give different indexes in ascending order")
			}
			k++
		}
	}
	return nil
}

// ascending says whether GPU indexes are in range, different and in order.
func ascending(v []int) bool {
	last := -1
	for _, g := range v {
		if g <= last || g >= topology.MaxGPUsPerNode {
			return false
		}
		last = g
	}
	return true
}
