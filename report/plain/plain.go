package plain

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"assay/fault"
)

// Columns pads the columns; the first stands left, the last where it is asked to, the rest right.
func Columns(w io.Writer, lines [][]string, lastLeft bool) {
	width := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, s := range line {
			s = fault.Printable(s)
			line[i] = s
			width[i] = max(width[i], utf8.RuneCountInString(s))
		}
	}
	for _, line := range lines {
		var b strings.Builder
		for i, s := range line {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(s))
			switch {
			case i == 0:
				b.WriteString(s + pad)
			case i == len(line)-1 && lastLeft:
				b.WriteString("  " + s)
			default:
				b.WriteString("  " + pad + s)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// Markdown writes lines under a heading; the first column stands left, the last as its mark says, the rest right.
func Markdown(w io.Writer, lines [][]string, last string) {
	for i, line := range lines {
		for j := range line {
			line[j] = Quoted(line[j])
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(line, " | "))
		if i == 0 {
			fmt.Fprintf(w, "|---%s|%s|\n", strings.Repeat("|--:", max(0, len(line)-2)), last)
		}
	}
}

// Quoted keeps a text from being read as Markdown or HTML.
func Quoted(s string) string {
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", "&", "&amp;", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]", "\n", " ", "\r", " ").Replace(s)
}
