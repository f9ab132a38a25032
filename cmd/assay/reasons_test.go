package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// codesIn are the first groups of the patterns in the Go files of a folder of the repository.
func codesIn(t *testing.T, folder string, patterns ...string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", folder, len(files), err)
	}
	var codes []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range patterns {
			for _, m := range regexp.MustCompile(p).FindAllStringSubmatch(string(b), -1) {
				codes = append(codes, m[1])
			}
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// TestReasonsAreExplained: docs/verdicts.md says of each reason code what it means and what to do, and of none that is not given.
func TestReasonsAreExplained(t *testing.T) {
	const literal = `\bReason\{+Code: +"([a-z_]+)"`
	given := slices.Concat(
		codesIn(t, "runner", `\bfound\([^\n]*?"([a-z_]+)", (?:text|"[^"]* )`, `\bcode :?= "([a-z_]+)"`, literal),
		codesIn(t, "runner/imported", `\bfound\([^\n]*?"([a-z_]+)", (?:text|"[^"]* )`, literal),
		codesIn(t, "agent/*", literal, `\bInterrupted = "([a-z_]+)"`), codesIn(t, "agent", literal, `\breason[A-Z]\w* = "([a-z_]+)"`))
	for _, known := range []string{"errors", "client_bound", "underfilled_by_restart", "tokens_differ", "interrupted", "run_failed", "queue_seen"} {
		if !slices.Contains(given, known) {
			t.Errorf("the search in the code misses %s; it found %v", known, given)
		}
	}
	doc, err := os.ReadFile("../../docs/verdicts.md")
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(string(doc), "\n# When a point counts")
	var told []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|([^|]+\\|){3}$").FindAllStringSubmatch(table, -1) {
		told = append(told, m[1])
	}
	for _, code := range given {
		if !slices.Contains(told, code) {
			t.Errorf("reason %s does not stand in the table", code)
		}
	}
	for _, code := range told {
		if !slices.Contains(given, code) {
			t.Errorf("the table explains %s, which no code gives", code)
		}
	}
	drift := codesIn(t, "probes/check", "`, \"([a-z_]+)\", \"", `Change\{\{?"([a-z_]+)"`, `growth\("([a-z_]+)"`, `code :?= "([a-z_]+)"`)
	row := regexp.MustCompile("(?m)^\\| `drift.CODE` .*$").FindString(table)
	for _, code := range drift {
		if !strings.Contains(row, "`"+code+"`") {
			t.Errorf("drift.%s is not named", code)
		}
	}
	if len(drift) < 10 {
		t.Errorf("the search in the code found the changes %v only", drift)
	}
}
