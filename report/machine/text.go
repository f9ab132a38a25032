package machine

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"assay/probes"
	"assay/report/figure"
)

// Width is how far text goes before it is folded.
const Width = 110

// WriteText writes a machine for a terminal: the summary by chapters, then what is not known and why.
func WriteText(w io.Writer, s probes.SUT) {
	fmt.Fprintf(w, "%s\n", cmp.Or(strings.TrimSpace(s.System.Vendor.Value+" "+s.System.Product.Value), "This machine"))
	if names := AcceleratorNames(s); names != "" {
		fmt.Fprintf(w, "%s\n", names)
	}
	for _, c := range Summarise(s) {
		fmt.Fprintf(w, "\n%s\n", strings.ToUpper(c.Name))
		for _, l := range c.Lines {
			WriteField(w, l.Label, l.Text())
		}
	}
	groups := Facts(s)
	writeDisagreements(w, groups)
	known, unknown, na := Tally(groups)
	fmt.Fprintf(w, "\n%d facts known, %d unknown, %d not applicable. Sources: --json\n", known, unknown, na)
	writeMissing(w, groups)
}

// Text is the line's value, or why there is none.
func (l Line) Text() string {
	if l.Value != "" {
		return l.Value
	}
	if l.NotProbed != "" {
		return figure.None + " not probed: " + l.NotProbed
	}
	return "unknown: " + cmp.Or(l.Reason, strings.Join(l.Missing, "; "), "not said")
}

// writeDisagreements lists the facts of which a second source says something else, and why it was not taken.
func writeDisagreements(w io.Writer, groups []Group) {
	title := "\nSOURCES THAT DISAGREE"
	for _, g := range groups {
		for _, f := range g.Facts {
			if f.Other == "" {
				continue
			}
			if title != "" {
				fmt.Fprintln(w, title)
				title = ""
			}
			fmt.Fprint(w, Fold("  "+g.Name+" "+uncapital(f.Label)+": "+f.Value+" ("+f.Source+"); also "+f.Other, "    "))
		}
	}
}

// writeMissing lists the unknown facts by their reason, for one cause often hides many facts.
func writeMissing(w io.Writer, groups []Group) {
	var reasons []string
	facts := map[string][]string{}
	for _, g := range groups {
		for _, f := range g.Facts {
			if f.State != "unknown" {
				continue
			}
			if !slices.Contains(reasons, f.Reason) {
				reasons = append(reasons, f.Reason)
			}
			facts[f.Reason] = append(facts[f.Reason], strings.TrimSpace(g.Name+" "+uncapital(f.Label)))
		}
	}
	if len(reasons) > 0 {
		fmt.Fprintln(w, "\nNOT KNOWN")
	}
	for _, r := range reasons {
		fmt.Fprint(w, Fold("  "+r+": "+strings.Join(facts[r], ", "), "    "))
	}
}

// uncapital undoes capital inside a sentence, but leaves an abbreviation as it is.
func uncapital(s string) string {
	if len(s) > 1 && strings.ToUpper(s[1:2]) == s[1:2] {
		return s
	}
	return strings.ToLower(s[:min(1, len(s))]) + s[min(1, len(s)):]
}

// WriteField writes a label and a folded value in two columns.
func WriteField(w io.Writer, label, value string) {
	const column = 28
	pad := strings.Repeat(" ", max(1, column-2-utf8.RuneCountInString(label)))
	fmt.Fprint(w, Fold("  "+label+pad+value, strings.Repeat(" ", column)))
}

// Fold breaks a line at spaces; what follows is indented. A word longer than a line stays whole.
func Fold(s, indent string) string {
	var b strings.Builder
	for utf8.RuneCountInString(s) > Width {
		runes := []rune(s)
		cut := Width
		for cut > len(indent)+20 && runes[cut] != ' ' {
			cut--
		}
		if runes[cut] != ' ' {
			break
		}
		b.WriteString(strings.TrimRight(string(runes[:cut]), " ") + "\n")
		s = indent + strings.TrimLeft(string(runes[cut:]), " ")
	}
	return b.String() + s + "\n"
}
