package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/containers"
	"assay/plan"
	"assay/report"
	"assay/runner"
	"assay/runner/dataset"
	"assay/runner/imported"
)

// list is one of the ordered lists to which things are added by one file and one line.
type list struct {
	what    string
	names   []string
	pattern string // of the file of a name, with %s or %[1]s for the name
}

func lists(t *testing.T) []list {
	t.Helper()
	l := []list{
		{what: "report formats", pattern: "report/format_%s.go"},
		{what: "server presets", pattern: "containers/engine/preset_%s.go"},
		{what: "routers", pattern: "containers/router/router_%s.go"},
		{what: "runtimes", pattern: "containers/%[1]s/%[1]s.go"},
		{what: "clients", pattern: "runner/client_%s.go"},
		{what: "datasets", pattern: "runner/dataset/%s.go", names: dataset.Kinds()},
		{what: "example plans", pattern: "plan/examples/%s.yaml", names: plan.Examples()},
		{what: "commands", pattern: "cmd/assay/%s.go"},
		{what: "imported formats", pattern: "runner/imported/tool/format_%s.go"},
		{what: "clients that are other programs", pattern: "runner/external/client_%s.go"},
	}
	for _, f := range report.Formats() {
		l[0].names = append(l[0].names, f.Name)
	}
	for _, p := range containers.Presets() {
		l[1].names = append(l[1].names, p.Name)
	}
	for _, r := range containers.Routers() {
		l[2].names = append(l[2].names, r.Name)
	}
	for _, r := range containers.Runtimes(containers.DockerPlace{}) {
		l[3].names = append(l[3].names, r.Name())
	}
	for _, c := range runner.Clients() {
		at := 9
		if c.Name() == "native" {
			at = 4
		}
		l[at].names = append(l[at].names, c.Name())
	}
	for _, f := range imported.Formats() {
		l[8].names = append(l[8].names, f.Name)
	}
	a := app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, getenv: func(string) string { return "" }}
	for _, c := range a.commands() {
		l[7].names = append(l[7].names, c.Name())
	}
	return l
}

// TestListsAreOneFileAndOneLine: every entry of a list has its file, named after it, so that a reader finds the feature by its name and
// adding one is that file and one line. Every file that is named like an entry is one.
func TestListsAreOneFileAndOneLine(t *testing.T) {
	for _, l := range lists(t) {
		t.Run(l.what, func(t *testing.T) {
			if len(l.names) == 0 || len(slices.Compact(slices.Sorted(slices.Values(l.names)))) != len(l.names) {
				t.Errorf("empty, or a name twice: %v", l.names)
			}
			for _, name := range l.names {
				if _, err := os.Stat(filepath.Join(root, fmt.Sprintf(l.pattern, name))); err != nil {
					t.Errorf("%q has no file of its own: %v", name, err)
				}
			}
			if strings.HasPrefix(filepath.Base(l.pattern), "%") {
				return // other files stand in this folder too
			}
			files, err := filepath.Glob(filepath.Join(root, fmt.Sprintf(l.pattern, "*")))
			if err != nil {
				t.Fatal(err)
			}
			before, after, _ := strings.Cut(filepath.Base(l.pattern), "%s")
			for _, f := range files {
				name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(f), before), after)
				if !slices.Contains(l.names, name) && !strings.HasSuffix(f, "_test.go") {
					t.Errorf("%s is in no list", f)
				}
			}
		})
	}
}

// TestRuntimesAreOneLine: every room of containers that has a Runtime is in the list.
func TestRuntimesAreOneLine(t *testing.T) {
	var names []string
	for _, r := range containers.Runtimes(containers.DockerPlace{}) {
		names = append(names, r.Name())
	}
	files, err := filepath.Glob(filepath.Join(root, "containers/*/*.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(b, []byte("\ntype Runtime struct")) {
			continue
		}
		found++
		if room := filepath.Base(filepath.Dir(f)); !slices.Contains(names, room) {
			t.Errorf("%s is in no list", f)
		}
	}
	if found != len(names) {
		t.Errorf("%d rooms have a runtime, the list has %d", found, len(names))
	}
}

// TestProbesAndChecksAreOneLine: the lists that stay inside probes, read from their source. Every function that is written like an entry
// (Probe or ProbeX in a room of probes, checkX in probes/check) stands in its list, so that none is forgotten.
func TestProbesAndChecksAreOneLine(t *testing.T) {
	for _, l := range []struct{ file, function, written, where string }{
		{"probes/probes.go", "probes", `(?m)^func (Probe\w*)\(`, "probes/*/*.go"},
		{"probes/check/checks.go", "checks", `(?m)^func (check[A-Z]\w*)\(r Request`, "probes/check/*.go"},
	} {
		names := literalNames(t, filepath.Join(root, l.file), l.function)
		if len(names) < 5 || len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
			t.Errorf("%s: too few, or a name twice: %v", l.function, names)
		}
		list, err := os.ReadFile(filepath.Join(root, l.file))
		if err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(root, l.where))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(l.written).FindAllSubmatch(b, -1) {
				found++
				entry := string(m[1])
				if filepath.Dir(f) != filepath.Dir(filepath.Join(root, l.file)) {
					entry = filepath.Base(filepath.Dir(f)) + "." + entry
				}
				if !regexp.MustCompile(`\b` + regexp.QuoteMeta(entry) + `\b`).Match(list) {
					t.Errorf("%s of %s is not in %s", entry, f, l.file)
				}
			}
		}
		if found != len(names) {
			t.Errorf("%d functions are written like an entry of %s, which has %d", found, l.function, len(names))
		}
	}
}

// literalNames gives the first string of each element of the slice that a function returns.
func literalNames(t *testing.T, file, function string) []string {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range tree.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Name.Name != function {
			continue
		}
		ret := fn.Body.List[len(fn.Body.List)-1].(*ast.ReturnStmt)
		for _, e := range ret.Results[0].(*ast.CompositeLit).Elts {
			name, err := strconv.Unquote(e.(*ast.CompositeLit).Elts[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
	}
	return names
}
