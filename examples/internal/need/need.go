// SPDX-License-Identifier: Apache-2.0

// Package need finds the programs that a test needs beside Go.
//
// A test that needs one calls Tool first. On a machine without it the test is
// skipped and says why; where the environment says that everything must be
// present (BERTH_CI=1) it fails instead, so that no check is lost unseen.
package need

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Tool returns the path of the first of the named programs that is on PATH. If
// there is none, it skips the test, or fails it when BERTH_CI is "1".
func Tool(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(t, missing(names))
	return ""
}

// Missing skips the test because of what the machine lacks, or fails it when
// BERTH_CI is "1".
func Missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("BERTH_CI") == "1" {
		t.Fatalf("%s, and BERTH_CI=1 says that it must be there", why)
	}
	t.Skip(why)
}

// Chromium returns the path of a Chromium or Chrome browser, under any of the
// names that distributions give it.
func Chromium(t testing.TB) string {
	t.Helper()
	return Tool(t, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
}

func missing(names []string) string {
	if len(names) == 0 {
		return "no program was named"
	}
	return "needs " + strings.Join(names, " or ") + ", which is not on PATH"
}
