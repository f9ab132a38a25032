package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "assay"

// allowed says which packages of the project a package may import. A new arrow is a decision: it is made here first.
// Every package may also import fault, which imports nothing, and redact, which imports fault alone.
func allowed() map[string][]string {
	return map[string][]string{
		"fault":             {},
		"redact":            {},
		"plan":              {},
		"probes":            {},
		"containers":        {"plan", "containers/engine"},
		"containers/engine": {},
		"runner":            {"plan", "runner/load", "runner/dataset", "runner/record", "runner/metrics"},
		"runner/load":       {"runner/record", "runner/dataset"},
		"runner/dataset":    {},
		"runner/record":     {},
		"runner/metrics":    {"runner/record"},
		"runner/imported":   {"plan", "result", "runner", "runner/record", "runner/metrics"},
		"result":            {"plan", "probes", "runner/metrics"},
		"store":             {"plan", "result"},
		"report":            {"plan", "probes", "result", "runner/metrics", "runner/record"},
		"archive":           {"plan", "probes", "result", "report", "runner", "runner/load", "runner/dataset", "runner/record", "runner/metrics", "runner/imported"},
		"agent": {"plan", "probes", "containers", "containers/engine", "runner", "runner/load", "runner/dataset", "runner/record", "runner/metrics", "runner/imported",
			"result", "store", "report", "archive"},
		"api":       {"plan", "probes", "result", "store", "report", "report/machine"},
		"sim":       {},
		"systemd":   {},
		"cmd/assay": {"*"},
	}
}

// owners says which package is the only one to know a library.
func owners() map[string]string {
	return map[string]string{
		"github.com/docker/docker":         "containers",
		"github.com/docker/go-connections": "containers",
		"github.com/shirou/gopsutil":       "probes",
		"github.com/prometheus/procfs":     "probes",
		"modernc.org/sqlite":               "store",
		"github.com/pressly/goose":         "store",
		"github.com/robfig/cron":           "agent",
		"github.com/labstack/echo":         "api",
		"github.com/spf13/cobra":           "cmd/assay",
		"github.com/goccy/go-yaml":         "plan",
		"github.com/invopop/jsonschema":    "plan",
	}
}

// sourceFile is one parsed file that is shipped: no test, no test data.
type sourceFile struct {
	path, pkg string
	lines     int
	fset      *token.FileSet
	tree      *ast.File
}

// root is the repository's top, from this package's folder.
const root = "../.."

func sourceFiles(t *testing.T) []sourceFile {
	t.Helper()
	var files []sourceFile
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (name == "testdata" || strings.HasPrefix(name, ".") || name == "dist") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		files = append(files, parseSource(t, path))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func parseSource(t *testing.T, path string) sourceFile {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, path, b, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		t.Fatal(err)
	}
	return sourceFile{path: rel, pkg: filepath.Dir(rel), lines: strings.Count(string(b), "\n"), fset: fset, tree: tree}
}

// onlyForTests tells a package that exists for tests of others, such as a server to test against.
func onlyForTests(pkg string) bool { return strings.Contains(pkg+"/", "test/") }

// house is the package of the design that a package belongs to: a large one may be divided into rooms (probes/amd), which only it and
// its other rooms enter.
func house(pkg string) string {
	for at := pkg; at != "."; at = filepath.Dir(at) {
		if _, listed := allowed()[at]; listed {
			return at
		}
	}
	return pkg
}

func TestImportsFollowTheDesign(t *testing.T) {
	rules := allowed()
	for _, f := range sourceFiles(t) {
		may, known := rules[house(f.pkg)]
		if !known && !onlyForTests(f.pkg) {
			t.Errorf("%s: package %s has no line in allowed()", f.path, f.pkg)
			continue
		}
		for _, spec := range f.tree.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			checkImport(t, f, path, may)
		}
	}
}

func checkImport(t *testing.T, f sourceFile, path string, may []string) {
	t.Helper()
	for lib, owner := range owners() {
		if strings.HasPrefix(path, lib) && house(f.pkg) != owner && !onlyForTests(f.pkg) {
			t.Errorf("%s imports %s, which belongs to %s alone", f.path, path, owner)
		}
	}
	own, isOwn := strings.CutPrefix(path, module+"/")
	if !isOwn || own == "fault" || own == "redact" || slices.Contains(may, "*") || slices.Contains(may, own) || house(own) == house(f.pkg) {
		return
	}
	if onlyForTests(own) {
		t.Errorf("%s imports %s, which is for tests only", f.path, own)
	} else if !onlyForTests(f.pkg) {
		t.Errorf("%s imports %s: no such arrow in the design", f.path, own)
	}
}

// Budgets of the design.
const (
	maxFunction = 80
	maxMedian   = 12
	maxFile     = 500
	maxPackage  = 2500
)

func TestBudgets(t *testing.T) {
	packages := map[string]int{}
	var functions []int
	longest, longestName := 0, ""
	for _, f := range sourceFiles(t) {
		packages[f.pkg] += f.lines
		if f.lines > maxFile {
			t.Errorf("%s has %d lines, %d allowed", f.path, f.lines, maxFile)
		}
		for _, d := range f.tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := f.fset.Position(fn.End()).Line - f.fset.Position(fn.Pos()).Line + 1
			functions = append(functions, lines)
			if lines > longest {
				longest, longestName = lines, f.path+":"+fn.Name.Name
			}
			if lines > maxFunction {
				t.Errorf("%s: %s has %d lines, %d allowed", f.path, fn.Name.Name, lines, maxFunction)
			}
		}
	}
	slices.Sort(functions)
	median := functions[len(functions)/2]
	if median > maxMedian {
		t.Errorf("the median function has %d lines, %d allowed", median, maxMedian)
	}
	for _, pkg := range slices.Sorted(maps.Keys(packages)) {
		t.Logf("%-16s %5d lines", pkg, packages[pkg])
		if packages[pkg] > maxPackage {
			t.Errorf("package %s has %d lines, %d allowed", pkg, packages[pkg], maxPackage)
		}
	}
	t.Logf("%d functions, median %d lines, longest %d (%s)", len(functions), median, longest, longestName)
}

func TestHouseRules(t *testing.T) {
	docs := map[string]bool{}
	for _, f := range sourceFiles(t) {
		docs[f.pkg] = docs[f.pkg] || filepath.Base(f.path) == "doc.go"
		if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "base", "misc", "types", "models"}, filepath.Base(f.pkg)) {
			t.Errorf("%s: a package is named after what it is", f.pkg)
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			checkNode(t, f, n)
			return true
		})
	}
	for pkg, has := range docs {
		if !has && !onlyForTests(pkg) {
			t.Errorf("package %s has no doc.go", pkg)
		}
	}
}

// checkNode refuses init functions, interfaces of more than five methods, and the outside world anywhere but in cmd/assay.
func checkNode(t *testing.T, f sourceFile, n ast.Node) {
	t.Helper()
	where := func() string { return f.path + ":" + strconv.Itoa(f.fset.Position(n.Pos()).Line) }
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Name.Name == "init" && n.Recv == nil {
			t.Errorf("%s: init function", where())
		}
	case *ast.InterfaceType:
		if n.Methods.NumFields() > 5 {
			t.Errorf("%s: interface of %d methods, 5 allowed", where(), n.Methods.NumFields())
		}
	case *ast.SelectorExpr:
		x, ok := n.X.(*ast.Ident)
		if !ok || f.pkg == "cmd/assay" || onlyForTests(f.pkg) {
			return
		}
		name := x.Name + "." + n.Sel.Name
		outside := []string{"os.Exit", "os.Getenv", "os.Args", "context.Background", "context.TODO", "slog.Default", "fmt.Print", "fmt.Printf", "fmt.Println"}
		if slices.Contains(outside, name) {
			t.Errorf("%s: %s belongs to cmd/assay", where(), name)
		}
	}
}

// TestNoSleepInTests keeps tests on channels and synctest: a sleep is either too short or too long.
func TestNoSleepInTests(t *testing.T) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".cache" {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.Contains(string(b), "time."+"Sleep(") && !strings.Contains(string(b), `"testing/synctest"`) {
			t.Errorf("%s sleeps", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
