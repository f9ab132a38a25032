package external

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPage: docs/clients.md has the table of what each can do.
func TestPage(t *testing.T) {
	name := filepath.Join("..", "..", "docs", "clients.md")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- what each can do -->\n", "<!-- end -->\n"
	before, rest, ok := strings.Cut(string(b), begin)
	have, after, also := strings.Cut(rest, end)
	if !ok || !also {
		t.Fatal("docs/clients.md has no place for the table")
	}
	want := table()
	if *update && have != want {
		if err := os.WriteFile(name, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("run `go test ./runner/external -update`\n%s", diff)
	}
}

// table is what each tool can do.
func table() string {
	var b strings.Builder
	b.WriteString("| the plan asks for |")
	for _, t := range Tools() {
		b.WriteString(" " + t.Kind + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(Tools())) + "\n")
	for _, a := range abilities() {
		fmt.Fprintf(&b, "| %s |", a)
		for _, t := range Tools() {
			word := "–"
			if t.can(a) {
				word = "yes"
			}
			b.WriteString(" " + word + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// abilities lists them in the order people see.
func abilities() []Ability {
	return []Ability{Sweep, Serve, Matrix, ByDuration, Chat, Completions, Poisson, Gamma, Constant, MaxConcurrency, WarmupRequests, WarmupDuration,
		Generated, NaturalEOS, Filed, System, OwnLimits, Agentic, FreshPrompts, SharedSalt, IgnoreEOS, Temperature, TopP, Seed, Servers, Headers, Insecure, Token}
}
