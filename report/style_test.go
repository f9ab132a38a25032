package report

import (
	"regexp"
	"strings"
	"testing"

	"assay/result"
)

// The stylesheet needs nothing from outside and cannot end its own element.
func TestStylesheet(t *testing.T) {
	css := Stylesheet()
	for _, bad := range []string{"@import", "url(", "</", "<!--", "http"} {
		if strings.Contains(css, bad) {
			t.Errorf("the stylesheet holds %q", bad)
		}
	}
	if strings.Count(css, "{") != strings.Count(css, "}") {
		t.Error("braces of the stylesheet do not match")
	}
}

// Every colour is a token, and every token that is used is set.
func TestStylesheetTokens(t *testing.T) {
	css := Stylesheet()
	set := map[string]bool{"--h": true}
	for _, m := range regexp.MustCompile(`(--[a-z-]+):`).FindAllStringSubmatch(css, -1) {
		set[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`var\((--[a-z-]+)`).FindAllStringSubmatch(css, -1) {
		if !set[m[1]] {
			t.Errorf("%s is used and never set", m[1])
		}
	}
}

// Each state of a run, a point and a check has its colour.
func TestStatesHaveColours(t *testing.T) {
	for _, s := range []result.State{result.Queued, result.Running, result.Done, result.Failed, result.Interrupted, result.Canceled,
		result.Valid, result.NotValid, "requests_queued", "over_capacity", "skipped", "ok", "warn", "fail", "unknown"} {
		if !regexp.MustCompile(`\.` + string(s) + `\b[^{]*\{ --state:`).MatchString(Stylesheet()) {
			t.Errorf("no colour for the state %q", s)
		}
	}
}
