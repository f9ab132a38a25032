package fault

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPrintable(t *testing.T) {
	for text, want := range map[string][2]string{
		"plain, × and 漢":             {"plain, × and 漢", "plain, × and 漢"},
		"a\x1b[2J\r\tb":              {`a\x1b[2J\r\tb`, `a\x1b[2J\r\tb`},
		"one\ntwo":                   {`one\ntwo`, "one\ntwo"},
		"\u202eback\x9b":             {`\u202eback\x9b`, `\u202eback\x9b`},
		"bad \xff, \ufffd, 'quoted'": {`bad \xff, ` + "\ufffd, 'quoted'", `bad \xff, ` + "\ufffd, 'quoted'"},
	} {
		if got := [2]string{Printable(text), PrintableLines(text)}; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("a\x1b\x9b\xff\u202e")
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range Printable(text) {
			if !unicode.IsPrint(r) || !utf8.ValidRune(r) {
				t.Errorf("%q holds %q", text, r)
			}
		}
	})
}
