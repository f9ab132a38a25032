package dataset

import (
	"strings"
	"unicode"
)

// Cutter cuts a prompt of n words or tokens from the front of a text and says how many bytes of it that took; ok is false when the text
// is too short for it. The text ends between two words.
type Cutter func(text string, n int) (prompt Turn, used int, ok bool, err error)

// CutWords makes a prompt of exactly n words, which are what stands between white space, put together with blanks.
func CutWords(text string, n int) (Turn, int, bool, error) {
	words := make([]string, 0, min(n, len(text)/2+1))
	at := 0
	for len(words) < n {
		begin := strings.IndexFunc(text[at:], notSpace)
		if begin < 0 {
			return Turn{}, 0, false, nil
		}
		begin += at
		if at = strings.IndexFunc(text[begin:], unicode.IsSpace); at < 0 {
			at = len(text)
		} else {
			at += begin
		}
		words = append(words, text[begin:at])
	}
	return Turn{Messages: []Message{{Role: "user", Content: strings.Join(words, " ")}}}, at, true, nil
}

func notSpace(r rune) bool { return !unicode.IsSpace(r) }
