package disguise

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Serials gives a function that puts serial1, serial2, … in the place of the serial numbers in a BMC's answers: some BMCs name their
// resources by them.
func Serials(answers []any) func(string) string {
	found := map[string]bool{}
	for _, doc := range answers {
		findSerials(doc, found)
	}
	marks, words := map[string]string{}, []string{}
	for i, serial := range slices.Sorted(maps.Keys(found)) {
		marks[serial] = fmt.Sprint("serial", i+1)
		words = append(words, regexp.QuoteMeta(serial))
	}
	if len(words) == 0 {
		return func(s string) string { return s }
	}
	slices.Reverse(words) // of two that begin alike the longer goes first
	serial := regexp.MustCompile(`\b(?:` + strings.Join(words, "|") + `)\b`)
	return func(s string) string {
		return serial.ReplaceAllStringFunc(s, func(found string) string { return marks[found] })
	}
}

// findSerials looks for texts that are called serial numbers; a short one may be a word of another meaning.
func findSerials(v any, found map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, below := range v {
			text, _ := below.(string)
			if slices.Contains([]string{"SerialNumber", "AssetTag", "ServiceTag"}, key) && len(text) >= 6 && strings.ContainsAny(text, "0123456789") {
				found[text] = true
			}
			findSerials(below, found)
		}
	case []any:
		for _, below := range v {
			findSerials(below, found)
		}
	}
}
