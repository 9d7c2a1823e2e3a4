// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The README shows this program's code and what it really prints.
func TestREADME(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	code, err := os.ReadFile("main.go")
	require.NoError(t, err)
	snippet := fenced(t, string(readme), "<!-- quickstart code -->")
	for line := range strings.Lines(snippet) {
		line = strings.TrimSpace(line)
		require.Contains(t, string(code), line, "the README shows a line that the program does not have")
	}
	require.GreaterOrEqual(t, strings.Count(snippet, "\n"), 15)
	require.Equal(t, run(t), fenced(t, string(readme), "<!-- quickstart output -->"))
}

// fenced returns the code block after a mark.
func fenced(t *testing.T, text, mark string) string {
	_, rest, ok := strings.Cut(text, mark)
	require.True(t, ok, mark)
	_, rest, ok = strings.Cut(rest, "```")
	require.True(t, ok, mark)
	_, rest, _ = strings.Cut(rest, "\n")
	block, _, ok := strings.Cut(rest, "```")
	require.True(t, ok, mark)
	return block
}

// run returns what main prints.
func run(t *testing.T) string {
	old := os.Stdout
	r, w, err := os.Pipe()
	require.NoError(t, err)
	os.Stdout = w
	defer func() { os.Stdout = old }()
	main()
	require.NoError(t, w.Close())
	out, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(out)
}
