package field

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"assay/fieldtest"
)

var update = flag.Bool("update", false, "rewrite docs/launch-faults.md")

const (
	root = "../.."
	page = root + "/docs/launch-faults.md"
)

// row is one known fault or fact: what holds here, and the tests that say so, or why it cannot occur.
type row struct {
	id      string // public id: the repository and number of an issue or change; of a fact its number
	fault   string // what went wrong, or what is so
	here    string // what holds here
	test    string // names of tests, each "containers.TestField_…"
	why     string // where there is no test
	missing bool   // the test is still to be written
}

// area is the rows of one part of a launch, which have a file of their own.
type area struct {
	title string
	rows  []row
}

func areas() []area {
	return []area{
		{"Real engines", engineRows()},
		{"Launching", launchRows()},
		{"Runs and results", runRows()},
		{"Seen in practice", practiceRows()},
	}
}

// says tells in how many ways a row ends: it must be one.
func (r row) says() int {
	n := 0
	for _, is := range []bool{r.test != "", r.why != "", r.missing} {
		if is {
			n++
		}
	}
	return n
}

// TestIndex holds every row against its test: each id is there once, with tests that exist or a reason.
func TestIndex(t *testing.T) {
	all, named, seen, missing := fieldtest.In(root), map[string]bool{}, map[string]bool{}, 0
	for _, a := range areas() {
		for _, r := range a.rows {
			if r.says() != 1 || r.id == "" || r.fault == "" || r.here == "" || seen[a.title+r.id] {
				t.Errorf("%s, %s: it needs an id of its own, a fault, what holds here, and one of test, why and missing", a.title, r.id)
			}
			seen[a.title+r.id] = true
			if r.missing {
				missing++
			}
			for _, name := range strings.Fields(r.test) {
				named[name] = true
				if !all.Has(t, name) {
					t.Errorf("%s, %s: there is no test %s", a.title, r.id, name)
				}
			}
		}
	}
	t.Logf("%d of %d rows have no test yet", missing, len(seen))
	all.Named(t, named, append(all.Rooms(t, "containers"), "agent/proof", "agent/weights")...)
}

// document is docs/launch-faults.md.
func document() string {
	var b strings.Builder
	b.WriteString("# What goes wrong where servers are launched, and what holds here\n\n" +
		"Each row is a fact that was measured with a real engine, or a fault that someone met, named by its public id, with the test that shows what holds here.\n" +
		"Written from `containers/field` by `make golden`.\n")
	for _, a := range areas() {
		fmt.Fprintf(&b, "\n## %s\n\n| report | fault or fact | here | test |\n|---|---|---|---|\n", a.title)
		for _, r := range a.rows {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.id, r.fault, r.here, r.proof())
		}
	}
	return b.String()
}

// proof is the last cell of a row.
func (r row) proof() string {
	switch {
	case r.why != "":
		return "cannot apply: " + r.why
	case r.missing:
		return "none yet"
	}
	tests := strings.Fields(r.test)
	for i := range tests {
		tests[i] = "`" + tests[i] + "`"
	}
	return strings.Join(tests, ", ")
}

// TestDocument: docs/launch-faults.md says what the list says.
func TestDocument(t *testing.T) { fieldtest.Page(t, page, document(), *update) }
