// SPDX-License-Identifier: Apache-2.0

package need

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorder is a test that notes how it was ended, instead of ending.
type recorder struct {
	testing.TB
	skipped, failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Skip(...any)           { r.skipped = true }
func (r *recorder) Fatalf(string, ...any) { r.failed = true; runtime.Goexit() }

func ask(names ...string) (r *recorder, path string) {
	r = new(recorder)
	done := make(chan struct{})
	go func() {
		defer close(done)
		path = Tool(r, names...)
	}()
	<-done
	return r, path
}

func TestTool(t *testing.T) {
	dir := t.TempDir()
	name := "second"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	tool := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(tool, []byte("#!/bin/sh\n"), 0o755))
	t.Setenv("PATH", dir)
	t.Setenv("BERTH_CI", "")

	r, path := ask("first", "second")
	require.Equal(t, tool, path)
	require.False(t, r.skipped || r.failed)

	r, path = ask("first")
	require.Empty(t, path)
	require.True(t, r.skipped)

	t.Setenv("BERTH_CI", "1")
	r, _ = ask("first")
	require.True(t, r.failed)
	require.False(t, r.skipped)
}
