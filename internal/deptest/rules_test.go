// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const longest = 600 // lines; a longer file is no longer one idea

// The whole module keeps the rules.
func TestModule(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	seen := map[string]bool{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel == "examples" || strings.HasPrefix(d.Name(), ".") && rel != "." || d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		seen[strings.SplitN(rel, "/", 2)[0]] = true
		for _, v := range Check(File{Path: rel, Src: src}) {
			t.Error(v)
		}
		if n := bytes.Count(src, []byte("\n")); n > longest && !strings.HasSuffix(rel, "_test.go") {
			t.Errorf("%s has %d lines, more than %d", rel, n, longest)
		}
		return nil
	})
	require.NoError(t, err)
	for own := range mayImport {
		require.True(t, seen[own], "no source seen for %s: the walk is broken", own)
	}
}

// Every rule bites: a planted violation is found, and named.
func TestRulesBite(t *testing.T) {
	const head = "// SPDX-License-Identifier: Apache-2.0\n\npackage x\n"
	for _, tc := range []struct{ path, src, want string }{
		{"quota/x.go", head + `import _ "github.com/berth-gpu/berth/reservation"`, "may not import reservation"},
		{"reservation/x.go", head + `import _ "github.com/berth-gpu/berth/topology"`, "may not import topology"},
		{"topology/x.go", head + `import _ "github.com/berth-gpu/berth/allocator"`, "may not import allocator"},
		{"topology/mig/x.go", head + `import _ "github.com/berth-gpu/berth/nvmlx"`, "may not import nvmlx"},
		{"allocator/x.go", head + `import _ "github.com/berth-gpu/berth/health"`, "may not import health"},
		{"health/x.go", head + `import _ "github.com/berth-gpu/berth/nvmlx/gonvml"`, "only programs"},
		{"health/x.go", head + `import _ "github.com/NVIDIA/go-nvml/pkg/nvml"`, "only nvmlx/gonvml may import"},
		{"quota/x.go", head + `import _ "go.etcd.io/bbolt"`, "not one of the fixed dependencies"},
		{"quota/x.go", head + `import _ "pgregory.net/rapid"`, "not one of the fixed dependencies"},
		{"quota/x.go", head + `import _ "github.com/berth-gpu/berth/internal/enginetest"`, "imports the test package"},
		{"internal/cow/x.go", head + `import _ "github.com/berth-gpu/berth/quota"`, "may not import quota"},
		{"quota/x.go", head + `import _ "os"`, `imports "os"`},
		{"quota/x.go", head + `import _ "net/http"`, `imports "net/http"`},
		{"quota/x.go", head + `import _ "log/slog"`, `imports "log/slog"`},
		{"quota/x.go", head + `import _ "math/rand/v2"`, `imports "math/rand/v2"`},
		{"isolation/cdi/x.go", head + "import \"time\"\nvar t = time.Now()", "uses time.Now"},
		{"isolation/cdi/x.go", head + "import clock \"time\"\nfunc f() { clock.Sleep(1) }", "uses time.Sleep"},
		{"quota/x.go", head + "func f() { go f() }", "starts a goroutine"},
		{"quota/x.go", head + "import \"sync\"\nfunc f(w *sync.WaitGroup) { w.Go(func() {}) }", "goroutine by Go"},
		{"quota/x.go", head + "import \"golang.org/x/sync/errgroup\"\nfunc f(g *errgroup.Group) { g.Go(nil) }", "goroutine by Go"},
		{"quota/x.go", head + "import \"fmt\"\nfunc f() { fmt.Println() }", "uses fmt.Println"},
		{"quota/x.go", head + "import \"context\"\nvar c = context.TODO()", `imports "context"`},
		{"nvmlx/x.go", head + "import \"context\"\nvar c = context.Background()", "uses context.Background"},
		{"nvmlx/x.go", head + "func f() { go f() }", "starts a goroutine"},
		{"quota/x.go", head + "import \"time\"\nvar _, _ = time.LoadLocation(\"x\")", "uses time.LoadLocation"},
		{"quota/x.go", head + "import . \"time\"\nvar t = Now()", "dot-imports"},
		{"quota/x.go", head + "import \"iter\"\nvar p = iter.Pull[int]", "uses iter.Pull"},
		{"quota/x.go", head + `import _ "hash/maphash"`, `imports "hash/maphash"`},
		{"quota/x.go", head + `import _ "database/sql"`, `imports "database/sql"`},
		{"quota/x.go", head + `import _ "testing"`, `imports "testing"`},
		{"quota/x.go", head + "import \"time\"\nvar z = time.Local", "uses time.Local"},
		{"quota/x.go", head + "import \"time\"\nfunc f(t time.Time) time.Time { return t.Local() }", "time zone by Local()"},
		{"quota/x.go", head + "import \"time\"\nvar t = time.Unix(0, 0).UTC().Local().String()", "time zone by Local()"},
		{"quota/x.go", head + `import _ "embed"`, `imports "embed"`},
		{"x.go", head + `import _ "os"`, `imports "os"`},
		{"x.go", head + "import \"time\"\nvar t = time.Now()", "uses time.Now"},
		{"x.go", head + `import _ "github.com/berth-gpu/berth/quota"`, "may not import quota"},
		{"quota/x.go", head + "func init() {}", "init function"},
		{"quota/x.go", head + "func f() { println(1) }", "prints"},
		{"quota/x.go", "package x", "licence header"},
	} {
		got := strings.Join(Check(File{Path: tc.path, Src: []byte(tc.src)}), "\n")
		require.Contains(t, got, tc.want, "%s\n%s", tc.path, tc.src)
	}
	for _, tc := range []struct{ path, src string }{
		{"allocator/x.go", head + `import _ "github.com/berth-gpu/berth/topology"`},
		{"quota/x_test.go", head + "import _ \"pgregory.net/rapid\"\nimport _ \"os\""},
		{"topology/topologytest/x.go", head + `import _ "pgregory.net/rapid"`},
		{"quota/x.go", head + "import \"time\"\nvar d = time.Second\nfunc f() time.Time { return time.Unix(0, 0) }"},
		{"quota/x.go", head + "import \"time\"\nfunc f(l *time.Location) bool { return l == time.Local || time.Local != l }"},
		{"x.go", head + "import \"time\"\nvar d = time.Second"},
		{"x_test.go", head + `import _ "github.com/berth-gpu/berth/quota"`},
	} {
		require.Empty(t, Check(File{Path: tc.path, Src: []byte(tc.src)}), "%s\n%s", tc.path, tc.src)
	}
}
