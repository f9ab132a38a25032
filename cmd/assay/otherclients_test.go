package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// planKeys are the keys of docs/plan.md with the section they stand in: protocol.sweep.requests.
func planKeys(t *testing.T) map[string]bool {
	t.Helper()
	doc, err := os.ReadFile("../../docs/plan.md")
	if err != nil {
		t.Fatal(err)
	}
	keys, section := map[string]bool{}, ""
	heading, row := regexp.MustCompile("^### `([a-z_.]+)`"), regexp.MustCompile("^\\| (?:\\*\\*)?`([A-Za-z_]+)`")
	for line := range strings.Lines(string(doc)) {
		if m := heading.FindStringSubmatch(line); m != nil {
			section = m[1] + "."
		} else if m := row.FindStringSubmatch(line); m != nil {
			keys[section+m[1]] = true
		}
	}
	return keys
}

// TestOtherClientsLeadToWhatIsThere: each flag and key that docs/from-other-clients.md sends a reader to exists.
func TestOtherClientsLeadToWhatIsThere(t *testing.T) {
	doc, err := os.ReadFile("../../docs/from-other-clients.md")
	if err != nil {
		t.Fatal(err)
	}
	flags, keys := (&app{}).benchCommand().Flags(), planKeys(t)
	flag, key := regexp.MustCompile(`--([a-z-]+)`), regexp.MustCompile("`((?:protocol|workload|client|server)\\.[a-z_.]+)[`:]")
	seen := 0
	_, tables, _ := strings.Cut(string(doc), "\n## vllm bench serve")
	for line := range strings.Lines(tables) {
		columns := strings.Split(line, " | ")
		if len(columns) != 3 {
			continue
		}
		here := strings.ReplaceAll(columns[1], "assay report RUN --format", "")
		for _, m := range flag.FindAllStringSubmatch(here, -1) {
			if seen++; flags.Lookup(m[1]) == nil {
				t.Errorf("assay bench has no flag --%s: %s", m[1], line)
			}
		}
		for _, m := range key.FindAllStringSubmatch(here, -1) {
			if seen++; !keys[m[1]] {
				t.Errorf("a plan has no key %s: %s", m[1], line)
			}
		}
	}
	if seen < 60 {
		t.Errorf("only %d flags and keys were found in the tables", seen)
	}
}
