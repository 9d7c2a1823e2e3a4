// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/berth-gpu/berth/internal/wire"
	"github.com/berth-gpu/berth/topology"
)

// A Content is a SHA-256 of what a fleet depends on in a cluster: for each ordinal the id of the node, whether it is there,
// and its GPUs, GPU model, CPU and memory. Events and snapshots carry it, since the version alone does not tell two edits of
// one cluster apart. Paths, labels and GPU ids are not part of it.
// A Content is immutable and safe for concurrent use.
type Content [sha256.Size]byte

// ContentOf gives the content of a cluster. It costs O(nodes).
func ContentOf(c *topology.Cluster) Content {
	h := sha256.New()
	var b []byte
	for i := range topology.NodeIndex(c.Len()) {
		s := c.Shape(i)
		b = wire.AppendString(b[:0], c.ID(i))
		b = wire.AppendBool(b, s != nil)
		if s != nil {
			b = wire.AppendUint(b, uint64(s.GPUs()))
			b = wire.AppendString(b, s.Model().Name)
			b = wire.AppendInt(wire.AppendInt(b, s.CPUMilli()), s.MemoryMiB())
		}
		_, _ = h.Write(b) // a hash never fails
	}
	return Content(h.Sum(nil))
}

// String gives the content in hexadecimal digits.
func (c Content) String() string { return hex.EncodeToString(c[:]) }

// MarshalText gives the content in hexadecimal digits.
func (c Content) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

func readContent(r *wire.Reader) (c Content) {
	for i := range c {
		c[i] = r.Byte()
	}
	return c
}

// matches checks that c is the cluster of a version and a content that somebody wrote down.
func matches(c *topology.Cluster, version uint64, content Content) error {
	if c.Version() != version {
		return refuse(ErrCluster, "version", c.Version(), fmt.Sprintf("give the cluster of version %d", version))
	}
	if got := ContentOf(c); got != content {
		return refuse(ErrCluster, "content", got.String(), fmt.Sprintf("it has version %d but is another cluster; give the one with content %s", version, content))
	}
	return nil
}
