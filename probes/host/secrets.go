package host

import "regexp"

// withoutSecrets gives a function that takes out of a text what is known to be a key by its form, whatever holds it: tokens, values of
// variables that are named after a secret, passwords in URLs; and serial numbers that a text calls so.
func withoutSecrets() func(string) string {
	token := compile(`\bhf_[A-Za-z0-9]{16,}`, `\bsk-[A-Za-z0-9_-]{16,}`, `\bgh[opsu]_[A-Za-z0-9]{20,}`, `\bglpat-[A-Za-z0-9_-]{16,}`, `\bAKIA[0-9A-Z]{16}\b`,
		`\bxox[abprs]-[A-Za-z0-9-]{10,}`, `\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*`, `\bnvapi-[A-Za-z0-9_-]{16,}`)
	assigned := regexp.MustCompile(`(?i)\b([a-z0-9_]*(?:token|secret|passw(?:or)?d|api_?key|access_?key|private_?key|credentials?)[a-z0-9_]*=)[^\s"'<>,;&]+`)
	inURL := regexp.MustCompile(`(://)[^/\s:@"'<>]+:[^/\s@"'<>]+@`)
	serial := regexp.MustCompile(`(?i)\b((?:s/n|sn|serial)(?: ?(?:number|no\.?))?\s*[:=]\s*)[a-z0-9][a-z0-9-]{5,}`)
	return func(s string) string {
		s = serial.ReplaceAllString(s, "${1}[cut]")
		s = token.ReplaceAllString(s, "[cut]")
		s = assigned.ReplaceAllString(s, "${1}[cut]")
		return inURL.ReplaceAllString(s, "${1}[cut]@")
	}
}
