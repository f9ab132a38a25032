package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// RouterNone is the kind of a point without router.
const RouterNone = "none"

// span is a range of concurrencies, both ends included.
type span struct{ from, to int }

// parseSpan reads "32-384", "512" or "all". "all" holds 0 too, the load of an open loop without a limit.
func parseSpan(text string) (span, error) {
	text = strings.TrimSpace(text)
	if text == "all" {
		return span{0, math.MaxInt}, nil
	}
	first, last, ranged := strings.Cut(text, "-")
	if !ranged {
		last = first
	}
	from, errFrom := strconv.Atoi(strings.TrimSpace(first))
	to, errTo := strconv.Atoi(strings.TrimSpace(last))
	if errFrom != nil || errTo != nil || from < 1 {
		return span{}, fmt.Errorf(`%q is not a range of concurrencies: write "32-384", "512" or "all"`, text)
	}
	if to < from {
		return span{}, fmt.Errorf("%q ends before it begins: write \"%d-%d\"", text, to, from)
	}
	return span{from, to}, nil
}

func (s span) holds(n int) bool     { return s.from <= n && n <= s.to }
func (s span) overlaps(t span) bool { return s.from <= t.to && t.from <= s.to }
