package fault

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Hidden stands in a text where a secret stood.
const Hidden = "[token]"

// shortSecret is the length under which a secret is hidden as a whole word only: a key such as "x" stands in every text by chance.
const shortSecret = 8

// Hide takes a secret out of a text that somebody else wrote, also where it is escaped as in JSON or in an address, and where the
// text was cut off in the middle of it. A "Bearer " before it goes too. Call it before a text is shortened.
func Hide(text, secret string) string {
	if secret == "" {
		return text
	}
	for _, form := range formsOf(secret) {
		text = hideForm(text, form)
	}
	return hideBegun(text, secret)
}

// formsOf are the ways a secret may stand in a text.
func formsOf(secret string) []string {
	forms := []string{secret, url.QueryEscape(secret), url.PathEscape(secret)}
	if b, err := json.Marshal(secret); err == nil {
		forms = append(forms, string(b[1:len(b)-1]))
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

func hideForm(text, form string) string {
	for from := 0; ; {
		i := strings.Index(text[from:], form)
		if i < 0 {
			return text
		}
		start, end := from+i, from+i+len(form)
		if len(form) < shortSecret && (letterBefore(text[:start]) || letterAfter(text[end:])) {
			from = start + 1
			continue
		}
		before := withoutBearer(text[:start])
		text, from = before+Hidden+text[end:], len(before)+len(Hidden)
	}
}

// hideBegun hides the beginning of a secret with which a text ends.
func hideBegun(text, secret string) string {
	for n := min(len(secret)-1, len(text)); n >= shortSecret/2; n-- {
		if start := len(text) - n; text[start:] == secret[:n] && (n >= shortSecret || !letterBefore(text[:start])) {
			return withoutBearer(text[:start]) + Hidden
		}
	}
	return text
}

func withoutBearer(text string) string {
	const bearer = "bearer "
	if n := len(text) - len(bearer); n >= 0 && strings.EqualFold(text[n:], bearer) {
		return text[:n]
	}
	return text
}

func letterBefore(text string) bool { return text != "" && isWord(text[len(text)-1]) }
func letterAfter(text string) bool  { return text != "" && isWord(text[0]) }

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
