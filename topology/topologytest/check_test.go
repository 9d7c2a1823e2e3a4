// SPDX-License-Identifier: Apache-2.0

package topologytest

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/berth-gpu/berth/topology"
	"github.com/stretchr/testify/require"
)

// A judge notes what check reports and ends it at the first failure.
type judge struct{ said []string }

func (j *judge) Errorf(format string, args ...any) {
	j.said = append(j.said, fmt.Sprintf(format, args...))
}
func (j *judge) FailNow() { panic(j) }

// verdict gives what check says of a cluster, "" when it is content.
func verdict(c cluster) string {
	j := &judge{}
	func() {
		defer func() {
			if r := recover(); r != nil && r != any(j) {
				panic(r)
			}
		}()
		check(j, c)
	}()
	return strings.Join(j.said, "\n")
}

// A liar is a cluster that gives one wrong answer of each kind that is set.
type liar struct {
	*topology.Cluster
	count    int
	gpus     int64
	index    topology.NodeIndex
	ancestor topology.DomainIndex
	lowest   topology.LevelIndex
	in       topology.Family
	overlay  topology.LevelIndex
	domain   func(*topology.Domain)
	drop     string // the sequence that loses its first element
	gpuID    topology.GPUID
	ref      int
}

func (l liar) Count() int      { return l.Cluster.Count() + l.count }
func (l liar) GPUCount() int64 { return l.Cluster.GPUCount() + l.gpus }

func (l liar) Index(id topology.NodeID) (topology.NodeIndex, bool) {
	i, ok := l.Cluster.Index(id)
	return i + l.index, ok
}

func (l liar) Ancestor(i topology.NodeIndex, at topology.LevelIndex) topology.DomainIndex {
	return l.Cluster.Ancestor(i, at) + l.ancestor
}

func (l liar) Lowest(a, b topology.NodeIndex) (topology.LevelIndex, bool) {
	at, ok := l.Cluster.Lowest(a, b)
	return at + l.lowest, ok
}

func (l liar) LowestIn(f topology.Family, a, b topology.NodeIndex) (topology.LevelIndex, bool) {
	at, ok := l.Cluster.LowestIn(f, a, b)
	if f == l.in {
		at += l.overlay
	}
	return at, ok
}

func (l liar) Domain(d topology.DomainIndex) topology.Domain {
	x := l.Cluster.Domain(d)
	if l.domain != nil {
		l.domain(&x)
	}
	return x
}

func (l liar) GPUID(i topology.NodeIndex, gpu int) topology.GPUID {
	return l.Cluster.GPUID(i, gpu) + l.gpuID
}

func (l liar) FindGPU(id topology.GPUID) (topology.GPURef, bool) {
	ref, ok := l.Cluster.FindGPU(id)
	ref.GPU += l.ref
	return ref, ok
}

func lose[T any](lost bool, seq iter.Seq[T]) iter.Seq[T] {
	all := slices.Collect(seq)
	if lost && len(all) > 0 {
		all = all[1:]
	}
	return slices.Values(all)
}

func (l liar) Nodes() iter.Seq[topology.NodeIndex] { return lose(l.drop == "nodes", l.Cluster.Nodes()) }

func (l liar) NodesOf(d topology.DomainIndex) iter.Seq[topology.NodeIndex] {
	return lose(l.drop == "nodes of", l.Cluster.NodesOf(d))
}

func (l liar) Domains(at topology.LevelIndex) iter.Seq[topology.DomainIndex] {
	return lose(l.drop == "domains", l.Cluster.Domains(at))
}

func (l liar) Children(d topology.DomainIndex) iter.Seq[topology.DomainIndex] {
	return lose(l.drop == "children", l.Cluster.Children(d))
}

// Check is content with the truth, and notices each kind of lie.
func TestCheckSeesLies(t *testing.T) {
	require.Empty(t, verdict(Mixed()))
	require.Empty(t, verdict(liar{Cluster: Mixed()}))
	for _, tt := range []struct {
		want string
		liar liar
	}{
		{"expected: 46\n\t            \tactual  : 47", liar{count: 1}},
		{"expected: 184\n\t            \tactual  : 183", liar{gpus: -1}},
		{"Index of the ID of node 0", liar{index: 1}},
		{"node 0 lacks", liar{ancestor: 1}},
		{"T5", liar{lowest: -1}},
		{"LowestIn(\"\"", liar{overlay: 1}},
		{"LowestIn(\"power\"", liar{in: "power", overlay: -1}},
		{"should have 46 item(s), but has 45", liar{drop: "nodes"}},
		{"nodes of fabric", liar{drop: "nodes of"}},
		{"Not equal", liar{drop: "domains"}},
		{"children of", liar{drop: "children"}},
		{"Should be true", liar{domain: func(d *topology.Domain) { d.ID += "x" }}},
		{"Not equal", liar{domain: func(d *topology.Domain) { d.Nodes++ }}},
		{"parent of", liar{domain: func(d *topology.Domain) { d.Parent++ }}},
		{"FindGPU(", liar{gpuID: "x"}},
		{"Not equal", liar{ref: 1}},
	} {
		tt.liar.Cluster = Mixed()
		require.Contains(t, verdict(tt.liar), tt.want, "%+v", tt.liar)
	}
}
