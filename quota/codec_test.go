// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/internal/enginetest"
	"github.com/berth-gpu/berth/quota"
)

var update = flag.Bool("update", false, "write the golden files anew")

// history is a ledger with a long random past, and its events.
func history(seed uint64, commands int) *quota.Ledger {
	l, err := quota.New(quota.Config{Tenants: company()})
	if err != nil {
		panic(err)
	}
	r := rand.New(rand.NewPCG(seed, 6))
	now := enginetest.Start
	for range commands {
		now = now.Add(time.Duration(r.IntN(1200)) * time.Second)
		_, _ = command(r, l, now)
	}
	return l
}

// FuzzRestore: no bytes make Restore panic, and what it accepts is sound,
// encodes to the same bytes and works.
func FuzzRestore(f *testing.F) {
	for seed := range uint64(6) {
		b, _ := history(seed, int(seed)*12).MarshalBinary()
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := quota.Restore(b)
		if err != nil {
			require.ErrorIs(t, err, quota.ErrCorrupt)
			return
		}
		require.Equal(t, string(b), encoded(t, l))
		require.NoError(t, l.Check())
		_, err = json.Marshal(l)
		require.NoError(t, err)
		if next, ok := l.Next(); ok {
			l.Advance(next.Add(time.Hour))
			require.NoError(t, l.Check())
		}
	})
}

// FuzzDecodeEvent: no bytes make DecodeEvent panic; what it accepts encodes to
// the same bytes, has a JSON form, and is applied whole or not at all.
func FuzzDecodeEvent(f *testing.F) {
	for seed := range uint64(6) {
		for _, ev := range history(seed, 40).Events() {
			b, _ := ev.AppendBinary(nil)
			f.Add(b)
		}
	}
	base := history(3, 30)
	f.Fuzz(func(t *testing.T, b []byte) {
		ev, err := quota.DecodeEvent(b)
		if err != nil {
			require.ErrorIs(t, err, quota.ErrCorrupt)
			return
		}
		again, err := ev.AppendBinary(nil)
		require.NoError(t, err)
		require.Equal(t, b, again)
		text, err := quota.EventJSON(ev)
		require.NoError(t, err)
		require.True(t, json.Valid(text))
		l := base.Fork()
		if l.Apply(ev) != nil {
			require.Equal(t, encoded(t, base), encoded(t, l))
		}
		require.NoError(t, l.Check())
	})
}

// Q25 across releases: the log and the snapshot that the first release wrote
// are read by this one, and give the ledger they always gave.
func TestGoldenLog(t *testing.T) {
	const log, snapshot = "testdata/v1.log", "testdata/v1.snapshot"
	if *update {
		l := history(11, 400)
		var out strings.Builder
		for _, ev := range l.Events() {
			b, err := ev.AppendBinary(nil)
			require.NoError(t, err)
			text, err := quota.EventJSON(ev)
			require.NoError(t, err)
			out.WriteString(hex.EncodeToString(b) + " " + string(text) + "\n")
		}
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(log, []byte(out.String()), 0o644))
		require.NoError(t, os.WriteFile(snapshot, []byte(hex.EncodeToString([]byte(encoded(t, l)))+"\n"), 0o644))
	}
	l := must(t, company()...)
	lines, err := os.ReadFile(log)
	require.NoError(t, err)
	kinds := map[string]bool{}
	for line := range strings.Lines(string(lines)) {
		code, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		raw, err := hex.DecodeString(code)
		require.NoError(t, err)
		ev, err := quota.DecodeEvent(raw)
		require.NoError(t, err)
		got, err := quota.EventJSON(ev)
		require.NoError(t, err)
		require.JSONEq(t, text, string(got))
		require.NoError(t, l.Apply(ev))
		kinds[ev.Kind()] = true
	}
	require.Len(t, kinds, 9, "the log has every kind of event")
	require.NoError(t, l.Check())
	want, err := os.ReadFile(snapshot)
	require.NoError(t, err)
	raw, err := hex.DecodeString(string(bytes.TrimSpace(want)))
	require.NoError(t, err)
	require.Equal(t, string(raw), encoded(t, l))
	restored, err := quota.Restore(raw)
	require.NoError(t, err)
	require.NoError(t, restored.Check())
}

// The JSON view of a ledger, and the JSON of its input.
func TestJSON(t *testing.T) {
	var c quota.Config
	require.NoError(t, json.Unmarshal([]byte(`{"tenants":[
		{"name":"lab","limits":[{"key":"gpu/h100","nominal":8,"cap":6,"lend":null}]},
		{"name":"s","parent":"lab","limits":[{"key":"gpu/h100","nominal":1,"borrow":0,"cap":9223372036854775807}]}]}`), &c))
	require.Equal(t, limit(8, unlimited, unlimited, quota.AtMost(6)), c.Tenants[0].Limits[0])
	require.Equal(t, limit(1, zero), c.Tenants[1].Limits[0])
	l, err := quota.New(c)
	require.NoError(t, err)
	var q quota.Request
	require.NoError(t, json.Unmarshal([]byte(`{"id":"x","tenant":"s","amounts":[{"key":"gpu/h100","n":1}],
		"window":{"start":"2026-03-01T08:00:00Z"},"class":"guaranteed","ttlNanoseconds":60000000000}`), &q))
	_, err = l.Reserve(at(0), q)
	require.NoError(t, err)
	b, err := json.Marshal(l)
	require.NoError(t, err)
	require.JSONEq(t, `{"now":"2026-03-01T08:00:00Z","tenants":[
		{"name":"lab","limits":[{"key":"gpu/h100","nominal":8,"cap":6}]},
		{"name":"s","parent":"lab","limits":[{"key":"gpu/h100","nominal":1,"borrow":0}]}],
		"charges":[{"id":"x","tenant":"s","amounts":[{"key":"gpu/h100","n":1}],"window":{"start":"2026-03-01T08:00:00Z"},
			"class":"guaranteed","ttlNanoseconds":60000000000,"state":"held",
			"spans":[{"start":"2026-03-01T08:00:00Z","amounts":[{"key":"gpu/h100","n":1}]}],"expires":"2026-03-01T08:01:00Z","version":1}]}`, string(b))

	for _, bad := range []string{`"class":"best"`, `"class":1`} {
		require.Error(t, json.Unmarshal([]byte(`{`+bad+`}`), &q))
	}
	var bound quota.Bound
	for _, bad := range []string{`1.5`, `"8"`, `1e30`, `true`} {
		require.ErrorIs(t, json.Unmarshal([]byte(bad), &bound), quota.ErrInvalid)
	}
	require.Equal(t, "unlimited", bound.String())
	var state quota.State
	require.ErrorContains(t, state.UnmarshalText([]byte("gone")), `State "gone": want one of ["held" "committed" "ended" "expired" "released"]`)
	_, err = state.MarshalText()
	require.ErrorIs(t, err, quota.ErrInvalid)
	require.Equal(t, "Kind(9)", quota.Kind(9).String())
}
