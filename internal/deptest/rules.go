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
var impure = []string{"nvmlx/gonvml", "health/monitor", "internal/deptest"}

// pureStd are the packages of the standard library that a pure package may
// import: none of them does I/O, reads a clock or the machine's time zone, draws
// random numbers or starts goroutines when it is used as the rules below allow.
// embed is not among them: files that come along are for programs.
var pureStd = []string{"bufio", "bytes", "cmp", "container/heap", "container/list", "crypto/sha256", "encoding", "encoding/base64",
	"encoding/binary", "encoding/csv", "encoding/hex", "encoding/json", "errors", "fmt", "hash", "hash/crc32", "hash/fnv", "io", "iter", "maps",
	"math", "math/big", "math/bits", "path", "reflect", "regexp", "slices", "sort", "strconv", "strings", "sync", "sync/atomic", "text/tabwriter",
	"time", "unicode", "unicode/utf16", "unicode/utf8", "unique"}

// also are what single packages may import beside that: a context is passed on to
// a device by nvmlx, which makes none of its own.
var also = map[string][]string{"nvmlx": {"context"}}

// forbidden names what a pure package may not use of packages that it may import.
var forbidden = map[string][]string{
	"time":    {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "LoadLocation", "Local"},
	"fmt":     {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
	"iter":    {"Pull", "Pull2"},
	"context": {"Background", "TODO", "WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause", "WithCancel", "WithCancelCause", "AfterFunc"},
}

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
	if !test && !slices.Contains(impure, dir) {
		checkPure(dir, tree, say)
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

func checkPure(dir string, tree *ast.File, say func(token.Pos, string, ...any)) {
	names := map[string]string{} // in this file, of packages with forbidden parts
	for _, spec := range tree.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		if strings.Contains(strings.SplitN(path, "/", 2)[0], ".") {
			continue // not of the standard library
		}
		if !slices.Contains(pureStd, path) && !slices.Contains(also[dir], path) {
			say(spec.Pos(), "a pure package imports %q", path)
		}
		if _, some := forbidden[path]; some {
			name := path
			if spec.Name != nil {
				name = spec.Name.Name
			}
			if name == "." {
				say(spec.Pos(), "a pure package dot-imports %q, which hides what it uses of it", path)
			}
			names[name] = path
		}
	}
	compared := map[ast.Expr]bool{} // operands of == and !=: code may refuse time.Local
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				compared[n.X], compared[n.Y] = true, true
			}
		case *ast.GoStmt:
			say(n.Pos(), "a pure package starts a goroutine")
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if ok && slices.Contains(forbidden[names[x.Name]], n.Sel.Name) && !(n.Sel.Name == "Local" && compared[n]) {
				say(n.Pos(), "a pure package uses %s.%s", names[x.Name], n.Sel.Name)
			}
			if n.Sel.Name == "Go" || n.Sel.Name == "TryGo" {
				say(n.Pos(), "a pure package starts a goroutine by %s", n.Sel.Name)
			}
		case *ast.FuncDecl:
			if n.Recv == nil && n.Name.Name == "init" {
				say(n.Pos(), "a pure package has an init function")
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "print" || id.Name == "println") {
				say(n.Pos(), "a pure package prints")
			}
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Local" && len(n.Args) == 0 {
				say(n.Pos(), "a pure package asks for the machine's time zone by Local()")
			}
		}
		return true
	})
}
