// Package fieldtest holds lists of known faults against the tests that they name, for the tests of such lists.
package fieldtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Tests are the test functions of this repository, read when they are asked for.
type Tests struct {
	root  string // the repository's top
	known map[string]map[string]bool
}

// In gives the tests below a folder.
func In(root string) Tests { return Tests{root: root, known: map[string]map[string]bool{}} }

// Has looks for a test by its package's path and its name, "probes/amd.TestField_x"; a subtest may follow.
func (s Tests) Has(t *testing.T, name string) bool {
	t.Helper()
	i := strings.Index(name, ".Test")
	if i < 0 {
		return false
	}
	test, _, _ := strings.Cut(name[i+1:], "/")
	return s.Of(t, name[:i])[test]
}

// Of lists the test functions of a package, which must have some.
func (s Tests) Of(t *testing.T, pkg string) map[string]bool {
	t.Helper()
	if tests := s.known[pkg]; tests != nil {
		return tests
	}
	tests := map[string]bool{}
	s.known[pkg] = tests
	files, err := filepath.Glob(filepath.Join(s.root, filepath.FromSlash(pkg), "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Errorf("package %s has no tests: %v", pkg, err)
	}
	for _, path := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Errorf("read %s: %v", path, err)
			continue
		}
		for _, d := range tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Test") {
				tests[f.Name.Name] = true
			}
		}
	}
	return tests
}

// Named looks for tests in packages whose names say that they belong to a row, and which no row names.
func (s Tests) Named(t *testing.T, named map[string]bool, packages ...string) {
	t.Helper()
	for _, pkg := range packages {
		for name := range s.Of(t, pkg) {
			if strings.HasPrefix(name, "TestField_") && !named[pkg+"."+name] {
				t.Errorf("%s.%s is in no list", pkg, name)
			}
		}
	}
}

// Rooms lists a package and its rooms that have tests.
func (s Tests) Rooms(t *testing.T, pkg string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.root, pkg, "*", "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	packages := []string{pkg}
	for _, file := range files {
		if room := pkg + "/" + filepath.Base(filepath.Dir(file)); room != packages[len(packages)-1] { // files are sorted
			packages = append(packages, room)
		}
	}
	return packages
}

// Page holds a page that is written from a list against the list, or writes it.
func Page(t *testing.T, page, want string, write bool) {
	t.Helper()
	if write {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != want {
		t.Errorf("%s differs from the list, or %v; run go test -update here", filepath.Base(page), err)
	}
}
