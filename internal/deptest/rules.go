// SPDX-License-Identifier: Apache-2.0

package deptest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// Module is the path of the core module.
const Module = "github.com/berth-gpu/berth"

// mayImport says which product packages a product package may import, by the
// first path element; its own sub-packages, std, internal and the core
// dependencies are always allowed.
var mayImport = map[string][]string{
	"topology":    {},
	"reservation": {},
	"quota":       {},
	"allocator":   {"topology"},
	"nvmlx":       {"topology"},
	"isolation":   {"topology", "nvmlx"},
	"health":      {"topology", "nvmlx"},
	"internal":    {},
}

// coreDeps are the modules that shipped packages may import.
var coreDeps = []string{"github.com/google/btree", "golang.org/x/sync"}

// testDeps may be imported by tests and by *test packages.
var testDeps = []string{"github.com/stretchr/testify/require", "pgregory.net/rapid"}

// onlyIn names modules that exactly one package may import.
var onlyIn = map[string]string{"github.com/NVIDIA/go-nvml": "nvmlx/gonvml"}

// impure lists packages that may do I/O or run goroutines; all others are pure.
var impure = []string{"nvmlx", "nvmlx/gonvml", "health/monitor", "internal/deptest"}

// pureForbids are the imports that a pure package may not have.
var pureForbids = []string{"os", "os/", "net", "net/", "log", "log/", "math/rand", "math/rand/", "crypto/rand", "syscall",
	"io/ioutil", "plugin", "runtime", "unsafe", "C"}

// clockCalls are the functions of package time that read or wait for a clock.
var clockCalls = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// A File is one source file: its path inside the module, slash separated, and
// its text.
type File struct {
	Path string
	Src  []byte
}

// Check returns the violations in one file, each as "path:line: what".
func Check(f File) []string {
	var out []string
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, f.Path, f.Src, parser.ParseComments)
	if err != nil {
		return []string{err.Error()}
	}
	say := func(pos token.Pos, format string, args ...any) {
		out = append(out, fmt.Sprintf("%s:%d: %s", f.Path, fset.Position(pos).Line, fmt.Sprintf(format, args...)))
	}
	if !strings.HasPrefix(string(f.Src), "// SPDX-License-Identifier: Apache-2.0\n") {
		say(tree.Pos(), "the first line is not the SPDX licence header")
	}
	dir := strings.TrimSuffix(f.Path[:strings.LastIndex("/"+f.Path, "/")], "/")
	test := strings.HasSuffix(f.Path, "_test.go") || isTestPackage(dir)
	for _, spec := range tree.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		checkImport(dir, path, test, func(msg string) { say(spec.Pos(), "%s", msg) })
	}
	if !test && dir != "" && !slices.Contains(impure, dir) {
		checkPure(tree, say)
	}
	return out
}

func isTestPackage(dir string) bool {
	last := dir[strings.LastIndex(dir, "/")+1:]
	return strings.HasSuffix(last, "test") && last != "deptest"
}

func checkImport(dir, path string, test bool, say func(string)) {
	own := strings.SplitN(dir, "/", 2)[0]
	if rest, ok := strings.CutPrefix(path, Module+"/"); ok {
		target := strings.SplitN(rest, "/", 2)[0]
		if isTestPackage(rest) && !test {
			say(fmt.Sprintf("shipped code imports the test package %s", rest))
		}
		if target == own || target == "internal" || dir == "" && test {
			return
		}
		if allowed := mayImport[own]; !slices.Contains(allowed, target) {
			say(fmt.Sprintf("package %s may not import %s: allowed are %v", own, rest, allowed))
		}
		if own == "isolation" || own == "health" {
			if rest == "nvmlx/gonvml" {
				say("only programs may import nvmlx/gonvml")
			}
		}
		return
	}
	if !strings.Contains(strings.SplitN(path, "/", 2)[0], ".") {
		return // std; purity is checked elsewhere
	}
	for module, home := range onlyIn {
		if path == module || strings.HasPrefix(path, module+"/") {
			if dir != home {
				say(fmt.Sprintf("only %s may import %s", home, module))
			}
			return
		}
	}
	if slices.Contains(coreDeps, path) || strings.HasPrefix(path, "golang.org/x/sync/") || test && slices.Contains(testDeps, path) {
		return
	}
	say(fmt.Sprintf("import of %s: not one of the fixed dependencies", path))
}

func checkPure(tree *ast.File, say func(token.Pos, string, ...any)) {
	timeName := ""
	for _, spec := range tree.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		for _, bad := range pureForbids {
			if path == bad || strings.HasSuffix(bad, "/") && strings.HasPrefix(path, bad) {
				say(spec.Pos(), "a pure package imports %q", path)
			}
		}
		if path == "time" {
			timeName = "time"
			if spec.Name != nil {
				timeName = spec.Name.Name
			}
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			say(n.Pos(), "a pure package starts a goroutine")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && timeName != "" && x.Name == timeName && slices.Contains(clockCalls, n.Sel.Name) {
				say(n.Pos(), "a pure package calls time.%s", n.Sel.Name)
			}
		case *ast.FuncDecl:
			if n.Recv == nil && n.Name.Name == "init" {
				say(n.Pos(), "a pure package has an init function")
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "print" || id.Name == "println") {
				say(n.Pos(), "a pure package prints")
			}
		}
		return true
	})
	if timeName == "." {
		say(tree.Pos(), "a pure package dot-imports time, which hides clock calls")
	}
}
