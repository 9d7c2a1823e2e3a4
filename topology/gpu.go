// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A GPURef names a GPU by ordinals: node, and number inside the node. A GPURef is immutable and safe for concurrent use.
type GPURef struct {
	Node NodeIndex `json:"node"`
	GPU  int       `json:"gpu"`
}

// gpuSlot is a GPURef made small for the index by id.
type gpuSlot struct {
	node NodeIndex
	gpu  int32
}

// The scale of [Cluster.Distance]. Only the order counts, not the size of a step.
const (
	DistanceLink    = 10            // inside a node: 10 × [Link], 0 for a GPU and itself, 60 at most
	DistanceNVLink  = 15            // another node of the same multi-node NVLink domain: beside NVLink, before PCIe
	DistanceLevel   = 100           // another node: 100, and 10 for each level of the primary family climbed from the rack up
	DistanceUnknown = math.MaxInt32 // one of the GPUs does not exist
)

// GPUID gives the id of a GPU; "" when there is none. Without ids of its own a GPU is called "node/0" and so on, at the
// cost of one allocation.
func (c *Cluster) GPUID(i NodeIndex, gpu int) GPUID {
	n := c.at(i)
	if n == nil || gpu < 0 || gpu >= n.shape.GPUs() {
		return ""
	}
	if n.gpuIDs != nil {
		return n.gpuIDs[gpu]
	}
	return GPUID(string(n.id) + "/" + strconv.Itoa(gpu))
}

// FindGPU gives the place of a GPU of a node that is present. It costs O(log GPUs).
func (c *Cluster) FindGPU(id GPUID) (GPURef, bool) {
	c = c.orEmpty()
	if cut := strings.LastIndexByte(string(id), '/'); cut >= 0 {
		i, ok := c.Index(NodeID(id[:cut]))
		gpu, err := strconv.Atoi(string(id[cut+1:]))
		if !ok || err != nil || c.GPUID(i, gpu) != id { // the last test refuses "n/01" and nodes with ids of their own
			return GPURef{NoNode, -1}, false
		}
		return GPURef{i, gpu}, true
	}
	at, ok := c.gpuPlace(id)
	if !ok {
		return GPURef{NoNode, -1}, false
	}
	return GPURef{c.gpus[at].node, int(c.gpus[at].gpu)}, true
}

// gpuPlace gives where an id is in the index, or where it would be.
func (c *Cluster) gpuPlace(id GPUID) (int, bool) {
	return slices.BinarySearchFunc(c.gpus, id, func(s gpuSlot, id GPUID) int { return cmp.Compare(c.slotID(s), id) })
}

func (c *Cluster) slotID(s gpuSlot) GPUID { return c.nodes[s.node].gpuIDs[s.gpu] }

// Distance says how far apart two GPUs are, smaller is closer, on the scale of the Distance constants: inside a node the
// class of [Shape.Link]; between nodes the number of levels to climb to the lowest common domain (as if to one above the
// top when there is none). Two nodes of one [LevelBlock] domain whose model joins more GPUs by NVLink than one node has
// (an NVL72 tray, for example) are [DistanceNVLink] apart, nearer than any two nodes that only share a rack.
// It costs O(levels) and allocates nothing.
func (c *Cluster) Distance(a, b GPURef) int {
	na, nb := c.at(a.Node), c.at(b.Node)
	if na == nil || nb == nil || !na.shape.has(a.GPU) || !nb.shape.has(b.GPU) {
		return DistanceUnknown
	}
	if a.Node == b.Node {
		return DistanceLink * int(na.shape.Link(a.GPU, b.GPU))
	}
	if c.sameNVLinkDomain(a.Node, b.Node) {
		return DistanceNVLink
	}
	climbed := int(c.lay.node) + 1
	if l, ok := c.Lowest(a.Node, b.Node); ok {
		climbed = int(c.lay.node - l)
	}
	return DistanceLevel + 10*climbed
}

func (c *Cluster) sameNVLinkDomain(a, b NodeIndex) bool {
	block, ok := c.lay.index[LevelBlock]
	if !ok || block >= c.lay.node {
		return false
	}
	sa, sb := c.nodes[a].shape, c.nodes[b].shape
	if sa.model.Name != sb.model.Name || sa.model.NVLinkDomain <= max(sa.GPUs(), sb.GPUs()) || sa.model.NVLinkBridge {
		return false
	}
	d := c.Ancestor(a, block)
	return d != NoDomain && d == c.Ancestor(b, block)
}
