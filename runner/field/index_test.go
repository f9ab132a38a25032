package field

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"assay/fieldtest"
)

var update = flag.Bool("update", false, "rewrite docs/field-faults.md")

const (
	root = "../.."
	page = root + "/docs/field-faults.md"
)

// list is one of the lists of known faults, with the numbers it must hold.
type list struct {
	title string
	rows  []row
	want  []string
}

func lists() []list {
	first, second := []string{"1b", "4b"}, []string{}
	for i := range 53 {
		first = append(first, fmt.Sprint(i+1))
	}
	for i := range 47 {
		second = append(second, fmt.Sprint(i+1))
	}
	var third []string
	for _, s := range scenarios() {
		third = append(third, s.name)
	}
	return []list{
		{"Benchmark clients", peers(), first},
		{"MLPerf Endpoints", endpoints(), second},
		{"Four clients against a server that knows the truth", measuredClients(), append(third, "load", "ttft", "gaps", "counts", "saturation", "exit", "words", "calls", "aborted")},
	}
}

// TestIndex holds every known fault against its test: each number of each list is there once, with a test that exists or a reason.
func TestIndex(t *testing.T) {
	all, named := fieldtest.In(root), map[string]bool{}
	for _, l := range lists() {
		seen := map[string]int{}
		for _, r := range l.rows {
			seen[r.no]++
			if (r.test == "") == (r.why == "") || r.id == "" || (r.here == "") != (r.test == "") {
				t.Errorf("%s, row %s has neither test nor reason, or both", l.title, r.no)
			}
			for _, name := range strings.Fields(r.test) {
				if !strings.Contains(name, ".") {
					name = "runner/field." + name
				}
				named[name] = true
				if !all.Has(t, name) {
					t.Errorf("%s, row %s: there is no test %s", l.title, r.no, name)
				}
			}
		}
		for _, no := range l.want {
			if seen[no] != 1 {
				t.Errorf("%s: row %s stands there %d times", l.title, no, seen[no])
			}
		}
		if len(l.rows) != len(l.want) {
			t.Errorf("%s: %d rows, want %d", l.title, len(l.rows), len(l.want))
		}
	}
	all.Named(t, named, "runner/field")
}

// document is docs/field-faults.md.
func document() string {
	var b strings.Builder
	b.WriteString("# Known faults of benchmark clients, and what holds here\n\n" +
		"Each row is a fault that someone met with a benchmark client, named by its public id. Its test sends the same bytes at our own client over a real\n" +
		"socket and holds the recording, the figures and the verdict against what the server logged. Tests without a package are in `runner/field`.\n" +
		"Written from `runner/field/rows_test.go` by `make golden`.\n")
	for _, l := range lists() {
		fmt.Fprintf(&b, "\n## %s\n\n| # | fault | here | test |\n|---|---|---|---|\n", l.title)
		for _, r := range l.rows {
			tests := strings.Fields(r.test)
			for i := range tests {
				tests[i] = "`" + tests[i] + "`"
			}
			if r.why != "" {
				r.here = "cannot apply: " + r.why
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.no, r.id, r.here, strings.Join(tests, ", "))
		}
	}
	return b.String()
}

// TestDocument: docs/field-faults.md says what the lists say.
func TestDocument(t *testing.T) { fieldtest.Page(t, page, document(), *update) }
