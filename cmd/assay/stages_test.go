package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStagesAreThoseOfTheAPI: each stage that a progress event may have stands in openapi.yaml, and no other.
func TestStagesAreThoseOfTheAPI(t *testing.T) {
	const literal = `\bStage: "([a-z]+)"`
	given := slices.Concat(codesIn(t, "agent", literal), codesIn(t, "agent/*", literal), codesIn(t, "runner", literal), codesIn(t, "runner/load", literal))
	slices.Sort(given)
	doc, err := os.ReadFile("../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`stage: \{type: string, enum: \[([a-z, ]+)\]`).FindSubmatch(doc)
	if m == nil {
		t.Fatal("openapi.yaml tells no stages")
	}
	told := strings.Split(string(m[1]), ", ")
	slices.Sort(told)
	if d := cmp.Diff(slices.Compact(given), told); d != "" {
		t.Errorf("stages in the code (-) and in openapi.yaml (+):\n%s", d)
	}
}
