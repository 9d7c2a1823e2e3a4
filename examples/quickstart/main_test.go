// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The README shows this program's code from the first booking to the end of main,
// line for line and in order, and what it really prints.
func TestREADME(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	code, err := os.ReadFile("main.go")
	require.NoError(t, err)
	require.Equal(t, shown(t, string(code)), fenced(t, string(readme), "<!-- quickstart code -->"))
	require.Equal(t, run(t), fenced(t, string(readme), "<!-- quickstart output -->"))
}

// shown returns the part of main that the README shows, one tab to the left.
func shown(t *testing.T, code string) string {
	const first = "\t// A booking:"
	_, rest, ok := strings.Cut(code, first)
	require.True(t, ok, first)
	body, _, ok := strings.Cut(first+rest, "\n}\n")
	require.True(t, ok, "the end of main")
	var out strings.Builder
	for line := range strings.Lines(body + "\n") {
		out.WriteString(strings.TrimPrefix(line, "\t"))
	}
	return out.String()
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
