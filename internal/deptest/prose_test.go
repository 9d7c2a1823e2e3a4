// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func read(t *testing.T, name string) string {
	b, err := os.ReadFile(filepath.Join("../..", name))
	require.NoError(t, err)
	return string(b)
}

// CONTRIBUTING.md says that the core has exactly the dependencies that go.mod has.
func TestContributingNamesTheDependencies(t *testing.T) {
	var direct []string
	for _, m := range regexp.MustCompile(`(?m)^(?:require |\t)(\S+) v\S+$`).FindAllStringSubmatch(read(t, "go.mod"), -1) {
		direct = append(direct, m[1])
	}
	_, said, ok := strings.Cut(read(t, "CONTRIBUTING.md"), "- **Dependencies.** ")
	require.True(t, ok)
	said, _, _ = strings.Cut(said, ". ") // what follows may come, and is not there
	require.ElementsMatch(t, direct, regexp.MustCompile(`[a-z]+\.(?:com|org|net)/[a-z/]+`).FindAllString(said, -1))
}

// Every engine has the functions that ARCHITECTURE.md promises, with these types.
func TestArchitectureShape(t *testing.T) {
	_, block, ok := strings.Cut(read(t, "ARCHITECTURE.md"), "have this shape (T is the value):")
	require.True(t, ok)
	block = strings.Split(block, "```")[1]
	lines := regexp.MustCompile(`(?m)^func (\(\*T\) )?(\w+)(\(.*?)(?:\s+//.*)?$`).FindAllStringSubmatch(block, -1)
	require.GreaterOrEqual(t, len(lines), 13)
	for dir, name := range map[string]string{"reservation": "Calendar", "quota": "Ledger", "allocator": "Fleet", "health": "Record"} {
		have := functions(t, filepath.Join("../..", dir), name)
		for _, line := range lines {
			want := types.ExprString(parsed(t, "func"+strings.ReplaceAll(line[3], "*T", "*"+name)))
			want = strings.ReplaceAll(want, "at time.Time", "time.Time")
			if dir == "allocator" && line[2] == "Restore" {
				require.Contains(t, line[0], "takes its cluster too")
				want = strings.ReplaceAll(want, "[]byte)", "[]byte, *topology.Cluster)")
			}
			key := line[2]
			if line[1] != "" {
				key = "(*T) " + key
			}
			require.Equal(t, want, have[key], "%s: %s", dir, line[0])
		}
	}
}

func parsed(t *testing.T, text string) ast.Expr {
	e, err := parser.ParseExpr(text)
	require.NoError(t, err, text)
	return e
}

// functions gives the types of the exported functions of a package, and of the methods of one type.
func functions(t *testing.T, dir, name string) map[string]string {
	out := map[string]string{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, file := range slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") }) {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		for _, d := range tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() {
				continue
			}
			key := f.Name.Name
			if f.Recv != nil {
				if types.ExprString(f.Recv.List[0].Type) != "*"+name {
					continue
				}
				key = "(*T) " + key
			}
			for _, list := range []*ast.FieldList{f.Type.Params, f.Type.Results} {
				if list != nil {
					for _, p := range list.List {
						p.Names = nil
					}
				}
			}
			out[key] = types.ExprString(f.Type)
		}
	}
	return out
}

// What is in the tree and not code of this module is the openb lists, each with its source and licence beside it.
func TestDataHasItsSource(t *testing.T) {
	lists, err := filepath.Glob("../../*/testdata/*.csv")
	require.NoError(t, err)
	deeper, err := filepath.Glob("../../*/*/testdata/*.csv")
	require.NoError(t, err)
	more, err := filepath.Glob("../../*/*/*/testdata/*.csv")
	require.NoError(t, err)
	all := slices.Concat(lists, deeper, more)
	require.NotEmpty(t, all)
	for _, file := range all {
		about, err := os.ReadFile(filepath.Join(filepath.Dir(file), "README.md"))
		require.NoError(t, err)
		require.Contains(t, string(about), filepath.Base(file))
		require.Regexp(t, `(?i)licen[cs]e`, string(about))
	}
}
