package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/fault"
	"assay/plan/syntax"
)

// base is a plan whose lines the tables below replace or extend: server is line 4, protocol is line 8.
const base = `apiVersion: assay/v1
name: n
model: {name: m}
server:
  engine: sim
  runtime: process
workload: {kind: synthetic}
protocol:
  sweep:
    concurrency: [1, 2]
    requests: 10
`

// with replaces text in base; both must be there.
func with(t *testing.T, old, new string) string {
	t.Helper()
	if !strings.Contains(base, old) {
		t.Fatalf("base holds no %q", old)
	}
	return strings.Replace(base, old, new, 1)
}

// refused parses text, which must be refused, and gives the fault.
func refused(t *testing.T, text string, sets ...string) *fault.Fault {
	t.Helper()
	p, err := ParseSet([]byte(text), sets)
	var f *fault.Fault
	if !errors.As(err, &f) {
		t.Fatalf("no fault but %v, plan %s", err, p.Canonical())
	}
	if f.Layer != fault.Plan {
		t.Fatalf("layer %s", f.Layer)
	}
	return f
}

func TestSyntaxFaults(t *testing.T) {
	hex := strings.Repeat("0", 64)
	for name, c := range map[string]struct{ text, code, want string }{
		"empty":           {"", "plan.empty", "the plan is empty"},
		"blank":           {" \n\n", "plan.empty", "the plan is empty"},
		"only comments":   {"# nothing\n", "plan.empty", "the plan is empty"},
		"not UTF-8":       {"name: a\nmodel: \xff\n", "plan.encoding", "line 2, column 8: byte 0xff is not UTF-8"},
		"UTF-16":          {"\xff\xfea\x00", "plan.encoding", "line 1, column 1: byte 0xff is not UTF-8"},
		"binary":          {"é: \x01", "plan.encoding", "line 1, column 4: control character 0x01"},
		"too large":       {strings.Repeat("#", syntax.MaxBytes+1), "plan.too_large", "the plan has 1048577 bytes, more than 1 MiB"},
		"too many keys":   {strings.Repeat("a: 1\n", 3000), "plan.too_large", "line 2001, column 2: the plan has more than 2000 keys or 25000 values"},
		"two documents":   {base + "---\nname: x\n", "plan.documents", "line 13, column 1: a second document begins"},
		"anchor":          {"name: &x a\n", "plan.unsupported", "line 1, column 7: anchors (&x), aliases (*x) and merges (<<) are not read"},
		"alias bomb":      {"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "plan.unsupported", "line 1, column 4: anchors (&x), aliases (*x) and merges (<<) are not read"},
		"merge":           {"<<: {name: x}\n", "plan.unsupported", "line 1, column 1: anchors (&x), aliases (*x) and merges (<<) are not read"},
		"tag":             {"name: !!str x\n", "plan.unsupported", "line 1, column 7: tags (!x) are not read"},
		"directive":       {"%YAML 1.2\n---\nname: x\n", "plan.unsupported", "line 1, column 1: directives (%x) are not read"},
		"complex key":     {"? name\n: x\n", "plan.unsupported", "line 1, column 1: keys marked with ? are not read"},
		"deep lists":      {strings.Repeat("[", 100_000), "plan.unsupported", "line 1, column 33: the plan nests too deep"},
		"deep entries":    {strings.Repeat("- ", 100_000), "plan.unsupported", "line 1, column 65: the plan nests too deep"},
		"tab":             {"server:\n\tengine: sim\n", "plan.syntax", "line 2, column 1: the plan is not YAML: found character '\t' that cannot start any token"},
		"open bracket":    {"name: [1,\n", "plan.syntax", "line 1, column 7: the plan is not YAML: sequence end token ']' not found"},
		"open quote":      {"name: \"x\n", "plan.syntax", "line 1, column 7: the plan is not YAML: could not find end character of double-quoted text"},
		"bad indentation": {"model:\n  name: m\n path: x\n", "plan.syntax", ""},
		"a text":          {"hello", "plan.type", `line 1, column 1: the plan must be a section with keys, not "hello"`},
		"a list":          {"- a\n", "plan.type", "line 1, column 1: the plan must be a section with keys, not a list"},
		"long text":       {strings.Repeat("x", 5000), "plan.type", "line 1, column 1: the plan must be a section with keys, not \"" + strings.Repeat("x", 356) + "…"},
		"the digest only": {hex, "plan.type", fmt.Sprintf("line 1, column 1: the plan must be a section with keys, not %q", hex)},
	} {
		t.Run(name, func(t *testing.T) {
			f := refused(t, c.text)
			if f.Code != c.code {
				t.Errorf("code %s, want %s: %s", f.Code, c.code, f.Text)
			}
			if c.want != "" && f.Text != c.want {
				t.Errorf("got  %s\nwant %s", f.Text, c.want)
			}
			if f.Hint == "" && f.Code != "plan.type" {
				t.Error("no hint what to do")
			}
		})
	}
}

func TestKeyFaults(t *testing.T) {
	for name, c := range map[string]struct{ old, new, code, want string }{
		"unknown key": {"    concurrency:", "    concurency:", "plan.unknown_key",
			`line 10, column 5: unknown key "concurency" in protocol.sweep; did you mean "concurrency"?`},
		"unknown at the top": {"workload:", "workloads:", "plan.unknown_key", `line 7, column 1: unknown key "workloads"; did you mean "workload"?`},
		"swapped letters":    {"engine: sim", "enigne: sim", "plan.unknown_key", `line 5, column 3: unknown key "enigne" in server; did you mean "engine"?`},
		"other case":         {"engine: sim", "Engine: sim", "plan.unknown_key", `line 5, column 3: unknown key "Engine" in server; did you mean "engine"?`},
		"in a flow section":  {"{name: m}", "{name: m, pfad: x}", "plan.unknown_key", `line 3, column 18: unknown key "pfad" in model; known are name, served, revision, path, hash, sha256`},
		"in a list": {"workload:", "routers:\n  - {points: all, kind: none, imag: x}\nworkload:", "plan.unknown_key",
			`line 8, column 31: unknown key "imag" in routers.0; did you mean "image"?`},
		"number as key":  {"name: n\n", "name: n\n5: x\n", "plan.unknown_key", ""},
		"duplicate":      {"  requests: 10", "  requests: 10\n    requests: 20", "plan.duplicate_key", `line 12, column 5: key "requests" stands twice; the first is at line 11, column 5`},
		"duplicate, top": {"name: n", "name: n\nname: o", "plan.duplicate_key", `line 3, column 1: key "name" stands twice; the first is at line 2, column 1`},
		"duplicate env": {"  engine: sim", "  env: {A: 1, A: 2}\n  engine: sim", "plan.duplicate_key",
			`line 5, column 15: key "A" stands twice; the first is at line 5, column 9`},
		"text for a number":     {"requests: 10", "requests: ten", "plan.type", `line 11, column 15: protocol.sweep.requests: "ten" is not a whole number`},
		"fraction":              {"requests: 10", "requests: 1.5", "plan.type", `line 11, column 15: protocol.sweep.requests: "1.5" is not a whole number`},
		"hexadecimal":           {"requests: 10", "requests: 0x10", "plan.type", `line 11, column 15: protocol.sweep.requests: "0x10" is not a whole number`},
		"number too large":      {"requests: 10", "requests: 99999999999999999999", "plan.type", ""},
		"list item":             {"[1, 2]", "[1, two]", "plan.type", `line 10, column 22: protocol.sweep.concurrency.1: "two" is not a whole number`},
		"empty item":            {"[1, 2]", "\n      - 1\n      -", "plan.type", "line 12, column 8: item 1 of protocol.sweep.concurrency has no value"},
		"list for a number":     {"requests: 10", "requests: [10]", "plan.type", "line 11, column 15: protocol.sweep.requests must be a whole number, not a list"},
		"section for a list":    {"[1, 2]", "{a: 1}", "plan.type", "line 10, column 18: protocol.sweep.concurrency must be a list, not a section with keys"},
		"text for a section":    {"{kind: synthetic}", "synthetic", "plan.type", `line 7, column 11: workload must be a section with keys, not "synthetic"`},
		"list for a section":    {"{name: m}", "[m]", "plan.type", "line 3, column 8: model must be a section with keys, not a list"},
		"number for a duration": {"requests: 10", "duration: 20", "plan.type", `line 11, column 15: protocol.sweep.duration: "20" is not a duration: write 30s, 20m or 1h30m`},
		"negative duration":     {"requests: 10", "duration: -20s", "plan.type", `line 11, column 15: protocol.sweep.duration: "-20s" is negative: write 30s, 20m or 1h30m`},
		"length":                {"synthetic}", "synthetic, input_len: 8m}", "plan.type", `line 7, column 40: workload.input_len: "8m" is not a number of tokens: write 8192 or 8k`},
		"switch":                {"synthetic}", "synthetic, tool_delay: yes}", "plan.type", `line 7, column 41: workload.tool_delay: "yes" is neither true nor false`},
		"infinity":              {"synthetic}", "synthetic, sampling: {temperature: .inf}}", "plan.type", `line 7, column 53: workload.sampling.temperature: ".inf" is not a number`},
		"seed":                  {"synthetic}", "synthetic, seed: -1}", "plan.type", `line 7, column 35: workload.seed: "-1" is not a whole number from 0 to 2^64-1`},
		"empty variable":        {"  engine: sim", "  env: {A: }\n  engine: sim", "plan.type", `line 5, column 9: server.env.A has no value`},
		"section as check":      {"workload:", "checks: {idle: {a: 1}}\nworkload:", "plan.type", "line 7, column 16: checks.idle must be a number, a text, true or false, or a list of them, not a section with keys"},
		"section in a check":    {"workload:", "checks: {idle: [[1]]}\nworkload:", "plan.type", "line 7, column 17: checks.idle must be a number, a text or true or false, not a list"},
	} {
		t.Run(name, func(t *testing.T) {
			f := refused(t, with(t, c.old, c.new))
			if f.Code != c.code || c.want != "" && f.Text != c.want {
				t.Errorf("got  %s %s\nwant %s %s", f.Code, f.Text, c.code, c.want)
			}
		})
	}
}

func TestUnknownKeyNamesItsHome(t *testing.T) {
	f := refused(t, with(t, "workload:", "max_concurrency: 5\nworkload:"))
	if want := `"max_concurrency" is a key of protocol.serve`; f.Hint != want {
		t.Errorf("hint %q, want %q", f.Hint, want)
	}
}

func TestAllFaultsAreListed(t *testing.T) {
	text := strings.NewReplacer("engine: sim", "engine: vlm", "[1, 2]", "[0, 1, 1]", "{name: m}", "{path: x}", "synthetic", "syntetic").Replace(base)
	want := `the plan has 6 faults:
  line 3, column 8: model.name is missing
  line 5, column 3: server.command is missing: runtime process needs the program to start
  line 5, column 11: server.engine "vlm" is not known; did you mean "vllm"?
  line 7, column 18: workload.kind "syntetic" is not known; did you mean "synthetic"?
  line 10, column 18: protocol.sweep.concurrency makes the point c1 twice
  line 10, column 19: protocol.sweep.concurrency.0 is 0; the least is 1`
	f := refused(t, text)
	if diff := cmp.Diff(want, f.Text); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if f.Code != "plan.invalid" {
		t.Errorf("code %s", f.Code)
	}
}

func TestManyFaultsAreCut(t *testing.T) {
	f := refused(t, with(t, "[1, 2]", "["+strings.Repeat("0, ", 5000)+"]"))
	if lines := strings.Count(f.Text, "\n"); lines != 20 || !strings.HasPrefix(f.Text, "the plan has more than 20 faults:") {
		t.Errorf("%d lines: %s", lines, f.Text)
	}
	f = refused(t, with(t, "[1, 2]", "["+strings.Repeat("1, ", maxItems+1)+"]"))
	if want := "line 10, column 18: protocol.sweep.concurrency has 10001 items; the most is 10000"; f.Text != want {
		t.Errorf("got %s", f.Text)
	}
}
