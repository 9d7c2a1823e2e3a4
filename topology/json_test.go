// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-gpu/berth/topology"
	"github.com/berth-gpu/berth/topology/topologytest"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func encode(t require.TestingT, c *topology.Cluster) []byte {
	data, err := json.Marshal(c)
	require.NoError(t, err)
	return data
}

// TestDecodeEncode: T7 after random edits: ordinals, version, answers and bytes.
func TestDecodeEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, err := topology.New(topologytest.Configs().Draw(t, "config"))
		require.NoError(t, err)
		for range rapid.IntRange(0, 3).Draw(t, "edits") {
			c, err = c.Apply(topologytest.Changes(c).Draw(t, "change"))
			require.NoError(t, err)
		}
		back, err := topology.Decode(encode(t, c))
		require.NoError(t, err)
		require.Equal(t, string(encode(t, c)), string(encode(t, back)))
		require.Equal(t, c.Version(), back.Version())
		require.Equal(t, c.Len(), back.Len())
		for i := topology.NodeIndex(0); int(i) < c.Len(); i++ {
			require.Equal(t, c.ID(i), back.ID(i))
			want, _ := c.Spec(i)
			got, _ := back.Spec(i)
			require.Equal(t, want, got)
		}
		for d := topology.DomainIndex(0); int(d) < c.DomainLen(); d++ {
			require.Equal(t, c.Domain(d), back.Domain(d))
		}
		topologytest.Check(t, back)
		ch := topologytest.Changes(c).Draw(t, "next")
		a, err := c.Apply(ch)
		require.NoError(t, err)
		b, err := back.Apply(ch)
		require.NoError(t, err)
		require.Equal(t, string(encode(t, a)), string(encode(t, b)), "the decoded cluster goes on like the live one")
	})
}

// TestDecodeMistakes: every mistake of a document names its line; T6.
func TestDecodeMistakes(t *testing.T) {
	tests := []struct {
		name, doc string
		want      []string
	}{
		{"empty", "", []string{"bad syntax: line 1: document"}},
		{"not JSON", "{\n nodes: 1}", []string{"line 2: document"}},
		{"no version", `{}`, []string{`version="0"`}},
		{"other version", `{"version": 2}`, []string{`version="2"`}},
		{"two values", "{\"version\":1}\n{}", []string{"line 2"}},
		{"unknown fields", "{\"version\":1,\n\"nodez\":[],\n\"nodes\":[{\"ID\":\"n\",\n\"gpus\":[1]}]}",
			[]string{`line 2: nodez="nodez"`, `line 3: nodes[0].ID="ID"`, `line 4: nodes[0].gpus="gpus"`}},
		{"repeated field", "{\"version\":1,\n\"version\":1}", []string{`line 2: version="version"`}},
		{"repeated level", `{"version":1,"nodes":[{"id":"a","path":{"rack":"1","rack":"2"}}]}`, []string{`nodes[0].path.rack="rack"`}},
		{"wrong type", "{\"version\":1,\n\"nodes\":[{\"id\":7}]}", []string{"line 2: nodes.id"}},
		{"fraction", `{"version":1,"shapes":[{"name":"s","cpuMilli":1.5}]}`, []string{"shapes.cpuMilli"}},
		{"overflow", `{"version":1,"shapes":[{"name":"s","memoryMiB":9223372036854775808}]}`, []string{"shapes.memoryMiB"}},
		{"base64 for links", `{"version":1,"shapes":[{"name":"s","links":["AA=="]}]}`, []string{"shapes[0].links[0]", "give an array"}},
		{"wrong link", `{"version":1,"shapes":[{"name":"s","model":"T4","gpus":1,"links":[["Y"]]}]}`, []string{`link="Y"`}},
		{"deep", `{"version":` + strings.Repeat("[", 100000), []string{"nested more than 32 deep"}},
		{"node mistakes", "{\"version\":1,\n\"shapes\":[{\"name\":\"s\"}],\n\"nodes\":[\n{\"id\":\"a\",\"shape\":\"s\"},\n{\"id\":\"a\",\"shape\":\"t\"}\n]}",
			[]string{`line 5: nodes[1].id="a"`, `line 5: nodes[1].shape="t"`}},
		{"gone with content", `{"version":1,"nodes":[{"id":"a","shape":"s","gone":true},{"id":"","gone":true}]}`, []string{`nodes[0].gone`, `nodes[1].id=""`}},
		{"domains", `{"version":1,"domains":[{"level":"x","id":"a"},{"level":"rack","id":"a//b","in":"pod"},{"level":"rack","id":"a"},{"level":"rack","id":"a"},
			{"level":"rack","id":"p/a"},{"level":"rack","id":"q/a","in":"pod"},{"level":"pod","id":"a/p","in":"rack"}]}`,
			[]string{`domains[0].level="x"`, `domains[1].id="a//b"`, `duplicate: line 1: domains[3].id="a"`, `domains[4].in=""`, `domains[5].in="pod"`, `domains[6].in="rack"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := topology.Decode([]byte(tt.doc))
			require.Nil(t, c)
			for _, want := range tt.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

// TestDecodeManyMistakes: a reader lists 100 mistakes and counts the rest.
func TestDecodeManyMistakes(t *testing.T) {
	nodes := make([]string, 1000)
	for i := range nodes {
		nodes[i] = fmt.Sprintf(`{"id":"n%d","shape":"none"}`, i)
	}
	_, err := topology.Decode([]byte(`{"version":1,"nodes":[` + strings.Join(nodes, ",") + `]}`))
	require.ErrorContains(t, err, "and 900 more mistakes")
	require.Len(t, strings.Split(err.Error(), "\n"), 101)
}

// TestDecodeByHand: a Config with a version is a document.
func TestDecodeByHand(t *testing.T) {
	c := topologytest.Mixed()
	data, err := json.Marshal(c.Config())
	require.NoError(t, err)
	back, err := topology.Decode([]byte(`{"version":1,` + string(data[1:])))
	require.NoError(t, err)
	require.Equal(t, encode(t, c), encode(t, back))
}
