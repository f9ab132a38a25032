package fault

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
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
	for _, form := range Forms(secret) {
		text = hideForm(text, form)
	}
	return hideBegun(text, secret)
}

// Forms are the ways a secret may stand in a text, the longest first: as it is, escaped as in an address, in JSON, in a Go string or in a web
// page, and in base64, also in the middle of something longer such as "user:secret". Servers in Python leave the slash in addresses as it is,
// and escape in JSON what is not ASCII.
func Forms(secret string) []string {
	query := url.QueryEscape(secret)
	spaced := strings.ReplaceAll(query, "+", "%20")
	forms := []string{secret, html.EscapeString(secret)}
	for _, escaped := range []string{query, spaced, strings.ReplaceAll(spaced, "%2F", "/"), url.PathEscape(secret)} {
		forms = append(forms, escaped, lowerHex(escaped))
	}
	for _, quoted := range []string{quotedJSON(secret, true), quotedJSON(secret, false), strconv.Quote(secret), strconv.QuoteToASCII(secret)} {
		forms = append(forms, quoted[1:len(quoted)-1])
	}
	if len(secret) >= shortSecret {
		forms = append(forms, inBase64(secret)...)
	}
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.Compact(forms)
}

// userInfo is the part of an address that names a user and a password.
var userInfo = regexp.MustCompile(`://[^/\s@]+@`)

// WithoutUser takes user and password out of the addresses in a text.
func WithoutUser(text string) string { return userInfo.ReplaceAllString(text, "://") }

// quotedJSON writes a text as JSON does, with or without its care for web pages.
func quotedJSON(text string, careful bool) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(careful)
	if e.Encode(text) != nil {
		return `""` // never: every text can be written
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// lowerHex writes the escapes of an address in small letters.
func lowerHex(escaped string) string {
	b := []byte(escaped)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], strings.ToLower(escaped[i+1:i+3]))
		}
	}
	return string(b)
}

// inBase64 is what of a secret's base64 does not depend on what stands before and after it, for each of the three places it may begin at.
func inBase64(secret string) []string {
	var forms []string
	for before := range 3 {
		padded := append(make([]byte, before), secret...)
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := enc.EncodeToString(padded)
			if len(padded)%3 != 0 {
				text = text[:len(text)-1]
			}
			forms = append(forms, text[(before*8+5)/6:])
		}
	}
	return forms
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
