package sim

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the list of faults into docs/sim.md")

// TestDocs: the page has every fault, in the list's words.
func TestDocs(t *testing.T) {
	const page, from, to = "../docs/sim.md", "<!-- faults, made by go test ./sim -update -->\n", "<!-- end of faults -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), from)
	_, after, ends := strings.Cut(rest, to)
	if !begins || !ends {
		t.Fatalf("%s has no place for the faults", page)
	}
	want := before + from + faultTable() + to + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("%s (-want +got; go test ./sim -update writes it):\n%s", page, diff)
	}
}

func faultTable() string {
	var b strings.Builder
	b.WriteString("| kind | what happens | `@token` | `=amount` | `:delay` |\n|---|---|---|---|---|\n")
	for _, f := range Faults() {
		token, amount, delay := "", "", ""
		if f.AtToken || f.Kind == EmptyDelta || f.Kind == LongLine {
			token = "0"
		}
		if f.Amount > 0 {
			amount = fmt.Sprint(f.Amount)
		}
		switch {
		case f.Delay > 0:
			delay = f.Delay.String()
		case f.Kind == Stall:
			delay = "must be given"
		case f.Kind == Reject || f.Kind == Status || f.Kind == RoleAlone:
			delay = "0s"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", f.Kind, f.Text, token, amount, delay)
	}
	return b.String()
}
