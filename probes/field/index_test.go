package field

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"assay/fieldtest"
)

var update = flag.Bool("update", false, "rewrite docs/probe-faults.md")

const (
	root = "../.."
	page = root + "/docs/probe-faults.md"
)

// row is one known fault: what holds here, and the tests that say so, or why the fault cannot occur.
type row struct {
	no      int    // in the whole list
	id      string // public id: the repository and number of an issue or change, or the name of a document
	fault   string // what was read wrongly
	here    string // what holds here
	test    string // names of tests, each "probes/amd.TestField_…"
	why     string // where there is no test
	missing bool   // the test is still to be written
}

// numbers is how many rows there are; they are counted through all areas, from 1 on.
const numbers = 65

// area is the rows of one part of a machine, which have a file of their own.
type area struct {
	title string
	rows  []row
}

func areas() []area {
	return []area{
		{"AMD GPUs", amdRows()},
		{"NVIDIA GPUs, and those of other vendors", nvidiaRows()},
		{"Tools of GPU vendors", toolsRows()},
		{"Host", hostRows()},
		{"Network", networkRows()},
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

// TestIndex holds every known fault against its test: each number is there once, with tests that exist or a reason.
func TestIndex(t *testing.T) {
	all, named, seen, missing := fieldtest.In(root), map[string]bool{}, map[int]int{}, 0
	for _, a := range areas() {
		for _, r := range a.rows {
			seen[r.no]++
			if r.says() != 1 || r.id == "" || r.fault == "" || r.here == "" {
				t.Errorf("%s, row %d: it needs an id, a fault, what holds here, and one of test, why and missing", a.title, r.no)
			}
			if r.missing {
				missing++
			}
			for _, name := range strings.Fields(r.test) {
				named[name] = true
				if !all.Has(t, name) {
					t.Errorf("%s, row %d: there is no test %s", a.title, r.no, name)
				}
			}
		}
	}
	for no := range numbers {
		if seen[no+1] != 1 {
			t.Errorf("row %d stands there %d times", no+1, seen[no+1])
		}
	}
	if len(seen) != numbers {
		t.Errorf("%d numbers, want %d", len(seen), numbers)
	}
	t.Logf("%d of %d rows have no test yet", missing, numbers)
	all.Named(t, named, all.Rooms(t, "probes")...)
}

// document is docs/probe-faults.md.
func document() string {
	var b strings.Builder
	b.WriteString("# What tools read wrongly of a machine, and what holds here\n\n" +
		"Each row is a fault that someone met with a tool which describes a machine, named by its public id. Its test gives our probes the same input and\n" +
		"looks at the fact that comes of it. Written from `probes/field` by `make golden`.\n")
	for _, a := range areas() {
		fmt.Fprintf(&b, "\n## %s\n\n| # | report | fault | here | test |\n|---|---|---|---|---|\n", a.title)
		for _, r := range a.rows {
			fmt.Fprintf(&b, "| %d | %s | %s | %s | %s |\n", r.no, r.id, r.fault, r.here, r.proof())
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

// TestDocument: docs/probe-faults.md says what the list says.
func TestDocument(t *testing.T) { fieldtest.Page(t, page, document(), *update) }
