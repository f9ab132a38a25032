package dataset

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocsExamples: docs/datasets.md has a section for each kind, and every example in it is data that can be used, each line of it.
func TestDocsExamples(t *testing.T) {
	raw, err := os.ReadFile("../../docs/datasets.md")
	if err != nil {
		t.Fatal(err)
	}
	fence := regexp.MustCompile("(?ms)^```(json|jsonl|csv)\n(.*?)^```$")
	examples := 0
	var told []string
	for _, section := range strings.Split(string(raw), "\n## `")[1:] {
		kind, text, _ := strings.Cut(section, "`")
		told = append(told, kind)
		for _, m := range fence.FindAllStringSubmatch(text, -1) {
			examples++
			s := open(t, Config{Kind: kind, Path: write(t, "example."+m[1], m[2]), Strict: true})
			for s.Stats().Repeats == 0 {
				take(t, s, 1)
			}
		}
	}
	if !slices.Equal(told, Kinds()) || examples != 5 {
		t.Errorf("sections %q with %d examples, the kinds are %q", told, examples, Kinds())
	}
}
