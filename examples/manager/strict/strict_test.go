// SPDX-License-Identifier: Apache-2.0

package strict_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/manager/strict"
)

type inner struct {
	Key string `json:"key"`
}

type outer struct {
	inner
	Nodes int64             `json:"nodes"`
	Start time.Time         `json:"start,omitzero"`
	List  []inner           `json:"list"`
	Map   map[string]inner  `json:"map"`
	Free  map[string]string `json:"free"`
	Raw   json.RawMessage   `json:"raw"`
	Ptr   *inner            `json:"ptr"`
	Plain int
	Never int `json:"-"`
}

func TestDecode(t *testing.T) {
	var v outer
	require.NoError(t, strict.Decode([]byte(` {"key":"k","nodes":2,"start":"2026-03-02T08:00:00Z","list":[{"key":"a"},{"key":"b"}],
		"map":{"nodes":{"key":"c"}},"free":{"NODES":"1","nodes":"2"},"raw":{"any":[1]},"ptr":{"key":"p"},"Plain":3} `), &v))
	require.Equal(t, int64(2), v.Nodes)
	require.Equal(t, "b", v.List[1].Key)
	require.Equal(t, "p", v.Ptr.Key)
	require.Equal(t, 2026, v.Start.Year())
	for in, want := range map[string]string{
		`{"NODES":2,"nodes":3,"nodes":1}`:        `unknown field "NODES"`,
		`{"nodes":3,"nodes":1}`:                  `field "nodes" is given twice`,
		`{"list":[{"key":"a"},{"Key":"b"}]}`:     `unknown field "Key" in list[1]`,
		`{"map":{"x":{"key":"a","key":"b"}}}`:    `field "key" in map.x is given twice`,
		`{"free":{"a":"1","a":"2"}}`:             `field "a" in free is given twice`,
		`{"raw":{"a":1,"a":2}}`:                  `field "a" in raw is given twice`,
		`{"ptr":{"k":"b"}}`:                      `unknown field "k" in ptr`,
		`{"Never":1}`:                            `unknown field "Never"`,
		`{"nodes":1} {}`:                         "follows",
		`{"nodes":"x"}`:                          "cannot unmarshal",
		`{"nodes":1`:                             "EOF",
		``:                                       "EOF",
		`[]`:                                     "array",
		`{"nodes":1,}`:                           "invalid character",
		`{"raw":` + strings.Repeat("[", 100_000): "nested",
		`{"raw":` + strings.Repeat(`{"a":`, 40) + `1`: "nested",
	} {
		require.ErrorContains(t, strict.Decode([]byte(in), new(outer)), want, "%.80s", in)
	}
	err := strict.Decode([]byte(`{"NODES":2,"nodes":3,"nodes":1}`), new(outer))
	require.ErrorContains(t, err, "twice", "all mistakes at once")
}

// What strict takes, encoding/json takes, and reads the same.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"key":"k","nodes":2,"list":[{"key":"a"}],"map":{"x":{}},"raw":[1],"ptr":null}`))
	f.Add([]byte(`{"nodes":1,"nodes":2}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var got, want outer
		if strict.Decode(b, &got) == nil {
			require.NoError(t, json.Unmarshal(b, &want))
			require.Equal(t, want, got)
		}
	})
}
