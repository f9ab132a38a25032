package wording

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"
)

// Funcs are what templates use to write values.
func Funcs() template.FuncMap {
	return template.FuncMap{"when": when, "moment": moment, "iso": iso, "span": span, "number": number, "known": known, "words": words, "short": short}
}

// dash stands where there is no number.
const dash = "–"

// when is an instant as people read it, in UTC.
func when(us int64) string {
	if us == 0 {
		return dash
	}
	return time.UnixMicro(us).UTC().Format("2006-01-02 15:04")
}

// moment is an instant to the second, for what follows one another quickly.
func moment(us int64) string {
	if us == 0 {
		return dash
	}
	return time.UnixMicro(us).UTC().Format("2006-01-02 15:04:05")
}

// iso is an instant for <time datetime>.
func iso(us int64) string { return time.UnixMicro(us).UTC().Format(time.RFC3339) }

// span is the time between two instants: "45 s", "12 min 30 s", "3 h 05 min".
func span(fromUS, toUS int64) string {
	if fromUS == 0 || toUS < fromUS {
		return dash
	}
	d := time.Duration(toUS-fromUS) * time.Microsecond
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}

// known is number for a figure that may not be known.
func known(v *float64) string {
	if v == nil {
		return dash
	}
	return number(*v)
}

// number writes a figure with about four digits and thousands apart.
func number(v float64) string {
	decimals := 0
	switch a := max(v, -v); {
	case a < 10:
		decimals = 2
	case a < 1000:
		decimals = 1
	}
	return thousands(strconv.FormatFloat(v, 'f', decimals, 64))
}

// thousands puts a comma between groups of three digits, as reports do.
func thousands(s string) string {
	whole, rest, _ := strings.Cut(s, ".")
	if rest != "" {
		return s // figures with decimals are below a thousand
	}
	sign := strings.TrimSuffix(whole, strings.TrimLeft(whole, "-"))
	digits := whole[len(sign):]
	var out []string
	for ; len(digits) > 3; digits = digits[:len(digits)-3] {
		out = append([]string{digits[len(digits)-3:]}, out...)
	}
	return sign + strings.Join(append([]string{digits}, out...), ",")
}

// words writes a state or an identifier as words.
func words(s string) string { return strings.ReplaceAll(s, "_", " ") }

// short is the head of a hash.
func short(s string) string { return s[:min(len(s), 12)] }
