package dataset

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"
)

// utf16Text is a text as an editor under Windows keeps it, with its byte order mark.
func utf16Text(text string, order binary.AppendByteOrder) string {
	b := order.AppendUint16(nil, 0xfeff)
	for _, u := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

// TestTextsThatAreNone: what is no UTF-8 text is refused wherever reading begins in it, however large it is.
func TestTextsThatAreNone(t *testing.T) {
	words := strings.Repeat("words of a text ", 50_000)
	for name, text := range map[string]string{
		"UTF-16, little end first": utf16Text(words, binary.LittleEndian),
		"UTF-16, big end first":    utf16Text(words, binary.BigEndian),
		"UTF-16 without a mark":    utf16Text(words, binary.LittleEndian)[2:],
		"UTF-16, short":            utf16Text("one two three four five six seven eight", binary.LittleEndian),
		"a binary":                 "\x7fELF\x02\x01\x01\x00" + words,
	} {
		_, err := Open(t.Context(), Config{Kind: "text", Path: write(t, "a.txt", text), InputLen: 4, Seed: 3})
		if err == nil || !strings.Contains(err.Error(), "not UTF-8 (UTF-16, or no text)") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTextWithAHole: NUL bytes further on end the reading of the file, and the note says so.
func TestTextWithAHole(t *testing.T) {
	s := open(t, Config{Kind: "text", Path: write(t, "a.txt", strings.Repeat("word ", 20_000)+"\x00"+strings.Repeat("word ", 20_000)), InputLen: 100, Seed: 3})
	for s.Stats().Repeats == 0 {
		for _, c := range take(t, s, 1) {
			if strings.ContainsRune(c.Turns[0].Messages[0].Content, 0) {
				t.Fatalf("a prompt has a NUL byte: %q", c.Turns[0].Messages[0].Content)
			}
		}
	}
	if st := s.Stats(); st.BadLines != 1 || !strings.Contains(st.BadFirst[0], "NUL bytes") {
		t.Errorf("%+v", st)
	}
}

// TestTextWithAMark: the byte order mark of a UTF-8 text is no part of its first word.
func TestTextWithAMark(t *testing.T) {
	s := open(t, Config{Kind: "text", Path: write(t, "a.txt", "\xef\xbb\xbfone two three"), InputLen: 3})
	if got := take(t, s, 1)[0].Turns[0].Messages[0].Content; got != "one two three" {
		t.Errorf("%q", got)
	}
}
