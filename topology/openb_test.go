// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/berth-gpu/berth/topology"
	"github.com/berth-gpu/berth/topology/topologytest"
	"github.com/stretchr/testify/require"
)

// TestReadOpenB counts the trace; the figures are those of its authors (1,213 GPU nodes, 6,212 GPUs) and of a count of the
// file by model with another tool.
func TestReadOpenB(t *testing.T) {
	file, err := os.Open("testdata/openb_node_list_gpu_node.csv")
	require.NoError(t, err)
	defer file.Close()
	cfg, err := topology.ReadOpenB(file)
	require.NoError(t, err)
	c, err := topology.New(cfg)
	require.NoError(t, err)
	require.Equal(t, 1213, c.Count())
	require.Equal(t, int64(6212), c.GPUCount())
	nodes := map[string]int{}
	for i := range c.Nodes() {
		nodes[c.Shape(i).Model().Name]++
	}
	require.Equal(t, map[string]int{"P100": 134, "T4": 404, "V100M16": 55, "V100M32": 30, "A10": 2, "G2": 549, "G3": 39}, nodes)
	require.Len(t, cfg.Shapes, 15)
	topologytest.Check(t, c)
}

func TestReadOpenBMistakes(t *testing.T) {
	const header = "sn,cpu_milli,memory_mib,gpu,model\n"
	tests := []struct{ name, list, want string }{
		{"empty", "", `bad syntax: line 1: header=""`},
		{"header", "sn,cpu\n", `line 1: header="sn,cpu"`},
		{"columns", header + "a,1,2,3\n", `line 2: line="a,1,2,3"`},
		{"number", header + "a,1,2,0,\nb,x,2,0,\n", `line 3: cpu_milli="x"`},
		{"negative", header + "a,1,-2,0,\n", `line 2: memory_mib="-2"`},
		{"overflow", header + "a,9223372036854775808,2,0,\n", `line 2: cpu_milli="9223372036854775808"`},
		{"too many GPUs", header + "a,1,2,1025,T4\n", `line 2: gpu="1025"`},
		{"model without GPU", header + "a,1,2,0,T4\n", `line 2: model="T4"`},
		{"unknown model", header + "a,1,2,1,T5\n", `unknown name: line 2: model="T5"`},
		{"twice", header + "a,1,2,0,\r\n\na,1,2,0,\n", `duplicate: line 4: sn="a"`},
		{"quotes", header + "\"a\",1,2,0,\n", `bad syntax: line 2: line="\"a\",1,2,0,"`},
		{"name", header + "a/b,1,2,0,\n", `line 2: sn="a/b"`},
		{"long line", header + strings.Repeat("x", 1<<17), "line 2: line"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg, err := topology.ReadOpenB(strings.NewReader(tt.list))
			require.ErrorContains(t, err, tt.want)
			require.Empty(t, cfg.Nodes)
		})
	}
	_, err := topology.ReadOpenB(nil)
	require.ErrorIs(t, err, topology.ErrInvalid)
	require.ErrorContains(t, err, `reader="nil"`)
	broken := errors.New("disk on fire")
	_, err = topology.ReadOpenB(iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
	_, err = topology.ReadOpenB(strings.NewReader(header + strings.Repeat("x\n", 500)))
	require.ErrorContains(t, err, "and 400 more mistakes")
}
