package stream

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// parseWhole feeds a body in pieces cut at the given places and gives the events as "name|data".
func parseWhole(body string, cuts ...int) []string {
	var got []string
	s := sse{emit: func(name, data []byte) { got = append(got, string(name)+"|"+string(data)) }}
	from := 0
	for _, cut := range append(cuts, len(body)) {
		piece := []byte(body[from:cut])
		s.feed(piece)
		for i := range piece { // what was fed may be overwritten at once
			piece[i] = 'X'
		}
		from = cut
	}
	return got
}

func TestEvents(t *testing.T) {
	cases := []struct {
		name, body string
		want       []string
	}{
		{"LF", "data: a\n\ndata: b\n\n", []string{"|a", "|b"}},
		{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"|a", "|b"}},
		{"CR", "data: a\r\rdata: b\r\r", []string{"|a", "|b"}},
		{"mixed ends", "data: a\r\n\ndata: b\r\r\n", []string{"|a", "|b"}},
		{"several data lines", "data: a\ndata: b\r\ndata:c\n\n", []string{"|a\nb\nc"}},
		{"comments and pings", ":\n\n: ping\ndata: a\n:x\n\n:\n\n", []string{"|a"}},
		{"event name", "event: error\ndata: a\n\ndata: b\n\n", []string{"error|a", "|b"}},
		{"no space, two spaces", "data:a\n\ndata:  b\n\n", []string{"|a", "| b"}},
		{"empty data", "data\n\ndata:\ndata:\n\n", []string{"|", "|\n"}},
		{"other fields", "id: 4\nretry: 10\ndatax: z\nfoo\ndata: a\n\n", []string{"|a"}},
		{"byte order mark", "\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n", []string{"|a"}},
		{"no blank line at the end", "data: a\n\ndata: b\n", []string{"|a"}},
		{"name without data", "event: x\n\ndata: a\n\n", []string{"|a"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, parseWhole(c.body)); diff != "" {
				t.Fatal(diff)
			}
			for i := range len(c.body) {
				for j := i; j < len(c.body); j++ {
					if diff := cmp.Diff(c.want, parseWhole(c.body, i, j)); diff != "" {
						t.Fatalf("cut at %d and %d: %s", i, j, diff)
					}
				}
			}
		})
	}
}

func TestLineOfManyMegabytes(t *testing.T) {
	long := strings.Repeat("x", 10<<20)
	body := "data: a\n\ndata: " + long + "\n\n"
	var cuts []int
	for at := 1000; at < len(body); at += 65_521 {
		cuts = append(cuts, at)
	}
	if got := parseWhole(body, cuts...); len(got) != 2 || got[1] != "|"+long {
		t.Errorf("%d events", len(got))
	}
}

func TestEventsAllocateNothing(t *testing.T) {
	s := sse{emit: func(_, _ []byte) {}}
	body := []byte("data: {\"a\":1}\n\n")
	if n := testing.AllocsPerRun(100, func() { s.feed(body) }); n != 0 {
		t.Errorf("%v allocations an event", n)
	}
}

// slowEvents is the standard's text, word by word, on a whole body.
func slowEvents(body string) []string {
	body = strings.TrimPrefix(body, "\xef\xbb\xbf")
	body = strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(body, "\n")
	var got []string
	var name string
	var data []string
	for _, line := range lines[:len(lines)-1] { // the last one has no end
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if data != nil {
				got = append(got, name+"|"+strings.Join(data, "\n"))
			}
			name, data = "", nil
		case field == "data":
			data = append(data, value)
		case field == "event":
			name = value
		}
	}
	return got
}

func FuzzEvents(f *testing.F) {
	f.Add("data: a\r\n\r\nevent: x\rdata: b\r\r:c\n\n", uint16(3), uint16(9))
	f.Add("\xef\xbb\xbfdata\n\ndata: z", uint16(1), uint16(2))
	f.Fuzz(func(t *testing.T, body string, a, b uint16) {
		i, j := int(a)%(len(body)+1), int(b)%(len(body)+1)
		if diff := cmp.Diff(slowEvents(body), parseWhole(body, min(i, j), max(i, j))); diff != "" {
			t.Errorf("%q cut at %d and %d: %s", body, i, j, diff)
		}
	})
}

func BenchmarkEvents(b *testing.B) {
	n := 0
	s := sse{emit: func(_, data []byte) { n += len(data) }}
	body := bytes.Repeat([]byte(fmt.Sprintf("data: %s\n\n", `{"choices":[{"delta":{"content":" counts"}}],"usage":{"completion_tokens":1}}`)), 4)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		s.feed(body)
	}
}
