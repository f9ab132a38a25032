package plan

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"assay/fault"
)

// FuzzParse: no text makes Parse panic, every error is a fault of the plan, and what parses reads back from its written forms to the
// same hash.
func FuzzParse(f *testing.F) {
	for _, name := range Examples() {
		b, err := Example(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, "")
	}
	f.Add([]byte(minimal), "server.args.0=x")
	f.Add([]byte(minimal), "checks.gpu_count=[1, a, true]")
	f.Add([]byte(`{"apiVersion": "assay/v1", "name": "é\u2028\ud83d\ude00", "seed": 18446744073709551615}`), "name='it''s'")
	f.Add([]byte("a: &x [*x, *x]\n<<: *x\n? b\n"), "=")
	f.Add([]byte("- - - {a: [b, {c: d}]}"), "workload.salt=true")
	f.Fuzz(func(t *testing.T, text []byte, set string) {
		var sets []string
		if set != "" {
			sets = []string{set}
		}
		p, err := ParseSet(text, sets)
		if err != nil {
			var fail *fault.Fault
			if !errors.As(err, &fail) || fail.Layer != fault.Plan {
				t.Fatalf("not a fault of the plan: %v", err)
			}
			return
		}
		for form, written := range map[string][]byte{"YAML": p.YAML(), "canonical form": p.Canonical()} {
			again, err := Parse(written)
			if err != nil {
				t.Fatalf("%s does not parse: %v\n%s", form, err, written)
			}
			if !bytes.Equal(again.Canonical(), p.Canonical()) {
				t.Fatalf("%s means another plan:\n%s\n%s\n%s", form, written, again.Canonical(), p.Canonical())
			}
		}
	})
}

// FuzzText: any text survives in every place of a plan that takes one, through both written forms.
func FuzzText(f *testing.F) {
	for _, text := range []string{"a", " a ", "it's", "1e5", "0x1f", ".inf", "- a", "a: b", "a #b", "\u2028", "\x7f", "\x00", "é\t\n\r\n", `\`, "%", "@", "!x", "<<", "...", "\ufeff", "\U0001f600"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			t.Skip()
		}
		doc := encode(map[string]any{
			"apiVersion": APIVersion, "name": "n", "model": map[string]any{"name": "m"},
			"server":   map[string]any{"engine": "sim", "runtime": "process", "args": []string{text, "b"}, "env": map[string]string{"A": text}},
			"workload": map[string]any{"system": text, "salt": text},
			"protocol": map[string]any{"sweep": map[string]any{"concurrency": 1, "requests": 1}},
		})
		p, err := Parse(doc)
		if err != nil {
			if strings.ContainsAny(text, "\x00") || strings.TrimSpace(text) == "" {
				t.Skip() // refused, as told
			}
			t.Fatalf("%q: %v", text, err)
		}
		if p.Server.Args[0] != text || p.Server.Env["A"] != text || p.Workload.System != text {
			t.Fatalf("%q became %q, %q, %q", text, p.Server.Args[0], p.Server.Env["A"], p.Workload.System)
		}
		if again, err := Parse(p.YAML()); err != nil || again.Hash() != p.Hash() {
			t.Fatalf("%q: %v\n%s", text, err, p.YAML())
		}
	})
}
