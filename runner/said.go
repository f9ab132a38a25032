package runner

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/runner/record"
)

// mostSaid is how many characters of an error text stand in a reason; the recording has more.
const mostSaid = 160

// Said is the first error text of each outcome by which measured requests failed, in the server's words where it had any.
type Said map[string]string

// add keeps the text of a failed request when none of its outcome was kept before.
func (s *Said) add(q *record.Request) {
	outcome := string(q.Outcome)
	if q.Error == "" || (*s)[outcome] != "" {
		return
	}
	if *s == nil {
		*s = Said{}
	}
	(*s)[outcome] = shortened(q.Error)
}

// Count lists how many requests failed by each outcome, with what was said first: "http_status 3 (HTTP 400: the prompt is too long)".
func (s Said) Count(outcomes map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(outcomes)) {
		if outcomes[name] == 0 || name == string(record.OK) || name == string(record.Censored) {
			continue
		}
		parts = append(parts, s.part(name, outcomes[name]))
	}
	return strings.Join(parts, ", ")
}

func (s Said) part(outcome string, n int) string {
	if text := s[outcome]; text != "" {
		return fmt.Sprintf("%s %d (%s)", outcome, n, text)
	}
	return fmt.Sprintf("%s %d", outcome, n)
}

// shortened is a text as one line that fits a reason.
func shortened(s string) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > mostSaid {
		return string(r[:mostSaid]) + "…"
	}
	return string(r)
}
