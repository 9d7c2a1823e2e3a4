// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/berth-gpu/berth/topology"
	"github.com/stretchr/testify/require"
)

// list joins n texts made by one.
func list(n int, one func(i int) string) string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = one(i)
	}
	return strings.Join(texts, ",")
}

// allocatedMiB says how much memory f asks for in all.
func allocatedMiB(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) >> 20
}

// T10: a document asks for memory in proportion to its size, whatever its mistakes.
func TestDecodeMemoryT10(t *testing.T) {
	levels := func(n int) string { return list(n, func(i int) string { return fmt.Sprintf(`"%x"`, i) }) }
	tests := []struct{ name, doc, want string }{
		{"levels times nodes", `{"version":1,"levels":[` + levels(4000) + `],"nodes":[` +
			list(4000, func(i int) string { return fmt.Sprintf(`{"id":"%x","gone":true}`, i) }) + `]}`, `too large: line 1: levels="4005"`},
		{"levels of a family", `{"version":1,"families":[{"name":"f","levels":[` + levels(4000) + `]}],"nodes":[` +
			list(4000, func(i int) string { return fmt.Sprintf(`{"id":"%x","gone":true}`, i) }) + `]}`, `too large: line 1: levels="4012"`},
		{"families", `{"version":1,"families":[` + list(4000, func(i int) string { return fmt.Sprintf(`{"name":"%x"}`, i) }) + `]}`, "too large"},
		{"a long key above a long array", `{"version":1,"` + strings.Repeat("k", 100_000) + `":[` + list(20_000, func(int) string { return "1" }) + `]}`, "no such field"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c *topology.Cluster
			var err error
			require.Less(t, allocatedMiB(func() { c, err = topology.Decode([]byte(tt.doc)) }), uint64(32))
			require.Nil(t, c)
			require.ErrorIs(t, err, map[bool]error{true: topology.ErrSyntax, false: topology.ErrTooLarge}[tt.want == "no such field"])
			require.ErrorContains(t, err, strings.Replace(tt.want, "line 1: ", "", 1))
		})
	}
}

// T10: mistakes past the hundredth cost no search for their line; the hundred have the right one.
func TestDecodeManyUnknownFieldsT10(t *testing.T) {
	const lines, keys = 16 << 20, 60_000
	doc := `{"version":1,` + strings.Repeat("\n", lines) + list(keys, func(i int) string { return fmt.Sprintf("\"x%d\":1\n", i) }) + "}"
	start := time.Now()
	_, err := topology.Decode([]byte(doc))
	require.Less(t, time.Since(start), 10*time.Second, "a count from the first byte for each mistake takes much longer")
	require.ErrorContains(t, err, fmt.Sprintf(`line %d: x0="x0"`, lines+1))
	require.ErrorContains(t, err, fmt.Sprintf(`line %d: x99="x99"`, lines+100))
	require.ErrorContains(t, err, "and 59900 more mistakes")
}

// T6: too many levels are refused alone and at once, by New and FromLabels too; the most that fit are not.
func TestTooManyLevelsT6(t *testing.T) {
	levels := make([]topology.Level, topology.MaxLevels-4)
	rules := topology.LabelRules{}
	for i := range levels {
		levels[i] = topology.Level(fmt.Sprint("l", i))
		rules.Levels = append(rules.Levels, topology.LevelRule{Level: levels[i]})
	}
	_, err := topology.New(topology.Config{Levels: levels, Nodes: []topology.NodeSpec{{ID: "a/b"}}})
	require.ErrorIs(t, err, topology.ErrTooLarge)
	require.NotErrorIs(t, err, topology.ErrInvalid)
	_, err = topology.FromLabels([]topology.LabelledNode{{Name: "a/b"}}, rules)
	require.ErrorIs(t, err, topology.ErrTooLarge)
	require.NotErrorIs(t, err, topology.ErrInvalid)

	inner := []topology.Level{topology.LevelNode, topology.LevelNUMA, topology.LevelNVSwitch, topology.LevelGPU, topology.LevelMIG}
	for _, spelt := range [][]topology.Level{nil, inner[:1], inner} {
		c, err := topology.New(topology.Config{Levels: append(levels[1:len(levels):len(levels)], spelt...)})
		require.NoError(t, err)
		require.Len(t, c.Levels(""), topology.MaxLevels)
	}
}

// A mistake repeats little of what it was given, cut at the end of a character.
func TestMistakesAreShort(t *testing.T) {
	long := strings.Repeat("ü", 1<<20)
	_, err := topology.New(topology.Config{
		Shapes: []topology.ShapeSpec{{Name: "s" + long, Model: "T4", GPUs: 2}},
		Nodes: []topology.NodeSpec{
			{ID: "a", Shape: "s" + long, GPUIDs: []topology.GPUID{"x"}, Labels: map[string]string{long: "\n"}, Path: map[topology.Level]string{topology.Level(long): "/"}},
		},
	})
	require.ErrorIs(t, err, topology.ErrInvalid)
	require.Less(t, len(err.Error()), 8<<10)
	_, err = topology.FromLabels([]topology.LabelledNode{{Name: long, CPUMilli: -1}, {Name: long}}, topology.RulesNVIDIA())
	require.Less(t, len(err.Error()), 8<<10)
	require.NotContains(t, err.Error(), `\x`)
}
