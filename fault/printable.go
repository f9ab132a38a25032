package fault

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable makes one line of a text that somebody else wrote, such as an answer of a server or a name in an archive: what would command
// a terminal or break the line stands there as in a Go string, \x1b or \n.
func Printable(text string) string { return printable(text, false) }

// PrintableLines is Printable for a text of several lines, which stay.
func PrintableLines(text string) string { return printable(text, true) }

func printable(text string, lines bool) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)): // a byte that is no character
			b.WriteString(`\x` + strconv.FormatUint(uint64(text[i]), 16))
		case unicode.IsPrint(r), r == '\n' && lines:
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}
