// SPDX-License-Identifier: Apache-2.0

package cdi_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/isolation/cdi"
)

// E1: what is written is read back unchanged, over the whole schema, and equal specs give equal bytes.
func TestRoundTripE1(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := genSpec().Draw(t, "spec")
		data, err := cdi.Encode(spec)
		require.NoError(t, err)
		read, err := cdi.Parse(data)
		require.NoError(t, err)
		require.Equal(t, spec, read)
		again, err := cdi.Encode(read)
		require.NoError(t, err)
		require.Equal(t, string(data), string(again))

		var compact bytes.Buffer // layout means nothing
		require.NoError(t, json.Compact(&compact, data))
		read, err = cdi.Parse(compact.Bytes())
		require.NoError(t, err)
		require.Equal(t, spec, read)
	})
}

// The bytes on disk are a promise to the runtimes: a change of this file is a change of the format.
func TestEncodeGolden(t *testing.T) {
	spec, err := cdi.New(cdi.Config{
		Lease: cdi.Lease{ID: "lease-7", Epoch: 3},
		Nodes: []cdi.DeviceNode{
			{Path: "/dev/nvidia0", Type: "c", Major: 195, Minor: 0, Permissions: "rw"},
			{Path: "/dev/nvidiactl", Type: "c", Major: 195, Minor: 255, Permissions: "rw"},
		},
		Env:         []string{"NVIDIA_VISIBLE_DEVICES=void"},
		Annotations: map[string]string{"berth.dev/tenant": "team <a> & b"},
	})
	require.NoError(t, err)
	data, err := cdi.Encode(spec)
	require.NoError(t, err)
	want, err := os.ReadFile(filepath.Join("testdata", "lease.json"))
	require.NoError(t, err)
	require.Equal(t, string(want), string(data))
}

const minimal = `{"cdiVersion":"0.3.0","kind":"a/b","devices":[{"name":"x","containerEdits":{"env":["A=b"]}}]}`

func TestParseRefuses(t *testing.T) {
	_, err := cdi.Parse([]byte(minimal))
	require.NoError(t, err)
	for name, c := range map[string]struct{ document, reason string }{
		"empty":             {"", "EOF"},
		"not an object":     {"[]", "cannot unmarshal"},
		"truncated":         {minimal[:40], "unexpected"},
		"trailing":          {minimal + "{}", "something after the document"},
		"unknown field":     {strings.Replace(minimal, `"kind"`, `"colour":1,"kind"`, 1), `unknown field "colour"`},
		"field elsewhere":   {strings.Replace(minimal, `"kind"`, `"hostPath":"/x","kind"`, 1), `unknown field "hostPath"`},
		"other case":        {strings.Replace(minimal, `"kind"`, `"Kind"`, 1), `unknown field "Kind"`},
		"field twice":       {strings.Replace(minimal, `"kind"`, `"kind":"x/y","kind"`, 1), `field "kind" occurs twice`},
		"annotation twice":  {strings.Replace(minimal, `"kind"`, `"annotations":{"k":"1","k":"2"},"kind"`, 1), `field "k" occurs twice`},
		"null":              {strings.Replace(minimal, `"a/b"`, `null`, 1), "kind is null"},
		"null in a list":    {strings.Replace(minimal, `"A=b"`, `null`, 1), "env is null"},
		"wrong type":        {strings.Replace(minimal, `"a/b"`, `7`, 1), "cannot unmarshal"},
		"fraction":          {strings.Replace(minimal, `"env":["A=b"]`, `"deviceNodes":[{"path":"/x","major":1.5}]`, 1), "cannot unmarshal"},
		"number too large":  {strings.Replace(minimal, `"env":["A=b"]`, `"additionalGids":[4294967296]`, 1), "cannot unmarshal"},
		"not UTF-8":         {strings.Replace(minimal, `A=b`, "A=\xff", 1), "not UTF-8"},
		"deep":              {strings.Repeat("[", 1<<20), "nested too deep"},
		"too large":         {strings.Repeat(" ", cdi.MaxBytes+1), "at most 4194304"},
		"version too low":   {strings.Replace(minimal, `"kind"`, `"annotations":{"k":"1"},"kind"`, 1), "need at least 0.6.0"},
		"no devices":        {`{"cdiVersion":"0.3.0","kind":"a/b","devices":[]}`, "at least one device"},
		"nothing to change": {strings.Replace(minimal, `"env":["A=b"]`, ``, 1), "must change something"},
	} {
		t.Run(name, func(t *testing.T) {
			spec, err := cdi.Parse([]byte(c.document))
			require.ErrorIs(t, err, cdi.ErrInvalidSpec)
			require.ErrorContains(t, err, c.reason)
			require.Zero(t, spec)
		})
	}
}

// E1, E4: whatever Parse accepts is valid, and writing it and reading it again changes nothing.
func FuzzParse(f *testing.F) {
	f.Add([]byte(minimal))
	golden, err := os.ReadFile(filepath.Join("testdata", "lease.json"))
	require.NoError(f, err)
	f.Add(golden)
	f.Add([]byte(`{"cdiVersion":"1.1.0","kind":"a/b","devices":[{"name":"x","containerEdits":{"intelRdt":{},"mounts":[],"hooks":[{"hookName":"prestart","path":"/x","timeout":1}]}}],"containerEdits":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		spec, err := cdi.Parse(data)
		if err != nil {
			require.ErrorIs(t, err, cdi.ErrInvalidSpec)
			return
		}
		require.NoError(t, spec.Validate())
		written, err := cdi.Encode(spec)
		require.NoError(t, err)
		again, err := cdi.Parse(written)
		require.NoError(t, err)
		require.Equal(t, spec, again)
	})
}

// E3: whatever name is found on disk either belongs to exactly one lease or to none.
func FuzzParseDeviceName(f *testing.F) {
	for _, seed := range []string{"lease-7-e3", "a-e1-e2", "-e1", "a-e01", "../x-e1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		lease, err := cdi.ParseDeviceName(name)
		if err != nil {
			require.ErrorIs(t, err, cdi.ErrInvalidLease)
			return
		}
		again, err := lease.DeviceName()
		require.NoError(t, err)
		require.Equal(t, name, again)
	})
}
