package image

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The document for users names every fault of this package, and every key of what is recorded.
func TestDocumentIsComplete(t *testing.T) {
	b, err := os.ReadFile("../../docs/images.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	codes := map[string]bool{}
	for _, c := range append(causes(), unknown()) {
		codes[c.code] = true
	}
	keys := map[string]bool{}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		source, err := os.ReadFile(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`fault\.Image, "([a-z_]+)"`).FindAllStringSubmatch(string(source), -1) {
			codes[m[1]] = true
		}
		if e.Name() == "identity.go" {
			for _, m := range regexp.MustCompile(`json:"([a-z_]+)`).FindAllStringSubmatch(string(source), -1) {
				keys[m[1]] = true
			}
		}
	}
	if len(codes) < 20 || len(keys) < 15 {
		t.Fatalf("codes %v, keys %v", codes, keys)
	}
	for code := range codes {
		if code != "missing" && code != "invalid" && !strings.Contains(doc, "`image."+code+"`") {
			t.Errorf("image.%s is not in the document", code)
		}
	}
	for key := range keys {
		if !strings.Contains(doc, "`"+key+"`") {
			t.Errorf("%s is not in the document", key)
		}
	}
}
