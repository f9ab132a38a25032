package stream

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"assay/runner/record"
)

// TestLargeLines sends events far larger than any buffer: they are read, and the buffers they took are given back.
func TestLargeLines(t *testing.T) {
	for _, size := range []int{1 << 20, 5 << 20, 10 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			large := strings.Replace(token, `"a"`, `"`+strings.Repeat("x", size)+`"`, 1)
			calls := 0
			url := serve(t, func(_ int, c net.Conn, _ *http.Request) {
				body := token + finish + doneEvent
				if calls++; calls == 1 {
					body = token + large + body
				}
				fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			})
			cfg := config(t, url)
			x := cfg.client().NewExchange()
			r, reply := x.Do(t.Context(), hello(t, cfg))
			if r.Outcome != record.OK || len(r.Events) != 3 || len(reply) != size+2 {
				t.Fatalf("%s (%s), %d events, a reply of %d bytes", r.Outcome, r.Error, len(r.Events), len(reply))
			}
			if r, _ := x.Do(t.Context(), hello(t, cfg)); r.Outcome != record.OK || len(r.Events) != 1 {
				t.Fatalf("the request after: %s (%s), %d events", r.Outcome, r.Error, len(r.Events))
			}
			if cap(x.sse.line) > keptEvent || cap(x.sse.data) > keptEvent || cap(x.reply) > keptEvent {
				t.Errorf("kept: line %d, data %d, reply %d", cap(x.sse.line), cap(x.sse.data), cap(x.reply))
			}
		})
	}
}

// TestEndlessLine is cut off: memory has a bound.
func TestEndlessLine(t *testing.T) {
	for name, head := range map[string]string{"data": "data: ", "comment": ":"} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, func(_ int, c net.Conn, _ *http.Request) {
				io.WriteString(c, streamHead+token+head)
				for piece := strings.Repeat("x", 1<<20); ; {
					if _, err := io.WriteString(c, piece); err != nil {
						return
					}
				}
			})
			r, _ := ask(t, config(t, url))
			if r.Outcome != record.BadResponse || !strings.Contains(r.Error, "longer than 64 MiB") || len(r.Events) != 1 {
				t.Errorf("%s: %s, %d events", r.Outcome, r.Error, len(r.Events))
			}
		})
	}
}

// TestManyLargeEvents have no bound together.
func TestManyLargeEvents(t *testing.T) {
	got := 0
	s := sse{emit: func(_, data []byte) { got += len(data) }}
	piece := []byte(strings.Repeat("x", 1<<20))
	for range 3 {
		s.feed([]byte("data: "))
		for range 40 {
			s.feed(piece)
		}
		s.feed([]byte("\n\n"))
	}
	if s.tooLong || got != 3*40<<20 {
		t.Errorf("too long: %v, %d bytes", s.tooLong, got)
	}
}

// TestReadsFitWhatComes: large while bytes come in bulk, small again after one that was small.
func TestReadsFitWhatComes(t *testing.T) {
	room := smallRead
	for i, c := range []struct{ n, want int }{
		{300, smallRead}, {smallRead, largeRead}, {largeRead, largeRead}, {3 * smallRead, largeRead}, {smallRead - 1, smallRead},
	} {
		if room = fit(room, c.n); room != c.want {
			t.Errorf("read %d, of %d bytes: the next has room for %d, want %d", i, c.n, room, c.want)
		}
	}
}
