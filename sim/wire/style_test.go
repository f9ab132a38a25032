package wire

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAppend(t *testing.T) {
	const object = `{"a":1}`
	for _, c := range []struct {
		name  string
		style Style
		data  string
		want  string
	}{
		{"plain", Style{}, object, "data: {\"a\":1}\n\n"},
		{"CR", Style{LineEnd: "\r"}, object, "data: {\"a\":1}\r\r"},
		{"CR LF and tight", Style{LineEnd: "\r\n", Tight: true}, object, "data:{\"a\":1}\r\n\r\n"},
		{"comments", Style{Comments: true}, object, ": keep-alive\n\ndata: {\"a\":1}\n\n"},
		{"fields", Style{Fields: true}, object, "event: message\nid: 7\nretry: 3000\ndata: {\"a\":1}\n\n"},
		{"lines", Style{Lines: true}, object, "data: {\ndata: \"a\":1\ndata: }\n\n"},
		{"lines of a word", Style{Lines: true}, "[DONE]", "data: [DONE]\n\n"},
	} {
		if diff := cmp.Diff(c.want, string(c.style.Append(nil, []byte(c.data)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if got := string(Style{LineEnd: "\r\n"}.AppendNamed(nil, "error", []byte("x"))); got != "event: error\r\ndata: x\r\n\r\n" {
		t.Errorf("named: %q", got)
	}
}

func TestWrites(t *testing.T) {
	const text = "aé😀z"
	for _, c := range []struct {
		style Style
		want  []string
	}{
		{Style{}, []string{text}},
		{Style{Piece: 1}, strings.Split("a|\xc3|\xa9|\xf0|\x9f|\x98|\x80|z", "|")},
		{Style{Piece: 4}, []string{"aé\xf0", "\x9f\x98\x80z"}},
		{Style{MidRune: true}, []string{"a\xc3", "\xa9\xf0", "\x9f\x98\x80z"}},
	} {
		var got []string
		for piece := range c.style.Writes([]byte(text)) {
			got = append(got, string(piece))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.style, diff)
		}
	}
	for range (Style{Piece: 1}).Writes(bytes.Repeat([]byte("x"), 3)) {
		break // a caller may stop
	}
}
